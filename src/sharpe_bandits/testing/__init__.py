"""Contract tests that every policy, arm and storage of this library passes, for testing your own.

``check_policy(policy)``, ``check_arm(arm)`` and ``check_storage(open_storage)`` raise AssertionError and say what is
wrong. The classes are for pytest::

    @pytest.mark.parametrize("policy", [greedy(L=1.0)])
    class TestGreedy(PolicyContract):
        pass
"""

from .arms import ArmContract as ArmContract
from .arms import check_arm as check_arm
from .policies import PolicyContract as PolicyContract
from .policies import check_policy as check_policy
from .storage import StorageContract as StorageContract
from .storage import check_storage as check_storage
