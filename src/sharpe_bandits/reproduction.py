"""Runs a set of panels from beginning to end and leaves a folder: data, figures, verdicts, manifest and report.

The folder is also the memory of the job: interrupted at any moment, the same command goes on where it stood and ends
with the same files. Another seed or setting in the same folder is refused.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import figures
from .errors import InvalidInput, SharpeBanditsError
from .experiments import tidy
from .experiments.panel import Finished, Panel
from .experiments.runner import Progress, run_panels
from .experiments.store import ChunkStore, digest, write_whole
from .paper import claims, theory_check
from .paper.claims import Verdict
from .report.page import Content, check_plotly, page
from .results import versions
from .simulation import cores

_SETTINGS = "settings.json"
_KIND = "sharpe-bandits reproduction"


@dataclass(frozen=True)
class Job:
    """What is to be done.

    Attributes
    ----------
    title, lead : of the report
    panels : what is simulated
    runs, seed : how often, from which seed
    description : anything else that the results depend on, as plain data (a user's experiment file)
    theory : whether bounds, growth and coverage are looked at
    """

    title: str
    lead: str
    panels: list[Panel]
    runs: int
    seed: int
    description: Any = None
    theory: bool = True

    def settings(self) -> dict[str, Any]:
        """Everything that the files of the folder are a function of, as plain data."""
        return {
            "kind": _KIND,
            "panels": [panel.key for panel in self.panels],
            "runs": self.runs,
            "seed": self.seed,
            "description": self.description,
            "versions": versions(),
            "sources": _sources(),
            "cases": _cases(self),
        }


def carry_out(
    job: Job,
    out: Path,
    workers: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = print,
) -> list[Verdict]:
    """Simulate, measure, judge, draw and write; gives the verdicts."""
    started = time.perf_counter()
    figures.pyplot()  # a missing library is reported before the work, not after it
    check_plotly()
    _claim_folder(job, out)
    finished = run_panels(job.panels, job.runs, job.seed, workers or cores(), ChunkStore(out / "chunks"), progress)
    simulated = time.perf_counter() - started
    say(f"simulated in {simulated:.1f} s; measuring, drawing and writing")
    rows = {f.panel.key: tidy.rows(f, job.seed) for f in finished}
    verdicts = [verdict for f in finished for verdict in claims.judge(f, job.seed)]
    tables = []
    if job.theory:
        findings = theory_check.examine(finished, job.runs, job.seed)
        for key, extra in findings.rows.items():
            rows[key] += extra
        verdicts += findings.verdicts
        tables = findings.tables
    verdicts.sort(key=lambda v: _order(v, job.panels))
    _write_data(finished, rows, out)
    for f in finished:
        for kind, picture in figures.render(figures.draw(f, rows[f.panel.key])).items():
            write_whole(out / "figures" / f"{f.panel.key}.{kind}", picture)
    write_whole(out / "claims.json", _json([v.to_dict() for v in verdicts]))
    facts = {"runs": job.runs, "seed": job.seed, **{f"version of {k}": v for k, v in versions().items()}}
    content = Content(job.title, job.lead, finished, rows, verdicts, tables, facts)
    write_whole(out / "report.html", page(content).encode())
    write_whole(
        out / "manifest.json", _json(_manifest(job, finished, simulated, time.perf_counter() - started, workers))
    )
    return verdicts


def _cases(job: Job) -> str:
    """A digest of what is simulated and claimed, so that an edited panel does not go on in an old folder."""
    described = [
        [
            [digest(work) for _, work in panel.works(job.runs, job.seed)],
            [[case.label, case.objective.to_dict()] for case in panel.cases],
            [[claim.id, claim.says, claim.checks] for claim in panel.claims],
        ]
        for panel in job.panels
    ]
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]


def _sources() -> str:
    """A digest of the code that results are made by, so that two states of it never share a folder."""
    found = hashlib.sha256()
    root = Path(__file__).parent
    parts = [p for part in ("arms", "engine", "kernels", "policies") for p in (root / part).glob("*.py")]
    for path in sorted([*parts, root / "objectives.py", root / "call_tree.py"]):
        found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def _claim_folder(job: Job, out: Path) -> None:
    """Take a new folder, or one that this very job has begun."""
    path = out / _SETTINGS
    mine = json.loads(_json(job.settings()))
    try:
        theirs = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if (out / "manifest.json").exists():
            raise InvalidInput(f"{out} holds something else ({out / 'manifest.json'}); choose another --out") from None
        write_whole(path, _json(mine))
        return
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read ({error}); choose another --out or remove the folder") from None
    different = _difference("", theirs, mine)
    if different is not None:
        name, before, now = different
        raise InvalidInput(
            f"{out} was begun with other settings: {name or 'all'} was {_brief(before)}, now it is {_brief(now)}; "
            "repeat the earlier command to go on with it, or choose another --out"
        )


def _difference(name: str, before: Any, now: Any) -> tuple[str, Any, Any] | None:
    """The first setting that differs: its name (``versions.numpy``) and its two values."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return None if before == now else (name, before, now)
    inner = (_difference(f"{name}.{k}" if name else k, before.get(k), now.get(k)) for k in {**now, **before})
    return next((found for found in inner if found is not None), None)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(value)} in all)"


def _order(verdict: Verdict, panels: list[Panel]) -> tuple[int, bool, str]:
    """By panel; what the paper says of it first, then what theory says."""
    what = verdict.id.split(".")[-1]
    return [panel.id for panel in panels].index(verdict.panel), not what.isdigit(), what


def _write_data(finished: list[Finished], rows: dict[str, list[dict[str, Any]]], out: Path) -> None:
    for id in dict.fromkeys(f.panel.id for f in finished):
        table = [row for f in finished if f.panel.id == id for row in rows[f.panel.key]]
        write_whole(out / "data" / f"{id}.csv", tidy.as_csv(table))
        write_whole(out / "data" / f"{id}.parquet", tidy.as_parquet(table))


def _manifest(
    job: Job, finished: list[Finished], simulated: float, total: float, workers: int | None
) -> dict[str, Any]:
    return {
        **job.settings(),
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": cores(),
            "workers": workers or cores(),
        },
        "seconds": {
            "simulated": round(simulated, 2),
            "total": round(total, 2),
            "panels (added over workers)": {f.panel.key: round(f.seconds, 2) for f in finished},
        },
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _json(thing: Any) -> bytes:
    return (json.dumps(thing, indent=1, ensure_ascii=False, default=_plain) + "\n").encode()


def _plain(thing: Any) -> Any:
    if hasattr(thing, "tolist"):
        return thing.tolist()
    raise SharpeBanditsError(f"{thing!r} cannot be written as JSON")
