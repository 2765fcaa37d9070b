"""Tables on the screen, in one style."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

#: Column heads and rows, as text; the first column is words, the others numbers.
Cells = tuple[list[str], list[list[str]]]

T = TypeVar("T")

#: Width of output to a pipe or a file.
WIDTH = 160
#: How options are spelled in remarks: as Python does, or as the command line that sets this.
spelling: Callable[[str], str] = str


def cells(columns: Mapping[str, Callable[[T], str]], things: Iterable[T]) -> Cells:
    """A row of cells per thing: what each column, by its head, shows of it."""
    return [*columns], [[cell(thing) for cell in columns.values()] for thing in things]


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table."""
    from rich import box
    from rich.table import Table

    return Table(*columns, title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)


class Numbers:
    """A table of numbers, in several parts if the screen is too narrow: no number and no name is truncated."""

    def __init__(self, heads: list[str], rows: list[list[str]], title: str | None = None) -> None:
        self.heads, self.rows, self.title = heads, rows, title

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = [self.heads, *self.rows]
        names = max(len(row[0]) for row in cells)
        # column heads may wrap between words, numbers never
        widths = [
            max([*map(len, head.split()), *(len(row[k]) for row in self.rows)], default=0)
            for k, head in enumerate(self.heads)
        ]
        names = min(names, max(options.max_width // 3, 12))
        room = options.max_width - 2 - sum(width + 3 for width in widths[1:])
        names = min(names, room) if room >= 12 else names  # one table with folded names rather than two
        parts: list[list[int]] = [[]]
        for k in range(1, len(self.heads)):
            if parts[-1] and 2 + names + sum(widths[i] + 3 for i in [*parts[-1], k]) > options.max_width:
                parts.append([])
            parts[-1].append(k)
        for part in parts:
            room = options.max_width - 2 - names - sum(widths[k] + 3 for k in part)
            one = table(title=self.title if part is parts[0] else None)
            one.add_column(escape(self.heads[0]), overflow="fold", width=names)
            for k in part:
                more = min(max(len(self.heads[k]) - widths[k], 0), max(room, 0))
                room -= more
                one.add_column(escape(self.heads[k]), justify="right", overflow="fold", width=widths[k] + more)
            for row in self.rows:
                one.add_row(escape(row[0]), *(escape(row[k]) for k in part))
            yield one


def decimals(error: float, least: int = 0, most: int = 3) -> int:
    """Number of decimals of a simulated number: the unit of the last one is about its standard error."""
    return most if not error > 0 else min(max(-math.floor(math.log10(error) + 0.5), least), most)


class Findings(NamedTuple):
    """The content of a result: remarks to check, tables, a summary in paragraphs, and settings."""

    remarks: Iterable[str]
    tables: Iterable[Cells]
    summary: str
    settings: Mapping[str, str]

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        doubts = [Text(f"Check: {spelling(text)}.", style="bold") for text in self.remarks]
        facts = Table.grid(padding=(0, 2))
        for what, words in self.settings.items():
            facts.add_row(Text(what, style="dim"), Text(words))
        return Group(*doubts, Text(spelling(self.summary)), *(Numbers(*cells) for cells in self.tables), facts)


def show(thing: Any) -> None:
    """Print anything that rich can print."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdecimal():
        console.width = WIDTH
    console.print(thing)


def as_text(thing: Any) -> str:
    """The same as plain text."""
    from rich.console import Console

    console = Console(width=WIDTH, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(thing)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def escape(text: str) -> str:
    """Escaped text: rich would read text in brackets as markup."""
    from rich.markup import escape

    return escape(text)
