"""The report of a study or a reproduction, on disk: data, figures and a page with the answer first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from .._support.display import Table, in_words
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
        return [
            (
                study.label,
                _arms(study.settings["bandit"]),
                "; ".join(in_words(result.policy) for result in study.values()),
            )
            for study in self.studies
        ]


def report(study: Study, folder: Path) -> Path:
    """Write the study's data, figures and page; return the path of the page."""
    figure = study.figure()
    panel = Panel("study", "", figure.title, "", "", study.metric, (), 0)
    sections = [Section(panel, [study], study.rows(), pictures(figure))]
    facts = {"runs": study.runs, "seed": study.settings["seed"]}
    return write(sections, page(", ".join(study), figure.title, sections, summary=study.summary(), **facts), folder)


def write(sections: Sequence[Section], html: str, folder: Path) -> Path:
    """Write a report: ``data``, ``figures`` and ``report.html``; return the path of the latter."""
    for id, of_panel in groupby(sections, lambda section: section.panel.id):
        if rows := [row for section in of_panel for row in section.rows]:  # none for a figure of several panels
            table = Table.of(rows)
            write_all(folder / "data", {f"{id}.csv": table.to_csv(), f"{id}.parquet": table.to_parquet()})
    for section in sections:
        files = {f"{section.panel.key}.{kind}": picture for kind, picture in section.pictures.items()}
        write_all(folder / "figures", files)
    write_atomically(folder / "report.html", html.encode())
    return folder / "report.html"


def page(
    title: str,
    introduction: str,
    sections: Sequence[Section],
    verdicts: Sequence[Verdict] = (),
    tables: Mapping[str, Table] | None = None,
    summary: Table | None = None,
    **facts: Any,
) -> str:
    """The whole page: panels with verdicts and tables of theory, or a study with its summary; facts and versions are
    shown at the end.
    """
    scorecard = statements(verdicts)
    content = {
        "answer": conclusion(verdicts)[0] if verdicts else "",
        "important": [statement for stated in scorecard.values() for statement in stated if statement.important],
        "reasons": _reasons,
        "readings": {other.reading: other.condition for verdict in verdicts for other in verdict.readings},
        "groups": [(id, list(of_panel)) for id, of_panel in groupby(sections, lambda section: section.panel.id)],
        "judged": lambda panel: [v for v in verdicts if (v.panel, v.profile) == (panel.id, panel.profile)],
        "tables": {
            name: replace(table, rows=[[_cell(value) for value in row] for row in table.rows])
            for name, table in (tables or {}).items()
        },
        "facts": {**facts, **{f"version of {name}": word for name, word in versions().items()}},
    }
    shown = {"title": title, "introduction": introduction, "verdicts": verdicts, "summary": summary}
    return document("report.html", scorecard=scorecard, **shown, **content)


def _reasons(statement: Statement) -> dict[str, str]:
    """Why a statement fails or says nothing, each reason with the panels it is about."""
    reasons: dict[str, list[Verdict]] = {}
    for verdict in statement.verdicts:
        if verdict.verdict in ("fails", "vacuous") and verdict.why:
            reasons.setdefault(verdict.why, []).append(verdict)
    return {places(own, statement.verdicts): why for why, own in reasons.items()}


def _arms(bandit: dict[str, Any]) -> str:
    """The arms of a bandit, or the bandit if it is not a fixed set of arms."""
    if bandit.get("bandit") != "Bandit":
        return in_words(bandit)
    return ", ".join(repeats_counted(in_words(arm, named=False) for arm in bandit["arms"]))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
