"""Formulas behind pointers: a kernel that calls them this way is compiled once for all policies.

A pointer is followed once per round for the indices of all arms, and once per reward if statistics are kept. The
arguments of a formula are passed as one array of numbers.
"""

from __future__ import annotations

from functools import lru_cache
from math import nan
from typing import Any, NamedTuple

import numpy as np

from .._support.call_tree import Bindings
from ..play import choose, formulas
from ..play.choose import evaluate, evaluate_objective
from ..play.elimination import PhaseFormulas, end_phase
from ..play.formulas import index, share, update_statistics
from ..play.memory import number_of
from ..play.state import Sums
from ..play.statistics import ArmRecord, record_kinds
from .compiler import is_disabled, record_type, specialise


def unpacked(parameters, index):
    """Stands for a function that returns a formula's arguments, from an array of their numbers."""
    raise AssertionError("a formula behind a pointer ran without its arguments bound")


# The functions behind pointers to functions of the game, which are named before ``_target``.


def evaluate_target(rows, kept, decision, policy_key, parameters, index):
    evaluate(rows, kept, decision, policy_key, unpacked(parameters, index))
    return 0


def objective_target(rows, kept, parameters):
    evaluate_objective(rows, kept, unpacked(parameters, None))
    return 0


def update_target(kept, i, pulls, x, d, z, parameters):
    update_statistics(kept, i, 0, 0, pulls, x, d, z, unpacked(parameters, None))
    return 0


def update_all_target(kept, i, before, rewards, anchor, covariates, parameters):
    """:func:`~sharpe_bandits.play.formulas.update_statistics` with several rewards of an arm that has ``before``."""
    objective = unpacked(parameters, None)
    for j in range(rewards.size):
        x = rewards[j]
        update_statistics(kept, i, 0, 0, np.float64(before + j + 1), x, x - anchor, covariates[j], objective)
    return 0


def share_target(sums, kept, alive, size, pulls, previous_kept_all, parameters, quota):
    share(sums, kept, alive, size, pulls, previous_kept_all, unpacked(parameters, None), quota)
    return 0


def end_phase_target(sums, kept, alive, size, keep, wanted, taken, parameters):
    return end_phase(sums, kept, alive, size, keep, wanted, taken, unpacked(parameters, None))


def index_target(arm, t, parameters):
    """A user's index for one record."""
    return index(arm, t, *unpacked(parameters, None)) * 1.0  # float() of a truth value does not compile


def keep_record(arm, parameters):
    """Stands for a function that writes the fields of a record to the last places of ``parameters``."""
    raise AssertionError("a formula behind a pointer ran without its record bound")


def guarded_index_target(arm, t, parameters):
    """:func:`index_target`, but if the index raises an exception, which no pointer can pass on: NaN, and the record is
    kept at the end of ``parameters``.
    """
    failed, v = False, nan
    try:
        v = index_target(arm, t, parameters)
    except Exception:
        failed = True
    if failed:
        keep_record(arm, parameters)
    return v


def index_by_pointer(arm, t, parameters, index):
    """Stands for the index of a user. What is compiled for each new policy is then its index alone: LLVM keeps some
    memory for all that it ever compiled.
    """
    return index(arm, t, parameters)


def parameters_and_pointer(parameters, index):
    """The arguments of :func:`index_by_pointer`."""
    return parameters, index


def no_index(arm, t):
    """Stands in the place of a user's index for other policies."""
    return 0.0


class Formulas(NamedTuple):
    """The formulas of a policy and its objective, as input of the reference kernel: parameters, then pointers. (Numba
    warns of a tuple that starts with a pointer.)
    """

    arguments: np.ndarray
    objective: np.ndarray
    evaluate: Any
    index: Any
    evaluate_objective: Any
    update_statistics: Any

    def with_own_arguments(self) -> Formulas:
        """A copy in which another thread does not keep records."""
        return self._replace(arguments=self.arguments.copy())

    @property
    def failure(self) -> ArmRecord | None:
        """The record for which the index raised an exception, if it did."""
        kinds = record_kinds().values()
        fields = self.arguments[-len(kinds) :]
        if np.isnan(fields[0]):
            return None
        return ArmRecord(*(x.view(np.uint64) if kind is int else x for x, kind in zip(fields, kinds, strict=True)))


def formulas_behind_pointers(
    bindings: Bindings, arguments: tuple[Any, ...], objective: tuple[float, ...], trusted: bool
) -> tuple[Formulas, Bindings]:
    """The formulas of a policy and its objective, and the bindings of :func:`index_target`.

    ``arguments`` are those of the index: numbers, tables of numbers, and tuples of these; ``objective`` those of the
    objective. ``trusted``: whether the index is known not to raise exceptions.
    """
    from numba import float64, int64, types, uint64

    rows, kept, floats = (types.Array(float64, dimensions, "C") for dimensions in (2, 3, 1))
    decision = types.NamedTuple([int64, float64, int64, int64, float64, int64], choose.Decision)
    one_index = float64(record_type(), int64, floats)
    slots: list[Any] = []
    of_index: dict[Any, Any] = {**bindings, unpacked: _unpacked(_expression(arguments, slots))}
    of_all = of_index
    if trusted:
        index_pointer = specialise(index_target, {formulas.index: no_index, unpacked: _unpacked("()")}, one_index)
    else:
        guarded = index_target if is_disabled() else guarded_index_target
        index_pointer = specialise(guarded, {**of_index, keep_record: _keep_record()}, one_index)
        of_all = {**bindings, unpacked: parameters_and_pointer}
        of_all[formulas.index] = of_all[formulas.index_branch_free] = index_by_pointer
    of_objective: dict[Any, Any] = {**bindings, unpacked: _unpacked(_expression(objective, []))}
    return Formulas(
        _filled(slots),
        np.array(objective, float),
        specialise(evaluate_target, of_all, int64(rows, kept, decision, uint64, floats, types.FunctionType(one_index))),
        index_pointer,
        specialise(objective_target, of_objective, int64(rows, kept, floats)),
        specialise(update_target, of_objective, int64(kept, int64, float64, float64, float64, float64, floats)),
    ), of_index


def phases_behind_pointers(
    bindings: Bindings, objective: tuple[float, ...], cells: int, keeps_powers: bool
) -> PhaseFormulas:
    """The formulas of a policy that plays in phases; ``objective``: the arguments of its objective."""
    from numba import boolean, float64, int64, types

    floats, kept = (types.Array(float64, dimensions, "C") for dimensions in (1, 3))
    sums, ints = types.NamedUniTuple(floats, len(Sums._fields), Sums), int64[::1]
    bound: dict[Any, Any] = {**bindings, unpacked: _unpacked(_expression(objective, []))}
    return PhaseFormulas(
        np.array(objective, float),
        keeps_powers,
        cells,
        specialise(share_target, bound, int64(sums, kept, ints, int64, int64, boolean, floats, ints)),
        specialise(end_phase_target, bound, int64(sums, kept, ints, int64, int64, int64, boolean[::1], floats)),
        specialise(update_all_target, bound, int64(kept, int64, int64, floats, float64, floats, floats)),
    )


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
    slots += [argument.ravel(), None]
    table = f"parameters[int(parameters[{place}]) : int(parameters[{place + 1}])]"
    return table if argument.ndim == 1 else f"{table}.reshape({argument.shape})"


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
    exec(f"def unpacked(parameters, index):\n    return {expression}", scope)
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
