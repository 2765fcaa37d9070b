"""Many figures drawn to files, by two processes: drawing holds the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..beside import given, started
from ..charts.description import Figure, Heatmap
from ..charts.render_matplotlib import pictures
from ..executors import cores
from ..files import write_atomically

#: So many figures take longer than it takes to start another process.
MANY = 6

Figures = Mapping[str, Figure | Heatmap]


def draw_all(figures: Figures, folder: Path) -> None:
    """Draw figures to ``folder/NAME.svg`` and ``NAME.png``, every other one in another process if there are many.

    What the other process fails at is drawn here, where the error, if it is one, has somebody to tell.
    """
    names = list(figures)
    others = names[1::2] if len(names) >= MANY and cores() > 1 else []
    mine, theirs = ({n: figures[n] for n in names if (n in others) == elsewhere} for elsewhere in (False, True))
    process = started(main, (theirs, folder)) if theirs else None
    try:
        _draw(mine, folder)
        if process is not None and process.wait() != 0:
            _draw(theirs, folder)
    finally:
        if process is not None:
            process.terminate()
            process.wait()


def _draw(figures: Figures, folder: Path) -> None:
    for name, figure in figures.items():
        for kind, picture in pictures(figure).items():
            write_atomically(folder / f"{name}.{kind}", picture)


def main() -> None:
    """What the other process does."""
    _draw(*given())
