"""Which policies a replay plays."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.returns.players import usual_policies
from tests.returns.replayed import two_years


@pytest.fixture(scope="module")
def daily():
    return two_years()


def test_the_usual_policies(daily):
    played = sb.replay(daily, runs=2)
    assert [p.name for p in played.policies] == ["SF-UCB", "SW-SF-UCB", "SF-TS", "UCB-RSSR"]
    variances = [np.var(column, ddof=1) for column in daily.values[:20].T]
    assert pytest.approx(min(variances) / 10) == played.L
    assert "window = 125" in played["SW-SF-UCB"].rule
    # As published it takes every column in turn: returns are far below the unit scale it is made for.
    assert played["UCB-RSSR"].shares == pytest.approx(dict.fromkeys("abcd", 0.25))
    full = sb.replay(daily, runs=2, feedback="full")
    assert [p.name for p in full.policies] == ["SF-UCB", "SW-SF-UCB", "SF-TS"]
    assert [p.window for p in usual_policies(6, 2, 1e-3) if isinstance(p, sb.policies.SlidingWindowUCB)] == [
        12
    ]  # 6 per column


def test_every_usual_policy_can_be_named(daily):
    """UCB-RSSR too, which squares the mean as published."""
    usual = sb.replay(daily, runs=2)
    for policy in usual.policies:
        named = policy.name if policy.name != "SW-SF-UCB" else "SW-SF-UCB:window=125"
        assert sb.replay(daily, named, runs=2)[policy.name].to_dict() == policy.to_dict()


def test_a_benchmark_is_seen_in_every_round():
    """Columns with other betas than the benchmark's: adjusted for it, SF-UCB holds the best column more often."""
    rng = np.random.default_rng(6)
    market = 0.01 * rng.standard_normal(600)
    columns = 2.0 * market[:, None] + [0.0012, 0.0, 0.0] + 0.002 * rng.standard_normal((600, 3))
    table = np.column_stack([columns, market])
    returns = sb.read_returns(table, kind="returns", periods_per_year=252, names=["a", "b", "c", "m"], benchmark="m")
    players = ["ScaleFreeUCB", "ScaleFreeUCB:objective=Adjusted"]
    for more in ({}, {"hold": 3}):
        replay = sb.replay(returns, players, runs=40, L=1e-5, paths="blocks", block=1, **more)
        plain, adjusted = replay.players[:2]
        assert adjusted.shares["a"] > plain.shares["a"] + 0.1
    without = sb.read_returns(columns, kind="returns", periods_per_year=252, names=["a", "b", "c"])
    for more in ({}, {"hold": 3}):
        with pytest.raises(sb.errors.InvalidInputError, match="benchmark"):
            sb.replay(without, players, runs=10, L=1e-5, **more)
