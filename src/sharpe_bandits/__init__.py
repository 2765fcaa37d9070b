"""Bandit policies that maximise the Sharpe ratio: arms, policies, a compiled engine, and live agents."""

from typing import Any as _Any

import lazy_loader as _lazy_loader

# What is in __init__.pyi is imported when it is first asked for: importing the package takes no time.
_imported, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("sharpe-bandits")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _imported(name)
