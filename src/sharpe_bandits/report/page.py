"""The report of a reproduction: scorecard first, then every panel with its curves, its numbers and its verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..charts.tidy_rows import Rows
from ..display import Table
from ..experiments.panel import PanelResult
from ..names import repeats_counted
from ..paper import scorecard
from ..paper.claims import EXPERIMENTS, FAILS, HOLDS, UNDECIDED, VACUOUS, Verdict
from .document import document
from .panels import halving_figure, panel_figure


@dataclass
class Content:
    """The content of a report.

    Attributes
    ----------
    title, lead : str
        heading and introduction
    results, rows : list[PanelResult] and dict[str, Rows]
        panels and their tidy tables, by key
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
    results: list[PanelResult]
    rows: dict[str, Rows]
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    summary: Table | None = None
    facts: dict[str, Any] = field(default_factory=dict)


def page(content: Content) -> str:
    """The whole page."""
    verdicts = content.verdicts
    profiles = list(dict.fromkeys(v.profile for v in verdicts))
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in content.results:
        groups.setdefault(result.panel.id, []).append(_panel(result, content))
    failed = [v for v in verdicts if v.verdict == FAILS]
    experiments = [v for v in verdicts if v.source == EXPERIMENTS]
    of_paper = experiments or verdicts
    figures = {result.panel.key: panel_figure(result, content.rows[result.panel.key]) for result in content.results}
    together = halving_figure(content.results, content.rows)
    if together is not None:
        figures["Fig4a"] = together
    return document(
        "report.html",
        figures,
        title=content.title,
        lead=content.lead,
        links=_links(content, list(groups)),
        verdicts=verdicts,
        profiles=profiles,
        words=(HOLDS, FAILS, UNDECIDED, VACUOUS),
        tally=[
            (name, word, sum(v.verdict == name for v in of_paper))
            for name, word in ((HOLDS, "hold"), (FAILS, "fail"), (UNDECIDED, UNDECIDED))
        ],
        tallied="claims about the paper's experiments" if experiments else "claims",
        counts=scorecard.summary(verdicts),
        scorecard=scorecard.statements(verdicts),
        failures=[_failure(why, failed) for why in dict.fromkeys(v.why for v in failed)],
        groups=list(groups.items()),
        tables=content.tables,
        summary=content.summary,
        settings=content.facts,
        anchor=lambda v: f"{v.panel}-{v.profile}" if v.panel else v.id,
    )


def _links(content: Content, ids: list[str]) -> list[tuple[str, str]]:
    links = [("Scorecard", "scorecard")] if content.verdicts else []
    links += [("Summary", "summary")] if content.summary else [(id, f"panel-{id}") for id in ids]
    links += [("Theory", "theory")] if content.tables else []
    return [*links, ("Methods", "made")]


def _failure(why: str, failed: list[Verdict]) -> tuple[str, list[Verdict], list[str]]:
    same = [v for v in failed if v.why == why]
    return why, same, list(dict.fromkeys(v.says for v in same))


def _panel(result: PanelResult, content: Content) -> dict[str, Any]:
    """What the page shows of a panel besides its charts."""
    panel = result.panel
    return {
        "id": panel.id, "key": panel.key, "profile": panel.profile, "title": panel.title, "compares": panel.compares,
        "note": panel.note, "metric": panel.metric, "axis": result.axis,
        # a user's file may be called "data" or "scorecard"
        "anchor": panel.key if panel.profile else f"own-{panel.key}",
        "verdicts": [v for v in content.verdicts if (v.panel, v.profile) == (panel.id, panel.profile)],
        "last": [row for row in content.rows[panel.key] if row["t"] == row["horizon"]],
        "settings": [
            (study.label, ", ".join(repeats_counted(study.arms_in_words())), "; ".join(study.policies_in_words()))
            for study in result.studies
        ],
    }  # fmt: skip
