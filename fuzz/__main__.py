"""``python -m fuzz``: attack for some minutes, or repeat one case."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from pathlib import Path

from .driver import attack, campaign
from .targets import TARGETS

#: Where inputs that broke something are kept; the tests run them.
CASES = Path(__file__).parents[1] / "tests" / "fuzz_cases"


def main() -> int:
    """Run the command line; the exit status is 1 if anything broke."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--target", choices=sorted(TARGETS), action="append", help="all of them by default")
    parser.add_argument("--minutes", type=float, default=2.0, help="for all targets together")
    parser.add_argument("--cases", type=int, help="per target, instead of minutes")
    parser.add_argument("--first", type=int, help="number of the first case; random by default")
    parser.add_argument("--seed", type=int, help="repeat this one case of a --target")
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    if options.seed is not None:
        crashes = [crash for name in names if (crash := attack(TARGETS[name](), options.seed)) is not None]
        print(*crashes or ["nothing broke"], sep="\n\n")
        return bool(crashes)
    first = secrets.randbelow(2**40) if options.first is None else options.first
    seconds = None if options.cases else 60 * options.minutes / len(names)
    broken = 0
    for name in names:
        started, number = time.monotonic(), 0
        print(f"{name}: cases from {first}", flush=True)
        for crash in campaign(TARGETS[name](), first, options.cases, seconds):
            number += 1
            kept = crash.keep(CASES)
            where = (
                f"kept as {kept}" if kept else f"add the line '{name} {crash.seed}' to {CASES / 'seeds.txt'} to keep it"
            )
            print(f"\n{crash}\n{where}\n", flush=True)
        broken += number
        print(f"{name}: {number} broke, {time.monotonic() - started:.0f} s", flush=True)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
