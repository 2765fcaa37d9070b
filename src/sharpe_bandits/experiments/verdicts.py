"""Verdicts on claims, with their evidence; by statement, one that several panels test is one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from .._support.files import from_json
from .._support.plain_data import finite_or_none
from ..errors import InvalidInputError
from ..results.metrics import Estimate
from ..theory.bound import Judgement

#: Confidence level of the intervals by which claims are judged.
CONFIDENCE = 0.99
#: The verdict on a claim; on bounds that say nothing, which are probabilities of 1 or more: vacuous.
Word = Judgement | Literal["vacuous"]
#: Whose claim it is.
Source = Literal["the paper's experiments", "the paper's theory", "other papers", "ours"]
SOURCES: dict[str, Source] = dict(zip(("experiments", "theory", "others", "ours"), get_args(Source), strict=True))
#: Verdicts on a statement, which may hold in some settings only, in words: singular and plural.
WORDS = {
    "holds": ("holds", "hold"),
    "partly": ("holds in part", "hold in part"),
    "fails": ("fails", "fail"),
    "undecided": ("needs more runs", "need more runs"),
    "vacuous": ("says nothing", "say nothing"),
}


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
    """A claim judged under another reading."""

    reading: str  # its name
    condition: str  # what is read how
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
    source: Source = "the paper's experiments"
    readings: tuple[UnderReading, ...] = ()  # verdicts under the other readings of the text that concern it
    statement: str = ""  # what it says in general: the same for all panels that test it
    important: bool = False  # whether summaries name the statement

    @property
    def dependence(self) -> str:
        """The other readings with another verdict, as text; empty if there are none."""
        parts = []
        for word in WORDS:
            names = [other.reading for other in self.readings if word == other.verdict != self.verdict]
            predicate = word if word in ("holds", "fails") else f"is {word}"
            parts += [f"{predicate} with {' / '.join(names)}"] if names else []
        return "; ".join(parts)

    @property
    def decisive(self) -> Evidence | None:
        """The decisive comparison: the one that supports the claim least."""
        order = ("holds", "undecided", "fails")
        return max(self.evidence, key=lambda e: (order.index(e.verdict), e.standardised), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for claims.json; numbers that are not finite are None."""
        return finite_or_none({**asdict(self), "dependence": self.dependence, "confidence": CONFIDENCE})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Verdict:
        """The verdict that :meth:`to_dict` wrote."""
        unknown = {"low": -math.inf, "high": math.inf}

        def numbers(table: dict[str, Any]) -> dict[str, Any]:
            return {key: unknown.get(key, math.nan) if value is None else value for key, value in table.items()}

        def evidence(table: dict[str, Any]) -> tuple[Evidence, ...]:
            tables = ({**numbers(e), "difference": Estimate(**numbers(e["difference"]))} for e in table["evidence"])
            return tuple(Evidence(**of_one) for of_one in tables)

        fields = {name: value for name, value in data.items() if name not in ("dependence", "confidence")}
        readings = tuple(UnderReading(**{**other, "evidence": evidence(other)}) for other in fields["readings"])
        return cls(**{**fields, "evidence": evidence(fields), "readings": readings})


def together(verdicts: list[Judgement]) -> Judgement:
    """A claim holds if all its parts hold, and fails if any of them fails."""
    return "fails" if "fails" in verdicts else "undecided" if "undecided" in verdicts else "holds"


@dataclass(frozen=True)
class Statement:
    """A distinct statement, and the verdicts on it, by panel and profile."""

    source: Source
    text: str
    verdicts: tuple[Verdict, ...]

    @property
    def verdict(self) -> str:
        """Holds or fails in all settings that decide, partly, undecided, or vacuous in all settings."""
        words = {verdict.verdict for verdict in self.verdicts}
        if words == {"vacuous"}:
            return "vacuous"
        if {"holds", "fails"} <= words:
            return "partly"
        return together([word for word in words if word != "vacuous"])

    @property
    def prefix(self) -> str:
        return WORDS[self.verdict][0].capitalize()

    @property
    def important(self) -> bool:
        return self.verdicts[0].important

    @property
    def count(self) -> str:
        """In how many settings it holds, or fails: ``Fails in 9 of 14``."""
        word = "holds" if self.verdict == "partly" else self.verdict
        number = sum(verdict.verdict == word for verdict in self.verdicts)
        text = WORDS[word][0].capitalize()
        return text if number == len(self.verdicts) else f"{text} in {number} of {len(self.verdicts)}"

    @property
    def settings(self) -> dict[str, str]:
        """Where it holds, fails, is undecided or vacuous: ``{"holds": "R1, R2 (paper)"}``."""
        by_word = {word: [v for v in self.verdicts if v.verdict == word] for word in WORDS}
        return {word: places(own, self.verdicts) for word, own in by_word.items() if own}

    @property
    def where(self) -> str:
        """The settings as text: ``holds in R1; fails in R2 (paper)``."""
        if len(self.settings) == 1:
            return next(iter(self.settings.values()))
        words = {"vacuous": "says nothing"}
        return "; ".join(f"{words.get(word, word)} in {where}" for word, where in self.settings.items())

    @property
    def dependent(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.dependence]

    @property
    def certainty(self) -> str:
        """How sure the least certain of the decided verdicts is."""
        decided = [v.decisive for v in self.verdicts if v.verdict in ("holds", "fails")]
        measured = [abs(e.standardised) for e in decided if e is not None and e.difference.se > 0]
        if not measured:
            return "exact" if decided and not any(decided) else "–"
        return f"{min(measured):.1f} s.e. or more" if min(measured) < 100 else "100 s.e. or more"

    def to_dict(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("source", "verdict", "settings", "certainty")}
        dependence = {f"{v.id} ({v.profile})": v.dependence for v in self.dependent}
        return {"statement": self.text, **values, "dependence": dependence}


def places(verdicts: Iterable[Verdict], of: Iterable[Verdict]) -> str:
    """The panels of some verdicts as text, with their profile if ``of``, all verdicts, has the other one, too."""
    profiles: dict[str, set[str]] = defaultdict(set)
    for verdict in verdicts:
        profiles[verdict.panel].add(verdict.profile)
    every = {panel: {v.profile for v in of if v.panel == panel} for panel in profiles}
    return ", ".join(
        panel if own == every[panel] else f"{panel} ({', '.join(sorted(own))})" for panel, own in profiles.items()
    )


def statements(verdicts: Iterable[Verdict]) -> dict[Source, list[Statement]]:
    """The distinct statements of each source, in the order of their verdicts."""
    by_text: dict[tuple[Source, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_text[verdict.source, verdict.statement or verdict.says].append(verdict)
    every = [Statement(source, text, tuple(own)) for (source, text), own in by_text.items()]
    return {source: own for source in SOURCES.values() if (own := [s for s in every if s.source == source])}


def conclusion(verdicts: Iterable[Verdict]) -> list[str]:
    """The answer in a few lines: how many statements of the paper hold, and the most important ones."""
    every = [s for own in statements(verdicts).values() for s in own]
    of_paper = [s for s in every if s.source.startswith("the paper")]
    stated = of_paper or every
    counts = {word: sum(s.verdict == word for s in stated) for word in WORDS}
    parts = ", ".join(f"{count} {WORDS[word][count > 1]}" for word, count in counts.items() if count)
    depend = sum(bool(s.dependent) for s in stated)
    reading = f"; {depend} depend{'s' if depend == 1 else ''} on how the text is read" if depend else ""
    total = f"{len(stated)} statement{'s' if len(stated) > 1 else ''}{' of the paper' if of_paper else ''}"
    named = [s for s in stated if s.important] or stated[:4]
    return [f"{total}: {parts}{reading}.", *(f"{s.count}: {s.text}" for s in named)]


def load(folder: Path) -> list[Verdict]:
    """The verdicts in the folder of a reproduction."""
    path = folder / "claims.json"
    try:
        return [Verdict.from_dict(data) for data in from_json(path.read_bytes(), str(path))]
    except FileNotFoundError:
        raise InvalidInputError(f"there is no {path}; run sharpe-bandits reproduce --out {folder}") from None
    except (KeyError, TypeError):
        raise InvalidInputError(f"{path} is not of this version; run sharpe-bandits reproduce again") from None
