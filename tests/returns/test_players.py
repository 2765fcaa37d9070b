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
