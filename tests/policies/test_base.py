"""What every policy is: an object with a name, which shows itself as it was made."""

import dataclasses
import math

import numpy as np
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


def test_plainly_annotated_parameters_are_checked_and_a_second_decorator_does_no_harm():
    @dataclasses.dataclass(frozen=True)
    class _Decorated(sb.policies.UCB1):
        """Upper confidence bounds of another width."""

        width: float
        steps: int = 3

        title = "decorated"

    policy = _Decorated(np.float32(1.5), steps=np.int64(4))
    assert (policy.width, policy.steps, type(policy.steps)) == (1.5, 4, int)
    assert policy == _Decorated(1.5, steps=4) != _Decorated(2.0, steps=4)
    for name in ("width", "name", "unknown"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(policy, name, 2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del policy.width
    for width in ("1", math.nan, None, True):
        with pytest.raises(sb.errors.InvalidInputError, match=f"width must be a finite number, got {width!r}"):
            _Decorated(width)
    with pytest.raises(sb.errors.InvalidInputError, match=r"steps must be a whole number, got 2\.5"):
        _Decorated(1.0, steps=2.5)
