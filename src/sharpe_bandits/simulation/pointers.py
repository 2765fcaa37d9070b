"""Compiles formulas on their own, to be called by pointers (see :mod:`sharpe_bandits.simulation.by_pointers`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._support.call_tree import Bindings
from ..play import formulas
from ..play.memory import number_of
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


class FormulaPointers(NamedTuple):
    """The arguments of an index and of an objective for a kernel bound to :data:`BY_POINTER`, and the bindings of the
    function behind the pointer to the index.
    """

    of_index: tuple[Any, ...]
    of_value: tuple[Any, ...]
    bindings: Bindings

    def with_own_parameters(self) -> FormulaPointers:
        """A copy in which another thread does not keep records."""
        parameters, *pointers = self.of_index
        return self._replace(of_index=(parameters.copy(), *pointers))

    @property
    def failure(self) -> ArmRecord | None:
        """The record for which the index raised an exception, if it did."""
        kinds = record_kinds().values()
        fields = self.of_index[0][-len(kinds) :]
        if np.isnan(fields[0]):
            return None
        return ArmRecord(*(x.view(np.uint64) if kind is int else x for x, kind in zip(fields, kinds, strict=True)))


def formula_pointers(
    bindings: Bindings, arguments: tuple[Any, ...], objective: tuple[float, ...], trusted: bool
) -> FormulaPointers | None:
    """Pointers to the formulas of a policy; None if an argument of its index is neither a number nor a table of numbers
    nor a tuple of these.

    Parameters
    ----------
    bindings : Bindings
        placeholder function -> formula
    arguments : tuple[Any, ...]
        the arguments of the index
    objective : tuple[float, ...]
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
    # Without the index, so that policies with the same objective share what is compiled.
    of_objective = {key: bound for key, bound in bindings.items() if key not in (formulas.index, formulas.score)}
    of_value = {**of_objective, formulas.unpacked: _unpacked(_expression(objective, []))}
    record = types.NamedTuple([uint64 if kind is int else float64 for kind in record_kinds().values()], ArmRecord)
    floats = types.Array(float64, 1, "C")
    target = pointers.index_target if trusted else pointers.guarded_index_target
    index = pointer(target, {**of_index, pointers.keep_record: _keep_record()}, float64(record, int64, floats))
    score = index
    if bindings[formulas.keeps_lead] is formulas.always:
        score = pointer(pointers.score_target, of_index, float64(record, int64, floats))
    value = pointer(pointers.value_target, of_value, float64(record, floats))
    of_feature = of_value
    if bindings[formulas.feature] is formulas.no_feature:  # one pointer for all objectives
        of_feature = {formulas.feature: formulas.no_feature, formulas.unpacked: _unpacked("()")}
    feature = pointer(pointers.feature_target, of_feature, float64(float64, floats))
    return FormulaPointers((_filled(slots), index, score), (np.array(objective, float), value, feature), of_index)


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
    """The numbers of all slots, then the tables, then NaN in place of a record; the two slots of a table hold where it
    starts and ends.
    """
    tables = [slot for slot in slots if isinstance(slot, np.ndarray)]
    parameters = np.full(len(slots) + sum(table.size for table in tables) + len(record_kinds()), np.nan)
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


@lru_cache
def _keep_record() -> Any:
    kinds = record_kinds()
    lines = [
        f"    parameters[parameters.size - {len(kinds) - place}] = "
        + (f"number_of(arm.{name})" if kind is int else f"arm.{name}")
        for place, (name, kind) in enumerate(kinds.items())
    ]
    scope: dict[str, Any] = {"__name__": __name__, "number_of": number_of}
    exec("def keep_record(arm, parameters):\n" + "\n".join(lines), scope)
    return scope["keep_record"]
