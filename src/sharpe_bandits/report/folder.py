"""Results on disk for readers: data, figures and a page, for panels or for a single study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..charts import draw
from ..experiments.panel import Panel, PanelResult
from ..files import write_atomically
from ..study import Study, tidy
from ..versions import versions
from .drawing import Drawing
from .page import Content, page
from .panels import panel_figure

#: The folder of figures within that of a report.
FIGURES = "figures"


def as_panel(study: Study) -> PanelResult:
    """The panel whose one case is this study."""
    rounds = f"{'at most ' if study.metric == 'stopping time' else ''}{study.horizon:,} rounds"
    title = f"{study.K} arms, {rounds}, {study.runs:,} runs, {study.objective!r}"
    return PanelResult(Panel("study", "", title, ", ".join(study), "", study.metric, (), 0), [study], 0.0)


def plot(study: Study, interactive: bool) -> Any:
    """The study's figure, drawn by matplotlib or plotly."""
    result = as_panel(study)
    return draw(panel_figure(result, result.rows()), interactive)


def report(study: Study, folder: Path) -> Path:
    """Write the study's data, figures and page; return the path of the page."""
    result = as_panel(study)
    facts = {"runs": study.runs, "seed": study.settings["seed"]}
    summary = study.summary()
    summary.text = f"Ranked by {study.metric}, with 95% intervals; differences from the best are paired."
    rows = {result.panel.key: result.rows()}
    content = Content(", ".join(study), result.panel.title, [result], rows, summary=summary, facts=facts)
    with Drawing(folder / FIGURES) as drawing:
        drawing.add(result.panel.key, panel_figure(result, rows[result.panel.key]))
    return write(content, folder)


def write(content: Content, folder: Path) -> Path:
    """Write a report except for its figures: ``data`` and ``report.html``; return the path of the latter."""
    for id in dict.fromkeys(result.panel.id for result in content.results):
        of_id = [result.panel.key for result in content.results if result.panel.id == id]
        table = tidy([row for key in of_id for row in content.rows[key]])
        write_atomically(folder / "data" / f"{id}.csv", table.to_csv())
        write_atomically(folder / "data" / f"{id}.parquet", table.to_parquet())
    made_with = {f"version of {name}": word for name, word in versions().items()}
    content.facts = {**content.facts, **made_with}
    write_atomically(folder / "report.html", page(content).encode())
    return folder / "report.html"
