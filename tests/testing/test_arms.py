"""The contract of arms notices what an arm of a user may get wrong."""

import pytest
import scipy.stats

import sharpe_bandits as sb
from sharpe_bandits.arms.base import Arm
from sharpe_bandits.testing import ArmContract, check_arm


def test_the_contract_notices():
    """A variance that is 2% off, too narrow a support, moments that nothing has."""

    class Wider(sb.Normal):
        """A normal arm that says more than it does."""

        def moments(self):
            return super().moments()._replace(variance=1.02 * self.variance)

        def to_dict(self):
            return {**super().to_dict(), "arm": "Normal"}

    class Narrower(sb.Uniform):
        """A uniform arm that leaves its support."""

        support = property(lambda self: (self.low, self.low + 0.9 * (self.high - self.low)))

    class Flat(sb.Normal):
        """A normal arm of too small a kurtosis."""

        def moments(self):
            return super().moments()._replace(fourth=0.9 * self.variance**2)

    contract = ArmContract()
    try:
        for test, arm, said in (
            (contract.test_its_rewards_have_its_moments, Wider(0.0, variance=1.0), "moment 2 is declared as 1.02"),
            (contract.test_its_rewards_have_its_moments, Narrower(0.0, 1.0), "leave"),
            (contract.test_its_moments_are_those_of_a_distribution, Flat(0.0, variance=1.0), "no distribution has"),
        ):
            with pytest.raises(AssertionError, match=said):
                test(arm)
        with pytest.raises(AssertionError, match="came back from plain data as"):
            check_arm(Wider(0.0, variance=1.0))
    finally:
        for name in ("Wider", "Narrower", "Flat"):
            del Arm.kinds[name]


def test_an_arm_with_heavy_tails_is_not_judged_by_moments_that_cannot_be_estimated():
    """The fourth moment of Student's t with five degrees of freedom exists, but its standard error does not."""
    check_arm(sb.arms.Scipy(scipy.stats.t(5)))
