"""Every policy is played by the adapter of its family, and all of them fill the same chunk."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.simulation.spec import Spec, prepare, run_chunk

BANDIT = as_environment([sb.Uniform(0, 6), sb.Uniform(0, 2), sb.Uniform(0, 2.5)])


def spec(policy, horizon=400, checkpoints=None, runs=5, **options):
    return Spec(policy, BANDIT, horizon, runs, 3, (horizon,) if checkpoints is None else checkpoints, **options)


def test_a_chunk_of_a_policy_that_stops_says_which_runs_stopped():
    """Of the same runs with a larger budget, those that had stopped before stop after the same rounds."""
    policy = sb.policies.LUCB(L=0.5)
    free = run_chunk(spec(policy, 10**5, (), runs=40), range(40))
    rounds = free.final.sum(axis=1)
    budget = int(np.median(rounds))
    cut = run_chunk(spec(policy, budget, (), runs=40), range(40))
    assert free.stopped.all()
    assert 0 < cut.stopped.sum() < 40
    np.testing.assert_array_equal(cut.stopped, rounds <= budget)
    np.testing.assert_array_equal(cut.final[cut.stopped], free.final[cut.stopped])
    assert (cut.final[~cut.stopped].sum(axis=1) == budget).all()
    assert free.pulls.shape == (40, 0, 3)
    assert free.recommended.shape == (40, 1)


@pytest.mark.parametrize("policy", [sb.policies.LUCB(L=0.5), sb.SHSR(L=0.5), sb.UCBRSSR(L=0.5)], ids=lambda p: p.family)
def test_means_of_rewards_are_those_of_the_trace(policy):
    chunk = run_chunk(spec(policy, checkpoints=() if policy.stops_itself else None), range(5), trace=True)
    for run in range(5):
        paid = chunk.rewards[run, : chunk.final[run].sum()]
        assert chunk.reward_mean[run] == pytest.approx(paid.mean(), rel=1e-12)
        assert chunk.reward_variance[run] == pytest.approx(paid.var(ddof=1), rel=1e-12)


def test_specs_that_a_family_cannot_play_are_refused():
    with pytest.raises(
        sb.errors.InvalidInputError, match="stops on its own and is not simulated for a given number of rounds"
    ):
        prepare(spec(sb.policies.LUCB(L=0.5)))
    with pytest.raises(sb.errors.InvalidInputError, match="SHSR does not stop on its own"):
        prepare(spec(sb.SHSR(L=0.5), checkpoints=()))
    for policy, checkpoints in ((sb.SHSR(L=0.5), None), (sb.policies.LUCB(L=0.5), ())):
        with pytest.raises(
            sb.errors.InvalidInputError, match="is meaningless if the rewards of all arms are seen in every"
        ):
            prepare(spec(policy, checkpoints=checkpoints, feedback="full"))
