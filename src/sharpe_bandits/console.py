"""Tables on the screen, in one style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

#: A pipe or a file has no width of its own.
WIDTH = 160


def table(*columns: str, title: str | None = None) -> Table:
    """An empty table."""
    from rich import box
    from rich.table import Table

    return Table(*columns, title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)


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
