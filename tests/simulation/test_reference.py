"""The reference loop: policies that forget, games in which all rewards are seen, and the plain game."""

import numpy as np
import pytest
from hypothesis import settings

import sharpe_bandits as sb
from sharpe_bandits.policies.base import NO_FORGETTING, IndexPolicy
from sharpe_bandits.simulation.spec import run_chunk
from tests.catalogue import EVERY_POLICY, greedy_sharpe
from tests.clocks import TABLE
from tests.forgetting import CASES, IDS, TURNING, L
from tests.simulation.games import BANDITS, spec


def test_with_full_feedback_the_rewards_of_all_arms_are_seen():
    """Greedy on the mean: it plays the column with the largest mean so far, after two rounds of looking."""

    @sb.index_policy(name="follow the leader")
    def follow(arm, t):
        return arm.mean

    trace = sb.trace(follow(), sb.Tape(TABLE.T, clock="rounds"), horizon=300, feedback="full")
    assert trace.choices[:2].tolist() == [0, 1]
    assert trace.choices[2:].tolist() == [int(TABLE[:t].mean(axis=0).argmax()) for t in range(2, 300)]
    assert trace.recommended == np.bincount(trace.choices).argmax()  # it names no objective: the arm played most
    assert (trace.rewards == TABLE[np.arange(300), trace.choices]).all()


def test_full_feedback_on_arms_that_are_counted_by_pulls():
    """Every arm moves on in every round: round t pays what the t-th pull would."""
    bandit = sb.Bandit([sb.Normal(0, variance=1), sb.Normal(0.5, variance=1)])
    paths = [sb.trace(sb.policies.RoundRobin(), bandit, horizon=400, seed=9)]
    pays = [paths[0].rewards[paths[0].choices == arm] for arm in (0, 1)]
    trace = sb.trace(sb.ScaleFreeUCB(L=0.5), bandit, horizon=200, seed=9, feedback="full")
    assert [pays[arm][t] for t, arm in enumerate(trace.choices)] == trace.rewards.tolist()


#: Scores, draws, loops, infinite indices, a table and a search, and ties at all of them.
FAST = [sb.ScaleFreeIMED(L=0.5), sb.policies.ModifiedMVTS(L=1.0), sb.policies.ScaleFreeNPTS(L=0.5), sb.UCBRSSR(L=0.75),
        sb.policies.GRAUCB(rho=1.0), sb.policies.KLUCB(), sb.policies.ThompsonSampling(),
        sb.policies.EpsilonGreedy(sb.RSSR(L=0.5))]  # fmt: skip
if settings.default.max_examples > 100:  # make test-long
    FAST = [p for p in EVERY_POLICY if isinstance(p, IndexPolicy) and p.forgetting == NO_FORGETTING]


@pytest.mark.parametrize("policy", FAST, ids=lambda policy: policy.name)
@pytest.mark.parametrize("name", BANDITS)
def test_the_fast_kernel_makes_the_choices_of_the_reference(policy, name):
    one, brute = (
        run_chunk(spec(policy, BANDITS[name], kernel, runs=3), range(3), trace=True)
        for kernel in ("reference", "side by side")
    )
    for field in ("choices", "rewards", "pulls", "halfway", "final", "recommended", "reward_mean", "reward_variance"):
        np.testing.assert_array_equal(getattr(one, field), getattr(brute, field), err_msg=field)


@pytest.mark.parametrize("kernel", ["reference", "side by side"])
def test_a_lead_that_ends_in_a_tie(kernel):
    """By hand: arm 1 leads until its mean is exactly 0, which ties with arm 0: the lowest arm is played."""
    rewards = np.array([[0.0] * 40, [1.0] * 20 + [-1.0] * 20])
    trace = sb.trace(greedy_sharpe(L=1.0), sb.Tape(rewards), horizon=48, kernel=kernel)
    assert trace.choices.tolist() == [0, 1, 0, 1] + [1] * 38 + [0] * 6


@pytest.mark.parametrize("kernel", ["reference", "side by side"])
def test_infinite_indices_are_played_in_turn(kernel):
    """With L = 0.1 on rewards in [0, 1] the width of UCB-RSSR is undefined for long."""
    trace = sb.trace(sb.UCBRSSR(L=0.1), BANDITS["equal"], horizon=200, kernel=kernel)
    assert trace.choices.tolist() == [0, 1, 2, 3, 4] * 40


@sb.index_policy(name="by a table")
def by_table(arm, t, table):
    return arm.mean + table[int(arm.pulls) % 2, int(arm.pulls) % 3] * arm.epsilon


@pytest.mark.parametrize("arms", [1, 5, 8, 17])
def test_indices_of_all_arms_are_evaluated_together(arms):
    """The kernel calls a policy's formula for all arms at once, in rows that are wider than the number of arms; the
    table of the index has two dimensions.
    """
    bandit = sb.Bandit([sb.Uniform(0.1 * i, 1.0 + 0.1 * i) for i in range(arms + 1)])
    for policy in (by_table(table=[[0.1, 0.2, 0.3], [0.6, 0.5, 0.4]]), sb.ScaleFreeIMED(L=0.5)):
        one, brute = (
            run_chunk(spec(policy, bandit, kernel, runs=2), range(2), trace=True)
            for kernel in ("reference", "side by side")
        )
        np.testing.assert_array_equal(one.choices, brute.choices)
        np.testing.assert_array_equal(one.recommended, brute.recommended)


@pytest.mark.parametrize(("policy", "expected"), CASES, ids=IDS)
@pytest.mark.parametrize("full", [False, True], ids=["bandit", "full"])
def test_the_same_choices_as_the_twin(policy, expected, full):
    tape = sb.Tape(TURNING.T, clock="rounds")
    trace = sb.trace(policy, tape, horizon=500, feedback="full" if full else "bandit")
    assert trace.choices.tolist() == expected(full)
    assert len(set(trace.choices[20:].tolist())) == 3


def test_a_window_as_long_as_the_game_forgets_nothing():
    tape = sb.Tape(TURNING.T, clock="rounds")
    plain = sb.trace(sb.ScaleFreeUCB(L=L), tape, horizon=500)
    windowed = sb.trace(sb.policies.SlidingWindowUCB(L=L, window=500), tape, horizon=500)
    assert (plain.choices == windowed.choices).all()
