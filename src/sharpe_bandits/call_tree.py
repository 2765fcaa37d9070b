"""Which plain functions a function calls, and what they mention: read off their code, without running it."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any

Function = types.FunctionType
#: Modules whose functions are known by their names alone.
_LIBRARIES = {"builtins", "math", "numba", "numpy"}
Bindings = Mapping[Callable[..., Any], Callable[..., Any]]


def codes(code: types.CodeType) -> list[types.CodeType]:
    """A code object and those nested in it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *(deep for c in inner for deep in codes(c))]


def plain(thing: Any) -> Any:
    """The plain function behind one that numba has compiled already; anything else as it is."""
    return getattr(thing, "py_func", thing)


def global_names(function: Callable[..., Any]) -> dict[str, Any]:
    """The globals that a function mentions, by name."""
    names = {name for code in codes(function.__code__) for name in code.co_names}
    return {name: plain(function.__globals__[name]) for name in sorted(names) if name in function.__globals__}


def members(function: Callable[..., Any]) -> dict[str, Any]:
    """What a function may take from the user's modules that it mentions, by dotted name."""
    names = sorted({name for code in codes(function.__code__) for name in code.co_names})
    modules = {name: thing for name, thing in global_names(function).items() if isinstance(thing, types.ModuleType)}
    return {
        f"{prefix}.{name}": plain(getattr(module, name))
        for prefix, module in modules.items()
        for name in names
        if module.__name__.partition(".")[0] not in _LIBRARIES and hasattr(module, name)
    }


def cells(function: Callable[..., Any]) -> list[Any]:
    """The values that a function closes over."""
    return [plain(cell.cell_contents) for cell in function.__closure__ or ()]


def call_tree(root: Callable[..., Any], bindings: Bindings | None = None) -> list[Any]:
    """All plain functions reachable from ``root`` through globals and closures, with ``bindings`` applied."""
    bound = bindings or {}
    found: list[Any] = []
    waiting = [bound.get(root, root)]
    while waiting:
        function = waiting.pop()
        if function not in found:
            found.append(function)
            things = [*global_names(function).values(), *members(function).values(), *cells(function)]
            waiting += [bound.get(thing, thing) for thing in things if isinstance(thing, Function)]
    return found


def mentions(root: Callable[..., Any]) -> frozenset[str]:
    """All attribute and global names that a function and the functions it calls mention."""
    return frozenset(name for f in call_tree(root) for code in codes(f.__code__) for name in code.co_names)


def substituted(function: Callable[..., Any], bindings: Bindings) -> Callable[..., Any]:
    """A copy of a function that calls other functions in place of the bound ones, through all that it calls."""
    if function in bindings:
        return bindings[function]
    if not isinstance(function, Function) or not any(f in bindings for f in call_tree(function)):
        return function
    scope = {name: substituted(thing, bindings) for name, thing in global_names(function).items()}
    closure = tuple(types.CellType(substituted(thing, bindings)) for thing in cells(function)) or None
    copy = Function(function.__code__, scope, f"{function.__name__}_substituted", function.__defaults__, closure)
    copy.__qualname__, copy.__module__ = f"{function.__qualname__}_substituted", function.__module__
    return copy


#: What a formula may call for :func:`spreads_nan` to vouch for it.
_SPREADING = {"math", "sqrt", "log", "log1p", "exp", "expm1", "sin", "cos", "tan", "atan", "tanh", "pi", "abs", "float"}


def spreads_nan(function: Callable[..., Any], trusted: Collection[Callable[..., Any]], fields: Collection[str]) -> bool:
    """Whether a function surely gives "not a number" where a trusted function that it calls does.

    It may read ``fields`` and numbers, calculate, and call trusted functions and others of which the same is true.
    """
    if function in trusted:
        return True
    known = global_names(function)
    before = None
    for instruction in dis.get_instructions(function):
        branches = "JUMP" in instruction.opname or instruction.opname in ("COMPARE_OP", "IS_OP", "CONTAINS_OP")
        power = instruction.opname == "BINARY_OP" and "**" in instruction.argrepr
        if branches or (power and not (before and isinstance(before.argval, (int, float)) and before.argval)):
            return False
        before = instruction
    plain = {name for name, thing in known.items() if isinstance(thing, (int, float))}
    called = {name for name, thing in known.items() if isinstance(thing, Function)}
    if cells(function) or not set(function.__code__.co_names) <= {*_SPREADING, *fields, *plain, *called}:
        return False
    return all(spreads_nan(known[name], trusted, fields) for name in called)


def reads_local(function: Callable[..., Any], name: str) -> bool:
    """Whether a function reads its argument or local variable ``name``."""
    for instruction in dis.get_instructions(function):
        value = instruction.argval
        named = name in value if isinstance(value, tuple) else value == name
        if named and instruction.opname.startswith(("LOAD_FAST", "STORE_FAST_LOAD_FAST", "LOAD_DEREF")):
            return True
    return False


def reads_whole(function: Callable[..., Any], name: str) -> bool:
    """Whether a function uses its argument ``name`` otherwise than by reading fields of it by name."""
    instructions = list(dis.get_instructions(function))
    for here, after in pairwise(instructions):
        if here.opname.startswith(("LOAD_FAST", "STORE_FAST_LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            loaded = here.argval if isinstance(here.argval, tuple) else (here.argval,)
            if name in loaded[:-1] or (loaded[-1] == name and after.opname != "LOAD_ATTR"):
                return True
    return False
