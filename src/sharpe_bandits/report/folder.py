"""Results on disk for readers: data, figures and a page, for panels or for a single study."""

from __future__ import annotations

from pathlib import Path

from .._support.files import write_all, write_atomically
from .._support.versions import versions
from ..charts.render_matplotlib import pictures
from ..results.study import Study, tidy
from .page import Content, Section, page


def report(study: Study, folder: Path) -> Path:
    """Write the study's data, figures and page; return the path of the page."""
    figure, summary = study.figure(), study.summary()
    summary.text = f"Ranked by {study.metric}, with 95% intervals; differences from the best are paired."
    section = Section("study", [study], study.rows(), pictures(figure), title=figure.title)
    facts = {"runs": study.runs, "seed": study.settings["seed"]}
    return write(Content(", ".join(study), figure.title, [section], summary=summary, facts=facts), folder)


def write(content: Content, folder: Path) -> Path:
    """Write a report: ``data``, ``figures`` and ``report.html``; return the path of the latter."""
    for id, sections in content.groups.items():
        if not any(section.rows for section in sections):
            continue  # a figure of several panels
        table = tidy([row for section in sections for row in section.rows])
        write_all(folder / "data", {f"{id}.csv": table.to_csv(), f"{id}.parquet": table.to_parquet()})
    for section in content.sections:
        files = {f"{section.key}.{kind}": picture for kind, picture in section.pictures.items()}
        write_all(folder / "figures", files)
    content.facts = {**content.facts, **{f"version of {name}": word for name, word in versions().items()}}
    write_atomically(folder / "report.html", page(content).encode())
    return folder / "report.html"
