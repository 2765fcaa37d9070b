"""How each kind of policy is simulated: one adapter per family, looked up by the policy's ``family``."""

from __future__ import annotations

from ...policies.base import Policy
from .base import Family
from .fixed_confidence import FixedConfidenceFamily
from .index import IndexFamily
from .phases import PhasesFamily

#: Adapters by name. A new family is a new file and a line here.
FAMILIES: dict[str, Family] = {
    "index": IndexFamily(),
    "phases": PhasesFamily(),
    "fixed confidence": FixedConfidenceFamily(),
}


def family_of(policy: Policy) -> Family:
    """The adapter of the family that a policy belongs to."""
    return FAMILIES[policy.family]
