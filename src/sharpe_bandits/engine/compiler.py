"""Turns kernels and formulas, which are plain Python functions, into machine code, once per combination.

A kernel calls the placeholders of :mod:`sharpe_bandits.kernels.formulas`; :func:`specialise` rebinds them to a policy's
index and an objective's value, compiles the whole call tree, and keeps the result on disk under a digest of every
function and constant involved. A user's formula therefore gets what a built-in one gets: the same loop, inlined and
cached. The cache folder is ``$SHARPE_BANDITS_CACHE`` or the user's cache folder; without a writable one everything
works, compiled anew in each process.
"""

from __future__ import annotations

import builtins
import hashlib
import linecache
import os
import platform
import re
import sys
import tempfile
import threading
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..call_tree import Bindings, Function, call_tree, cells, codes, global_names, members
from ..errors import CompilationFailed

#: Set on a user's function that reads tables: a place past their end is then an error, not whatever lies in memory.
READS_TABLES = "reads_tables"
#: Functions of less byte code than this are always inlined.
_SHORT = 1500
_SCALARS = (bool, int, float, complex, str, bytes, type(None), np.generic)
_compiled: dict[tuple[str, str], Callable[..., Any]] = {}
_callees: dict[Callable[..., Any], Any] = {}
#: Formulas found to compile, and the types they were compiled for.
_sound: set[tuple[str, Any]] = set()
_lock = threading.RLock()
_warned = False


def specialise(kernel: Callable[..., Any], bindings: Bindings) -> Any:
    """The kernel with its placeholders bound, compiled (or from the cache).

    Parameters
    ----------
    kernel : a plain function of :mod:`sharpe_bandits.kernels`
    bindings : placeholder function -> formula
    """
    digest = _digest(kernel, bindings)
    with _lock:
        if (kernel.__name__, digest) not in _compiled:
            _compiled[kernel.__name__, digest] = _Translation(bindings, digest).entry(kernel)
        return _compiled[kernel.__name__, digest]


def check_formula(formula: Callable[..., Any], arguments: tuple[Any, ...], what: str) -> None:
    """Compile an index formula on its own, so that what is wrong with it is reported at the user's own line."""
    import numba

    from ..kernels.statistics import Arm

    if getattr(numba.core.config, "DISABLE_JIT", 0):
        return
    fields = [numba.float64] * 7 + [numba.uint64] * 2 + [numba.float64] * 5
    signature = (numba.types.NamedTuple(fields, Arm), numba.int64, *(numba.typeof(a) for a in arguments))
    checked = (_digest(formula, {}), signature)
    if checked in _sound:
        return
    try:
        dispatcher = _Translation({}, "check").callee(formula)
        dispatcher.compile(signature)
        result = dispatcher.overloads[signature].signature.return_type
    except (numba.core.errors.NumbaError, numba.core.errors.UnsupportedBytecodeError) as error:
        raise CompilationFailed(_explain(formula, error, what)) from error
    if not isinstance(result, (numba.types.Float, numba.types.Integer, numba.types.Boolean)):
        line = formula.__code__.co_firstlineno
        raise CompilationFailed(
            f"the index of {what} ({formula.__code__.co_filename}, line {line}) must return a number on every path, "
            f"but it returns {result}"
        )
    _sound.add(checked)


def _explain(formula: Callable[..., Any], error: Any, what: str) -> str:
    filename, line = formula.__code__.co_filename, formula.__code__.co_firstlineno
    where = getattr(error, "loc", None)
    if where is not None and where.filename and os.path.basename(where.filename) == os.path.basename(filename):
        line = where.line
    elif raised := re.search(r"Raised from (.*) \((\d+)\)$", str(error)):
        line = int(raised[2]) if raised[1] == filename else line
    source = linecache.getline(filename, line).strip()
    reason = next((text for text in str(error).splitlines() if _is_reason(text)), str(error).splitlines()[0])
    shown = f"\n    {source}" if source else ""
    return (
        f"the index of {what} does not compile: {reason.strip()}\n  {filename}, line {line}:{shown}\n"
        "Use numbers, the fields of arm, math and numpy functions of numbers, and plain functions of these."
    )


def _is_reason(text: str) -> bool:
    plain = text.strip()
    return bool(plain) and not plain.startswith(("Failed in", "- Resolution", "During", "File", "[", "<source", "\x1b"))


class _Translation:
    """One pass over a call tree: every plain function in it becomes a compiled one that calls compiled ones."""

    def __init__(self, bindings: Bindings, label: str) -> None:
        self.bindings = bindings
        #: Part of the name of everything compiled. The linker goes by names: machine code from the cache must not be
        #: joined to a function of the same name that was bound differently.
        self.label = label
        self.done: dict[Callable[..., Any], Any] = {}

    def entry(self, kernel: Callable[..., Any]) -> Any:
        import numba

        stub = _stub(kernel, self.label)
        function = self._rebound(kernel, stub)
        return numba.njit(nogil=True, error_model="numpy", cache=stub is not None)(function)

    def callee(self, function: Callable[..., Any]) -> Any:
        import numba

        function = self.bindings.get(function, function)
        if self.bindings and self.bindings.keys().isdisjoint(call_tree(function)):
            return _shared(function)
        if function not in self.done:
            # A loop over runs or pulls becomes vector instructions only if all that it calls is inlined. Nothing in
            # Python calls a callee, and wrappers for that would take a fifth of the time to compile.
            short = len(function.__code__.co_code) < _SHORT
            unwrapped: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            if getattr(function, READS_TABLES, False):
                unwrapped["boundscheck"] = True
            compiled = numba.njit(nogil=True, error_model="numpy", forceinline=short, **unwrapped)
            self.done[function] = compiled(self._rebound(function, None))
        return self.done[function]

    def _callable(self, thing: Any) -> Any:
        return self.callee(thing) if isinstance(thing, Function) else thing

    def _rebound(self, function: Callable[..., Any], filename: Path | None) -> Function:
        scope: dict[str, Any] = {"__builtins__": builtins}
        for name, thing in global_names(function).items():
            scope[name] = self._callable(thing)
        code = function.__code__ if filename is None else function.__code__.replace(co_filename=str(filename))
        closure = tuple(types.CellType(self._callable(thing)) for thing in cells(function)) or None
        rebound = Function(code, scope, function.__name__, function.__defaults__, closure)
        rebound.__qualname__ = f"{function.__name__}_{self.label}"
        rebound.__module__ = function.__module__
        return rebound


def _shared(function: Callable[..., Any]) -> Any:
    """A function that no binding touches, compiled once for all kernels that call it."""
    with _lock:
        if function not in _callees:
            _callees[function] = _Translation({}, _digest(function, {})).callee(function)
        return _callees[function]


def _digest(kernel: Callable[..., Any], bindings: Bindings) -> str:
    """A digest of all that the machine code depends on: byte code, constants, and the versions that compile them."""
    import llvmlite
    import numba

    parts = [sys.version, numba.__version__, llvmlite.__version__, np.__version__]
    for function in call_tree(kernel, bindings):
        for code in codes(function.__code__):
            constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
            parts += [code.co_name, code.co_code.hex(), repr(code.co_names), repr(code.co_varnames), repr(constants)]
        parts.append(repr((function.__defaults__, getattr(function, READS_TABLES, False))))
        named = {**global_names(function), **members(function)}
        parts += [f"{name}={_identity(thing, bindings)}" for name, thing in named.items()]
        parts += [_identity(thing, bindings) for thing in cells(function)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def _identity(thing: Any, bindings: Bindings) -> str:
    if isinstance(thing, Function):
        bound = bindings.get(thing, thing)
        return f"{bound.__module__}.{bound.__qualname__}"
    if isinstance(thing, np.ndarray):
        return f"array {thing.dtype} {thing.shape} {hashlib.sha256(thing.tobytes()).hexdigest()}"
    if isinstance(thing, (*_SCALARS, tuple)):
        return f"{type(thing).__name__} {thing!r}"
    return f"{type(thing).__name__} {getattr(thing, '__module__', '')}.{getattr(thing, '__name__', '')}"


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    if os.environ.get("SHARPE_BANDITS_CACHE"):
        return Path(os.environ["SHARPE_BANDITS_CACHE"])
    if platform.system() == "Windows":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif platform.system() == "Darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "sharpe-bandits"


def _stub(kernel: Callable[..., Any], digest: str) -> Path | None:
    """A copy of the kernel's source under a name of its own, beside which numba keeps the machine code."""
    global _warned
    folder = cache_folder() / digest
    path = folder / f"{kernel.__name__}.py"
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            text = Path(kernel.__code__.co_filename).read_bytes()
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy:
                copy.write(text)
            os.replace(copy.name, path)
        with tempfile.TemporaryFile(dir=folder):
            return path
    except OSError as error:
        if not _warned:
            _warned = True
            warnings.warn(
                f"compiled kernels are not kept: {folder.parent} is not writable ({error.strerror}); "
                "set SHARPE_BANDITS_CACHE to a writable folder to start faster",
                stacklevel=2,
            )
        return None
