"""``sharpe-bandits policies``, ``arms`` and ``objectives``: what an experiment file can name, as tables."""

from __future__ import annotations

import argparse
from typing import Any

from ..._support import console
from ...arms.base import Arm
from ...experiments import catalogue
from ...objectives import Objective
from ...policies.base import Policy
from ..parser import output

_BASES: dict[str, Any] = {"policies": Policy, "arms": Arm, "objectives": Objective}


def add(parser: argparse.ArgumentParser) -> None:
    """Set what the command lists: what it is called."""
    parser.set_defaults(do=show, what=parser.prog.split()[-1])


def show(options: argparse.Namespace) -> None:
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
    table = console.table(*heads)
    for row in rows:
        table.add_row(*map(console.escape, row))
    output(options, [dict(zip(heads, row, strict=True)) for row in rows], table, *notes)
