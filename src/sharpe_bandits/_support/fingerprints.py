"""Digests of a formula: of its code, the code of the functions it calls, and every value that any of these read.

:func:`fingerprint` shows whether a formula has changed; it is based on the source text, so it is the same under another
version of Python. :func:`code_key` is the key of machine code, and is based on byte code. Both cover values, not names:
they change when a constant, a closure, a default or an array changes. Functions of this package that always compute the
same are read once per process; everything else is read again each time.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import struct
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import CompilationError
from .call_tree import (
    Bindings,
    Code,
    call_tree,
    codes,
    from_library,
    is_fixed,
    is_followed,
    is_own,
    python_function,
    values_read,
)

_BUILT_IN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType, np.ufunc)
#: Maximum number of items of a tuple: a thousand take seconds to compile, and twice as many more than twice as long.
MAX_ITEMS = 1000
#: Source texts of functions, read when a function was first seen: a file may be edited later.
_source_texts: dict[Code, str] = {}


def fingerprint(function: Callable[..., Any]) -> str:
    """A digest of what a formula computes, independent of its layout; functions of this package count by name."""
    parts = _description(function, {}, source_text, follow=lambda called: not is_own(called))
    return _digest(parts)[:32]


def code_key(kernel: Callable[..., Any], bindings: Bindings) -> str:
    """A digest of everything that the machine code of a kernel depends on, except the compiler: of the formulas that it
    calls, so that kernels which call the same ones share what is compiled.
    """
    if not is_fixed(kernel):
        return _digest(_description(kernel, bindings, byte_code))
    fixed = frozenset((placeholder, formula) for placeholder, formula in bindings.items() if is_fixed(formula))
    key, called = _fixed_code_key(kernel, fixed)
    parts = [key]
    for placeholder, formula in bindings.items():
        if placeholder in called and not is_fixed(formula):
            parts += [placeholder.__qualname__, *_description(formula, bindings, byte_code)]
    return _digest(parts) if len(parts) > 1 else key


@lru_cache(maxsize=1024)
def _fixed_code_key(kernel: Callable[..., Any], fixed: frozenset[tuple[Any, Any]]) -> tuple[str, frozenset[Any]]:
    """The digest of a kernel with only some of its placeholders bound, and all functions that it calls."""
    bindings = dict(fixed)
    return _digest(_description(kernel, bindings, byte_code)), frozenset(call_tree(kernel, bindings))


def _digest(parts: Iterator[str] | list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _description(
    root: Callable[..., Any],
    bindings: Bindings,
    text_of: Callable[[Code], str],
    follow: Callable[[Any], bool] = lambda called: True,
) -> Iterator[str]:
    """Everything that a function with its placeholders bound depends on: the code it runs, and every value it reads.

    ``follow``: whether a called function is described by its code (by ``text_of``); otherwise it is by its name.
    """
    tree = call_tree(root, bindings)
    numbers = {function: number for number, function in enumerate(tree)}

    def reference(function: Any) -> str:
        bound = bindings.get(function, function)
        return f"function {numbers[bound]}" if follow(bound) else f"function {bound.__module__}.{bound.__qualname__}"

    for function in tree:
        if function is tree[0] or follow(function):
            lines = [text_of(function.__code__)]
            lines += [f"default {content(value, function, reference)}" for value in function.__defaults__ or ()]
            values = values_read(function).items()
            lines += [f"{name} = {content(value, function, reference)}" for name, value in values]
            yield f"{numbers[function]}: " + "\n".join(lines)


def content(value: Any, reader: Any, reference: Callable[[Any], str]) -> str:
    """A text that differs whenever values differ in a way that matters to compiled code.

    Raises :class:`CompilationError`, with the name of its ``reader``, for a value whose content cannot be inspected.
    ``reference`` gives the text that stands for a function, which is described elsewhere.
    """
    who = f"{reader.__name__ if reader else 'a formula'} reads"
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise CompilationError(
            f"{who} an integer of {value.bit_length()} bits, and compiled integers have 64; write it as a float, such "
            "as 1e30"
        )
    if isinstance(value, (bool, int, str, bytes, type(None))) and type(value).__module__ == "builtins":
        return f"{type(value).__name__} {value!r}"
    if type(value) is float:
        return f"float {struct.pack('<d', value).hex()}"
    if type(value) is complex:
        return f"complex {struct.pack('<dd', value.real, value.imag).hex()}"
    if isinstance(value, (np.generic, np.ndarray)) and not value.dtype.hasobject:
        order = "F" if isinstance(value, np.ndarray) and value.flags.f_contiguous else "C"
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{type(value).__name__} {_layout(value.dtype)} {value.shape} {order} {digest}"
    if isinstance(value, (tuple, frozenset)):
        if len(value) > MAX_ITEMS:
            raise CompilationError(
                f"{who} a tuple of {len(value):,} items, and at most {MAX_ITEMS:,} are compiled; use an array, such as "
                "np.array([...])"
            )
        inner = [content(item, reader, reference) for item in value]
        return f"{_qualified(type(value))}({', '.join(sorted(inner) if isinstance(value, frozenset) else inner)})"
    if isinstance(value, slice):  # a constant of code since Python 3.14
        return f"slice {content((value.start, value.stop, value.step), reader, reference)}"
    if is_followed(python_function(value)):
        return reference(python_function(value))
    name = _qualified(value)
    if isinstance(value, type) and (defaults := getattr(value, "_field_defaults", None)) is not None:
        return f"{name} {getattr(value, '_fields', ())} {content(tuple(defaults.items()), reader, reference)}"
    if isinstance(value, np.dtype):
        return f"dtype {_layout(value)}"
    if _known_by_name(value):
        return f"{type(value).__name__} {name}"
    raise CompilationError(
        f"{who} {name or repr(value)[:60]}, a {_qualified(type(value))}, whose content cannot be "
        "followed: a change of it would go unnoticed; use numbers, arrays of numbers, tuples of these and plain "
        "functions, or pass it as a parameter of the policy"
    )


def _layout(dtype: np.dtype[Any]) -> str:
    try:
        return str(dtype.descr)
    except ValueError:  # fields that overlap
        return repr(dtype)


def _known_by_name(value: Any) -> bool:
    """Whether a value is identified by its name: what comes with Python, numpy and numba, and exceptions.

    Other objects of numba, such as an intrinsic or a C callback, contain code of the user.
    """
    if isinstance(value, (*_BUILT_IN, types.ModuleType)):
        return True
    if isinstance(value, (type, types.FunctionType)):
        return from_library(value) or (isinstance(value, type) and issubclass(value, BaseException))
    numba = sys.modules.get("numba")  # a type of Numba can be read only after it was imported
    return type(value).__module__.partition(".")[0] == "numpy" or (
        numba is not None and isinstance(value, numba.types.Type)
    )


def _qualified(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
    if isinstance(value, types.ModuleType):
        return str(name)
    owner = getattr(value, "__self__", None)  # a method of an object, such as numpy.random.rand
    module = getattr(value, "__module__", None) or (type(owner).__module__ if owner is not None else "")
    return f"{module}.{name}" if module else str(name)


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
        except (OSError, TypeError, SyntaxError, ValueError, AttributeError, RecursionError):  # no source, or too deep
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
