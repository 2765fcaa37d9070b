"""Which plain functions a function calls, and which names they mention, found by inspecting their code."""

from __future__ import annotations

import builtins
import dis
import types
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from typing import Any

from ..errors import CompilationError

Function = types.FunctionType
Code = types.CodeType
Bindings = Mapping[Callable[..., Any], Callable[..., Any]]
#: Packages whose functions are identified by name.
_LIBRARIES = {"builtins", "math", "cmath", "operator", "numba", "numpy"}


def codes(code: Code) -> list[Code]:
    """A code object and those nested in it."""
    inner = [c for c in code.co_consts if isinstance(c, Code)]
    return [code, *(deep for c in inner for deep in codes(c))]


def python_function(value: Any) -> Any:
    """The plain function behind one that numba has compiled; anything else unchanged."""
    return getattr(value, "py_func", value)


def from_library(thing: Any) -> bool:
    """Whether a function, class or module belongs to a package whose functions are identified by name."""
    return _package(thing) in _LIBRARIES


def _package(thing: Any) -> str:
    """The package of a module, class or function; for a plain function the one where it was defined, regardless of
    ``functools.wraps``."""
    if isinstance(thing, Function):
        name = thing.__globals__.get("__name__")
    else:
        name = thing.__name__ if isinstance(thing, types.ModuleType) else getattr(thing, "__module__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""


def is_followed(thing: Any) -> bool:
    """Whether ``thing`` is a plain function whose code, and the values it reads, count as part of its caller."""
    return isinstance(thing, Function) and not from_library(thing)


def is_own(function: Any) -> bool:
    """Whether a function belongs to this package."""
    return _package(function) == __name__.partition(".")[0]


def is_fixed(function: Any) -> bool:
    """Whether a function always computes the same: it belongs to this package, and it encloses nothing but numbers,
    text, and functions of this kind.

    Other closures of this package may enclose values of a user, which may change.
    """
    if not is_own(function):
        return False
    return all(_is_constant(cell.cell_contents) for cell in function.__closure__ or ())


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return is_fixed(value) if isinstance(value, Function) else isinstance(value, (int, float, str, type(None)))


@lru_cache(maxsize=4096)
def _read(code: Code) -> tuple[tuple[tuple[str, ...], ...], frozenset[str]]:
    """What code reads: chains, which are global and closure variables, each with the attributes accessed on it, such as
    ``("np", "pi")``; and all other names that it mentions.
    """
    chains: dict[tuple[str, ...], None] = {}
    names = set()
    for part in codes(code):
        chain: tuple[str, ...] = ()
        for instruction in dis.get_instructions(part):
            if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain:
                chain = (*chain, instruction.argval)
                continue
            if chain:
                chains[chain] = None
            enclosed = instruction.opname == "LOAD_DEREF" and instruction.argval in code.co_freevars
            chain = (instruction.argval,) if enclosed or instruction.opname == "LOAD_GLOBAL" else ()
            if not chain and instruction.argval in part.co_names:
                names.add(instruction.argval)
    return tuple(sorted(chains)), frozenset(names)


def _outside(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Globals and closure variables of a function that exist now, by name."""
    enclosed = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not assigned yet
            enclosed[name] = cell.cell_contents
    return ChainMap(enclosed, function.__globals__)


def values_read(function: Callable[..., Any]) -> dict[str, Any]:
    """The current global and closure values that a function reads, by dotted name (``constants.C``).

    Raises :class:`CompilationError` for a user's module that is used other than as ``module.name``: values read through
    an alias of it would go unnoticed.
    """
    scope = _outside(function)
    values = {}
    for chain in _read(function.__code__)[0]:
        if chain[0] not in scope:
            continue  # a builtin, or not defined yet
        value, used = scope[chain[0]], 1
        while isinstance(value, types.ModuleType) and used < len(chain) and hasattr(value, chain[used]):
            value = getattr(value, chain[used])
            used += 1
        if isinstance(value, types.ModuleType) and used == len(chain) and not from_library(value):
            raise CompilationError(
                f"{function.__name__} uses the module {value.__name__} other than as {'.'.join(chain)}.name, so the "
                f"values it reads cannot be followed; write {'.'.join(chain)}.name wherever it is needed"
            )
        values[".".join(chain[:used])] = python_function(value)
    return values


def _functions_in(value: Any) -> Iterator[Any]:
    """The plain functions that a value is or contains, and that are followed."""
    value = python_function(value)
    if isinstance(value, tuple):
        for item in value:
            yield from _functions_in(item)
    elif is_followed(value):
        yield value


def call_tree(root: Callable[..., Any], bindings: Bindings | None = None) -> list[Any]:
    """All plain functions reachable from ``root``, with ``bindings`` applied."""
    bound = bindings or {}
    tree: dict[Any, None] = {}
    waiting = [bound.get(root, root)]
    while waiting:
        function = waiting.pop()
        if function not in tree:
            tree[function] = None
            waiting += [bound.get(f, f) for value in values_read(function).values() for f in _functions_in(value)]
    return list(tree)


def mentions(root: Callable[..., Any]) -> frozenset[str]:
    """All attribute and global names that a function and the functions it calls mention, except attributes of libraries
    (``np.maximum``).
    """
    return _mentions(root) if is_fixed(root) else _mentions.__wrapped__(root)


@lru_cache(maxsize=1024)
def _mentions(root: Callable[..., Any]) -> frozenset[str]:
    names: set[str] = set()
    for f in call_tree(root):
        chains, others = _read(f.__code__)
        names.update(others)
        scope = _outside(f)
        for chain in chains:
            if not from_library(scope.get(chain[0])):
                names.update(chain)
    return frozenset(names)


def rebuilt(function: Callable[..., Any], convert: Callable[[Any], Any], qualname: str) -> Function:
    """A copy of a function whose global and closure values are converted."""
    scope = _outside(function)
    chains: dict[str, list[tuple[str, ...]]] = {}
    for name, *rest in _read(function.__code__)[0]:
        if name in scope:
            chains.setdefault(name, []).append(tuple(rest))
    new = {name: _converted(scope[name], rests, convert) for name, rests in chains.items()}
    closure = tuple(types.CellType(new[name]) for name in function.__code__.co_freevars) or None
    defaults = function.__defaults__ and tuple(convert(value) for value in function.__defaults__)
    scope = {**new, "__builtins__": builtins, "__name__": function.__globals__.get("__name__")}
    copy = Function(function.__code__, scope, function.__name__, defaults, closure)
    copy.__qualname__, copy.__module__ = qualname, function.__module__
    return copy


def _converted(thing: Any, chains: list[tuple[str, ...]], convert: Callable[[Any], Any]) -> Any:
    """A converted value; for a user's module, a copy in which the values that are read are converted."""
    if not isinstance(thing, types.ModuleType) or from_library(thing):
        return convert(python_function(thing))
    copy = types.ModuleType(thing.__name__)
    for name in dict.fromkeys(chain[0] for chain in chains if chain and hasattr(thing, chain[0])):
        rests = [chain[1:] for chain in chains if chain and chain[0] == name]
        setattr(copy, name, _converted(getattr(thing, name), rests, convert))
    return copy


def substituted(function: Callable[..., Any], bindings: Bindings) -> Callable[..., Any]:
    """A copy of a function, and of all functions it calls, with bound functions replaced."""
    if function in bindings:
        others = {placeholder: bound for placeholder, bound in bindings.items() if placeholder is not function}
        return substituted(bindings[function], others)
    if bindings.keys().isdisjoint(call_tree(function)):
        return function

    def convert(thing: Any) -> Any:
        return substituted(thing, bindings) if is_followed(thing) else thing

    return rebuilt(function, convert, f"{function.__qualname__}_substituted")


def reads_whole(function: Callable[..., Any], name: str) -> bool:
    """Whether a function uses its argument ``name`` other than by reading its fields by name."""
    instructions = list(dis.get_instructions(function))
    for here, after in pairwise(instructions):
        if here.opname.startswith(("LOAD_FAST", "STORE_FAST_LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            loaded = here.argval if isinstance(here.argval, tuple) else (here.argval,)
            if name in loaded[:-1] or (loaded[-1] == name and after.opname != "LOAD_ATTR"):
                return True
    return False
