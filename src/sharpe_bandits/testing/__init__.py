"""Contract tests that every policy and every arm of this library passes, for testing your own.

``check_policy(policy)`` and ``check_arm(arm)`` raise AssertionError with what is wrong. The classes are for pytest::

    @pytest.mark.parametrize("policy", [greedy(L=1.0)])
    class TestGreedy(PolicyContract):
        pass
"""

from .arms import ArmContract as ArmContract
from .arms import check_arm as check_arm
from .policies import PolicyContract as PolicyContract
from .policies import check_policy as check_policy
