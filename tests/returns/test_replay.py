"""Replays: a table worked by hand, twins in plain Python, and what cannot be replayed."""

import json
import math

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns import statistics
from sharpe_bandits.returns.players import usual_policies
from sharpe_bandits.returns.playing import BEST, EQUAL, LEADER, NUMBERS, follow_the_leader
from sharpe_bandits.returns.resampling import resampled_rows

A = [0.10, -0.10, 0.20, 0.00, -0.50, 0.10]
B = [0.00, 0.50, -0.20, 0.10, 0.00, 0.20]


def table(*columns, names=None, q=12):
    names = names or [chr(ord("A") + k) for k in range(len(columns))]
    return sb.read_returns(np.array(columns).T, kind="returns", periods_per_year=q, names=names)


@pytest.fixture(scope="module")
def small():
    return table(A, B)


@pytest.fixture(scope="module")
def daily():
    """Two years of four columns that share a market; the third is the best."""
    g = np.random.default_rng(8)
    x = g.normal(0, 0.006, (500, 1)) + g.normal([0, 0.0005, 0.002, -0.001], [0.01, 0.008, 0.01, 0.02], (500, 4))
    return table(*x.T, names=["a", "b", "c", "d"], q=252)


def orders(seed, runs, columns):
    """The order of columns in each run: a permutation by Philox with the key (seed, run)."""
    keys = [np.array([seed, run], np.uint64) for run in range(runs)]
    return [np.random.Generator(np.random.Philox(key=key)).permutation(columns) for key in keys]


#: A seed with which two runs have two columns in the order of the table.
IN_ORDER = next(s for s in range(100) if all(order.tolist() == [0, 1] for order in orders(s, 2, 2)))


def played_in_turn(small, **options):
    return sb.replay(small, sb.RoundRobin(), runs=2, seed=IN_ORDER, **options)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_a_table_worked_by_hand(small):
    """Every column in turn: A, B, A, B, A, B."""
    player = played_in_turn(small)["Round robin"]
    assert player.wealth == pytest.approx([1.1, 1.65, 1.98, 2.178, 1.089, 1.3068])
    assert player.total == pytest.approx(0.3068)
    assert player.drawdown == pytest.approx(0.5)  # from 2.178 to 1.089
    assert player.annual_mean == pytest.approx(1.2)  # 0.1 a month
    assert player.annual_volatility == pytest.approx(math.sqrt(12 * 0.108))
    assert player.sharpe == pytest.approx(0.1 / math.sqrt(0.108))
    assert player.annual_sharpe == pytest.approx(math.sqrt(12) * 0.1 / math.sqrt(0.108))
    assert player.turnover == pytest.approx(5 / 6)
    assert player.annual_turnover == pytest.approx(10)
    assert player.shares == {"A": 0.5, "B": 0.5}
    assert player.runs == 2
    assert set(player.sd_over_runs.values()) == {0}
    assert (player.wealth_low == player.wealth).all()


def test_the_benchmarks_by_hand(small):
    played = sb.replay(small, sb.RoundRobin())
    equal, best, leader = played[EQUAL], played[BEST], played[LEADER]
    assert equal.wealth == pytest.approx(np.cumprod([1.05, 1.2, 1.0, 1.05, 0.75, 1.15]))
    # Before the second row A is at 0.55 and B at 0.5 of 1.05, and so on.
    moved = [0, 0.05 / 1.05, 0.3 / 1.2, 0.2 / 1, 0.05 / 1.05, 0.25 / 0.75]
    assert equal.turnover == pytest.approx(sum(moved) / 2 / 6)
    assert (equal.annual_difference, equal.annual_difference_se) == (0, 0)
    assert best.shares == {"A": 0, "B": 1}  # A has lost
    assert best.wealth == pytest.approx(np.cumprod(1 + np.array(B)))
    assert best.turnover == 0
    assert "B, whose Sharpe ratio over all rows is largest" in best.rule
    # Sharpe ratios before rows 3 to 6: 0 and 0.71, 0.44 and 0.28, 0.39 and 0.34, -0.23 and 0.31.
    assert leader.wealth == pytest.approx(np.cumprod([1.05, 1.2, 0.8, 1.0, 0.5, 1.2]))
    assert leader.shares == pytest.approx({"A": 3 / 6, "B": 3 / 6})
    # Into B: A's part, 0.45 of 1.2; then two switches.
    assert leader.turnover == pytest.approx((0.05 / 1.05 / 2 + 0.45 / 1.2 + 1 + 0 + 1) / 6)
    difference = leader.annual_sharpe - equal.annual_sharpe
    assert leader.annual_difference == pytest.approx(difference)


def test_a_switch_costs(small):
    """Nine tenths of wealth are left after a switch, before the row's return."""
    free, dear = (played_in_turn(small, cost=c)["Round robin"] for c in (0.0, 0.1))
    assert dear.wealth == pytest.approx(free.wealth * 0.9 ** np.arange(6))
    assert dear.shares == free.shares
    assert sb.replay(small, sb.RoundRobin(), cost=0.1)[BEST].total == pytest.approx(np.prod(1 + np.array(B)) - 1)


def test_the_risk_free_rate_is_taken_off_ratios_only(small):
    player = played_in_turn(small, risk_free_per_period=0.05)["Round robin"]
    assert player.sharpe == pytest.approx(0.05 / math.sqrt(0.108))
    assert player.total == pytest.approx(0.3068)


# --- against twins ----------------------------------------------------------------------------------------------------


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
    assert follow_the_leader(x, risk_free).tolist() == leader_twin(x.tolist(), risk_free)


def test_what_is_traded_and_its_twin():
    g = np.random.default_rng(5)
    x = g.normal(0, 0.1, (40, 3))
    weights = g.dirichlet([1, 1, 1], 40)
    expected = [0.0]
    for before, now, paid in zip(weights[:-1], weights[1:], x[:-1], strict=True):
        pots = [w * (1 + r) for w, r in zip(before, paid, strict=True)]
        bought = [max(0.0, w - pot / sum(pots)) for w, pot in zip(now, pots, strict=True)]
        expected.append(sum(bought))  # as much is sold
    assert statistics.traded(weights, x) == pytest.approx(expected)


def test_after_a_total_loss_there_is_nothing_to_trade():
    assert statistics.traded([[1, 0], [0, 1], [1, 0]], [[-1, 0.5], [0, 0], [0, 0]]).tolist() == [0, 0, 1]


def test_sharpe_so_far_is_the_sharpe_ratio_of_the_rows_so_far():
    g = np.random.default_rng(6)
    x = g.normal([0.01, 10.01, 0.01], 0.02, (50, 3))  # a mean that dwarfs the spread
    x[:10, 2] = 0.1
    found = statistics.sharpe_so_far(x, 0.003)
    assert np.isnan(found[0]).all()
    assert np.isnan(found[:10, 2]).all()
    for k in range(11, 51):
        assert found[k - 1] == pytest.approx(statistics.sharpe(x[:k], 0.003), rel=1e-9)


def test_the_error_of_a_difference_is_ledoit_and_wolfs():
    """Their delta method on the four moments, with the same Bartlett weights, written out."""
    g = np.random.default_rng(7)
    n, lags = 4000, 3
    noise = g.standard_t(6, (n + 1, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    x, y = (0.1 + noise[1:] + 0.4 * noise[:-1]).T
    moments = np.column_stack([x, y, x**2, y**2])
    m1, m2, g1, g2 = moments.mean(axis=0)
    gradient = np.array(
        [
            g1 / (g1 - m1**2) ** 1.5,
            -g2 / (g2 - m2**2) ** 1.5,
            -m1 / (g1 - m1**2) ** 1.5 / 2,
            m2 / (g2 - m2**2) ** 1.5 / 2,
        ]
    )
    away = moments - moments.mean(axis=0)
    psi = away.T @ away / n
    for j in range(1, lags + 1):
        gamma = away[j:].T @ away[:-j] / n
        psi += (1 - j / (lags + 1)) * (gamma + gamma.T)
    difference, se = statistics.sharpe_difference(x, y, lags=lags)
    assert difference == pytest.approx(statistics.sharpe(x) - statistics.sharpe(y))
    assert se == pytest.approx(math.sqrt(gradient @ psi @ gradient / n), rel=1e-3)
    # The two share most of their noise: the error is far below that of independent ones.
    assert se < 0.8 * math.hypot(statistics.sharpe_se_hac(x, lags=lags), statistics.sharpe_se_hac(y, lags=lags))


def test_the_error_of_a_difference_is_what_differences_scatter_by():
    g = np.random.default_rng(9)
    found = []
    for _ in range(400):
        market = g.normal(0, 1, 600)
        pair = (market + g.normal(0.1, 0.7, 600), market + g.normal(0.05, 0.7, 600))
        found.append(statistics.sharpe_difference(*pair))
    differences, errors = np.array(found).T
    assert differences.std() == pytest.approx(errors.mean(), rel=0.12)  # 3.5 standard errors of a standard deviation


# --- policies ---------------------------------------------------------------------------------------------------------


def traced(policy, daily, seed, runs, horizon=500, feedback="bandit"):
    """Columns held and recommended in each run, by traces of tapes with columns in that run's order."""
    for run, order in enumerate(orders(seed, runs, 4)):
        tape = sb.Tape(daily.values.T[order], clock="rounds")
        found = sb.trace(policy, tape, horizon=horizon, seed=seed, run=run, feedback=feedback)
        yield order[found.choices], order[found.recommended]


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


@pytest.mark.parametrize("name", ["W-TS", "SF-UCB"])
def test_every_policy_is_played_many_times(daily, name):
    played = sb.replay(daily, ["W-TS", "SF-UCB"], runs=6, seed=4)
    player = played[name]
    assert player.runs == 6
    policy = {"W-TS": sb.ScaleFreeTS, "SF-UCB": sb.ScaleFreeUCB}[name](L=played.L)
    earned = [daily.values[np.arange(500), held] for held, _ in traced(policy, daily, 4, 6)]
    ratios = [statistics.sharpe(x) * math.sqrt(252) for x in earned]
    wealth = [np.prod(1 + x) for x in earned]
    assert player.annual_sharpe == pytest.approx(np.mean(ratios))
    assert player.sd_over_runs["annual_sharpe"] == pytest.approx(np.std(ratios, ddof=1))
    assert player.band["annual_sharpe"] == pytest.approx(np.quantile(ratios, [0.05, 0.95]))
    assert player.total == pytest.approx(np.median(wealth) - 1)
    assert player.wealth_low[-1] == pytest.approx(np.quantile(wealth, 0.05))
    assert player.wealth_high[-1] == pytest.approx(np.quantile(wealth, 0.95))
    again = sb.replay(daily, ["W-TS", "SF-UCB"], runs=6, seed=4)
    assert again.to_dict() == played.to_dict()
    assert sb.replay(daily, name, runs=6, seed=5)[name].annual_sharpe != player.annual_sharpe


def test_the_order_of_the_columns_in_the_table_does_not_matter_on_average():
    """A policy that takes columns in turn gains more from some orders than from others; the mean over runs hardly."""
    g = np.random.default_rng(12)
    x = g.normal(0, 0.01, (60, 3))
    x[::3, 0] += 0.02  # every third row pays, if the first column is held in it
    means = []
    for columns in ([0, 1, 2], [1, 2, 0]):
        player = sb.replay(table(*x.T[columns]), sb.RoundRobin(), runs=200)["Round robin"]
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
        with pytest.raises(sb.InvalidInputError, match=words):
            sb.replay(daily, "SF-UCB", **options)


def test_blocks_are_the_stationary_bootstrap():
    """Rows follow one another but where a block begins, which has the probability 1/block; every row is as likely."""
    rows = resampled_rows(np.random.default_rng(3), 50, 200_000, 8.0)
    follows = (np.diff(rows) % 50) == 1
    assert follows.mean() == pytest.approx(1 - 1 / 8 * 49 / 50, abs=0.004)
    assert np.bincount(rows, minlength=50) / 200_000 == pytest.approx(0.02, abs=0.002)
    assert resampled_rows(np.random.default_rng(3), 50, 10, 50.0).max() < 50


def test_a_pilot_that_takes_up_the_table_is_no_result():
    g = np.random.default_rng(4)
    crowd = table(*g.normal(0, 0.01, (50, 150)), names=[f"s{k}" for k in range(50)], q=252)
    with pytest.raises(sb.InvalidInputError, match=r"50 columns are too many for 150 rows: SF-UCB would try all"):
        sb.replay(crowd, "SF-UCB", runs=2)
    played = sb.replay(crowd, ["SF-UCB", "RoundRobin"], runs=2)
    assert [p.name for p in played.policies] == ["Round robin"]
    assert played.remarks[0].startswith(
        "SF-UCB would be at the end of the 150 rows when all 50 columns have been tried"
    )
    assert str(played).startswith("Check: SF-UCB would be at the end")
    more = table(*g.normal(0, 0.01, (50, 250)), names=[f"s{k}" for k in range(50)], q=252)
    late = sb.replay(more, ["SF-UCB", "RoundRobin"], runs=2)
    assert late.remarks[0].startswith("SF-UCB spends more than half of the 250 rows on trying all 50 columns")
    assert sb.replay(table(*g.normal(0, 0.01, (5, 250)), q=252), "SF-UCB", runs=2).remarks == ()


def test_five_hundred_columns_leave_fifteen_hundred_rows_no_time():
    """Three rows for each of 500 columns are 1,500 rows: every row is a trial, and nothing was chosen."""
    x = np.random.default_rng(4).normal(0, 0.01, (500, 1500))
    crowd = table(*x, names=[f"s{k}" for k in range(500)], q=252)
    with pytest.raises(sb.InvalidInputError, match="500 columns are too many for 1,500 rows: SF-UCB would try all"):
        sb.replay(crowd, "SF-UCB", runs=2)
    held = sb.trace(sb.ScaleFreeUCB(L=1e-5), sb.Tape(x, clock="rounds"), horizon=1500).choices
    assert np.bincount(held, minlength=500).tolist() == [3] * 500
    played = sb.replay(crowd, ["SF-UCB", "RoundRobin"], runs=2)
    assert [player.name for player in played.players] == ["Round robin", EQUAL, BEST, LEADER]
    assert str(played).startswith("Check: SF-UCB would be at the end of the 1,500 rows")


def test_the_default_regulariser_knows_nothing_of_later_rows(daily):
    """A calm second half would lower a variance that is taken from all rows."""
    calm = daily.values.copy()
    calm[250:] /= 10
    found = sb.replay(table(*calm.T, q=252), "RoundRobin", runs=2).L
    assert found == sb.replay(daily, "RoundRobin", runs=2).L
    assert found == pytest.approx(daily.values[:20].var(axis=0, ddof=1).min() / 10)


def test_rssr_is_signed_in_a_replay_however_a_policy_is_given(daily):
    by_name = sb.replay(daily, "SHSR", runs=3, L=1e-5)["SHSR"]
    as_object = sb.replay(daily, sb.SHSR(L=1e-5, signed=True), runs=3)["SHSR"]
    assert by_name.to_dict() == as_object.to_dict()
    for unsigned in (sb.SHSR(L=1e-5), "SHSR:signed=false", sb.SequentialHalving(sb.RSSR(1e-5))):
        with pytest.raises(sb.InvalidInputError, match=r"RSSR without its sign.*pass signed=True"):
            sb.replay(daily, unsigned)


def test_a_policy_with_a_budget_explores_and_then_holds(daily):
    policy = sb.SHSR(L=1e-5, signed=True)
    player = sb.replay(daily, policy, budget=100, runs=3, seed=2)["SHSR"]
    wealth, found = [], []
    for choices, recommended in traced(policy, daily, 2, 3, horizon=100):
        held = np.full(500, recommended)
        held[: len(choices)] = choices
        wealth.append(np.cumprod(1 + daily.values[np.arange(500), held]))
        found.append(daily.names[recommended])
    assert player.wealth == pytest.approx(np.median(wealth, axis=0))
    assert f"explores for {len(choices)} of the 500 rows, then holds what it found: " in player.rule
    assert all(f"{name} in {found.count(name) / 3:.0%}" in player.rule for name in found)
    assert sb.replay(daily, policy, runs=2).budget == 250


def test_the_usual_policies(daily, small):
    played = sb.replay(daily, runs=2)
    assert [p.name for p in played.policies] == ["SF-UCB", "SW-SF-UCB", "W-TS", "UCB-RSSR"]
    variances = [np.var(column, ddof=1) for column in daily.values[:20].T]
    assert pytest.approx(min(variances) / 10) == played.L
    assert "window = 125" in played["SW-SF-UCB"].rule
    # As published it takes every column in turn: returns are far below the unit scale it is made for.
    assert played["UCB-RSSR"].shares == pytest.approx(dict.fromkeys("abcd", 0.25))
    full = sb.replay(daily, runs=2, feedback="full")
    assert [p.name for p in full.policies] == ["SF-UCB", "SW-SF-UCB", "W-TS"]
    assert [p.window for p in usual_policies(6, 2, 1e-3) if isinstance(p, sb.SlidingWindowUCB)] == [12]  # 6 per column


def test_seeing_all_columns_is_no_worse_where_one_is_best():
    """A column that is clearly the best: with full feedback it is found at once, without it is paid for."""
    g = np.random.default_rng(1)
    x = g.normal([0, 0, 0, 0.01, 0, 0], 0.01, (600, 6))
    returns = table(*x.T, q=252)
    bandit, full = (sb.replay(returns, "SF-UCB", feedback=f)["SF-UCB"] for f in ("bandit", "full"))
    assert full.shares["D"] > 0.95 > bandit.shares["D"] > 0.7
    assert full.total > bandit.total


# --- what is said -----------------------------------------------------------------------------------------------------


def test_nothing_is_called_better_without_its_error():
    g = np.random.default_rng(2)
    same = sb.replay(table(*g.normal(0.001, 0.01, (3, 400)), q=252), "SF-UCB")
    luck = math.hypot(same["SF-UCB"].annual_difference_se, same["SF-UCB"].sd_over_runs["annual_difference"])
    assert abs(same["SF-UCB"].annual_difference) < 2 * luck
    assert "No policy is two standard errors away from it." in same.summary
    x = g.normal(0, 0.01, (3, 900)) + np.array([[-0.02], [0.01], [-0.02]])
    far = sb.replay(table(*x, q=252), ["SF-UCB", "RoundRobin"])
    assert far["SF-UCB"].annual_difference > 2 * far["SF-UCB"].annual_difference_se
    assert "Clearly above it by more than two standard errors: SF-UCB" in far.summary
    assert "clearly below" not in far.summary
    many = table(*g.normal(0.002, 0.01, (10, 900)), q=252)  # one at a time forgoes what holding all gains
    one = sb.replay(many, "RoundRobin")
    assert one["Round robin"].annual_difference < -2 * one["Round robin"].annual_difference_se
    assert "Clearly below it by more than two standard errors: Round robin" in one.summary


def test_what_is_printed(daily):
    played = sb.replay(daily, ["SF-UCB", "W-TS"], runs=4, cost=0.002, risk_free=0.03)
    words = " ".join(str(played).split())
    ucb = played["SF-UCB"]
    for text in (
        f"{ucb.annual_sharpe:.1f}", f"{ucb.annual_se_hac:.1f}", f"{ucb.annual_se:.1f}", f"{ucb.annual_difference:+.1f}",
        "{:.1f} to {:.1f}".format(*ucb.band["annual_sharpe"]), "{:.0%} to {:.0%}".format(*ucb.band["total"]),
        f"{ucb.total:.0%}", f"{ucb.drawdown:.0%}", f"{ucb.annual_turnover:.1f}", f"{ucb.shares['c']:.1%}",
        "252 periods per year", "√252", "0.002 of wealth per switch", "0.03 annual",
        f"{played.L:.4g} (variance per period)",
        "4 of each policy on the recorded rows, the columns in a random order; seed 0",
        "only the return of the column held", "a bandit is the wrong tool",
        "brought back to the same weight before every row", "ScaleFreeUCB(L = ",
    ):  # fmt: skip
        assert text in words, text
    full = str(sb.replay(daily, "SF-UCB", feedback="full"))
    assert "nothing to explore" in " ".join(full.split())


def test_columns_beyond_count_are_summed_up():
    g = np.random.default_rng(4)
    played = sb.replay(table(*g.normal(0, 0.01, (40, 200)), names=[f"s{k}" for k in range(40)], q=252), "SF-UCB")
    heads, rows = played.shares()
    assert heads == ["share of time in", "SF-UCB", BEST, LEADER]
    assert len(rows) == 25
    assert rows[-1][0] == "16 others"
    assert np.sum([shares for _, shares in rows], axis=0) == pytest.approx([1, 1, 1])


def test_numbers_come_as_plain_data(daily):
    played = sb.replay(daily, ["W-TS"], runs=3)
    back = json.loads(json.dumps(played.to_dict(), allow_nan=False))
    assert back["players"][0]["annual_sharpe"] == played["W-TS"].annual_sharpe
    assert back["players"][0]["shares"] == played["W-TS"].shares
    rows = played.rows()
    assert len(rows) == 4 * (len(NUMBERS) + 4)
    found = {(r["player"], r["metric"], r["column"]): r for r in rows}
    assert found["W-TS", "share", "b"]["value"] == played["W-TS"].shares["b"]
    assert found["W-TS", "drawdown", ""]["sd_over_runs"] == played["W-TS"].sd_over_runs["drawdown"]
    assert found[EQUAL, "sharpe", ""]["sd_over_runs"] == ""


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policies", "options", "words"),
    [
        (["SF-UCB", "SF-UCB"], {}, "two players are called 'SF-UCB'"),
        ([], {}, "no policy to play"),
        ("LUCB", {}, "SF-LUCB stops when it is sure"),
        ("SHSR:m=2", {}, "SHSR looks for 2 columns"),
        ("SHSR", {"feedback": "full"}, "leave it out or use feedback"),
        ("SHSR", {"budget": 12}, "needs a budget of at least 16 for 4 arms"),
        ("SHSR", {"budget": 501}, "budget must be a whole number from 1 to 500, got 501"),
        ("SW-SF-UCB:window=10", {}, "too few for 4 arms"),
        (sb.RoundRobin(name=EQUAL), {}, "two players are called 'equal weight'"),
        (sb.ScaleFreeUCB, {}, "call it with its parameters"),
        ("SF-UCB", {"cost": 1.0}, "cost must be a share of wealth from 0 to below 1, got 1.0"),
        ("SF-UCB", {"cost": -0.1}, "got -0.1"),
        ("SF-UCB", {"L": 0.0}, "L must be a finite number above 0, got 0.0"),
        ("SF-UCB", {"runs": 1}, "runs must be a whole number at least 2, got 1"),
        ("SF-UCB", {"feedback": "some"}, "feedback must be one of 'bandit', 'full', got 'some'"),
        ("SF-UCB", {"cost_aware": "yes"}, "cost_aware must be True or False, got 'yes'"),
        (3, {}, r"a policy such as UCBRSSR\(L=0.5\) is needed, got 3"),
        ("SF-UCB", {"risk_free": math.nan}, "risk_free must be a finite number"),
    ],
    ids=lambda value: "",
)
def test_what_cannot_be_replayed(daily, policies, options, words):
    with pytest.raises(sb.InvalidInputError, match=words):
        sb.replay(daily, policies, **options)


def test_what_is_no_table_or_too_small_a_one(daily):
    with pytest.raises(sb.InvalidInputError, match="must come from read_returns, got ndarray"):
        sb.replay(daily.values)
    with pytest.raises(sb.InvalidInputError, match="there is only 'A'; give at least two"):
        sb.replay(table(A))
    with pytest.raises(sb.InvalidInputError, match="SF-UCB needs a horizon of at least 12 for 4 arms"):
        sb.replay(table(A, B, A[::-1], B[::-1]), "SF-UCB")
    flat = table([0.01, 0.02] * 4, [0.02, 0.01] * 4)
    with pytest.raises(sb.InvalidInputError, match="the returns of Round robin do not vary"):
        sb.replay(flat, sb.RoundRobin())
    with pytest.raises(sb.UnknownNameError, match="no player is called 'equal weigth': did you mean 'equal weight'"):
        sb.replay(daily, "SF-UCB")["equal weigth"]
