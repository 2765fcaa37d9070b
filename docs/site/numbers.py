"""Make the numbers of the documentation anew, and show what moved: ``make docs-numbers``.

    python docs/site/numbers.py [--page scale-free.md] [--quick]

``numbers.toml`` beside this file names pages and commands. Every row that a command prints is looked up on its page,
by its first cell and its heading; numbers that differ are shown, and rows that the page lacks. The status is 1 if a
number moved that does not depend on the machine.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
#: --quick leaves out what takes longer, in minutes.
QUICK = 5
NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
Row = tuple[str, tuple[str, ...], tuple[str, ...]]


def rows(text: str) -> Iterator[Row]:
    """Rows of the tables in a text, Markdown or drawn: heading of their table, cells in words, cells."""
    heading: tuple[str, ...] = ()
    lines = [_cells(line) for line in text.splitlines()]
    for found, following in zip(lines, [*lines[1:], ()], strict=True):
        if _rule(following):
            heading = found
        elif len(found) > 1 and not _rule(found) and any(NUMBER.search(cell) for cell in found[1:]):
            yield found[0], heading, found


def _cells(line: str) -> tuple[str, ...]:
    markdown = line.lstrip().startswith("|")
    cells = line.strip().strip("|").split("|") if markdown else re.split(r" {2,}", line.strip())
    return tuple(cell.strip().replace("`", "") for cell in cells)


def _rule(cells: tuple[str, ...]) -> bool:
    return bool(cells) and all(cell and set(cell) <= set("-:─━┄ ") for cell in cells) and any(len(c) > 2 for c in cells)


def key(row: Row) -> tuple[Any, ...]:
    """What names a row: its first cells that hold no number, and the first cell at any rate."""
    first, heading, cells = row
    return first, tuple(cell for cell in cells[1:] if not NUMBER.search(cell)), len(cells), heading


def differences(page: str, printed: str, ignored: tuple[str, ...] = ()) -> tuple[list[str], int]:
    """What moved between two texts, a line each, and how many rows were found in both."""
    known: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows(page):
        known.setdefault(key(row), []).append(row)
    moved, compared = [], 0
    for row in rows(printed):
        candidates = known.get(key(row), [])
        if not candidates:  # the page may word a heading otherwise, or leave out the last columns
            candidates = [r for r in rows(page) if r[0] == row[0] and 1 < len(r[2]) <= len(row[2])]
            if candidates:
                most = max(len(r[2]) for r in candidates)
                candidates = [r for r in candidates if len(r[2]) == most]
                row = (row[0], row[1], row[2][:most])
        if not candidates:
            moved.append(f"  not on the page: {' | '.join(row[2])}")
            continue
        compared += 1
        skip = {i for i, name in enumerate(row[1]) if name in ignored}
        judged = [[cell for i, cell in enumerate(r[2]) if i not in skip] for r in (row, *candidates)]
        numbers = [[n.replace("−", "-") for cell in cells for n in NUMBER.findall(cell)] for cells in judged]
        if numbers[0] not in numbers[1:]:
            old = min(candidates, key=lambda r: sum(a != b for a, b in zip(r[2], row[2], strict=False)))
            moved.append(f"  was {' | '.join(old[2])}\n  now {' | '.join(row[2])}")
    return moved, compared


def run(command: str) -> str:
    """What a command prints, with the Python and the programs of this environment."""
    with tempfile.TemporaryDirectory() as scratch:
        words = shlex.split(command.format(scratch=scratch))
        if words[0] == "python":
            words[0] = sys.executable
        elif words[0] == "sharpe-bandits":
            words = [sys.executable, "-m", "sharpe_bandits", *words[1:]]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; gives the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--page", help="only the tables of this page")
    parser.add_argument("--quick", action="store_true", help=f"only what takes at most {QUICK} minutes")
    options = parser.parse_args(arguments)
    tables = tomllib.loads((DOCS / "site" / "numbers.toml").read_text("utf-8"))["table"]
    status = 0
    for table in tables:
        if options.page and Path(table["page"]).name != options.page:
            continue
        if options.quick and table["minutes"] > QUICK:
            print(f"{table['page']}: left out (--quick): {table['command']}, {table['minutes']} minutes")
            continue
        page = (DOCS / table["page"]).read_text("utf-8")
        began = time.monotonic()
        printed = run(table["command"])
        moved, compared = differences(page, printed, tuple(table.get("not_judged", ())))
        judged = table.get("judged", True)
        said = "moved" if judged else "other, as times may be"
        print(f"{table['page']}: {table['command']} ({time.monotonic() - began:.0f} s)")
        print(f"  {compared} rows compared, {len(moved)} {said}", *moved, sep="\n", flush=True)
        if not compared and not judged:
            print(*(f"  {line}" for line in printed.splitlines()[-60:]), sep="\n", flush=True)
        elif (moved and judged) or not compared:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
