"""What one decision costs, live, in this library and in others: ``python -m benchmarks.ask_tell`` writes ASK_TELL.md.

Each library in an environment of its own, one after the other, three times; the best of each.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from .machine import description
from .peers import Peer, PeerFailed, environment, run

HERE = Path(__file__).parent
SCRIPT = HERE / "adapters" / "ask_tell.py"
#: What is measured, its name in the adapter, its package ("" for this library), rounds, and what it chooses by.
MEASURED = (
    ("sharpe-bandits, agent", "agent", "", 5_000, "UCB1"),
    ("sharpe-bandits, campaign on SQLite", "sharpe-bandits", "", 300,
     "UCB1; every decision and reward durable before it is acknowledged"),
    ("river", "river", "river", 20_000, "UCB"),
    ("mabwiser", "mabwiser", "mabwiser", 2_000, "UCB1"),
    ("coba", "coba", "coba", 5_000, "UCB1-tuned"),
    ("optuna, in memory", "optuna-memory", "optuna", 200, "TPE over one categorical parameter"),
    ("optuna on SQLite", "optuna-tpe", "optuna", 30, "the same, every trial durable"),
)  # fmt: skip


def _digits(x: float) -> str:
    """Three digits."""
    return f"{float(f'{x:.3g}'):,g}" if x < 1000 else f"{float(f'{x:.3g}'):,.0f}"


def main() -> None:
    """Measure all, write the page and print it."""
    rows = []
    for name, way, package, rounds, rule in MEASURED:
        try:
            python = environment(Peer(package, package, "")) if package else Path(sys.executable)
            with tempfile.TemporaryDirectory() as folder:
                command = [python, SCRIPT, way, Path(folder) / "store", "time", rounds]
                cost = json.loads(run(command, 600, "run"))
            version = cost["version"].partition("+")[0]
            rows.append(f"| {name} | {version} | {rule} | {_digits(cost['microseconds'])} |")
        except PeerFailed as error:
            rows.append(f"| {name} | | {rule} | {error} |")
        print(rows[-1], flush=True)
    page = [
        "# What one decision costs, live\n",
        "Made by `python -m benchmarks.ask_tell`; do not edit. Ten Bernoulli arms; ask for an arm, tell its reward, "
        "again and again, through the interface that each library has for that; the best of three. Open Bandit "
        "Pipeline 0.5.5 does not install beside Python 3.11 (it pins PyYAML 5.4, which does not build), and the "
        "`gbstats` 0.8.0 of GrowthBook has no bandits.\n",
        *(f"- {name}: {value}" for name, value in description().items()),
        "",
        "| library | version | chooses by | µs per decision |",
        "|---|---|---|---:|",
        *rows,
    ]
    (HERE / "ASK_TELL.md").write_text("\n".join(page) + "\n", "utf-8")


if __name__ == "__main__":
    main()
