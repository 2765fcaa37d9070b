"""Runs a set of panels from start to finish and writes a folder: data, figures, verdicts, manifest and report.

The folder also holds the state of the job: after an interruption at any moment, the same command resumes it and ends
with the same files. A different seed or setting in the same folder is refused.
"""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from .._support.files import from_json, to_json, write_atomically
from .._support.names import shorten
from .._support.versions import sources, versions
from ..charts.description import Figure
from ..charts.render_matplotlib import pictures
from ..charts.tidy_rows import points
from ..errors import InvalidInputError
from ..paper import claims, theory_check
from ..report.document import check_libraries
from ..report.page import Section, page, write
from ..simulation.executors import backend_for, cores
from ..simulation.machines import machine, processor
from .panel import Job, Panel, PanelResult, run_panels
from .store import ChunkStore
from .verdicts import Verdict

_SETTINGS = "settings.json"
#: The panels of the paper's Fig. 4a.
HALVING = ("V1", "V2", "V3", "V4", "V5")


@dataclass(frozen=True)
class Reproduction:
    """The results of a job: what its report shows, verdicts, and the seconds that it took."""

    sections: list[Section]
    verdicts: list[Verdict]
    seconds: float


def run_job(
    job: Job, out: Path, workers: int | None = None, stream: TextIO | None = None, executor: Any = None
) -> Reproduction:
    """Simulate, measure, judge, draw and write, with a number of threads or an executor (see :func:`simulate`);
    progress is shown on a stream.
    """
    started = time.perf_counter()
    backend, store = backend_for(workers, executor), ChunkStore(out / "chunks")
    check_libraries()
    for panel in job.panels:
        panel.specs(job.runs, job.seed)  # raises if its results do not fit into memory
    settings = {
        "kind": "sharpe-bandits reproduction", "panels": [panel.key for panel in job.panels], "runs": job.runs,
        "seed": job.seed, "description": job.description, "versions": versions(), "sources": sources(),
    }  # fmt: skip
    _claim_folder(settings, out)
    results = run_panels(job.panels, job.runs, job.seed, backend, store, stream)
    simulated = time.perf_counter() - started
    if stream is not None:
        stream.write(f"simulated in {simulated:.1f} s; measuring, drawing and writing\n")
    theory = theory_check.examine(results, job.runs, job.seed)
    verdicts = [verdict for result in results for verdict in claims.judge(result)] + theory.verdicts
    order = [panel.id for panel in job.panels]
    # by panel; claims of the paper first, then those of theory
    verdicts.sort(key=lambda v: (order.index(v.panel), not (what := v.id.split(".")[-1]).isdigit(), what))
    sections = _sections(results)
    html = page(job.title, job.introduction, sections, verdicts, theory.tables, runs=job.runs, seed=job.seed)
    write(sections, html, out)
    write_atomically(out / "claims.json", to_json([v.to_dict() for v in verdicts]))
    seconds = {"simulated": round(simulated, 2), "total": round(time.perf_counter() - started, 2)}
    here = {"system": platform.platform(), "processor": processor(), "cores": cores(), backend.unit: backend.workers}
    manifest = {**settings, "machine": here, "computed on": backend.machines or [machine()], "seconds": seconds}
    write_atomically(out / "manifest.json", to_json(manifest))
    return Reproduction(sections, verdicts, seconds["total"])


def _sections(results: list[PanelResult]) -> list[Section]:
    """What the report shows; the experiments with SHVV have one figure, the paper's Fig. 4a, if all were run."""
    sections = [Section(result.panel, result.studies, result.rows(), {}) for result in results]
    ids = [section.panel.id for section in sections]
    joint = HALVING if {*HALVING} <= {*ids} else ()
    for result, section in zip(results, sections, strict=True):
        if section.panel.id not in joint:
            section.pictures = pictures(result.figure(section.rows))
    if joint:
        title = "Five experiments with SHVV in one figure, Fig. 4a"
        panel = Panel("Fig4a", "", title, "", "", "error", (), 0)
        figure = _halving_figure([section for section in sections if section.panel.id in joint])
        sections.insert(min(map(ids.index, joint)), Section(panel, [], [], pictures(figure)))
    return sections


def _halving_figure(sections: list[Section]) -> Figure:
    """The errors of SHVV in its five experiments."""
    rows = []
    for section in sections:
        policy = f"{section.panel.id}: {section.panel.title}"
        rows += [{**row, "policy": policy} for row in section.rows if row["metric"] == "error"]
    studies = sections[0].studies
    caption = f"The five experiments with SHVV, the paper's Fig. 4a. {studies[0].runs:,} runs; 95% intervals"
    return points(rows, studies, "error", caption, "The error of SHVV as K grows")


def _claim_folder(settings: dict[str, Any], out: Path) -> None:
    """Claim a new folder, or one in which a job with the same settings was started."""
    path, mine = out / _SETTINGS, to_json(settings)
    if not path.exists():
        return write_atomically(path, mine)
    theirs = from_json(path.read_bytes(), str(path), constants=True)
    difference = _difference("", theirs, from_json(mine, "settings", constants=True))
    if difference is not None:
        name, before, now = difference
        raise InvalidInputError(
            f"{out} was started with other settings: {name or 'all'} was {shorten(repr(before), 80)}, now it is "
            f"{shorten(repr(now), 80)}; repeat the earlier command to resume it, or choose another --out"
        )


def _difference(name: str, before: Any, now: Any) -> tuple[str, Any, Any] | None:
    """The first setting that differs: its name (``versions.numpy``) and its two values."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return None if before == now else (name, before, now)
    inner = (_difference(f"{name}.{k}" if name else k, before.get(k), now.get(k)) for k in {**now, **before})
    return next((difference for difference in inner if difference is not None), None)
