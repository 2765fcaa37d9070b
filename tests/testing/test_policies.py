"""The contract of policies notices what a policy of a user may get wrong, and needs no pytest."""

import subprocess
import sys

import pytest

import sharpe_bandits as sb
from sharpe_bandits._support.plain_data import KINDS
from sharpe_bandits.policies import IndexPolicy, Policy
from sharpe_bandits.testing import PolicyContract, check_arm, check_policy


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

    class Local(sb.policies.UCB1):
        """Workers cannot import it."""

    contract = PolicyContract()
    for test, policy, said in (
        (contract.test_it_makes_round_trips, Lossy(L=2.0), "came back from plain data as"),
        (contract.test_it_makes_round_trips, Local(), "define Local outside of functions"),
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


class _Greedy(IndexPolicy):
    """The largest mean, and what a parameter adds to it."""

    bonus: float = 0.0

    title, citation, objective = "greedy", "this test", sb.Mean()

    @staticmethod
    def formula(arm, t, bonus):
        return arm.mean + bonus


class _Unsaid(IndexPolicy):
    """It says nothing."""

    formula, objective = _Greedy.formula, None


class _Aimless(IndexPolicy):
    """It has no objective."""

    title, citation, formula = "aimless", "this test", _Greedy.formula


class _Missing(_Aimless):
    """It lacks a parameter."""

    objective = sb.Mean()


def test_without_a_title_it_is_called_as_its_class():
    assert _Unsaid().name == _Unsaid.title == "_Unsaid"


def test_what_is_missing_is_said():
    for thing, said in (
        (_Unsaid(), "_Unsaid needs a citation"),
        (_Greedy, r"a subclass of Policy is needed.*call it with its parameters, as in _Greedy\(...\)"),
        ("UCB1", "a subclass of Policy is needed, got 'UCB1'"),
    ):
        with pytest.raises(AssertionError, match=said):
            check_policy(thing)
    with pytest.raises(
        sb.errors.InvalidInputError, match=r"_Missing takes 'bonus', which is no parameter.* bonus: float"
    ):
        sb.trace(_Missing(), [sb.Uniform(0, 1), sb.Uniform(0, 2)], horizon=9)
    with pytest.raises(sb.errors.InvalidInputError, match="_Aimless does not say what it maximises; add an objective"):
        _Aimless()
    with pytest.raises(AssertionError, match="a subclass of Arm is needed, got 3"):
        check_arm(3)
