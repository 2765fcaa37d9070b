"""Is this version as fast as another one? ``python -m benchmarks.versions COMMIT`` times both, turn by turn.

Each version runs in a process of its own. The cases are played alternately, and the median of the ratios of
neighbouring timings is reported: what slows the machine down slows both. Results are compared bit for bit as well.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sharpe_bandits as sb

ROOT = Path(__file__).resolve().parents[1]


def _bandit(arms: int) -> sb.Bandit:
    return sb.Bandit([sb.Uniform(0, 1 + k / arms) for k in range(arms)])


def _normals(arms: int) -> sb.Bandit:
    return sb.Bandit([sb.Normal(k / arms, variance=1.0) for k in range(arms)])


def _arrays(result: Any) -> list[np.ndarray]:
    """What runs ended with, by the names of any version."""
    arrays = getattr(result, "outcome", result)
    return [arrays.final if hasattr(arrays, "final") else arrays.pulls, arrays.recommended]


def _simulated(policy: Any, bandit: sb.Bandit, horizon: int, runs: int) -> Callable[[], list[np.ndarray]]:
    def play() -> list[np.ndarray]:
        result = sb.simulate(policy, bandit, horizon=horizon, runs=runs, seed=7, workers=1, progress=False)[policy.name]
        return _arrays(result)

    return play


def _identified(policy: Any, bandit: sb.Bandit, runs: int) -> Callable[[], list[np.ndarray]]:
    def play() -> list[np.ndarray]:
        result: Any = sb.identify(policy, bandit, runs=runs, seed=7, workers=1)
        return _arrays(result[policy.name] if hasattr(result, "keys") else result)

    return play


@sb.index_policy(name="Greedy Sharpe")
def greedy(arm, t, L):  # type: ignore[no-untyped-def]
    """A user's own formula."""
    return arm.mean**2 / (L + arm.variance)


def cases() -> dict[str, Callable[[], list[np.ndarray]]]:
    """What is timed: every kernel, on the arms it is used on."""
    return {
        "lazy: UCB-RSSR, 2 arms": _simulated(sb.UCBRSSR(L=0.5), _bandit(2), 10_000, 1000),
        "lazy: UCB-RSSR, 10 arms": _simulated(sb.UCBRSSR(L=0.5), _bandit(10), 10_000, 1000),
        "lazy: UCB-RSSR, 64 arms": _simulated(sb.UCBRSSR(L=0.5), _bandit(64), 10_000, 300),
        "lazy: UCB1, 10 normal arms": _simulated(sb.policies.UCB1(), _normals(10), 10_000, 600),
        "side by side: SF-IMED, 10 arms": _simulated(sb.ScaleFreeIMED(L=0.5), _bandit(10), 10_000, 200),
        "reference: SF-IMED, one long run": _simulated(sb.ScaleFreeIMED(L=0.5), _bandit(10), 1_000_000, 1),
        "side by side: U-UCB, 10 arms": _simulated(sb.policies.UUCB(epsilon0=0.5), _bandit(10), 10_000, 200),
        "side by side: GRA-UCB, 10 arms": _simulated(sb.policies.GRAUCB(), _bandit(10), 10_000, 200),
        "side by side: Modified-MVTS, 10 arms": _simulated(sb.policies.ModifiedMVTS(L=1.0), _bandit(10), 10_000, 100),
        "side by side: a user's index, 10 arms": _simulated(greedy(L=1.0), _bandit(10), 10_000, 300),
        "side by side: SF-UCB, 10 arms": _simulated(sb.ScaleFreeUCB(L=0.5), _bandit(10), 10_000, 100),
        "reference: sliding window, 5 arms": _simulated(
            sb.policies.SlidingWindowUCB(L=0.5, window=500), _bandit(5), 10_000, 100
        ),
        "reference: discounted, 5 arms": _simulated(sb.policies.DiscountedUCB(L=0.5), _bandit(5), 10_000, 100),
        "phases: SHSR, 64 arms": _simulated(sb.SHSR(L=0.02), _bandit(64), 30_000, 2000),
        "phases: SuRSR, 16 arms": _simulated(sb.SuRSR(L=0.02), _bandit(16), 30_000, 2000),
        "phases: SAR for 4, 16 arms": _simulated(
            sb.policies.SuccessiveAcceptsRejects(sb.RSSR(L=0.02), m=4), _bandit(16), 30_000, 2000
        ),
        "fixed confidence: LUCB, 3 arms": _identified(
            sb.policies.LUCB(L=0.5), sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2), sb.Uniform(0, 3)]), 5000
        ),
    }


def _serve() -> None:
    """Answer the names of cases on standard input with seconds of processor time and a digest of the results."""
    known = cases()
    print("ready", flush=True)
    for line in sys.stdin:
        begin = time.process_time()
        arrays = known[line.rstrip("\n")]()
        seconds = time.process_time() - begin
        content = hashlib.sha256(b"".join(np.ascontiguousarray(a, np.int64).tobytes() for a in arrays)).hexdigest()
        print(json.dumps([seconds, content]), flush=True)


class Version:
    """A process that plays cases with the sources of one version."""

    def __init__(self, sources: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env={**os.environ, "PYTHONPATH": str(sources / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"the version in {sources} does not start; see the message above")

    def play(self, case: str) -> tuple[float, str]:
        """Seconds and digest of one case."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a version failed on {case!r}; see the message above")
        seconds, content = json.loads(line)
        return seconds, content


def compare(old: Path, new: Path, rounds: int) -> str:
    """A Markdown table: seconds of both versions, their ratio with its standard error, and whether results agree."""
    versions = Version(old), Version(new)
    names = list(cases())
    digests = {name: [version.play(name)[1] for version in versions] for name in names}  # compiles, too
    ratios: dict[str, list[float]] = {name: [] for name in names}
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for turn in range(rounds):
        for name in names:
            order = versions if turn % 2 == 0 else versions[::-1]
            times = {id(version): version.play(name)[0] for version in order}
            pair = times[id(versions[0])], times[id(versions[1])]
            seconds[name].append(pair)
            ratios[name].append(pair[1] / pair[0])
    rows = ["| kernel and policy | before, s | now, s | now / before | same results |", "|---|--:|--:|--:|---|"]
    for name in names:
        before, now = (statistics.median(side) for side in zip(*seconds[name], strict=True))
        ratio = statistics.median(ratios[name])
        # The standard error of a median of n values is about 1.25 standard deviations / sqrt(n); by quartiles.
        low, _, high = statistics.quantiles(ratios[name], n=4)
        error = 1.25 * (high - low) / 1.349 / len(ratios[name]) ** 0.5
        same = "yes" if len(set(digests[name])) == 1 else "no"
        rows.append(f"| {name} | {before:.4f} | {now:.4f} | {ratio:.3f} ± {error:.3f} | {same} |")
    return "\n".join(rows)


def main() -> None:
    """Compare a commit of this repository, or a folder with sources, with the sources beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a commit, or a folder that holds src/")
    parser.add_argument("--rounds", type=int, default=15, help="timings of each case and version (default: 15)")
    options = parser.parse_args()
    if Path(options.before, "src").is_dir():
        print(compare(Path(options.before), ROOT, options.rounds))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", options.before, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "x", "-C", folder], input=archive, check=True)
        print(compare(Path(folder), ROOT, options.rounds))


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
    else:
        main()
