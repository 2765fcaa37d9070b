"""Simulating, identifying and tracing: the same results whoever computes them, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.simulation.api import checkpoint_times
from sharpe_bandits.simulation.spec import BATCHES, Spec, run_chunk
from tests.chunks import BANDIT, HORIZON, POLICIES, assert_same, merge
from tests.clocks import TABLE
from tests.conftest import examples
from tests.fixed_confidence import identify
from tests.messages import says


def test_budgets_mean_nothing_with_full_feedback():
    with pytest.raises(sb.errors.InvalidInputError, match="SHSR divides a budget of pulls"):
        sb.simulate(sb.SHSR(L=0.5), sb.Tape(TABLE.T, clock="rounds"), horizon=200, runs=1, feedback="full")
    with pytest.raises(sb.errors.InvalidInputError, match="feedback must be one of"):
        sb.simulate(sb.policies.UCB1(), sb.Tape(TABLE.T, clock="rounds"), horizon=200, runs=1, feedback="half")


def test_a_trace_that_does_not_fit_into_memory_is_refused():
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"1000000000 rounds would take 11\.2 GiB; shorten the horizon"
    ):
        sb.trace(sb.policies.UCB1(), BANDIT, horizon=10**9)


def reference(policy, runs, seed):
    """One run after the other, each in a chunk of its own."""
    spec = Spec(policy, as_environment(BANDIT), HORIZON, runs, seed, checkpoint_times(100, HORIZON))
    return merge(spec, [run_chunk(spec, range(run, run + 1)) for run in range(runs)])


@settings(max_examples=examples(0.6))
@given(
    policies=st.lists(st.sampled_from(POLICIES), min_size=1, max_size=4, unique_by=lambda p: p.name),
    runs=st.integers(1, 40),
    workers=st.integers(1, 4),
    chunk=st.none() | st.integers(1, 50),
    seed=st.integers(0, 2**64 - 1),
)
def test_results_do_not_depend_on_workers_chunks_or_other_policies(policies, runs, workers, chunk, seed):
    study = sb.simulate(policies, BANDIT, horizon=HORIZON, runs=runs, seed=seed, workers=workers, chunk=chunk)
    assert study.names == [policy.name for policy in policies]
    for policy in policies:
        assert_same(study[policy.name], reference(policy, runs, seed))


def test_a_trace_is_a_run_of_the_study():
    study = sb.simulate(POLICIES, BANDIT, horizon=HORIZON, runs=20, seed=31)
    for policy in POLICIES:
        for run in (0, 7, 19):
            trace = sb.trace(policy, BANDIT, horizon=HORIZON, seed=31, run=run)
            pulls = np.bincount(trace.choices, minlength=3)
            outcome = study[policy.name]
            np.testing.assert_array_equal(outcome.final[run], pulls)
            assert outcome.recommended[run] == trace.recommended


def test_policies_see_the_same_rewards():
    """The j-th pull of arm i in run r pays the same whatever the policy, rounds and kernels."""
    paid = {}
    for policy in POLICIES:
        trace = sb.trace(policy, BANDIT, horizon=HORIZON, seed=8, run=4)
        for arm in range(3):
            for pull, reward in enumerate(trace.rewards[trace.choices == arm]):
                assert paid.setdefault((arm, pull), reward) == reward
    assert len(paid) > HORIZON


def test_runs_and_seeds_differ():
    traces = [
        sb.trace(sb.policies.RoundRobin(), BANDIT, horizon=30, seed=seed, run=run).rewards
        for seed in (0, 1, 2**64 - 1)
        for run in (0, 1)
    ]
    assert len({rewards.tobytes() for rewards in traces}) == len(traces)


@settings(max_examples=examples(0.8))
@given(
    policy=st.sampled_from([*POLICIES, sb.policies.UniformSampling(sb.RSSR(L=2.0)), sb.SHSR(L=2.0, keep_samples=True)]),
    arms=st.integers(2, 9),
    spare=st.integers(0, 70),
)
def test_the_budget_is_never_exceeded(policy, arms, spare):
    bandit = sb.Bandit([sb.Uniform(0, 1 + i) for i in range(arms)])
    horizon = spare + (policy.least_budget(arms) if hasattr(policy, "least_budget") else 2 * arms)
    outcome = sb.simulate(policy, bandit, horizon=horizon, runs=5, workers=1)[policy.name]
    played = outcome.final.sum(axis=1)
    assert (played <= horizon).all()
    assert (outcome.final >= 1).all()
    np.testing.assert_array_equal(outcome.pulls.sum(axis=2), np.minimum(outcome.checkpoints, played[:, None]))


#: With these settings no index is infinite, so that ties do not hang on the order of arms.
_ORDERLESS = [
    sb.UCBRSSR(L=30.0),
    sb.UCBVV(),
    sb.policies.UUCB(epsilon0=20.0),
    sb.policies.GRAUCB(rho=1.0),
    sb.policies.UCB1(),
    sb.policies.ModifiedGRAUCB(L=1.0, form="authors"),
    sb.UCBRSSR(L=0.5, undefined_width="printed"),
]


@given(st.sampled_from(_ORDERLESS), st.permutations(range(4)), st.integers(0, 100))
def test_arms_permuted_give_choices_permuted(policy, order, seed):
    rewards = np.random.default_rng(seed).gamma([[2.0], [3.0], [2.5], [4.0]], 0.7, size=(4, 150))
    plain = sb.trace(policy, sb.Tape(rewards), horizon=150)
    moved = sb.trace(policy, sb.Tape(rewards[order]), horizon=150)
    pilot = 4 * policy.pilot(150, 4)  # played in order of place, whatever stands there
    assert [order[arm] for arm in moved.choices[pilot:]] == plain.choices[pilot:].tolist()
    assert order[moved.recommended] == plain.recommended


@given(
    st.sampled_from([sb.SHSR(L=2.0), sb.SuRSR(L=2.0), sb.policies.UniformSampling(sb.RSSR(L=2.0))]),
    st.permutations(range(5)),
    st.integers(0, 100),
)
def test_arms_permuted_give_eliminations_permuted(policy, order, seed):
    rewards = np.random.default_rng(seed).gamma([[2.0], [3.0], [2.5], [4.0], [2.2]], 0.7, size=(5, 150))
    plain = sb.trace(policy, sb.Tape(rewards), horizon=150)
    moved = sb.trace(policy, sb.Tape(rewards[order]), horizon=150)
    pulls = np.bincount(plain.choices, minlength=5)
    np.testing.assert_array_equal(np.bincount(moved.choices, minlength=5), pulls[order])
    assert order[moved.recommended] == plain.recommended


def test_memory_does_not_grow_with_runs_and_horizon():
    small = sb.simulate(sb.policies.UCB1(), BANDIT, horizon=100, runs=300)["UCB1"]
    large = sb.simulate(sb.policies.UCB1(), BANDIT, horizon=3000, runs=1000)["UCB1"]
    assert small.pulls.shape[0] <= BATCHES
    assert large.pulls.shape[0] <= BATCHES
    assert large.pulls.shape[1] <= 100
    per_run = (large.final, large.recommended, large.reward_mean, large.reward_variance)
    assert sum(array.nbytes for array in per_run) <= 1000 * (3 * 4 + 4 + 8 + 8)


def test_checkpoints():
    assert checkpoint_times([5, 10, 5], 20) == (5, 10, 20)
    assert checkpoint_times([], 20) == (20,)
    spaced = checkpoint_times(100, 10_000)
    assert spaced[0] == 1
    assert spaced[-1] == 10_000
    assert len(spaced) <= 100
    steps = np.diff(np.log(spaced[40:]))
    assert steps.max() < 1.2 * np.log(10_000) / 99  # evenly on a logarithmic scale, but for rounding
    with pytest.raises(sb.errors.InvalidInputError, match="from 1 to 20, got 21"):
        checkpoint_times([21], 20)
    with pytest.raises(sb.errors.InvalidInputError, match="from 1 to 20, got 0"):
        checkpoint_times([0], 20)


def test_an_error_in_a_chunk_reaches_the_caller():
    short = sb.Tape(np.ones((2, 10)) * [[1.5], [1.25]])
    with pytest.raises(sb.errors.InvalidInputError, match="more often than the tape"):
        sb.simulate([sb.policies.RoundRobin(), sb.policies.UCB1()], short, horizon=100, runs=40, workers=2, chunk=4)


def test_a_study_too_large_for_memory_says_what_to_do():
    bandit = sb.RandomBandit(64, lambda g: sb.arms.UniformArms(np.zeros(64), np.ones(64)))
    with pytest.raises(sb.errors.InvalidInputError, match=says("100000000 runs", "GiB", "checkpoints=[10000]")):
        sb.simulate(sb.policies.UCB1(), bandit, horizon=10_000, runs=100_000_000)


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"horizon": 10, "runs": 10**12}, ("1000000000000 runs would take 3.73e+04 GiB", "simulate fewer runs")),
        ({"horizon": 10, "runs": 10**400}, ("runs must be a whole number from 1 to",)),
        (
            {"horizon": 10**9, "runs": 1, "checkpoints": 10**9},
            ("checkpoints must be a whole number",),
        ),
        ({"horizon": 10**9, "runs": 1, "checkpoints": range(1, 10**9)}, ("at most 1000000 rounds; pass fewer",)),
    ],
    ids=["runs", "more runs than numbers", "checkpoints", "a list of them"],
)
def test_a_study_without_end_is_refused_at_once(settings, parts):
    with pytest.raises(sb.errors.InvalidInputError, match=says(*parts)):
        sb.simulate(sb.policies.UCB1(), [sb.Uniform(0, 1)] * 2, **settings)


@pytest.mark.parametrize(("workers", "chunk"), [(1, None), (2, 1), (3, 7), (2, 1000)])
@pytest.mark.parametrize("varies", [False, True])
def test_workers_and_chunks_do_not_matter(workers, chunk, varies):
    bandit = sb.Bandit([sb.Uniform(0, 2), sb.Uniform(0.5, 1.7), sb.Beta(2, 3)])
    if varies:
        bandit = sb.RandomBandit(3, lambda g: sb.arms.UniformArms(g.uniform(0, 0.5, 3), g.uniform(1, 2, 3)))
    policy = sb.policies.LUCB(L=0.1, delta=0.1)
    one = identify(policy, bandit, runs=50, seed=3, max_budget=3000)
    other = identify(policy, bandit, runs=50, seed=3, max_budget=3000, workers=workers, chunk=chunk)
    for name in ("final", "recommended", "stopped", "rounds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.error() == other.error()
    fewer = identify(policy, bandit, runs=20, seed=3, max_budget=3000)
    np.testing.assert_array_equal(fewer.final, one.final[:20])
    trace = sb.trace(policy, bandit, horizon=3000, seed=3, run=17)
    assert np.bincount(trace.choices, minlength=3).tolist() == one.final[17].tolist()
    assert trace.recommended == one.recommended[17]


def test_the_limit():
    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(2.2, 7.8)])
    free = identify(sb.policies.LUCB(L=0.5), bandit, runs=200)
    cut = identify(sb.policies.LUCB(L=0.5), bandit, runs=200, max_budget=401)
    late = free.rounds > 401
    assert 0 < late.mean() < 1
    assert cut.unfinished().mean == pytest.approx(late.mean(), abs=0.01)
    np.testing.assert_array_equal(cut.rounds, np.minimum(free.rounds, 401))
    np.testing.assert_array_equal(cut.final[~late], free.final[~late])
    low, middle, high = free.quantiles((0.1, 0.5, 0.9))
    assert low < middle < high < math.inf
    assert (free.rounds <= middle).mean() >= 0.5
    assert (free.rounds < middle).mean() <= 0.5
    time = free.stopping_time()
    assert time.low < time.mean < time.high
    assert time.mean == pytest.approx(free.rounds.mean())


def test_a_tape_that_runs_out_is_reported():
    tape = sb.Tape(np.random.default_rng(0).normal(size=(2, 50)))
    with pytest.raises(sb.errors.InvalidInputError, match=r"LUCB pulled arm [01] more often than the tape has rewards"):
        identify(sb.policies.LUCB(L=1.0), tape, runs=2)


def test_each_kind_of_policy_has_its_own_door():
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)])
    with pytest.raises(sb.errors.InvalidInputError, match=r"LUCB stops on its own.*sb\.identify"):
        sb.simulate(sb.policies.LUCB(L=1.0), bandit, horizon=1000)
    with pytest.raises(sb.errors.InvalidInputError, match=r"UCB-RSSR does not stop on its own.*sb\.simulate"):
        identify(sb.UCBRSSR(L=1.0), bandit)
    with pytest.raises(sb.errors.InvalidInputError, match="LUCB is a policy class"):
        identify(sb.policies.LUCB, bandit)


def test_rewards_that_a_policy_cannot_handle_are_warned_of_and_judged_by_their_sign():
    """The square of UCB-RSSR prefers the arm that loses; the remedy that the warning names does not."""
    bandit = [sb.Normal(-2.0, variance=1.0), sb.Normal(0.5, variance=1.0)]
    with pytest.warns(sb.errors.RewardWarning, match="squares the mean.*Use a signed objective: ScaleFreeUCB"):
        study = sb.simulate(
            [sb.UCBRSSR(L=0.5), sb.ScaleFreeUCB(L=0.5)], bandit, horizon=1000, runs=5, progress=False
        )  # fmt: skip
    losing, remedy = study["UCB-RSSR"], study["SF-UCB"]
    assert losing.objective_used() == sb.RSSR(L=0.5, signed=True)
    assert losing.regret().final.mean > 10 * remedy.regret().final.mean
    assert losing.regret(sb.RSSR(L=0.5)).final.mean < losing.regret().final.mean  # as asked for, unsigned
    with pytest.warns(sb.errors.RewardWarning, match="works at any scale"):
        sb.simulate(sb.UCBRSSR(L=1e-5), [sb.Normal(4e-4, variance=1e-4)] * 2, horizon=100, runs=2, progress=False)
