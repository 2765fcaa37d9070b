"""ρ-NPTS with an anchor: one more reward among those that get random weights."""

import numpy as np
import pytest
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.play.statistics import ArmRecord
from sharpe_bandits.play.streams import fold
from sharpe_bandits.policies.dirichlet import redrawn_of

REWARDS = np.array([0.1, 0.25, 0.3, 0.7])
DRAWS = 4000


def weighted(values, weights):
    mean = weights @ values
    return mean, weights @ values**2 - mean**2


@pytest.mark.parametrize("anchor", [1.0, -0.5])
def test_the_anchor_is_a_reward_like_the_others(anchor):
    """The index has the distribution of the objective under flat Dirichlet weights on rewards and anchor together."""
    goal = sb.MeanVariance(0.5)
    index, s = redrawn_of(goal.formula), len(REWARDS)
    generator = np.random.default_rng(2)
    ours = []
    for i, weights in enumerate(generator.dirichlet(np.ones(s), DRAWS)):
        with np.errstate(over="ignore"):
            key = fold(np.uint64(5), i)
            mean, variance = weighted(REWARDS, weights)
            arm = ArmRecord(
                pulls=float(s), mean=0.0, variance=0.0, second_moment=0.0, epsilon=0.0, last=0.0, key=key,
                round_key=key, drawn_mean=mean, drawn_variance=variance * (s + 1) / (s - 1),
            )  # fmt: skip
            ours.append(index(arm, 10, goal.arguments(), anchor))
    both = np.append(REWARDS, anchor)
    theirs = [
        goal.formula(*weighted(both, weights), *goal.arguments())
        for weights in generator.dirichlet(np.ones(s + 1), DRAWS)
    ]
    assert scipy.stats.ks_2samp(ours, theirs).pvalue > 0.001


def test_an_anchor_keeps_an_arm_with_poor_first_rewards_in_the_game():
    """The best arm pays 0 twice and 1 ever after: without an anchor its reweighted mean is 0 for ever."""
    tape = sb.Tape([[0.0, 0.0, *[1.0] * 198], [0.4, 0.6] * 100])
    pulls = {
        anchor: [
            (
                sb.trace(sb.policies.NPTS(objective=sb.Mean(), anchor=anchor), tape, horizon=200, seed=seed).choices
                == 0
            ).sum()
            for seed in range(20)
        ]
        for anchor in (None, 1.0)
    }
    assert set(pulls[None]) == {2}
    assert min(pulls[1.0]) > 100
