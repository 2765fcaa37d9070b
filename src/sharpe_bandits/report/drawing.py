"""Many figures drawn to files, by two processes: drawing holds the interpreter.

Figures wait in a folder, a file each. Whoever draws one renames its file first, which only one can: the other process
from the first figure on, as soon as there are many, and this one from the last, once there are no more to come.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from ..beside import given, started
from ..charts.description import Figure, Heatmap
from ..charts.render_matplotlib import KINDS, pictures
from ..executors import cores
from ..files import write_atomically

#: So many figures take longer than it takes to start another process.
MANY = 6
#: Seconds after which the other process looks again whether a figure waits.
_PAUSE = 0.02
_WAITING, _TAKEN, _END = ".waiting", ".taken", "end"


class Drawing:
    """A context within which figures are given to be drawn to ``folder/NAME.svg`` and ``NAME.png``.

    All are drawn when it ends. What the other process fails at is drawn here, where the error, if it is one, has
    somebody to tell.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._figures: dict[str, Figure | Heatmap] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._queue = tempfile.TemporaryDirectory()

    def __enter__(self) -> Drawing:
        return self

    def add(self, name: str, figure: Figure | Heatmap) -> None:
        """Have a figure drawn."""
        for path in self._pictures(name):
            path.unlink(missing_ok=True)
        number = len(self._figures)
        self._figures[name] = figure
        write_atomically(Path(self._queue.name) / f"{number:06}{_WAITING}", pickle.dumps((name, figure)))
        if self._process is None and len(self._figures) >= MANY and cores() > 1:
            self._process = started(main, (self._queue.name, self.folder))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._finish()
        finally:
            if self._process is not None:
                self._process.terminate()
                self._process.wait()
            self._queue.cleanup()

    def _finish(self) -> None:
        queue = Path(self._queue.name)
        (queue / _END).touch()
        while _draw_one(queue, self.folder, last=True):
            pass
        if self._process is not None:
            self._process.wait()
        for name, figure in self._figures.items():
            if not all(path.exists() for path in self._pictures(name)):
                _draw(name, figure, self.folder)

    def _pictures(self, name: str) -> list[Path]:
        return [self.folder / f"{name}.{kind}" for kind in KINDS]


def _draw_one(queue: Path, folder: Path, *, last: bool = False) -> bool:
    """Draw the first figure that waits, or the last one; False if none does."""
    for path in sorted(queue.glob(f"*{_WAITING}"), reverse=last):
        try:
            taken = path.rename(path.with_suffix(_TAKEN))
        except FileNotFoundError:  # by the other one
            continue
        name, figure = pickle.loads(taken.read_bytes())
        _draw(name, figure, folder)
        return True
    return False


def _draw(name: str, figure: Figure | Heatmap, folder: Path) -> None:
    for kind, picture in pictures(figure).items():
        write_atomically(folder / f"{name}.{kind}", picture)


def main() -> None:
    """What the other process does."""
    asked_by = os.getppid()
    name, folder = given()
    queue = Path(name)
    while queue.is_dir() and os.getppid() == asked_by:
        ended = (queue / _END).exists()  # no figure comes after it
        if _draw_one(queue, folder):
            continue
        if ended:
            return
        time.sleep(_PAUSE)
