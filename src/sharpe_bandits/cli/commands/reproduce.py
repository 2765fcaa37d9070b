"""``sharpe-bandits reproduce``, ``run`` and ``verdicts``: the paper's experiments, or your own, and what they found."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import TextWrapper
from typing import Any

from ..._support import console
from ..._support.validation import whole
from ...errors import SharpeBanditsError, unknown
from ...experiments import reproduction
from ...experiments.files import name_of, read
from ...experiments.panel import Job
from ...experiments.reproduction import Reproduction
from ...experiments.verdicts import CONFIDENCE, Verdict, conclusion, load, statements
from ...paper.panels import panels, sources
from ..parser import output
from . import cluster

QUICK_RUNS, FULL_RUNS = 200, 10_000
_COLOURS = {"holds": "green", "fails": "red"}


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("panels", nargs="*", metavar="panel", help="such as R3 B1; all by default")
    parser.add_argument("--profile", choices=("paper", "authors"), help="only this profile; both by default")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs instead of {FULL_RUNS:,}")
    parser.add_argument("--runs", type=int, help="number of runs")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers")
    parser.add_argument("--out", type=Path, default=Path("out/paper"), help="folder for the results (out/paper)")
    cluster.add(parser)
    parser.set_defaults(do=_reproduce, resumes=True)


def _reproduce(options: argparse.Namespace) -> None:
    usual = QUICK_RUNS if options.quick else FULL_RUNS
    runs = usual if options.runs is None else whole("--runs", options.runs, 2)
    selection = panels(options.panels, options.profile)
    if not selection:
        raise SharpeBanditsError(f"none of these panels exists in the {options.profile} profile")
    if all(panel.beyond or "others" in sources(panel) for panel in selection):
        titles = dict.fromkeys(panel.title for panel in selection)
        title = f"Panels {', '.join(dict.fromkeys(panel.id for panel in selection))}"
        about = f"{'; '.join(titles)}: every experiment with {runs:,} runs. No claim of the Sharpe paper is judged."
    else:
        title = "Does the paper reproduce?"
        about = (
            "“Optimizing Sharpe Ratio: Risk-Adjusted Decision-Making in Multi-Armed Bandits” (Khurshid, Abdulla and "
            f"Ghatak), every experiment with {runs:,} runs. The text that is judged is the source of arXiv:2406.06552; "
            "the article in Machine Learning (2025) differs from it in places. The paper profile is the printed text, "
            "with decisions where it leaves something open; the authors profile is the MATLAB code that the authors "
            "released. Where another reading of the text changes a verdict, the verdict says so."
        )
    _carry_out(Job(title, about, selection, runs, whole("--seed", options.seed, 0, 2**64 - 1)), options)


def add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the experiment file")
    parser.add_argument("--runs", type=int, help="override the file's value")
    parser.add_argument("--seed", type=int, help="override the file's value")
    parser.add_argument("--out", type=Path, help="folder for the results (out/ and the file's name)")
    cluster.add(parser)
    parser.set_defaults(do=_run, resumes=True)


def _run(options: argparse.Namespace) -> None:
    runs = None if options.runs is None else whole("--runs", options.runs, 2)
    seed = None if options.seed is None else whole("--seed", options.seed, 0)
    job = read(options.file, runs, seed)
    options.out = options.out or Path("out") / name_of(options.file)
    _carry_out(job, options)


def _carry_out(job: Job, options: argparse.Namespace) -> None:
    """Run a job and print its results."""
    with cluster.workers(options) as who:
        done = reproduction.run_job(job, options.out, stream=sys.stderr, **who)
    rows = [row for section in done.sections for row in section.rows]
    report = f"Report: {options.out / 'report.html'}"
    if done.verdicts:
        report = f"{report} (as a table: sharpe-bandits verdicts {options.out})"
    shown = _conclusion(job, done) if done.verdicts else _tables(done)
    output(options, [verdict.to_dict() for verdict in done.verdicts] or rows, *shown, report)


def _conclusion(job: Job, done: Reproduction) -> list[str]:
    count, *named = conclusion(done.verdicts)
    most = "at most " if any((panel.max_runs or job.runs) < job.runs for panel in job.panels) else ""
    played = f"{len(job.panels)} panel{'s' * (len(job.panels) != 1)}, {most}{job.runs:,} runs each"
    ran = f"{played}, {done.seconds:.0f} s. {count}"
    return [line for paragraph in (ran, *named) for line in _wrapped(paragraph)]


def _wrapped(paragraph: str) -> list[str]:
    return TextWrapper(80, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False).wrap(paragraph)


def _tables(done: Reproduction) -> Iterator[Any]:
    for section in done.sections:
        panel = section.panel
        title = f"{panel.title} ({panel.profile} profile)" if panel.profile else panel.title
        table = console.table("case", "policy", panel.metric, "s.e.", "95% interval", title=console.escape(title))
        for row in section.last:
            if row["metric"] == panel.metric:
                interval = f"[{row['low']:.4g}, {row['high']:.4g}]"
                cells = (row["case"], row["policy"], f"{row['mean']:.4g}", f"{row['se']:.2g}", interval)
                table.add_row(*map(console.escape, cells))
        yield table


def add_verdicts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="folder of sharpe-bandits reproduce, such as out/paper")
    parser.add_argument(
        "claims", nargs="*", default=[], metavar="claim", help="such as R3 or R3.1: with its numbers and readings"
    )
    parser.set_defaults(do=_show_verdicts)


def _show_verdicts(options: argparse.Namespace) -> None:
    verdicts = load(options.folder)
    if options.claims:
        wanted = {claim.lower() for claim in options.claims}
        for claim in options.claims:
            if not any(claim.lower() in (verdict.id.lower(), verdict.panel.lower()) for verdict in verdicts):
                panel = claim.partition(".")[0].lower()
                ids = [verdict.id for verdict in verdicts if verdict.panel.lower() == panel]
                raise unknown("claim", claim, dict.fromkeys(ids or [verdict.panel for verdict in verdicts]))
        selection = [verdict for verdict in verdicts if {verdict.id.lower(), verdict.panel.lower()} & wanted]
        lines = [line for verdict in selection for line in _claim(verdict)]
        note = f"differences are left minus right, with {CONFIDENCE:.0%} intervals"
        output(options, [verdict.to_dict() for verdict in selection], *lines, note)
        return
    tables, by_source = [], statements(verdicts)
    for source, stated in by_source.items():
        table = console.table("verdict", "statement", "where", title=f"{source[0].upper()}{source[1:]}")
        for statement in stated:
            word, text = statement.verdict, console.escape(statement.text)
            star = " *" if statement.dependent else ""
            table.add_row(f"[{_COLOURS.get(word, 'yellow')}]{word}[/]{star}", text, console.escape(statement.where))
        tables.append(table)
    notes = _wrapped(conclusion(verdicts)[0])
    if dependent := next((verdict.id for verdict in verdicts if verdict.dependence), None):
        command = f"sharpe-bandits verdicts {options.folder} {dependent}"
        notes = [f"* depends on how the text is read; {command} shows how", *notes]
    output(options, [one.to_dict() for stated in by_source.values() for one in stated], *tables, *notes)


def _claim(verdict: Verdict) -> list[str]:
    """A claim with its comparisons, and its verdict under each reading."""
    lines = [f"{verdict.id} ({verdict.profile}) {verdict.verdict}: {verdict.says}"]
    for evidence in verdict.evidence:
        interval = f"{evidence.difference.mean:.4g} [{evidence.difference.low:.4g}, {evidence.difference.high:.4g}]"
        lines.append(f"    {evidence.left:.4g} and {evidence.right:.4g}, difference {interval}: {evidence.check}")
    lines += [f"    {verdict.why}"] if verdict.why and verdict.verdict != "holds" else []
    lines += [f"    {other.verdict} with {other.reading}: {other.condition}" for other in verdict.readings]
    return lines
