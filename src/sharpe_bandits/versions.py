"""Versions of what results depend on."""

from __future__ import annotations

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """The library, Python, and the libraries that numbers come from."""
    named = ("sharpe-bandits", "python", "numpy", "numba", "scipy", "pyarrow")
    return {name: platform.python_version() if name == "python" else version(name) for name in named}
