"""Several arms held at once, for a least number of rounds, among arms that come and go."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.play.choose import Holding
from sharpe_bandits.simulation.families.index import hold
from tests.returns.market import market

POLICIES = [
    sb.ScaleFreeUCB(L=1e-5),
    sb.policies.SlidingWindowUCB(L=1e-5, window=60),
    sb.policies.DiscountedUCB(L=1e-5, discount=0.97),
    sb.ScaleFreeTS(L=1e-5),
    sb.UCBRSSR(L=1e-5),
]


@pytest.mark.parametrize("feedback", ["bandit", "full"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_without_terms_it_makes_the_choices_of_the_engine(policy, feedback):
    values = market(200)
    tape = sb.Tape(values.T, clock="rounds")
    expected = sb.trace(policy, tape, horizon=200, seed=5, run=3, feedback=feedback).choices
    held = hold(policy, values, Holding(1, 1, 0, False, np.zeros(4)), feedback == "full", 5, 3)
    assert held[:, 0].tolist() == list(expected)


def play(policy, values, places=1, costs=0.0, least=1, warm=0, full=False, aware=False):
    holding = Holding(places, least, warm, aware, np.full(values.shape[1], float(costs)))
    return hold(policy, values, holding, full, 0, 0)


def test_a_minimum_holding():
    held = play(POLICIES[0], market(), least=7)[:, 0]
    switches = np.flatnonzero(np.diff(held)) + 1
    assert len(switches) > 4
    assert (np.diff(np.concatenate([[0], switches])) >= 7).all()


def test_several_places():
    values = market()
    held = play(POLICIES[0], values, places=2)
    assert (held[:, 0] < held[:, 1]).all()
    assert held[:2].tolist() == [[0, 1], [2, 3]]  # all are tried, the least seen first
    several = play(POLICIES[0], values, places=2, full=True, warm=200)
    assert (several[:200] == -1).all()
    # with full feedback and much seen, two are held that one would hold at times
    assert set(play(POLICIES[0], values, full=True, warm=200)[200:, 0]) <= set(several[200:].ravel())


def test_known_costs_make_for_fewer_switches():
    values = market(600)
    held = [play(POLICIES[0], values, costs=cost, aware=True)[:, 0] for cost in (0, 0.002, 0.9)]
    count = [int((np.diff(own) != 0).sum()) for own in held]
    assert count[0] == int((np.diff(play(POLICIES[0], values)[:, 0]) != 0).sum())
    assert count[0] > count[1] > count[2]


def test_arms_come_and_go():
    values = market(200)
    values[:80, 1] = np.nan
    values[120:, 2] = np.nan
    held = play(POLICIES[0], values)[:, 0]
    assert 1 not in held[:80]
    assert 2 not in held[120:]
    assert held[80] == held[81] == 1  # what is new is tried at once, as often as all others were
    assert set(play(POLICIES[0], np.where(np.arange(4) == 3, values, np.nan), places=2)[50:].ravel()) == {3, -1}
