"""What every policy is: an object with a name, which shows itself as it was made."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits.policies.custom import CustomPolicy
from tests.catalogue import EVERY_POLICY


@pytest.mark.parametrize("policy", [p for p in EVERY_POLICY if not isinstance(p, CustomPolicy)], ids=lambda p: p.name)
def test_a_policy_is_what_its_repr_says(policy):
    assert eval(repr(policy), vars(sb)) == policy
    assert "None" not in repr(policy)


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (sb.UCBVV(), "UCB-VV"),
        (sb.UCBSRLike(L=1.0), "UCB-SR-like"),
        (sb.UCBRSSR(L=1.0), "UCB-RSSR"),
        (sb.UUCB(epsilon0=1.0), "U-UCB"),
        (sb.GRAUCB(), "GRA-UCB"),
        (sb.ModifiedGRAUCB(L=1.0), "Modified-GRA-UCB"),
        (sb.MVTS(), "MVTS"),
        (sb.ModifiedMVTS(L=1.0), "Modified-MVTS"),
        (sb.SHVV(), "SHVV"),
        (sb.SHSR(L=1.0), "SHSR"),
        (sb.SuRSR(L=1.0), "SuRSR"),
    ],
)
def test_the_papers_policies_have_the_papers_names(policy, name):
    assert policy.name == name
