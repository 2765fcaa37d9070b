"""Draws many figures to files with two processes, since drawing holds the GIL.

Figures are queued in a folder, one file each. As soon as there are many, a second process draws them in order. Once all
are queued, this process also draws, starting with the last figure. Renaming a figure's file claims it for one process.
"""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from ..charts.description import Figure, Heatmap
from ..charts.render_matplotlib import pictures
from ..executors import cores
from ..files import write_atomically
from ..subprocesses import argument, is_orphaned, start_process

#: From this number of figures on, a second process pays off.
MANY = 6
#: Seconds between polls of the queue by the other process, and after which it gives up.
_PAUSE, _PATIENCE = 0.02, 600.0
#: Suffixes of a figure's file, by its state. The file "end" says that no more figures will come.
_WAITING, _TAKEN, _DRAWN, _END = ".waiting", ".taken", ".drawn", "end"


class Drawing:
    """A context in which figures are queued to be drawn to ``folder/NAME.svg`` and ``NAME.png``.

    All are drawn when it ends. This process draws what the other one fails to draw, and reports the error.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._queue = tempfile.TemporaryDirectory()

    def __enter__(self) -> Drawing:
        return self

    def add(self, name: str, figure: Figure | Heatmap) -> None:
        """Queue a figure under a unique name."""
        place = Path(self._queue.name) / f"{self._count:06}{_WAITING}"
        write_atomically(place, pickle.dumps((name, figure)))
        self._count += 1
        if self._process is None and self._count >= MANY and cores() > 1:
            self._process = start_process(main, (self._queue.name, self.folder))

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
        for left in sorted(queue.glob(f"*{_TAKEN}")):
            _draw(left, self.folder)


def _draw_one(queue: Path, folder: Path, *, last: bool = False) -> bool:
    """Draw the first figure in the queue, or the last one; False if there is none."""
    for path in sorted(queue.glob(f"*{_WAITING}"), reverse=last):
        try:
            taken = path.rename(path.with_suffix(_TAKEN))
        except FileNotFoundError:  # the other process has it
            continue
        _draw(taken, folder)
        return True
    return False


def _draw(taken: Path, folder: Path) -> None:
    name, figure = pickle.loads(taken.read_bytes())
    for kind, picture in pictures(figure).items():
        write_atomically(folder / f"{name}.{kind}", picture)
    taken.rename(taken.with_suffix(_DRAWN))


def main() -> None:
    """Entry point of the other process."""
    name, folder = argument()
    queue, idle_since = Path(name), time.monotonic()
    while queue.is_dir() and not is_orphaned() and time.monotonic() - idle_since < _PATIENCE:
        ended = (queue / _END).exists()  # checked before the queue: no figure comes after it
        if _draw_one(queue, folder):
            idle_since = time.monotonic()
        elif ended:
            return
        else:
            time.sleep(_PAUSE)
