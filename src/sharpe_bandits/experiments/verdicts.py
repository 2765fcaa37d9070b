"""Verdicts on claims, with their evidence."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

import numpy as np

from .._support.plain_data import finite_or_none
from ..results.metrics import Estimate
from ..theory.bound import Judgement

#: Confidence level of the intervals by which claims are judged.
CONFIDENCE = 0.99
HOLDS: Final = "holds"
FAILS: Final = "fails"
UNDECIDED: Final = "undecided"
#: The verdict on bounds that say nothing: probabilities of 1 or more.
VACUOUS: Final = "vacuous"
Word = Judgement | Literal["vacuous"]
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

    @property
    def standardised(self) -> float:
        """The difference in standard errors."""
        mean, se = self.difference.mean, self.difference.se
        return mean / se if se > 0 else float(np.sign(mean))


@dataclass(frozen=True)
class UnderReading:
    """A claim judged under another reading: the name of the reading, what is read how, and the verdict."""

    reading: str
    condition: str
    verdict: Word
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class Verdict:
    """A claim judged under a profile."""

    id: str  # such as R3.1
    panel: str
    profile: Literal["paper", "authors", ""]
    says: str  # the claim in this setting
    verdict: Word
    evidence: tuple[Evidence, ...] = ()  # the comparisons that decide; none if it is exact
    why: str = ""  # why it fails
    source: Source = EXPERIMENTS
    readings: tuple[UnderReading, ...] = ()  # verdicts under the other readings of the text that concern it
    statement: str = ""  # what it says in general: the same for all panels that test it
    important: bool = False  # whether summaries name the statement

    @property
    def dependence(self) -> str:
        """The other readings with another verdict, as text; empty if there are none."""
        names: dict[str, list[str]] = {}
        for other in self.readings:
            if other.verdict != self.verdict:
                names.setdefault(other.verdict, []).append(other.reading)
        return "; ".join(f"{_PREDICATES[word]} with {' / '.join(names[word])}" for word in _PREDICATES if word in names)

    @property
    def decisive(self) -> Evidence | None:
        """The decisive comparison: the one that supports the claim least."""
        order = (HOLDS, UNDECIDED, FAILS)
        return max(self.evidence, key=lambda e: (order.index(e.verdict), e.standardised), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for claims.json; numbers that are not finite are None."""
        return finite_or_none({**asdict(self), "dependence": self.dependence, "confidence": CONFIDENCE})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Verdict:
        """The verdict that :meth:`to_dict` wrote."""
        fields = {name: value for name, value in data.items() if name not in ("dependence", "confidence")}
        readings = tuple(
            UnderReading(**{**other, "evidence": _read(other["evidence"])}) for other in fields["readings"]
        )
        return cls(**{**fields, "evidence": _read(fields["evidence"]), "readings": readings})


def _read(evidence: list[dict[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(**{**_numbers(e), "difference": Estimate(**_numbers(e["difference"]))}) for e in evidence)


def _numbers(data: dict[str, Any]) -> dict[str, Any]:
    unknown = {"low": -math.inf, "high": math.inf}
    return {name: unknown.get(name, math.nan) if value is None else value for name, value in data.items()}


def together(verdicts: list[Judgement]) -> Judgement:
    """A claim holds if all its parts hold, and fails if any of them fails."""
    if FAILS in verdicts:
        return FAILS
    return UNDECIDED if UNDECIDED in verdicts else HOLDS
