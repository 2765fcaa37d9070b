"""Kinds of machines that results are computed on, and whether their arithmetic agrees.

Kernels are compiled without fast-math and without contraction, so that additions, multiplications, divisions and square
roots give the same bits everywhere. Logarithms, exponentials and quantiles come from the C library, NumPy and SciPy,
which choose an implementation by processor; last bits may differ. Two machines with the same :func:`arithmetic` agree
in all of these functions at thousands of arguments.
"""

from __future__ import annotations

import hashlib
import math
import platform
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .._support.versions import sources, versions

#: Arguments at which each function of the C library and of NumPy is compared.
_PROBES = 4000


@lru_cache(maxsize=1)
def machine() -> dict[str, str]:
    """The kind of this machine: processor, C library, and the processor that kernels are compiled for."""
    import numba

    libc = " ".join(platform.libc_ver()).strip()
    return {
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}{', ' if libc else ''}{libc}",
        "compiled for": numba.config.CPU_NAME or "this processor",  # type: ignore[attr-defined]
    }


@lru_cache(maxsize=1)
def software() -> dict[str, str]:
    """Versions, and a digest of the source code: they must be the same on all workers."""
    return {**versions(), "source code": sources()}


def processor() -> str:
    """The name of the processor."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return platform.processor()


@lru_cache(maxsize=1)
def arithmetic() -> str:
    """A digest of the values of functions of the C library, NumPy and SciPy at many arguments on this machine.

    It takes some milliseconds; only workers that may be on other machines need it.
    """
    from scipy import special

    unit = (np.arange(_PROBES) * 0.6180339887498949 + 0.5) % 1.0
    wide = unit * 700.0 + 1e-3
    few, shapes = unit[:200], wide[:200]
    of_wide = (math.log, math.log1p, math.exp, math.sin, math.cos, math.tan, math.atan, math.lgamma)
    of_arrays = (np.log, np.log1p, np.exp, np.sin, np.cos, np.tan, np.arctan, np.sqrt)
    values: list[Any] = [
        *([function(x) for x in wide.tolist()] for function in of_wide),
        *([function(x) for x in unit.tolist()] for function in (math.expm1, math.tanh, math.erf)),
        list(map(math.pow, wide.tolist(), unit.tolist())),
        *(function(wide) for function in of_arrays),
        np.power(wide, unit), special.ndtri(unit), special.ndtr(unit), special.gammaincinv(shapes, few),
        special.betaincinv(shapes, 2.5, few), special.chdtri(shapes, few),
    ]  # fmt: skip
    return hashlib.sha256(b"".join(np.asarray(part, "<f8").tobytes() for part in values)).hexdigest()[:16]


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """The differences between two descriptions as text; empty if they are the same."""
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return ", ".join(f"{name} {theirs.get(name)} instead of {ours.get(name)}" for name in names)
