"""Compiles formulas on their own, to be called by pointers (see :mod:`sharpe_bandits.simulation.by_pointers`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .._support.call_tree import Bindings
from ..play import formulas
from ..play.statistics import ArmRecord, record_kinds
from . import by_pointers as pointers
from .compiler import pointer

#: Bindings of a kernel that calls formulas by pointers.
BY_POINTER = {
    formulas.index: pointers.index_by_pointer,
    formulas.score: pointers.score_by_pointer,
    formulas.value: pointers.value_by_pointer,
    formulas.feature: pointers.feature_by_pointer,
}


def formula_pointers(
    bindings: Bindings, arguments: tuple[Any, ...], goal: tuple[float, ...], trusted: bool
) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """The arguments of an index and of an objective for a kernel bound to :data:`BY_POINTER`.

    None if an argument is neither a number nor a table of numbers nor a tuple of these.

    Parameters
    ----------
    bindings : Bindings
        placeholder function -> formula
    arguments : tuple[Any, ...]
        the arguments of the index
    goal : tuple[float, ...]
        the arguments of the objective
    trusted : bool
        whether the index is known not to raise exceptions
    """
    from numba import float64, int64, types, uint64

    slots: list[Any] = []
    try:
        of_index = {**bindings, formulas.unpacked: _unpacked(_expression(arguments, slots))}
    except TypeError:
        return None
    of_value = {**bindings, formulas.unpacked: _unpacked(_expression(goal, []))}
    record = types.NamedTuple([uint64 if kind is int else float64 for kind in record_kinds().values()], ArmRecord)
    floats = types.Array(float64, 1, "C")
    target = pointers.index_target if trusted else pointers.guarded_index_target
    index = pointer(target, of_index, float64(record, int64, floats))
    score = index
    if bindings[formulas.keeps_lead] is formulas.always:
        score = pointer(pointers.score_target, of_index, float64(record, int64, floats))
    value = pointer(pointers.value_target, of_value, float64(record, floats))
    of_feature = of_value
    if bindings[formulas.feature] is formulas.no_feature:  # one pointer for all objectives
        of_feature = {formulas.feature: formulas.no_feature, formulas.unpacked: _unpacked("()")}
    feature = pointer(pointers.feature_target, of_feature, float64(float64, floats))
    return (index, score, _filled(slots)), (value, feature, np.array(goal, float))


def _expression(argument: Any, slots: list[Any]) -> str:
    """Python source that reads an argument from an array ``parameters``, and what its next slots hold: a number, or a
    table, which takes two slots.
    """
    if isinstance(argument, tuple):
        return "(" + "".join(f"{_expression(item, slots)}, " for item in argument) + ")"
    place = len(slots)
    if isinstance(argument, float):
        slots.append(argument)
        return f"parameters[{place}]"
    if isinstance(argument, np.ndarray) and argument.ndim == 1 and argument.dtype == float:
        slots += [argument, None]
        return f"parameters[int(parameters[{place}]) : int(parameters[{place + 1}])]"
    raise TypeError(f"{type(argument).__name__} is not an argument that a pointer takes")


def _filled(slots: list[Any]) -> np.ndarray:
    """The numbers of all slots, then the tables; the two slots of a table hold where it starts and ends."""
    tables = [slot for slot in slots if isinstance(slot, np.ndarray)]
    parameters = np.zeros(len(slots) + sum(table.size for table in tables))
    end = len(slots)
    for place, slot in enumerate(slots):
        if isinstance(slot, np.ndarray):
            start, end = end, end + slot.size
            parameters[place : place + 2] = start, end
            parameters[start:end] = slot
        elif slot is not None:
            parameters[place] = slot
    return parameters


@lru_cache
def _unpacked(expression: str) -> Any:
    scope: dict[str, Any] = {"__name__": __name__}
    exec(f"def unpacked(parameters):\n    return {expression}", scope)
    return scope["unpacked"]
