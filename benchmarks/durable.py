"""Durable ask and tell, and what is left after ``kill -9``: ``python -m benchmarks.durable``.

Each way runs in processes of its own (see ``adapters/ask_tell.py``), other libraries in environments that are made on
first use. Printed for each: ask + tell in units of two bare commits, measured in turn in one process; how many of the
acknowledgements before ``kill -9`` at random moments are not there afterwards; and how many are lost when two processes
use it at once.
"""

from __future__ import annotations

import argparse
import json
import random
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .ask_tell import SCRIPT
from .peers import Peer, PeerFailed, environment, run

#: Seconds after which a process that has said nothing is called stuck.
STUCK = 60
_OPTUNA = Peer("optuna", "optuna", "")
#: The ways, and the library that each needs; None for this one.
WAYS: dict[str, Peer | None] = {
    "bare": None,
    "sharpe-bandits": None,
    "optuna": _OPTUNA,
    "mabwiser-pickle": Peer("mabwiser", "mabwiser", ""),
    "vizier": Peer("vizier", "google-vizier[jax]", "", beside=("jax<0.6", "jaxlib<0.6")),
    "optuna-journal": _OPTUNA,
}


def killed(python: str, which: str, path: Path, kills: int, processes: int) -> tuple[int, int]:
    """Acknowledgements of processes that are killed, and how many of them are not there afterwards."""
    acknowledged: dict[str, float | None] = {}
    count = 0
    for _ in range(kills):
        command = [python, str(SCRIPT), which, str(path), "run"]
        children = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for _ in range(processes)
        ]
        for child in children:
            assert child.stdout is not None
            ready = select.select([child.stdout], [], [], STUCK)[0]
            child.first = child.stdout.readline() if ready else ""  # type: ignore[attr-defined]
            if not child.first:  # type: ignore[attr-defined]
                for one in children:
                    one.kill()
                raise PeerFailed(f"says nothing for {STUCK} seconds" if not ready else "its process ends by itself")
        time.sleep(random.uniform(0.2, 0.8))
        for child in children:
            child.kill()
        for child in children:
            assert child.stdout is not None
            text = child.first + child.stdout.read()  # type: ignore[attr-defined]
            child.wait()
            for line in text.splitlines(keepends=True):
                words = line.split()
                if not line.endswith("\n") or not words or words[0] not in ("A", "T"):
                    continue
                count += 1
                acknowledged[words[1]] = float(words[2]) if words[0] == "T" else acknowledged.get(words[1])
    try:
        there = json.loads(run([python, SCRIPT, which, path, "check"], 180, "open it again"))
    except PeerFailed:  # it cannot be opened any more
        return count, count
    lost = sum(
        number not in there or (reward is not None and there[number] != reward)
        for number, reward in acknowledged.items()
    )
    return count, lost + count - _distinct(acknowledged, count)


def _distinct(acknowledged: dict[str, float | None], count: int) -> int:
    """How many acknowledgements were of different things: two workers that got the same number overwrote one another."""
    different = len(acknowledged) + sum(reward is not None for reward in acknowledged.values())
    return min(different, count)


def in_bare_commits(python: str, which: str, path: Path, pairs: int) -> str:
    """What an ask and a tell cost, in pairs of bare commits."""
    pair, bare = json.loads(run([python, SCRIPT, which, path, "ratio", pairs], 180, "run"))
    return f"{pair / bare:.2f}"


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.durable", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=WAYS, default=list(WAYS), help="some of the ways")
    parser.add_argument("--pairs", type=int, default=110)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    print(
        "| | ask + tell, in pairs of bare commits | killed: acknowledged, lost | two at once: acknowledged, lost |\n|---|---|---|---|"
    )
    for which in options.only:
        try:
            python = sys.executable if (peer := WAYS[which]) is None else str(environment(peer))
        except PeerFailed as error:
            print(f"| {which} | {error} | | |", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            cells = []
            for measure in (
                lambda: in_bare_commits(python, which, path / "time", options.pairs),  # noqa: B023
                lambda: "{:,}, {}".format(*killed(python, which, path / "killed", options.kills, 1)),  # noqa: B023
                lambda: "{:,}, {}".format(*killed(python, which, path / "both", 3, 2)),  # noqa: B023
            ):
                try:
                    cells.append(measure())
                except PeerFailed as error:
                    cells.append(str(error))
            print(f"| {which} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
