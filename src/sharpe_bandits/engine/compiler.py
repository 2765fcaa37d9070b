"""Compiles kernels and formulas, which are plain Python functions, to machine code, once per combination.

A kernel calls the placeholders of :mod:`sharpe_bandits.kernels.formulas`; :func:`specialise` rebinds them to a policy's
index and an objective's value, compiles the whole call tree, and keeps the result on disk under a digest of every
function and value involved (:mod:`sharpe_bandits.fingerprints`). A user's formula therefore gets the same treatment as
a built-in one: the same loop, inlined and cached. Everything compiled is keyed by that digest, never by a function
object: changing a constant changes the machine code.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..call_tree import Bindings, Function, call_tree, is_followed, is_own, rebuilt, vectorised
from ..errors import CompilationError
from ..fingerprints import byte_code, description
from ..kernels import memory
from .cache import KernelCache

#: Part of every digest. Changing it invalidates everything compiled before.
_SALT = "sharpe-bandits kernels 5"
#: Processor extensions that compiled code may use, the widest vectors first.
_EXTENSIONS = ("avx512f", "avx2", "avx", "fma", "sse4.2", "sve", "neon")
#: Functions with less byte code than this are always inlined, unless marked by :func:`memory.called`.
_SHORT = 1500
#: Functions with an intrinsic.
_MEMORY = (memory.zeros, memory.words, memory.word_of, memory.number_of, memory.scratch, memory.fetch)
_compiled: dict[tuple[str, str], Any] = {}
_callees: dict[str, Any] = {}
#: Formulas that are known to compile, with the types they were compiled for.
_sound: set[tuple[str, Any]] = set()
_lock = threading.RLock()


def specialise(kernel: Callable[..., Any], bindings: Bindings) -> Any:
    """The kernel with its placeholders bound, compiled (or from the cache).

    Parameters
    ----------
    kernel : Callable[..., Any]
        a plain function of :mod:`sharpe_bandits.kernels`.
    bindings : Bindings
        placeholder function -> formula
    """
    with _lock:
        while True:
            digest = _digest(kernel, bindings)
            if (kernel.__name__, digest) in _compiled:
                return _compiled[kernel.__name__, digest]
            entry = _Translation(bindings, digest, []).entry(kernel)
            # The translation has copied every value. The digest describes these copies unless one changed meanwhile.
            if _digest(kernel, bindings) == digest:
                _compiled[kernel.__name__, digest] = entry


def check_formula(formula: Callable[..., Any], arguments: tuple[Any, ...], what: str) -> None:
    """Compile an index formula on its own, so that errors are reported at the user's own line."""
    import numba

    from ..kernels.statistics import ArmRecord, record_kinds

    if getattr(numba.core.config, "DISABLE_JIT", 0):
        return
    fields = [numba.uint64 if kind is int else numba.float64 for kind in record_kinds().values()]
    signature = (numba.types.NamedTuple(fields, ArmRecord), numba.int64, *(numba.typeof(a) for a in arguments))
    checked = (_digest(formula, {}), signature)
    if checked in _sound:
        return
    try:
        dispatcher = _shared(formula, [])
        dispatcher.compile(signature)
        result = dispatcher.overloads[signature].signature.return_type
    except (numba.core.errors.NumbaError, numba.core.errors.UnsupportedBytecodeError) as error:
        raise CompilationError(_explain(formula, error, what)) from error
    if not isinstance(result, (numba.types.Float, numba.types.Integer, numba.types.Boolean)):
        line = formula.__code__.co_firstlineno
        raise CompilationError(
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
    """One pass over a call tree that compiles every plain function in it."""

    def __init__(self, bindings: Bindings, label: str, callers: list[Callable[..., Any]]) -> None:
        self.bindings = bindings
        #: Part of the name of everything compiled. The linker resolves names: machine code from the cache must not be
        #: linked to a function of the same name with other bindings.
        self.label = label
        #: Functions whose callees are being translated, in this pass and in the passes that started it.
        self.callers = callers
        self.done: dict[Callable[..., Any], Any] = {}

    def entry(self, kernel: Callable[..., Any]) -> Any:
        from .callees import kernel as compiled

        dispatcher = compiled(self._rebound(kernel), _nrt=makes_arrays(kernel))
        if not isinstance(dispatcher, Function):  # it is a plain function if the JIT is disabled
            own = all(map(is_own, call_tree(kernel, self.bindings)))
            dispatcher._cache = KernelCache(kernel.__name__, self.label, own)
        return dispatcher

    def callee(self, function: Callable[..., Any]) -> Any:
        import numba

        function = self.bindings.get(function, function)
        if function in _MEMORY and not getattr(numba.core.config, "DISABLE_JIT", 0):
            from .intrinsics import INTRINSICS

            return INTRINSICS[function]
        if function in self.callers:
            raise CompilationError(f"{function.__name__} calls itself, which cannot be compiled here; write a loop")
        if function not in self.done:
            unbound = self.bindings.keys().isdisjoint(call_tree(function))
            self.done[function] = _shared(function, self.callers) if unbound else self.compiled(function)
        return self.done[function]

    def compiled(self, function: Callable[..., Any]) -> Any:
        from .callees import callee

        # A loop over runs or pulls is vectorised only if all its callees are inlined. In a user's function, reading
        # past the end of an array is an error instead of undefined behaviour.
        short, own = len(function.__code__.co_code) < _SHORT and not hasattr(function, "called"), is_own(function)
        self.callers.append(function)
        try:
            counts = not own or makes_arrays(function)
            return callee(self._rebound(function), forceinline=short, boundscheck=not own, _nrt=counts)
        finally:
            self.callers.pop()

    def _rebound(self, function: Callable[..., Any]) -> Function:
        import numba

        copy = rebuilt(function, self._converted, f"{function.__name__}_{self.label}")
        if is_own(function) and not getattr(numba.core.config, "DISABLE_JIT", 0):
            from .intrinsics import BUILTINS

            copy.__globals__.update(BUILTINS)
        return copy

    def _converted(self, thing: Any) -> Any:
        """The value that compiled code sees: functions compiled, arrays copied."""
        if is_followed(thing):
            return self.callee(thing)
        if isinstance(thing, np.ndarray):
            copy = thing.copy(order="K")
            copy.flags.writeable = False
            return copy
        if isinstance(thing, tuple):
            items = [self._converted(getattr(item, "py_func", item)) for item in thing]
            return type(thing)(*items) if hasattr(thing, "_fields") else tuple(items)
        if (scalar := vectorised(thing)) is not None:
            import numba

            return numba.vectorize(self._rebound(scalar))
        return thing


def makes_arrays(function: Callable[..., Any]) -> bool:
    """Whether a function of this package is compiled with reference counting."""
    return hasattr(function, "makes_arrays")


def _shared(function: Callable[..., Any], callers: list[Callable[..., Any]]) -> Any:
    """A function that no binding affects, compiled once for all its callers."""
    digest = _digest(function, {})
    with _lock:
        if digest not in _callees:
            _callees[digest] = _Translation({}, digest, callers).compiled(function)
        return _callees[digest]


def _digest(kernel: Callable[..., Any], bindings: Bindings) -> str:
    """A digest of everything that the machine code depends on: byte code, values, and versions of the compiler."""
    import llvmlite
    import numba

    versions = (_SALT, sys.version, numba.__version__, llvmlite.__version__, np.__version__)
    parts = [*versions, kernel.__name__, *description(kernel, bindings, byte_code)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def target() -> tuple[str, str]:
    """The processor that kernels are compiled for, and those of its extensions that affect how loops are compiled."""
    import numba
    from numba.core.registry import cpu_target

    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    enabled = [name for name in _EXTENSIONS if f"+{name}" in features.split(",")]
    svml = ["svml"] if getattr(numba.core.config, "USING_SVML", False) else []
    return f"{triple} {name or 'generic'}", " ".join([*enabled, *svml])
