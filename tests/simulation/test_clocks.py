"""Rewards counted by rounds, whatever the kernel, against tables and live agents."""

import numpy as np
import pytest

import sharpe_bandits as sb
from tests.clocks import SWITCHING, TABLE

#: One policy per way in which kernels are put together; each is compiled anew for this clock.
POLICIES = [
    sb.UCBRSSR(L=0.5),
    sb.policies.ModifiedMVTS(L=0.5),
    sb.ScaleFreeUCB(L=0.5),
    sb.ScaleFreeIMED(L=0.5),
    sb.policies.ScaleFreeNPTS(L=0.5),
    sb.policies.SlidingWindowUCB(L=0.5, window=60),
    sb.SHSR(L=0.5),
    sb.SuRSR(L=0.5),
    sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.5), m=2),
]


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.name for policy in POLICIES])
def test_a_table_played_through_in_time_order(policy):
    """What an arm pays is what stands in its column and in the row of the round; live agents play the same game."""
    horizon = 290
    trace = sb.trace(policy, sb.Tape(TABLE.T, clock="rounds"), horizon=horizon, seed=3)
    agent = policy.agent(arms=4, horizon=horizon, seed=3)
    for t, (arm, reward) in enumerate(zip(trace.choices, trace.rewards, strict=True)):
        assert agent.ask() == arm
        assert reward == TABLE[t, arm]
        agent.tell(arm, reward)
    assert agent.recommend() == trace.recommended


@pytest.mark.parametrize(
    "policy", [sb.ScaleFreeUCB(L=0.5), sb.SHSR(L=0.5), sb.policies.SlidingWindowUCB(L=0.5, window=100)]
)
@pytest.mark.parametrize(
    "bandit",
    [
        SWITCHING,
        sb.Bandit([sb.arms.AR1(0, 1, 0.5), sb.arms.GARCH(0.2, 1, 0.2, 0.5), sb.Uniform(0, 1)]),
        sb.Bandit([sb.arms.AR1(0, 1, 0.5), sb.arms.AR1(0.2, 1, 0.5)], clock="pulls"),
        sb.arms.bootstrap(TABLE, block=5, jointly=True),
    ],
    ids=["switching", "by rounds", "by pulls", "jointly"],
)
def test_chunks_and_workers_change_nothing(policy, bandit):
    one = sb.simulate(policy, bandit, horizon=600, runs=40, seed=2, workers=1, chunk=40)
    many = sb.simulate(policy, bandit, horizon=600, runs=40, seed=2, workers=2, chunk=7)
    a, b = one[policy.name], many[policy.name]
    for name in ("pulls", "final", "recommended", "reward_mean", "reward_variance"):
        assert (getattr(a, name) == getattr(b, name)).all()
    trace = sb.trace(policy, bandit, horizon=600, seed=2, run=11)
    assert (np.bincount(trace.choices, minlength=bandit.K) == a.final[11]).all()
    assert trace.rewards.mean() == pytest.approx(a.reward_mean[11], rel=1e-12)
    assert trace.rewards.var(ddof=1) == pytest.approx(a.reward_variance[11], rel=1e-9)


def test_a_kernel_that_cannot_play_is_refused():
    tape = sb.Tape(TABLE.T, clock="rounds")
    for policy, feedback in ((sb.UCBRSSR(L=1), "full"), (sb.policies.SlidingWindowUCB(L=1, window=60), "bandit")):
        with pytest.raises(sb.errors.InvalidInputError, match="the side by side kernel does not play"):
            sb.trace(policy, tape, horizon=100, kernel="side by side", feedback=feedback)
