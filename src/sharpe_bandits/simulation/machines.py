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
import struct
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .._support.versions import sources, versions
from .compiler import target

#: Arguments at which each function of the C library and of NumPy is compared.
_PROBES = 4000


@lru_cache(maxsize=1)
def machine() -> dict[str, str]:
    """The kind of this machine: processor, C library, and compilation target."""
    name, extensions = target()
    libc = " ".join(platform.libc_ver()).strip()
    return {
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}{', ' if libc else ''}{libc}",
        "compiled for": name,
        "vector extensions": extensions,
    }


@lru_cache(maxsize=1)
def software() -> dict[str, str]:
    """Versions, and a digest of the source code: they must be the same on all workers."""
    return {**versions(), "source code": sources()}


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


@lru_cache(maxsize=1)
def arithmetic() -> str:
    """A digest of the values of functions of the C library, NumPy and SciPy at many arguments on this machine.

    It takes some milliseconds; only workers that may be on other machines need it.
    """
    from scipy import special

    unit = (np.arange(_PROBES) * 0.6180339887498949 + 0.5) % 1.0
    wide = unit * 700.0 + 1e-3
    digest = hashlib.sha256()
    pairs = list(zip(unit.tolist(), wide.tolist(), strict=True))
    for function in (math.log, math.log1p, math.exp, math.sin, math.cos, math.tan, math.atan, math.lgamma):
        digest.update(struct.pack(f"<{_PROBES}d", *(function(y) for _, y in pairs)))
    for function in (math.expm1, math.tanh, math.erf):
        digest.update(struct.pack(f"<{_PROBES}d", *(function(x) for x, _ in pairs)))
    digest.update(struct.pack(f"<{_PROBES}d", *(math.pow(y, x) for x, y in pairs)))
    for of_array in (np.log, np.log1p, np.exp, np.sin, np.cos, np.tan, np.arctan, np.sqrt):
        digest.update(of_array(wide).astype("<f8").tobytes())
    few, shapes = unit[:200], wide[:200]
    for values in (
        np.power(wide, unit), special.ndtri(unit), special.ndtr(unit), special.gammaincinv(shapes, few),
        special.betaincinv(shapes, 2.5, few), special.chdtri(shapes, few),
    ):  # fmt: skip
        digest.update(np.asarray(values).astype("<f8").tobytes())
    return digest.hexdigest()[:16]


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """The differences between two descriptions as text; empty if they are the same."""
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return ", ".join(f"{name} {theirs.get(name)} instead of {ours.get(name)}" for name in names)
