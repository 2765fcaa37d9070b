"""How kernels under way in other threads are told to stop: a cell that they look at every few thousand rounds."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import numpy as np

_own = threading.local()


def new_cell() -> np.ndarray:
    """A cell for kernels to look at; set it to 1 and they give up."""
    return np.zeros(1, np.uint8)


def obey(cell: np.ndarray) -> None:
    """Let the kernels that this thread runs from now on look at a cell."""
    _own.cell = cell


def stop_cell() -> np.ndarray:
    """The cell that a kernel about to be run by this thread looks at; one that nobody sets, if none was given."""
    check_stop()
    if not hasattr(_own, "cell"):
        _own.cell = new_cell()
    cell: np.ndarray = _own.cell
    return cell


def check_stop() -> None:
    """Raise if this thread was told to stop: what a kernel has left means nothing then."""
    if hasattr(_own, "cell") and _own.cell[0]:
        raise CancelledError("told to stop")
