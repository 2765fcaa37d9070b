"""``sharpe-bandits panels``, ``policies``, ``arms`` and ``objectives``: what there is, as tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from ..._support import console
from ...arms.base import Arm
from ...experiments import catalogue
from ...objectives import Objective
from ...paper.panels import panels
from ...policies.base import Policy
from ..parser import output

_BASES: dict[str, Any] = {"policies": Policy, "arms": Arm, "objectives": Objective}


def add(parser: argparse.ArgumentParser) -> None:
    """Set what the command lists: what it is called."""
    name = parser.prog.split()[-1]
    parser.set_defaults(do=list_panels if name == "panels" else list_kinds, what=name)


def list_panels(options: argparse.Namespace) -> None:
    """Print the paper's experiments."""
    heads = ("panel", "profile", "title", "compares", "K", "L", "horizon", "arms")
    rows = [
        (
            panel.id, panel.profile, panel.title, panel.compares, _several(c.environment.K for c in panel.cases),
            _several(f"{c.L:.3g}" for c in panel.cases if c.L is not None), _several(c.horizon for c in panel.cases),
            _several(c.environment.arm_kinds for c in panel.cases),
        )
        for panel in panels()
    ]  # fmt: skip
    _show_rows(options, heads, rows)


def list_kinds(options: argparse.Namespace) -> None:
    """Print the policies, arms or objectives that an experiment file can name."""
    cited = options.what == "policies"
    heads = ("kind", "parameters", "description", *(["citation"] if cited else []))
    kinds = catalogue.kinds(_BASES[options.what])
    rows = [
        (name, catalogue.signature(kind), catalogue.summary(kind), *([catalogue.citation(kind)] if cited else []))
        for name, kind in kinds.items()
    ]
    notes = []
    if cited:
        stopping = " and ".join(name for name, kind in kinds.items() if kind.stops_itself)
        notes = [
            "Every policy takes name; index policies take pilot_fraction or pilot_pulls.",
            f"{stopping} have a fixed confidence: for sb.identify and live agents, not experiment files.",
        ]
    if options.what == "arms":
        notes = ["Uniform also takes mean and variance. Lists make one arm per value; repeat = n makes n arms."]
    _show_rows(options, heads, rows, *notes)


def _show_rows(options: argparse.Namespace, heads: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> None:
    table = console.table(*heads)
    for row in rows:
        table.add_row(*map(console.escape, row))
    output(options, [dict(zip(heads, row, strict=True)) for row in rows], table, *notes)


def _several(values: Iterable[object]) -> str:
    return ", ".join(dict.fromkeys(map(str, values)))
