"""Every policy of the library, and a user's own, keeps the contract that :mod:`sharpe_bandits.testing` ships."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits.policies.base import EliminationPolicy, IndexPolicy, Policy
from sharpe_bandits.testing import PolicyContract
from tests.catalogue import BY_CLASS, EVERY_POLICY

K = PolicyContract.arms
#: Pulls per arm before an index is defined, where a variance (two pulls) is not what it takes.
PILOTS = {"UCB1": 1, "MTS": 1, "ThompsonSampling": 1, "ScaleFreeUCB": 3, "ScaleFreeIMED": 3, "ScaleFreeTS": 3}
PILOTS |= {"SlidingWindowUCB": 3, "DiscountedUCB": 3}
PILOTS["ScaleFreeNPTS"] = sb.policies.ScaleFreeNPTS.least_pilot  # a matter of taste
RANDOMISED = {
    "ThompsonSampling", "MTS", "VTS", "MVTS", "ModifiedMVTS", "NormalGammaTS", "EpsilonGreedy", "ScaleFreeTS", "SRTS",
    "ScaleFreeNPTS", "NPTS",
}  # fmt: skip

every_policy = pytest.mark.parametrize("policy", EVERY_POLICY, ids=[policy.name for policy in EVERY_POLICY])
EVERY_SETTING = [*EVERY_POLICY, sb.policies.LUCB(L=0.5)]


@pytest.mark.parametrize("policy", EVERY_SETTING, ids=[policy.name for policy in EVERY_SETTING])
class TestEveryPolicy(PolicyContract):
    pass


def test_no_policy_is_missing_from_the_catalogue():
    library = {
        name
        for name, kind in Policy.kinds.items()
        if issubclass(kind, (IndexPolicy, EliminationPolicy)) and kind.__module__.startswith("sharpe_bandits.")
    }
    assert library == set(BY_CLASS)
    for name, instances in BY_CLASS.items():
        assert instances, name
        assert {type(policy).__name__ for policy in instances} == {name}


def test_every_form_is_in_the_catalogue():
    """Every formula that an index policy of the library can play is played here."""
    forms = {(p.form, type(p).__name__) for p in EVERY_POLICY if hasattr(p, "form")}
    assert forms == {
        ("printed", "ModifiedMVTS"),
        ("repaired", "ModifiedMVTS"),
        ("authors", "ModifiedMVTS"),
        ("printed", "ModifiedGRAUCB"),
        ("authors", "ModifiedGRAUCB"),
    }
    widths = {(p.undefined_width, type(p).__name__) for p in EVERY_POLICY if hasattr(p, "undefined_width")}
    assert widths == {(c, n) for c in ("infinite", "printed") for n in ("UCBRSSR", "UCBSRLike")}


@every_policy
def test_without_a_name_it_has_its_title(policy):
    unnamed = sb.from_dict({**policy.to_dict(), "name": ""})
    assert unnamed.name == ("Greedy Sharpe" if type(policy).__name__ == "CustomPolicy" else type(policy).title)


@every_policy
def test_only_randomised_policies_hang_on_the_seed(policy):
    """The tape pays the same whatever the seed: only a policy with randomness of its own may differ."""
    tape = PolicyContract().tape(policy)
    others = [sb.trace(policy, tape, horizon=tape.length, seed=s).choices.tolist() for s in range(4)]
    assert (len(set(map(tuple, others))) > 1) == (type(policy).__name__ in RANDOMISED)


@every_policy
def test_the_smallest_horizon(policy):
    if isinstance(policy, EliminationPolicy):
        needed = policy.least_budget(K)
    else:
        needed = K * PILOTS.get(type(policy).__name__, 2)
    assert PolicyContract().least(policy) == needed
    with pytest.raises(sb.errors.BudgetTooSmallError, match=f"at least {needed} for {K} arms.*got {needed - 1}"):
        sb.simulate(policy, PolicyContract().tape(policy), horizon=needed - 1, runs=2)


@every_policy
def test_an_index_policy_plays_to_the_horizon(policy):
    tape = PolicyContract().tape(policy)
    played = len(sb.trace(policy, tape, horizon=tape.length))
    assert played == tape.length if isinstance(policy, IndexPolicy) else played <= tape.length


@every_policy
def test_its_objective_is_a_known_one(policy):
    goal = policy.objective
    if type(policy).__name__ == "CustomPolicy":
        assert goal is None
    else:
        assert type(goal).__name__ in type(goal).kinds
