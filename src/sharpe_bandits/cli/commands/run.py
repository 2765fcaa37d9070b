"""``sharpe-bandits run``: your own experiment, from a TOML file."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..._support.validation import whole
from ...experiments.files import name_of, read
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
    job = read(options.file, runs, seed)
    options.out = options.out or Path("out") / name_of(options.file)
    carry_out(job, options)
