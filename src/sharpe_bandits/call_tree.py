"""Which plain functions a function calls, and what they mention: read off their code, without running it."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Mapping
from typing import Any

Function = types.FunctionType
Bindings = Mapping[Callable[..., Any], Callable[..., Any]]


def codes(code: types.CodeType) -> list[types.CodeType]:
    """A code object and those nested in it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *(deep for c in inner for deep in codes(c))]


def global_names(function: Callable[..., Any]) -> dict[str, Any]:
    """The globals that a function mentions, by name."""
    names = {name for code in codes(function.__code__) for name in code.co_names}
    return {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}


def cells(function: Callable[..., Any]) -> list[Any]:
    """The values that a function closes over."""
    return [cell.cell_contents for cell in function.__closure__ or ()]


def call_tree(root: Callable[..., Any], bindings: Bindings | None = None) -> list[Any]:
    """All plain functions reachable from ``root`` through globals and closures, with ``bindings`` applied."""
    bound = bindings or {}
    found: list[Any] = []
    waiting = [bound.get(root, root)]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found.append(function)
            things = [*global_names(function).values(), *cells(function)]
            waiting += [bound.get(thing, thing) for thing in things if isinstance(thing, Function)]
    return found


def mentions(root: Callable[..., Any]) -> frozenset[str]:
    """All attribute and global names that a function and the functions it calls mention."""
    return frozenset(name for f in call_tree(root) for code in codes(f.__code__) for name in code.co_names)


def reads_local(function: Callable[..., Any], name: str) -> bool:
    """Whether a function reads its argument or local variable ``name``."""
    for instruction in dis.get_instructions(function):
        value = instruction.argval
        named = name in value if isinstance(value, tuple) else value == name
        if named and instruction.opname.startswith(("LOAD_FAST", "STORE_FAST_LOAD_FAST", "LOAD_DEREF")):
            return True
    return False
