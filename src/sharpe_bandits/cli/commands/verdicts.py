"""``sharpe-bandits verdicts``: what a reproduction found, statement by statement or claim by claim."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..._support import console
from ...errors import unknown
from ...experiments.verdicts import CONFIDENCE, Verdict, conclusion, load, statements
from ..parser import output

_COLOURS = {"holds": "green", "fails": "red"}


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="folder of sharpe-bandits reproduce, such as out/paper")
    parser.add_argument("claims", nargs="*", metavar="claim", help="such as R3 or R3.1: with its numbers and readings")
    parser.set_defaults(do=show)


def show(options: argparse.Namespace) -> None:
    """Print the verdicts in a folder."""
    verdicts = load(options.folder)
    if options.claims:
        selection = [verdict for verdict in verdicts if {verdict.id, verdict.panel} & set(options.claims)]
        if not selection:
            panels = {claim.partition(".")[0] for claim in options.claims}
            ids = [verdict.id for verdict in verdicts if verdict.panel in panels] or [v.panel for v in verdicts]
            raise unknown("claim", " or ".join(options.claims), dict.fromkeys(ids))
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
    notes = conclusion(verdicts)[:1]
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
