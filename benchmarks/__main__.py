"""Run the benchmark: ``python -m benchmarks`` or ``python -m benchmarks --quick``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import c_loop, report, settings
from .goals import goals_of

HERE = Path(__file__).parent


def main(arguments: list[str] | None = None, sizes: settings.Sizes | None = None) -> int:
    """Measure, print what was found, and (unless quick) write RESULTS.md and the figure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the project and the C loop alone; writes nothing")
    parser.add_argument("--no-peers", action="store_true", help="leave out the other libraries")
    parser.add_argument("--output", type=Path, default=HERE, help="folder to write to (default: this package's)")
    asked = parser.parse_args(arguments)
    if c_loop.compiler() is None:
        print("the benchmark needs a C compiler (gcc or cc) on the path, or named by CC", file=sys.stderr)
        return 2
    from . import measure

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    if asked.quick:
        print(report.ratios(measure.quick(sizes or settings.QUICK, say)))
        return 0
    found = measure.everything(sizes or settings.FULL, not asked.no_peers, say)
    from . import figure

    asked.output.mkdir(parents=True, exist_ok=True)
    figure.draw(found, asked.output)
    (asked.output / "RESULTS.md").write_text(report.results(found), "utf-8")
    for goal in goals_of(found):
        print(f"{goal.what}: {report.number(goal.measured)} {goal.unit}, {goal.verdict}")
    return 0


if __name__ == "__main__":
    from sharpe_bandits.simulation.families import index

    index.MIN_ROUNDS_TO_COMPILE = 0  # what is timed are the faster kernels, which are on disk after some use
    sys.exit(main())
