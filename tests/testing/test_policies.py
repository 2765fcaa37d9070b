"""The contract of policies notices what a policy of a user may get wrong, and needs no pytest."""

import subprocess
import sys

import pytest

import sharpe_bandits as sb
from sharpe_bandits._support.plain_data import KINDS
from sharpe_bandits.policies.base import Policy
from sharpe_bandits.testing import PolicyContract, check_policy


def test_the_contract_notices(monkeypatch):
    """A parameter that is lost, an error that does not say what is needed."""
    monkeypatch.setattr(Policy, "kinds", dict(Policy.kinds))
    monkeypatch.setitem(KINDS, "policy", Policy.kinds)

    class Lossy(sb.UCBRSSR):
        """Its parameter is lost."""

        title = "lossy"

        def to_dict(self):
            return {**super().to_dict(), "L": 1.0}

    class Silent(sb.policies.UCB1):
        title = "silent"

        def check_horizon(self, horizon, arms):
            if horizon < 10:
                raise sb.errors.BudgetTooSmallError("that is not enough")

    contract = PolicyContract()
    for test, policy, said in (
        (contract.test_it_makes_round_trips, Lossy(L=2.0), "came back from plain data as"),
        (contract.test_too_small_a_horizon_is_refused, Silent(), "the error must say that 10 rounds are needed"),
    ):
        with pytest.raises(AssertionError, match=said):
            test(policy)
    with pytest.raises(AssertionError, match="came back from plain data as"):
        check_policy(Lossy(L=2.0))


def test_a_policy_that_keeps_the_contract_passes_without_pytest():
    code = (
        "import sys, sharpe_bandits as sb\nfrom sharpe_bandits.testing import check_policy\n"
        "check_policy(sb.policies.UCB1())\nassert 'pytest' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
