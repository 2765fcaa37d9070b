"""What every policy is: an object with a name, which shows itself as it was made."""

import pytest

import sharpe_bandits as sb
from sharpe_bandits.policies.base import Policy
from sharpe_bandits.policies.custom import CustomPolicy
from tests.catalogue import EVERY_POLICY


@pytest.mark.parametrize("policy", [p for p in EVERY_POLICY if not isinstance(p, CustomPolicy)], ids=lambda p: p.name)
def test_a_policy_is_what_its_repr_says(policy):
    assert eval(repr(policy), {**vars(sb.policies), **vars(sb.objectives)}) == policy
    assert "None" not in repr(policy)


#: Words of class names, as tables and figures write them.
SHORT = {"ScaleFree": "SF", "SlidingWindow": "SWSF", "Discounted": "DSF", "NormalGamma": "NG",
         "SuccessiveAcceptsRejects": "SAR"}  # fmt: skip


def test_a_policy_has_one_name_in_code_tables_and_figures():
    """The class is the title without hyphens and spaces, or with a word written out."""
    for name, kind in Policy.kinds.items():
        if kind.title != "custom":
            short = name
            for word, letters in SHORT.items():
                short = short.replace(word, letters)
            title = "".join(c for c in kind.title if c.isalnum() and c.isascii())
            assert title.lower() == short.lower(), (name, kind.title)
