"""The report of a reproduction: scorecard first, then every panel with its curves, its numbers and its verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._support.display import Table
from .._support.names import repeats_counted
from ..charts.tidy_rows import Rows
from ..experiments import scorecard
from ..experiments.verdicts import EXPERIMENTS, FAILS, HOLDS, UNDECIDED, VACUOUS, Verdict
from ..results.study import Study
from .document import document


@dataclass
class Section:
    """A panel or a study in a report.

    Attributes
    ----------
    id : str
        name of its data files; sections of one panel under several profiles share it
    studies : list[Study]
        its cases
    rows : Rows
        its tidy table
    pictures : dict[str, bytes]
        its figure, as SVG and PNG
    profile, title, compares, note : str, optional
        descriptive text
    """

    id: str
    studies: list[Study]
    rows: Rows
    pictures: dict[str, bytes]
    profile: str = ""
    title: str = ""
    compares: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        """Name of its figures."""
        return f"{self.id}-{self.profile}" if self.profile else self.id

    @property
    def anchor(self) -> str:
        """Its link target; a user's file may be called "data" or "scorecard"."""
        return self.key if self.profile else f"own-{self.key}"

    @property
    def last(self) -> Rows:
        """Its rows at the horizon."""
        return [row for row in self.rows if row["t"] == row["horizon"]]

    @property
    def settings(self) -> list[tuple[str, str, str]]:
        """Label, arms and policies of every case."""
        return [
            (study.label, ", ".join(repeats_counted(study.arms_in_words())), "; ".join(study.policies_in_words()))
            for study in self.studies
        ]


@dataclass
class Content:
    """The content of a report.

    Attributes
    ----------
    title, lead : str
        heading and introduction
    sections : list[Section]
        panels, or a study
    verdicts : list[Verdict], optional
        on all claims
    tables : list[Table], optional
        of theory against measurement
    summary : Table | None, optional
        of the study, if the report is about a single study
    facts : dict[str, Any], optional
        settings and versions, shown at the end
    """

    title: str
    lead: str
    sections: list[Section]
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    summary: Table | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def groups(self) -> dict[str, list[Section]]:
        """Sections by id."""
        groups: dict[str, list[Section]] = {}
        for section in self.sections:
            groups.setdefault(section.id, []).append(section)
        return groups


def page(content: Content) -> str:
    """The whole page."""
    verdicts = content.verdicts
    profiles = list(dict.fromkeys(v.profile for v in verdicts))
    failed = [v for v in verdicts if v.verdict == FAILS]
    experiments = [v for v in verdicts if v.source == EXPERIMENTS]
    return document(
        "report.html",
        title=content.title,
        lead=content.lead,
        links=_links(content),
        verdicts=verdicts,
        profiles=profiles,
        words=(HOLDS, FAILS, UNDECIDED, VACUOUS),
        tally=[
            (name, word, sum(v.verdict == name for v in experiments or verdicts))
            for name, word in ((HOLDS, "hold"), (FAILS, "fail"), (UNDECIDED, UNDECIDED))
        ],
        tallied="claims about the paper's experiments" if experiments else "claims",
        counts=scorecard.summary(verdicts),
        scorecard=scorecard.statements(verdicts),
        failures=[_failure(why, failed) for why in dict.fromkeys(v.why for v in failed)],
        groups=list(content.groups.items()),
        judged=lambda section: [v for v in verdicts if (v.panel, v.profile) == (section.id, section.profile)],
        tables=content.tables,
        summary=content.summary,
        settings=content.facts,
        anchor=lambda v: f"{v.panel}-{v.profile}" if v.panel else v.id,
    )


def _links(content: Content) -> list[tuple[str, str]]:
    links = [("Scorecard", "scorecard")] if content.verdicts else []
    links += [("Summary", "summary")] if content.summary else [(id, f"panel-{id}") for id in content.groups]
    links += [("Theory", "theory")] if content.tables else []
    return [*links, ("Methods", "made")]


def _failure(why: str, failed: list[Verdict]) -> tuple[str, list[Verdict], list[str]]:
    same = [v for v in failed if v.why == why]
    return why, same, list(dict.fromkeys(v.says for v in same))
