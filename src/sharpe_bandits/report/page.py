"""The report of a study or a reproduction, on disk: data, figures and a page with the answer first."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._support.display import Table
from .._support.files import write_all, write_atomically
from .._support.names import repeats_counted
from .._support.versions import versions
from ..charts.render_matplotlib import pictures
from ..charts.tidy_rows import Rows
from ..experiments.panel import Panel
from ..experiments.verdicts import Statement, Verdict, conclusion, places, statements
from ..results.study import Study
from .document import document


@dataclass
class Section:
    """A panel in a report, or a study, with its cases, tidy table, and figure as SVG and PNG (empty if another section
    has it). Sections of one panel under several profiles share their data files.
    """

    panel: Panel
    studies: list[Study]
    rows: Rows
    pictures: dict[str, bytes]

    @property
    def anchor(self) -> str:
        """Its link target; a user's file may be called "data" or "scorecard"."""
        return self.panel.key if self.panel.profile else f"own-{self.panel.key}"

    @property
    def last(self) -> Rows:
        """Its rows at the horizon."""
        return [row for row in self.rows if row["t"] == row["horizon"]]

    @property
    def settings(self) -> list[tuple[str, str, str]]:
        """Label, arms and policies of every case."""
        arms = [", ".join(repeats_counted(study.arms_in_words())) for study in self.studies]
        policies = ["; ".join(study.policies_in_words()) for study in self.studies]
        return list(zip([study.label for study in self.studies], arms, policies, strict=True))


@dataclass
class Content:
    """The content of a report: panels with verdicts and tables of theory, or a study with its summary; and facts, the
    settings and versions shown at the end.
    """

    title: str
    introduction: str
    sections: list[Section]
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    summary: Table | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def groups(self) -> dict[str, list[Section]]:
        """Sections by the id of their panel."""
        groups: dict[str, list[Section]] = {}
        for section in self.sections:
            groups.setdefault(section.panel.id, []).append(section)
        return groups


def report(study: Study, folder: Path) -> Path:
    """Write the study's data, figures and page; return the path of the page."""
    figure, summary = study.figure(), study.summary()
    summary.text = f"Ranked by {study.metric}, with 95% intervals; differences from the best are paired."
    panel = Panel("study", "", figure.title, "", "", study.metric, (), 0)
    section = Section(panel, [study], study.rows(), pictures(figure))
    facts = {"runs": study.runs, "seed": study.settings["seed"]}
    return write(Content(", ".join(study), figure.title, [section], summary=summary, facts=facts), folder)


def write(content: Content, folder: Path) -> Path:
    """Write a report: ``data``, ``figures`` and ``report.html``; return the path of the latter."""
    for id, sections in content.groups.items():
        if rows := [row for section in sections for row in section.rows]:  # none for a figure of several panels
            table = Table.of(rows)
            write_all(folder / "data", {f"{id}.csv": table.to_csv(), f"{id}.parquet": table.to_parquet()})
    for section in content.sections:
        files = {f"{section.panel.key}.{kind}": picture for kind, picture in section.pictures.items()}
        write_all(folder / "figures", files)
    content.facts = {**content.facts, **{f"version of {name}": word for name, word in versions().items()}}
    write_atomically(folder / "report.html", page(content).encode())
    return folder / "report.html"


def page(content: Content) -> str:
    """The whole page."""
    verdicts = content.verdicts
    stated = [s for own in statements(verdicts).values() for s in own]
    told = {
        "answer": conclusion(verdicts)[0] if verdicts else "",
        "important": [statement for statement in stated if statement.important],
        "scorecard": statements(verdicts),
        "reasons": _reasons,
        "readings": {other.reading: other.condition for verdict in verdicts for other in verdict.readings},
        "groups": list(content.groups.items()),
        "judged": lambda panel: [v for v in verdicts if (v.panel, v.profile) == (panel.id, panel.profile)],
        "tables": [(table, [[_cell(value) for value in row] for row in table.rows]) for table in content.tables],
        "anchor": lambda v: f"{v.panel}-{v.profile}" if v.panel else v.id,
    }
    return document("report.html", **{**vars(content), **told})


def _reasons(statement: Statement) -> dict[str, str]:
    """Why a statement fails or says nothing, each reason with the panels it is about."""
    reasons: dict[str, list[Verdict]] = {}
    for verdict in statement.verdicts:
        if verdict.verdict in ("fails", "vacuous") and verdict.why:
            reasons.setdefault(verdict.why, []).append(verdict)
    return {places(own, statement.verdicts): why for why, own in reasons.items()}


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
