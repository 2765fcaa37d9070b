"""Verdicts on claims, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from ..metrics import Estimate
from ..theory.bound import Judgement

#: Confidence level of the intervals by which claims are judged.
CONFIDENCE = 0.99
HOLDS: Final = "holds"
FAILS: Final = "fails"
UNDECIDED: Final = "undecided"


@dataclass(frozen=True)
class Evidence:
    """One comparison: the difference (left minus right) with its interval; the claim is that it is below zero."""

    check: str
    left: float
    right: float
    difference: Estimate
    verdict: Judgement


@dataclass(frozen=True)
class Verdict:
    """A claim judged under a profile."""

    id: str
    panel: str
    profile: Literal["paper", "authors", ""]
    says: str
    verdict: Judgement
    evidence: tuple[Evidence, ...]
    why: str = ""

    @property
    def decisive(self) -> Evidence | None:
        """The decisive comparison: the one that supports the claim least."""
        return max(self.evidence, key=lambda e: _rank(e.verdict) * 1e9 + _standardised(e.difference), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for claims.json."""
        decisive = self.decisive
        return {
            "id": self.id,
            "panel": self.panel,
            "profile": self.profile,
            "claim": self.says,
            "verdict": self.verdict,
            "difference": None if decisive is None else decisive.difference.mean,
            "interval": None if decisive is None else [decisive.difference.low, decisive.difference.high],
            "confidence": CONFIDENCE,
            "evidence": [
                {
                    "check": e.check,
                    "left": e.left,
                    "right": e.right,
                    "difference": e.difference.mean,
                    "se": e.difference.se,
                    "interval": [e.difference.low, e.difference.high],
                    "verdict": e.verdict,
                }
                for e in self.evidence
            ],
            "why": self.why if self.verdict == FAILS else "",
        }


def together(verdicts: list[Judgement]) -> Judgement:
    """A claim holds if all its parts hold, and fails if any of them fails."""
    if FAILS in verdicts:
        return FAILS
    return UNDECIDED if UNDECIDED in verdicts else HOLDS


def _rank(verdict: Judgement) -> int:
    return (HOLDS, UNDECIDED, FAILS).index(verdict)


def _standardised(difference: Estimate) -> float:
    return difference.mean / difference.se if difference.se > 0 else float(np.sign(difference.mean))
