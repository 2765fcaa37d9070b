"""The C loop of loop.c, compiled into a folder of its own for as long as the benchmark runs."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("loop.c")
PLAIN = ("-O3",)
#: For those who ask what the compiler could do with this machine's instructions; without contracted multiply-adds, so
#: that the choices stay the same.
NATIVE = ("-O3", "-march=native", "-ffp-contract=off")


def compiler() -> str | None:
    """A C compiler, or None."""
    named = os.environ.get("CC")
    return (shutil.which(named) if named else None) or shutil.which("gcc") or shutil.which("cc")


def version() -> str:
    """What the compiler calls itself."""
    found = compiler()
    if found is None:
        return "none"
    return subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


class CLoop:
    """The functions of loop.c on numpy arrays."""

    def __init__(self, flags: tuple[str, ...] = PLAIN) -> None:
        found = compiler()
        if found is None:
            raise RuntimeError("there is no C compiler (gcc or cc) on the path")
        with tempfile.TemporaryDirectory(prefix="sharpe-bandits-loop-") as folder:  # once loaded, the file may go
            library = Path(folder) / "loop.so"
            subprocess.run([found, *flags, "-shared", "-fPIC", "-o", library, SOURCE, "-lm"], check=True)
            self._loop = ctypes.CDLL(str(library))
        self._loop.draw_and_add.restype = ctypes.c_double

    def ucb_rssr(
        self, low: np.ndarray, high: np.ndarray, L: float, horizon: int, runs: int, seed: int = 0, trace: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Final pulls (runs x arms) and, for a trace, choices (runs x horizon)."""
        return self._play(self._loop.ucb_rssr, horizon, runs, seed, trace, [low, high - low], ctypes.c_double(L))

    def ucb1(
        self, probability: np.ndarray, horizon: int, runs: int, seed: int = 0, trace: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Final pulls (runs x arms) and, for a trace, choices (runs x horizon)."""
        return self._play(self._loop.ucb1, horizon, runs, seed, trace, [probability])

    def draw_and_add(self, low: np.ndarray, high: np.ndarray, pulls: int, runs: int, seed: int = 0) -> float:
        """The sum of ``pulls`` rewards of every arm in every run."""
        arrays = [np.ascontiguousarray(low, float), np.ascontiguousarray(high - low, float)]
        return self._loop.draw_and_add(
            ctypes.c_uint64(seed), ctypes.c_int64(runs), ctypes.c_int64(pulls), ctypes.c_int64(low.size),
            *(_pointer(a) for a in arrays),
        )  # fmt: skip

    def _play(self, function, horizon, runs, seed, trace, arrays, *more):  # type: ignore[no-untyped-def]
        arrays = [np.ascontiguousarray(a, float) for a in arrays]
        final = np.zeros((runs, arrays[0].size), np.int64)
        choices = np.zeros((runs, horizon) if trace else (0, 0), np.int32)
        function(
            ctypes.c_uint64(seed), ctypes.c_int64(0), ctypes.c_int64(runs), ctypes.c_int64(horizon),
            ctypes.c_int64(arrays[0].size), *(_pointer(a) for a in arrays), *more, _pointer(final),
            _pointer(choices) if trace else None,
        )  # fmt: skip
        return final, choices


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)
