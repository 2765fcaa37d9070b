"""What the numbers were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

from . import c_loop


def processor() -> str:
    """The name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def description() -> dict[str, str]:
    """Machine and versions, by name."""
    return {
        "processor": f"{processor()} ({platform.machine()}), {cores()} cores",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "C compiler": c_loop.version(),
        "Python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("sharpe-bandits", "numpy", "numba", "llvmlite")},
    }
