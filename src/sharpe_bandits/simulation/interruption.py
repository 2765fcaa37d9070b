"""How kernels running in other threads are stopped: by a flag that they check every few thousand rounds."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import numpy as np

_own = threading.local()


def new_cell() -> np.ndarray:
    """A flag for kernels to check; set it to 1 and they return."""
    return np.zeros(1, np.uint8)


def obey(cell: np.ndarray) -> None:
    """Make the kernels that this thread runs from now on check the given flag."""
    _own.cell = cell


def stop_cell() -> np.ndarray:
    """The flag that the kernels of this thread check; one that is never set, if :func:`obey` was not called."""
    check_stop()
    if not hasattr(_own, "cell"):
        _own.cell = new_cell()
    cell: np.ndarray = _own.cell
    return cell


def check_stop() -> None:
    """Raise if this thread was told to stop: the outputs of its kernel are then meaningless."""
    if hasattr(_own, "cell") and _own.cell[0]:
        raise CancelledError("told to stop")
