"""Policies and benchmarks played through a table: against traces and twins, from other starts and in blocks."""

import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.playing import BEST, EQUAL, follow_the_leader
from sharpe_bandits.returns.yardstick import Yardstick
from tests.returns.replayed import table, traced, two_years


@pytest.fixture(scope="module")
def daily():
    return two_years()


def leader_twin(rows, risk_free):
    """Weights of follow the leader, in plain Python."""
    count = len(rows[0])
    held = []
    for t in range(len(rows)):
        best, most = None, -math.inf
        for k in range(count):
            seen = [row[k] for row in rows[:t]]
            if len(set(seen)) < 2:
                continue
            mean = sum(seen) / t
            ratio = (mean - risk_free) / math.sqrt(sum((x - mean) ** 2 for x in seen) / (t - 1))
            if ratio > most:
                best, most = k, ratio
        held.append([1 / count] * count if best is None else [float(k == best) for k in range(count)])
    return held


@pytest.mark.parametrize("risk_free", [0.0, 0.002])
def test_follow_the_leader_and_its_twin(risk_free):
    g = np.random.default_rng(3)
    x = g.normal(0.001, 0.02, (120, 5))
    x[:30, 2] = 0.01  # has not varied yet: cannot lead, whatever it pays
    x[:4] = x[0]
    assert follow_the_leader(x, Yardstick(risk_free)).tolist() == leader_twin(x.tolist(), risk_free)


@pytest.mark.parametrize("feedback", ["bandit", "full"])
def test_choices_are_those_of_a_trace(daily, feedback):
    policy = sb.ScaleFreeUCB(L=1e-5)
    player = sb.replay(daily, policy, runs=3, seed=5, feedback=feedback)["SF-UCB"]
    held = [choices for choices, _ in traced(policy, daily, 5, 3, feedback=feedback)]
    wealth = [np.cumprod(1 + daily.values[np.arange(500), choices]) for choices in held]
    assert player.wealth == pytest.approx(np.median(wealth, axis=0))
    shares = np.mean([np.bincount(choices, minlength=4) / 500 for choices in held], axis=0)
    assert list(player.shares.values()) == pytest.approx(shares)
    assert player.turnover == pytest.approx(np.mean([(np.diff(choices) != 0).sum() / 500 for choices in held]))


@pytest.mark.parametrize("name", ["SF-TS", "SF-UCB"])
def test_every_policy_is_played_many_times(daily, name):
    played = sb.replay(daily, ["SF-TS", "SF-UCB"], runs=6, seed=4)
    player = played[name]
    assert player.runs == 6
    policy = {"SF-TS": sb.ScaleFreeTS, "SF-UCB": sb.ScaleFreeUCB}[name](L=played.L)
    earned = [daily.values[np.arange(500), held] for held, _ in traced(policy, daily, 4, 6)]
    ratios = [statistics.sharpe(x) * math.sqrt(252) for x in earned]
    wealth = [np.prod(1 + x) for x in earned]
    assert player.annual_sharpe == pytest.approx(np.mean(ratios))
    assert player.sd_over_runs["annual_sharpe"] == pytest.approx(np.std(ratios, ddof=1))
    assert player.band["annual_sharpe"] == pytest.approx(np.quantile(ratios, [0.05, 0.95]))
    assert player.total == pytest.approx(np.median(wealth) - 1)
    assert player.wealth_low[-1] == pytest.approx(np.quantile(wealth, 0.05))
    assert player.wealth_high[-1] == pytest.approx(np.quantile(wealth, 0.95))
    again = sb.replay(daily, ["SF-TS", "SF-UCB"], runs=6, seed=4)
    assert again.to_dict() == played.to_dict()
    assert sb.replay(daily, name, runs=6, seed=5)[name].annual_sharpe != player.annual_sharpe


def test_the_order_of_the_columns_in_the_table_does_not_matter_on_average():
    """A policy that takes columns in turn gains more from some orders than from others; the mean over runs hardly."""
    g = np.random.default_rng(12)
    x = g.normal(0, 0.01, (60, 3))
    x[::3, 0] += 0.02  # every third row pays, if the first column is held in it
    means = []
    for columns in ([0, 1, 2], [1, 2, 0]):
        player = sb.replay(table(*x.T[columns]), sb.policies.RoundRobin(), runs=200)["Round robin"]
        assert player.sd_over_runs["annual_sharpe"] > 0.5
        means.append((player.annual_sharpe, player.sd_over_runs["annual_sharpe"] / math.sqrt(200)))
    (a, sa), (b, sb_) = means
    assert abs(a - b) < 4 * math.hypot(sa, sb_)


def test_start_dates_and_blocks_are_played_like_orders(daily):
    recorded = sb.replay(daily, "RoundRobin", runs=30)
    starts, again = (sb.replay(daily, "RoundRobin", runs=30, paths="starts", length=100) for _ in range(2))
    assert starts.to_dict() == again.to_dict()
    blocks = sb.replay(daily, "RoundRobin", runs=30, paths="blocks", block=5)
    assert (recorded.length, starts.length, blocks.length) == (500, 100, 500)
    assert recorded[EQUAL].runs == 1
    assert recorded.dates is not None or daily.dates is None
    for other in (starts, blocks):
        assert other.dates is None
        assert other[EQUAL].runs == other[BEST].runs == other["Round robin"].runs == 30
        assert (
            other["Round robin"].sd_over_runs["annual_sharpe"] > recorded["Round robin"].sd_over_runs["annual_sharpe"]
        )
    # Equal weight on stretches of 100 rows: any start has the same chance.
    keys = [np.random.Generator(np.random.Philox(key=np.array([0, run], np.uint64))) for run in range(30)]
    expected = []
    for generator in keys:
        generator.permutation(4)
        first = int(generator.integers(401))
        expected.append(statistics.sharpe(daily.values[first : first + 100].mean(axis=1)) * math.sqrt(252))
    assert starts[EQUAL].annual_sharpe == pytest.approx(np.mean(expected), rel=1e-9)
    for options, words in (
        ({"length": 50}, "length=50 is for paths='starts'"),
        ({"block": 5}, "block=5 is for paths='blocks'"),
        ({"paths": "starts", "length": 500}, "length must be a whole number from 3 to 499, got 500"),
        ({"paths": "rows"}, "paths must be one of 'recorded', 'starts', 'blocks', got 'rows'"),
    ):
        with pytest.raises(sb.errors.InvalidInputError, match=words):
            sb.replay(daily, "SF-UCB", **options)


def test_a_policy_with_a_budget_explores_and_then_holds(daily):
    policy = sb.SHSR(L=1e-5, signed=True)
    player = sb.replay(daily, policy, budget=100, runs=3, seed=2)["SHSR"]
    wealth = []
    for choices, recommended in traced(policy, daily, 2, 3, horizon=100):
        held = np.full(500, recommended)
        held[: len(choices)] = choices
        wealth.append(np.cumprod(1 + daily.values[np.arange(500), held]))
    assert player.wealth == pytest.approx(np.median(wealth, axis=0))
    assert f"explores for {len(choices)} of the 500 rows, then holds what it recommends" in player.rule
    assert sb.replay(daily, policy, runs=2).budget == 250
