"""Verdicts on claims, with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np

from ..results.metrics import Estimate
from ..theory.bound import Judgement

#: Confidence level of the intervals by which claims are judged.
CONFIDENCE = 0.99
HOLDS: Final = "holds"
FAILS: Final = "fails"
UNDECIDED: Final = "undecided"
#: The verdict on bounds that say nothing: probabilities of 1 or more.
VACUOUS: Final = "vacuous"
#: Whose claim it is.
Source = Literal["the paper's experiments", "the paper's theory", "other papers", "ours"]
SOURCES: tuple[Source, ...] = get_args(Source)
EXPERIMENTS, THEORY, OTHERS, OURS = SOURCES
_PREDICATES = {HOLDS: "holds", FAILS: "fails", UNDECIDED: "is undecided", VACUOUS: "is vacuous"}


@dataclass(frozen=True)
class Evidence:
    """One comparison: the difference (left minus right) with its interval; the claim is that it is below zero."""

    check: str
    left: float
    right: float
    difference: Estimate
    verdict: Judgement


@dataclass(frozen=True)
class UnderReading:
    """A claim judged under another reading: its name, the clause that says what is read how, and the verdict."""

    reading: str
    condition: str
    verdict: Judgement | Literal["vacuous"]
    evidence: tuple[Evidence, ...]

    @property
    def decisive(self) -> Evidence | None:
        """The comparison that supports the claim least."""
        return _decisive(self.evidence)


@dataclass(frozen=True)
class Verdict:
    """A claim judged under a profile; ``readings``: under the other readings of the text that concern it."""

    id: str
    panel: str
    profile: Literal["paper", "authors", ""]
    says: str
    verdict: Judgement | Literal["vacuous"]
    evidence: tuple[Evidence, ...]
    why: str = ""
    source: Source = EXPERIMENTS
    readings: tuple[UnderReading, ...] = ()

    @property
    def statement(self) -> str:
        """The sentence without its horizon: the same for all panels that test it."""
        return self.says.split(", up to n = ")[0]

    @property
    def depends(self) -> bool:
        """Whether another reading of the text has another verdict."""
        return any(other.verdict != self.verdict for other in self.readings)

    @property
    def under_readings(self) -> str:
        """How the verdict depends on the reading of the text; empty if there is only one."""
        if not self.readings:
            return ""
        if not self.depends:
            return f"{_PREDICATES[self.verdict]} under every reading"
        conditions: dict[str, list[str]] = {self.verdict: ["read as here"]}
        for other in self.readings:
            conditions.setdefault(other.verdict, []).append(other.condition)
        order = sorted(conditions, key=[HOLDS, UNDECIDED, VACUOUS, FAILS].index)
        clauses = [
            f"{_PREDICATES[word]} {'only ' if word == HOLDS else ''}if {', or if '.join(conditions[word])}"
            for word in order
        ]
        return "; ".join(clauses)

    @property
    def decisive(self) -> Evidence | None:
        """The decisive comparison: the one that supports the claim least."""
        return _decisive(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for claims.json."""
        decisive = self.decisive
        return {
            "id": self.id,
            "panel": self.panel,
            "profile": self.profile,
            "claim": self.says,
            "source": self.source,
            "verdict": self.verdict,
            "under readings": self.under_readings,
            "readings": [
                {
                    "reading": other.reading,
                    "condition": other.condition,
                    "verdict": other.verdict,
                    "evidence": [_plain(e) for e in other.evidence],
                }
                for other in self.readings
            ],
            "difference": None if decisive is None else decisive.difference.mean,
            "interval": None if decisive is None else [decisive.difference.low, decisive.difference.high],
            "confidence": CONFIDENCE,
            "evidence": [_plain(e) for e in self.evidence],
            "why": self.why if self.verdict in (FAILS, VACUOUS) else "",
        }


def _plain(evidence: Evidence) -> dict[str, Any]:
    return {
        "check": evidence.check,
        "left": evidence.left,
        "right": evidence.right,
        "difference": evidence.difference.mean,
        "se": evidence.difference.se,
        "interval": [evidence.difference.low, evidence.difference.high],
        "verdict": evidence.verdict,
    }


def _decisive(evidence: tuple[Evidence, ...]) -> Evidence | None:
    return max(evidence, key=lambda e: _rank(e.verdict) * 1e9 + _standardised(e.difference), default=None)


def together(verdicts: list[Judgement]) -> Judgement:
    """A claim holds if all its parts hold, and fails if any of them fails."""
    if FAILS in verdicts:
        return FAILS
    return UNDECIDED if UNDECIDED in verdicts else HOLDS


def _rank(verdict: Judgement) -> int:
    return (HOLDS, UNDECIDED, FAILS).index(verdict)


def _standardised(difference: Estimate) -> float:
    return difference.mean / difference.se if difference.se > 0 else float(np.sign(difference.mean))
