"""``sharpe-bandits run``: your own experiment, from a TOML file."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..._support.validation import whole
from ...experiments.files import read
from ...experiments.panel import CHECKPOINTS, Panel
from ...experiments.reproduction import Job
from . import cluster
from .reproduce import carry_out


def add(parser: argparse.ArgumentParser) -> None:
    """Add the file and the options."""
    parser.add_argument("file", type=Path, help="the experiment file")
    parser.add_argument("--runs", type=int, help="override the file's value")
    parser.add_argument("--seed", type=int, help="override the file's value")
    parser.add_argument("--out", type=Path, help="folder for the results (out/ and the file's name)")
    cluster.add(parser)
    parser.set_defaults(do=run, resumes=True)


def run(options: argparse.Namespace) -> None:
    """Run an experiment file."""
    runs = None if options.runs is None else whole("--runs", options.runs, 2)
    seed = None if options.seed is None else whole("--seed", options.seed, 0)
    experiment = read(options.file, runs, seed)
    compared = ", ".join(dict.fromkeys(p.name for case in experiment.cases for p in case.policies))
    # the stem of "...toml" is the folder above
    name = options.file.stem if options.file.stem.strip(". ") else "experiment"
    id = re.sub(r"[^\w.-]+", "-", name)  # used in the names of files and anchors
    panel = Panel(
        id, "", experiment.title, compared, "", experiment.metric, tuple(experiment.cases),
        experiment.description.get("checkpoints", CHECKPOINTS),
    )  # fmt: skip
    introduction = f"{compared}: {experiment.runs:,} runs, {len(experiment.cases)} case(s)."
    options.out = options.out or Path("out") / name
    job = Job(experiment.title, introduction, [panel], experiment.runs, experiment.seed, experiment.description)
    carry_out(job, options)
