"""Verdicts counted and ordered by statement: a statement that several panels test is one."""

from __future__ import annotations

from dataclasses import dataclass

from .verdicts import FAILS, HOLDS, SOURCES, UNDECIDED, VACUOUS, Source, Verdict

#: How many verdicts there are of a kind, in words: singular, plural.
_WORDS = {
    HOLDS: ("holds", "hold"),
    FAILS: ("fails", "fail"),
    UNDECIDED: ("is undecided", "are undecided"),
    VACUOUS: ("is vacuous", "are vacuous"),
}


@dataclass(frozen=True)
class Statement:
    """A distinct statement, and the verdicts on it, by panel and profile."""

    source: Source
    text: str
    verdicts: tuple[Verdict, ...]

    def under(self, profile: str) -> list[Verdict]:
        """The verdicts under a profile."""
        return [verdict for verdict in self.verdicts if verdict.profile == profile]

    @property
    def dependent(self) -> list[Verdict]:
        """The verdicts that depend on how the text is read."""
        return [verdict for verdict in self.verdicts if verdict.depends]


def statements(verdicts: list[Verdict]) -> dict[Source, list[Statement]]:
    """The distinct statements of each source, in the order of their verdicts."""
    by_source: dict[Source, list[Statement]] = {}
    for source in SOURCES:
        own = [verdict for verdict in verdicts if verdict.source == source]
        texts = dict.fromkeys(verdict.statement for verdict in own)
        if texts:
            by_source[source] = [
                Statement(source, text, tuple(v for v in own if v.statement == text)) for text in texts
            ]
    return by_source


def counted(words: list[str]) -> str:
    """How many claims hold, fail, are undecided or vacuous, as text."""
    shown = [word for word in _WORDS if word != VACUOUS or word in words]
    counts = [f"{words.count(word)} {_WORDS[word][words.count(word) != 1]}" for word in shown]
    return f"{len(words)} {'claim' if len(words) == 1 else 'claims'} judged: {', '.join(counts)}"


def summary(verdicts: list[Verdict]) -> list[str]:
    """A line per source: its distinct statements, the verdicts, and how many depend on how the text is read."""
    lines = []
    for source, stated in statements(verdicts).items():
        own = [verdict for statement in stated for verdict in statement.verdicts]
        depend = sum(verdict.depends for verdict in own)
        number = f"{len(stated)} distinct statement{'s' if len(stated) != 1 else ''}"
        reading = f"; {depend} of them depend{'s' if depend == 1 else ''} on how the text is read" if depend else ""
        lines.append(f"{source}: {number}, {counted([verdict.verdict for verdict in own])}{reading}")
    return lines
