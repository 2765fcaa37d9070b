"""Chunks are pure functions of (spec, numbers of runs), whoever computes them and whatever else is kept."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.simulation.api import tasks_of
from sharpe_bandits.simulation.families.index import is_random
from sharpe_bandits.simulation.spec import BATCHES, Spec, run_chunk
from tests.chunks import BANDIT, HORIZON, POLICIES, assert_same


@pytest.mark.parametrize(
    "policy",
    [
        sb.UCBRSSR(L=2.0),
        sb.policies.MVTS(),
        sb.SHSR(L=2.0),
        sb.SuRSR(L=2.0),
        sb.policies.UniformSampling(sb.RSSR(L=2.0)),
    ],
    ids=lambda policy: policy.name,
)
def test_pulls_at_checkpoints_are_those_of_the_choices(policy):
    """Counted by hand from every run's choices, at every single round, in batches of two runs."""
    runs = BATCHES + 20
    spec = Spec(policy, as_environment(BANDIT), HORIZON, runs, 9, tuple(range(1, HORIZON + 1)))
    chunk = run_chunk(spec, range(runs), trace=True)
    played = np.zeros((runs, HORIZON, 3), int)
    for run in range(runs):
        for t, arm in enumerate(chunk.choices[run]):
            played[run, t] = played[run, t - 1] if t else 0
            if arm >= 0:  # elimination does not play the rounds that do not divide evenly
                played[run, t, arm] += 1
    expected = played.reshape(-1, 2, HORIZON, 3).sum(axis=1)
    np.testing.assert_array_equal(chunk.pulls, expected)
    np.testing.assert_array_equal(chunk.final, played[:, -1])
    for run in range(0, runs, 25):
        rewards = chunk.rewards[run][chunk.choices[run] >= 0]
        assert chunk.reward_mean[run] == pytest.approx(rewards.mean(), rel=1e-12)
        assert chunk.reward_variance[run] == pytest.approx(rewards.var(ddof=1), rel=1e-12)


def mixed_arms(generator):
    return [sb.Uniform(0, 3), sb.Normal(generator.normal(), variance=1.0), sb.Bernoulli(generator.uniform())]


@pytest.mark.parametrize("policy", [sb.UCBRSSR(L=2.0), sb.policies.MVTS(), sb.SHSR(L=2.0)], ids=lambda p: p.name)
@pytest.mark.parametrize(
    "bandit",
    [
        BANDIT,
        sb.RandomBandit(3, mixed_arms),
        sb.Bandit([sb.arms.AR1(m, 1.0, 0.5) for m in (0.0, 0.5, 1.0)]),
    ],
    ids=["same arms", "random arms", "dependent rewards"],
)
def test_runs_scattered_over_a_study_are_played_as_in_it(policy, bandit):
    spec = Spec(policy, as_environment(bandit), HORIZON, 3 * BATCHES, 9, (10, HORIZON))
    every, some = (
        run_chunk(spec, range(700)),
        [3, 4, 5, 18, 19, 40, 311, 500, 501, 502, 503, 504, 505, 640, 641, 690, 699],
    )
    scattered = run_chunk(spec, some)
    for name in ("halfway", "final", "recommended", "reward_mean", "reward_variance"):
        np.testing.assert_array_equal(getattr(scattered, name), getattr(every, name)[some])
    np.testing.assert_array_equal(scattered.batches, np.unique(np.array(some) // spec.batch))
    assert scattered.pulls[:, -1].sum(axis=0).tolist() == scattered.final.sum(axis=0).tolist()
    alone = [run_chunk(spec, [run]) for run in some]
    for batch, pulls in zip(scattered.batches, scattered.pulls, strict=True):
        np.testing.assert_array_equal(pulls, sum(one.pulls[0] for one in alone if one.batches[0] == batch))


@pytest.mark.parametrize("policy", [*POLICIES, sb.SHSR(L=2.0, keep_samples=True, name="kept")], ids=lambda p: p.name)
@pytest.mark.parametrize(
    "bandit",
    [
        BANDIT,
        sb.Bandit([sb.Uniform(0, 3), sb.arms.Gamma(2, 1), sb.Bernoulli(0.7)]),
        sb.RandomBandit(3, lambda generator: sb.arms.UniformArms(np.zeros(3), generator.uniform(1, 4, size=3))),
        sb.RandomBandit(3, mixed_arms),
    ],
    ids=["uniform", "mixed", "random uniform", "random mixed"],
)
def test_keeping_a_trace_changes_nothing_else(policy, bandit):
    """Kernels take short cuts where no trace is kept and all arms are uniform."""
    spec = Spec(policy, as_environment(bandit), 200, 21, 6, (13, 50, 200))
    chunk, traced = run_chunk(spec, range(21)), run_chunk(spec, range(21), trace=True)
    assert_same(chunk, traced)
    assert chunk.choices.size == 0


def test_default_chunks_are_multiples_of_the_lanes_and_feed_two_workers():
    spec = Spec(sb.policies.UCB1(), as_environment(BANDIT), 10_000, 10_000, 3, (10_000,))
    assert spec.chunk % 16 == 0
    assert len(tasks_of(spec)) >= 4
    assert sum(task.runs for task in tasks_of(spec)) == 10_000


def test_which_policies_are_randomised():
    @sb.index_policy(name="my draws")
    def mine(arm, t, L):
        return arm.mean + L * (arm.key % 2)

    drawing = [
        sb.ScaleFreeTS(L=1),
        sb.policies.ScaleFreeNPTS(L=1),
        sb.policies.EpsilonGreedy(),
        sb.policies.MTS(),
        sb.policies.MVTS(),
        mine(L=1.0),
    ]
    others = [sb.ScaleFreeUCB(L=1), sb.ScaleFreeIMED(L=1), sb.UCBRSSR(L=1), sb.policies.RoundRobin()]
    assert [is_random(p) for p in drawing + others] == [True] * len(drawing) + [False] * len(others)
