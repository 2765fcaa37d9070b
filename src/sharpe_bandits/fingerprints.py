"""Digests of a formula: of its code, the code of all functions it calls, and every value that any of these read.

Two digests share one walk over the call tree. :func:`fingerprint` shows whether a formula has changed; it is based on
the source text, so it is the same under another version of Python. :func:`description` with byte code is the key of
machine code. Both cover values, not names: they change when a constant, a closure, a default or an array changes.
"""

from __future__ import annotations

import ast
import enum
import hashlib
import inspect
import struct
import textwrap
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from .call_tree import (
    Bindings,
    Code,
    call_tree,
    codes,
    from_library,
    functions_in,
    is_own,
    once_if_own,
    reads,
    vectorised,
)
from .errors import CompilationError

_BUILT_IN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType, np.ufunc)
#: Modules and functions that make an index depend on more than its arguments, and what to use instead.
_UNREPEATABLE = {
    "random": "draw from the arm's own stream: sharpe_bandits.kernels.streams.normal(arm.key, 0)",
    "numpy.random": "draw from the arm's own stream: sharpe_bandits.kernels.streams.normal(arm.key, 0)",
    "time": "use t, the number of rounds already played",
    "numpy.empty": "use numpy.zeros: an empty array holds whatever lay in memory",
    "numpy.empty_like": "use numpy.zeros_like: an empty array holds whatever lay in memory",
    "numpy.ndarray": "use numpy.zeros: an empty array holds whatever lay in memory",
    "numba.objmode": "write it with numbers, numpy and math",
    "numba.carray": "pass the array as a parameter of the policy",
    "numba.farray": "pass the array as a parameter of the policy",
}
#: Names that a user's code must not mention, and why.
_UNCHECKED = {
    "flat": "a place past its end would not be noticed; index the array itself, or array.ravel()",
    "as_strided": "what it reads may lie past the end of the array; index the array itself",
    "hash": "hashes of text differ from process to process; use numbers",
    "id": "it differs from process to process; use numbers",
}
#: Placeholder of a function in a text: a lone surrogate, which no encodable text contains.
_GAP = "\ud800"
#: Source texts of functions, read when a function was first seen: a file may be edited later.
_source_texts: dict[Code, str] = {}


def fingerprint(function: Callable[..., Any]) -> str:
    """A digest of what a formula computes, independent of its layout; functions of this package count by name."""
    parts = description(function, {}, source_text, follow=lambda called: not is_own(called))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def description(
    root: Callable[..., Any],
    bindings: Bindings,
    text_of: Callable[[Code], str],
    follow: Callable[[Any], bool] = lambda called: True,
) -> Iterator[str]:
    """Everything that a function with its placeholders bound depends on: the code it runs, and every value it reads.

    Parameters
    ----------
    root : Callable[..., Any]
        a plain function
    bindings : Bindings
        placeholder function -> formula
    text_of : Callable[[Code], str]
        text of a code object
    follow : Callable[[Any], bool], optional
        whether a called function is described by its code; otherwise by its name
    """
    tree = call_tree(root, bindings)
    numbers = {function: number for number, function in enumerate(tree)}

    def called(function: Any) -> str:
        bound = bindings.get(function, function)
        return f"function {numbers[bound]}" if follow(bound) else f"function {bound.__module__}.{bound.__qualname__}"

    for function in tree:
        if function is not tree[0] and not follow(function):
            continue
        text, gaps = _own_part(function, text_of)
        filled = zip(text, [*map(called, gaps), ""], strict=True)
        yield f"{numbers[function]}: {''.join(chain.from_iterable(filled))}"


@once_if_own
def _own_part(function: Any, text_of: Callable[[Code], str]) -> tuple[list[str], list[Any]]:
    """A function's own part of a description: pieces of text with gaps between them, and the functions called there.

    There is one more piece than gaps.
    """
    gaps: list[Any] = []

    def called(function: Any) -> str:
        gaps.append(function)
        return _GAP

    _check_code(function)
    lines = [text_of(function.__code__)]
    lines += [f"default {content(default, function, called)}" for default in function.__defaults__ or ()]
    lines += [f"{name} = {content(value, function, called)}" for name, value in reads(function).items()]
    return "\n".join(lines).split(_GAP), gaps


def content(thing: Any, reader: Any, called: Callable[[Any], str]) -> str:
    """A text that differs whenever values differ in a way that matters to ``reader``.

    Raises :class:`CompilationError` for a value whose content cannot be inspected, or that makes results unrepeatable.
    """
    if isinstance(thing, (bool, int, str, bytes, type(None))) and type(thing).__module__ == "builtins":
        return f"{type(thing).__name__} {thing!r}"
    if isinstance(thing, float) and type(thing) is float:
        return f"float {struct.pack('<d', thing).hex()}"
    if type(thing) is complex:
        return f"complex {struct.pack('<dd', thing.real, thing.imag).hex()}"
    if isinstance(thing, (np.generic, np.ndarray)) and not thing.dtype.hasobject:
        order = "F" if isinstance(thing, np.ndarray) and thing.flags.f_contiguous else "C"
        digest = hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()
        return f"{type(thing).__name__} {_layout(thing.dtype)} {thing.shape} {order} {digest}"
    if isinstance(thing, (tuple, frozenset)):
        inner = [content(item, reader, called) for item in thing]
        return f"{_qualified(type(thing))}({', '.join(sorted(inner) if isinstance(thing, frozenset) else inner)})"
    if isinstance(thing, enum.Enum):
        return f"{_qualified(type(thing))} {content(thing.value, reader, called)}"
    if functions := list(functions_in(thing)):
        return f"{'vectorised ' if vectorised(thing) else ''}{called(functions[0])}"
    name = _qualified(thing)
    _check_repeatable(name, reader)
    if isinstance(thing, type) and issubclass(thing, enum.Enum):
        return f"{name} {[(m.name, content(m.value, reader, called)) for m in thing]}"
    if isinstance(thing, type) and (defaults := getattr(thing, "_field_defaults", None)) is not None:
        return f"{name} {getattr(thing, '_fields', ())} {content(tuple(defaults.items()), reader, called)}"
    if isinstance(thing, np.dtype):
        return f"dtype {_layout(thing)}"
    named = isinstance(thing, (type, types.FunctionType)) and from_library(thing)
    known = named or isinstance(thing, (*_BUILT_IN, types.ModuleType)) or _is_plain_object(thing)
    if known or (isinstance(thing, type) and issubclass(thing, BaseException)):
        return f"{type(thing).__name__} {name}"
    raise CompilationError(
        f"{reader.__name__} reads {name or repr(thing)[:60]}, a {_qualified(type(thing))}, whose content cannot be "
        "followed: a change of it would go unnoticed; use numbers, arrays of numbers, tuples of these and plain "
        "functions, or pass it as a parameter of the policy"
    )


def _layout(dtype: np.dtype[Any]) -> str:
    try:
        return str(dtype.descr)
    except ValueError:  # fields that overlap
        return repr(dtype)


def _is_plain_object(thing: Any) -> bool:
    """Whether an object of numpy or numba is identified by its name: a numba type, or a function that numpy dispatches.

    Others, such as an intrinsic or a C callback, contain code of the user that cannot be followed.
    """
    modules = [base.__module__ for base in type(thing).__mro__]
    return modules[0].partition(".")[0] == "numpy" or any(name.startswith("numba.core.types") for name in modules)


def _qualified(thing: Any) -> str:
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", "")
    if isinstance(thing, types.ModuleType):
        return str(name)
    owner = getattr(thing, "__self__", None)  # a method of an object, such as numpy.random.rand
    module = getattr(thing, "__module__", None) or (type(owner).__module__ if owner is not None else "")
    return f"{module}.{name}" if module else str(name)


def _check_code(function: Any) -> None:
    """Raise if a user's code has constructs that compile but cannot be checked or repeated."""
    if is_own(function):
        return
    if function.__code__.co_kwonlyargcount:
        raise CompilationError(f"{function.__name__} has keyword-only parameters; remove the * in front of them")
    for name in (name for code in codes(function.__code__) for name in code.co_names):
        if name in _UNCHECKED and not (name in ("hash", "id") and name in function.__globals__):
            raise CompilationError(f"{function.__name__} uses {name}: {_UNCHECKED[name]}")


def _check_repeatable(name: str, reader: Any) -> None:
    """Raise if a value makes results unrepeatable, such as a random generator outside the simulation."""
    if is_own(reader):
        return
    for forbidden, remedy in _UNREPEATABLE.items():
        if name == forbidden or name.startswith(f"{forbidden}."):
            raise CompilationError(f"{reader.__name__} uses {name}, and its results would not be repeatable; {remedy}")


def sources(function: Callable[..., Any]) -> dict[Code, str]:
    """The source texts of a function and of the user's functions that it calls: see :func:`source_text`."""
    return {f.__code__: source_text(f.__code__) for f in call_tree(function) if not is_own(f)}


def remember(texts: dict[Code, str]) -> None:
    """Register source texts that were read in another process, whose files may not exist here."""
    _source_texts.update(texts)


def source_text(code: Code) -> str:
    """The source of a function without layout and comments; its byte code if there is no source."""
    if code not in _source_texts:
        try:
            (node,) = ast.parse(textwrap.dedent(inspect.getsource(code))).body
            text = ast.unparse(ast.Module([*node.args.posonlyargs, *node.args.args, *node.body], []))  # type: ignore[attr-defined]
        except (OSError, TypeError, SyntaxError, ValueError, AttributeError):  # there is no source
            text = byte_code(code)
        _source_texts[code] = text
    return _source_texts[code]


@lru_cache(maxsize=4096)
def byte_code(code: Code) -> str:
    """A text of a code object that is independent of line numbers."""
    parts = []
    for part in codes(code):
        constants = [content(c, None, repr) for c in part.co_consts if not isinstance(c, Code)]
        names = (part.co_name, part.co_names, part.co_varnames, part.co_freevars, part.co_cellvars)
        parts.append(f"{names} {part.co_argcount} {part.co_flags} {part.co_code.hex()} {constants}")
    return "; ".join(parts)
