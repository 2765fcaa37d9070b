"""Many figures drawn to files, by two processes: drawing holds the interpreter.

Figures wait in a folder, a file each. The other process draws them in their order, as soon as there are many. This one
joins in from the last figure on, once no more are to come. Renaming a figure's file claims it: only one of them can.
"""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from ..beside import given, is_alone, started
from ..charts.description import Figure, Heatmap
from ..charts.render_matplotlib import pictures
from ..executors import cores
from ..files import write_atomically

#: So many figures take longer than it takes to start another process.
MANY = 6
#: Seconds after which the other process looks again whether a figure waits, and after which it gives up.
_PAUSE, _PATIENCE = 0.02, 600.0
#: What a figure's file is called: its number, and what has become of it. The last file says that no more will come.
_WAITING, _TAKEN, _DRAWN, _END = ".waiting", ".taken", ".drawn", "end"


class Drawing:
    """A context within which figures are given to be drawn to ``folder/NAME.svg`` and ``NAME.png``.

    All are drawn when it ends. What the other process fails to draw is drawn by this one, which reports the error.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._queue = tempfile.TemporaryDirectory()

    def __enter__(self) -> Drawing:
        return self

    def add(self, name: str, figure: Figure | Heatmap) -> None:
        """Have a figure drawn, under a name of its own."""
        place = Path(self._queue.name) / f"{self._count:06}{_WAITING}"
        write_atomically(place, pickle.dumps((name, figure)))
        self._count += 1
        if self._process is None and self._count >= MANY and cores() > 1:
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
        for left in sorted(queue.glob(f"*{_TAKEN}")):
            _draw(left, self.folder)


def _draw_one(queue: Path, folder: Path, *, last: bool = False) -> bool:
    """Draw the first figure that waits, or the last one; False if none does."""
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
    """What the other process does."""
    name, folder = given()
    queue, idle_since = Path(name), time.monotonic()
    while queue.is_dir() and not is_alone() and time.monotonic() - idle_since < _PATIENCE:
        ended = (queue / _END).exists()  # looked at before the queue: no figure comes after it
        if _draw_one(queue, folder):
            idle_since = time.monotonic()
        elif ended:
            return
        else:
            time.sleep(_PAUSE)
