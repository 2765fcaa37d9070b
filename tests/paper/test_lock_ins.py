"""Rare lock-ins: short games and what became of some of them give what the long games give."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.paper import lock_ins
from tests.synthetic import case

POLICY = sb.UCBRSSR(L=0.5)
BANDIT = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
CASE = case([POLICY], {"L": 0.5}, sb.RSSR(0.5), BANDIT, 2000)


@pytest.fixture(scope="module")
def long():
    return sb.simulate(POLICY, BANDIT, horizon=2000, runs=200, seed=3)[POLICY.name]


def test_all_runs_screened_are_all_runs_played(long, monkeypatch):
    monkeypatch.setattr(lock_ins, "ROUNDS", 500)
    curves, locked = lock_ins.screen(CASE, POLICY, long, 200, 3, 0.99)
    np.testing.assert_allclose(curves, long.regret_per_batch(sb.RSSR(0.5)), rtol=1e-12)
    assert 0 < locked.mean <= long.locked_in(sb.RSSR(0.5), 0.99).mean  # some lock in later


def test_more_short_games_count_more_of_them(long, monkeypatch):
    monkeypatch.setattr(lock_ins, "ROUNDS", 500)
    curves, locked = lock_ins.screen(CASE, POLICY, long, 1000, 3, 0.99)
    every = sb.simulate(POLICY, BANDIT, horizon=2000, runs=1000, seed=3)[POLICY.name]
    assert 0 < locked.mean <= every.locked_in(sb.RSSR(0.5), 0.99).mean
    final = every.regret(sb.RSSR(0.5)).final
    assert abs(curves[:, -1].mean() - final.mean) < 4 * final.se
