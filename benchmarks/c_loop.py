"""The C loops of loop.c, compiled into a folder of their own for as long as the benchmark runs."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import sharpe_bandits as sb
from sharpe_bandits.arms.bandit import as_environment
from sharpe_bandits.play.rewards import BERNOULLI, QUANTILE, UNIFORM

SOURCE = Path(__file__).with_name("loop.c")
#: Without contracted multiply-adds, so that the choices stay the same.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off")


def compiler() -> str | None:
    """A C compiler, or None."""
    named = os.environ.get("CC")
    return (shutil.which(named) if named else None) or shutil.which("gcc") or shutil.which("cc")


def version() -> str:
    """What the compiler calls itself."""
    path = compiler()
    if path is None:
        return "none"
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


class _Game(ctypes.Structure):
    """``game_t`` of loop.c."""

    _fields_ = [
        ("seed", ctypes.c_uint64), ("runs", ctypes.c_int64), ("horizon", ctypes.c_int64), ("count", ctypes.c_int64),
        ("pilot", ctypes.c_int64), ("coins", ctypes.c_int64), ("loc", ctypes.c_void_p), ("scale", ctypes.c_void_p),
        ("pool", ctypes.c_void_p), ("start", ctypes.c_void_p), ("L", ctypes.c_double), ("c", ctypes.c_double),
        ("window", ctypes.c_int64), ("discount", ctypes.c_double), ("final", ctypes.c_void_p),
        ("choices", ctypes.c_void_p),
    ]  # fmt: skip


@cache
def _library() -> ctypes.CDLL:
    path = compiler()
    if path is None:
        raise RuntimeError("there is no C compiler (gcc or cc) on the path")
    with tempfile.TemporaryDirectory(prefix="sharpe-bandits-loop-") as folder:  # once loaded, the file may go
        library = Path(folder) / "loop.so"
        subprocess.run([path, *FLAGS, "-shared", "-fPIC", "-o", library, SOURCE, "-lm"], check=True)
        return ctypes.CDLL(str(library))


class CLoop:
    """The functions of loop.c, given policies and arms of the library."""

    def __init__(self) -> None:
        self._loop = _library()

    def play(
        self, loop: str, policy: Any, bandit: sb.Bandit, horizon: int, runs: int, seed: int = 0, trace: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Final pulls (runs x arms) and, for a trace, choices (runs x horizon) of a loop, named as in loop.c."""
        table = as_environment(bandit).table(seed, range(1))
        kinds = set(table.kind.ravel().tolist())
        assert kinds in ({UNIFORM}, {BERNOULLI}, {QUANTILE}), "the C loops do not draw from these arms"
        arms = table.kind.shape[1]
        loc, scale, start = table.loc[0].copy(), table.scale[0].copy(), table.start[0].copy()
        final = np.zeros((runs, arms), np.int64)
        choices = np.zeros((runs, horizon) if trace else (0, 0), np.int32)
        window, discount = getattr(policy, "forgetting", (0, 1.0))
        game = _Game(
            seed, runs, horizon, arms, policy.pilot(horizon, arms) if hasattr(policy, "pilot") else 0,
            kinds == {BERNOULLI}, loc.ctypes.data, scale.ctypes.data,
            table.pool.ctypes.data if kinds == {QUANTILE} else None, start.ctypes.data, getattr(policy, "L", 0.0),
            getattr(policy, "c", 0.0), min(window, horizon), discount, final.ctypes.data,
            choices.ctypes.data if trace else None,
        )  # fmt: skip
        getattr(self._loop, loop)(ctypes.byref(game))
        return final, choices
