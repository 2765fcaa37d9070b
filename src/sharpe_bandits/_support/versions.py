"""Versions of what results depend on."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path


def versions() -> dict[str, str]:
    """The library, Python, and the libraries that numbers come from."""
    from importlib.metadata import version

    named = ("sharpe-bandits", "python", "numpy", "numba", "scipy", "pyarrow")
    return {name: platform.python_version() if name == "python" else version(name) for name in named}


def sources() -> str:
    """A digest of the code that results are made by, so that two states of it are never mixed."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    parts = [
        p for part in ("arms", "objectives", "play", "policies", "simulation") for p in (root / part).rglob("*.py")
    ]
    single = ("_support/call_tree", "_support/fingerprints")
    for path in sorted([*parts, *(root / f"{name}.py" for name in single)]):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
