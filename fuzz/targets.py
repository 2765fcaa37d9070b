"""Everything that is attacked. A target is made when it is asked for: some simulate something first."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from . import agent_states, arms, experiment_files, index_functions, kernel_cache, tables
from .driver import Target

TARGETS: dict[str, Callable[[], Target]] = {
    module.__name__.rpartition(".")[2]: cache(module.target)
    for module in (agent_states, arms, experiment_files, index_functions, kernel_cache, tables)
}
