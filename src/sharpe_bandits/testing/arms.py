"""The contract of arms: rewards match the moments and stay in the support, and an arm can be described and saved."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Bandit, Constant
from ..arms.base import Arm
from ..policies import RoundRobin
from ..simulation.api import trace
from .contract import check_round_trips, require, run_all


def rewards(arm: Arm, pulls: int, seed: int) -> np.ndarray:
    """Rewards of successive pulls of an arm."""
    bandit = Bandit([arm, Constant(0.0)], clock="pulls")
    played = trace(RoundRobin(), bandit, horizon=2 * pulls, seed=seed)
    return played.rewards[played.choices == 0]


class ArmContract:
    """Tests that any arm must pass. Subclass it and parametrise: ``@pytest.mark.parametrize("arm", [...])``.

    Attributes
    ----------
    batches : int
        number of batches of 1,000 successive rewards, from whose means standard errors are computed
    seed : int
        seed of the samples

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> from sharpe_bandits.testing import ArmContract
    >>> class TestUniform(ArmContract):
    ...     batches = 100
    >>> TestUniform().test_it_says_what_it_is(sb.Uniform(0, 1))
    """

    batches = 500
    seed = 20240229

    def test_it_says_what_it_is(self, arm: Arm) -> None:
        require(type(arm).__doc__, f"{type(arm).__name__} needs a docstring")
        require(len(repr(arm)) < 1000, "the repr of an arm must be short")
        check_round_trips(arm)

    def test_its_moments_are_those_of_a_distribution(self, arm: Arm) -> None:
        low, high = arm.support
        mean, variance, third, fourth = arm.moments()
        require((arm.mean, arm.variance) == (mean, variance), f"{arm!r} has a parameter called as a moment it is not")
        require(
            math.isfinite(mean) and math.isfinite(variance) and variance >= 0, f"mean {mean} and variance {variance}"
        )
        require(low <= mean <= high, f"the mean {mean} lies outside the support [{low}, {high}]")
        room = (high - mean) * (mean - low) if high > low else 0.0
        # Bhatia & Davis: the largest variance on the support. Pearson: kurtosis is at least 1 + skewness squared.
        require(variance <= room * (1 + 1e-9), f"the variance {variance} is too large for the support [{low}, {high}]")
        require(
            not math.isfinite(third + fourth) or fourth * variance * (1 + 1e-9) + 1e-300 >= variance**3 + third**2,
            f"no distribution has the central moments {variance}, {third}, {fourth}",
        )

    def test_its_rewards_have_its_moments(self, arm: Arm) -> None:
        """Every moment is within five standard errors, and rewards are inside the support; a variance that is 2% off
        would fail. Moments whose standard error cannot be estimated, since the tails are heavy, are not checked.
        """
        out = rewards(arm, 1000 * self.batches, self.seed)
        low, high = arm.support
        require(
            low <= out.min() and out.max() <= high, f"rewards from {out.min()} to {out.max()} leave [{low}, {high}]"
        )
        for k, expected in enumerate(arm.moments(), start=1):
            if not math.isfinite(expected):
                continue
            powers = (out - (0.0 if k == 1 else arm.mean)) ** k
            squares = powers**2
            if squares.max() > 0.1 * squares.sum():
                continue  # the tails are so heavy that a single reward decides: the standard error means nothing
            error = powers.reshape(self.batches, 1000).mean(axis=1).std(ddof=1) / math.sqrt(self.batches)
            require(
                abs(powers.mean() - expected) <= 5 * error + 1e-12 * abs(expected),
                f"moment {k} is declared as {expected!r} and is {powers.mean()!r} +- {error:.2g} in {out.size} rewards",
            )

    def test_its_rewards_are_a_function_of_the_seed(self, arm: Arm) -> None:
        first, again, other = (rewards(arm, 500, seed) for seed in (1, 1, 2))
        require((first == again).all(), "the same seed produced different rewards")
        if arm.variance > 0:
            require((first != other).any(), "another seed produced the same rewards")


def check_arm(arm: Arm) -> None:
    """Run all tests of :class:`ArmContract` on an arm; an AssertionError says what is wrong.

    Examples
    --------
    >>> import sharpe_bandits as sb
    >>> from sharpe_bandits.testing import check_arm
    >>> check_arm(sb.Uniform(0, 1))
    """
    run_all(ArmContract(), arm, Arm)
