"""Tables on the screen, in one style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

#: Heads and rows, as text; the first column is words, the others numbers.
Cells = tuple[list[str], list[list[str]]]

#: A pipe or a file has no width of its own.
WIDTH = 160


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table."""
    from rich import box
    from rich.table import Table

    return Table(*columns, title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)


def results(tables: Iterable[Cells], summary: str, settings: Mapping[str, str]) -> RenderableType:
    """Tables of numbers, what to make of them, and what they depend on."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    drawn = []
    for heads, rows in tables:
        one = table(*map(escape, heads))
        for column in one.columns[1:]:
            column.justify = "right"
        for row in rows:
            one.add_row(*map(escape, row))
        drawn.append(one)
    facts = Table.grid(padding=(0, 2))
    for what, words in settings.items():
        facts.add_row(Text(what, style="dim"), Text(words))
    return Group(*drawn, Text(summary + "\n"), facts)


def show(thing: Any) -> None:
    """Print what rich can print."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
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
    """Text as it is: rich would take what stands in brackets for markup."""
    from rich.markup import escape

    return escape(text)
