"""Compiles kernels and formulas, which are plain Python functions, to machine code, once per combination.

A kernel calls the placeholders of :mod:`sharpe_bandits.play.formulas`; :func:`specialise` rebinds them to a policy's
index and an objective's value, compiles the whole call tree, and keeps the result on disk under a digest of every
function and value involved (:mod:`sharpe_bandits._support.fingerprints`). A user's formula therefore gets the same
treatment as a built-in one: the same loop, inlined and cached. Everything compiled is keyed by that digest, never by a
function object: changing a constant changes the machine code.
"""

from __future__ import annotations

import dis
import hashlib
import linecache
import math
import os
import re
import sys
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from .._support.call_tree import Bindings, Function, call_tree, codes, is_followed, is_own, rebuilt
from .._support.fingerprints import code_key
from .._support.versions import sources
from ..errors import CompilationError, unknown
from ..play import formulas
from ..play.statistics import ArmRecord, record_kinds
from .cache import KernelFiles

#: Part of every digest. Changing it invalidates everything compiled before.
_SALT = "sharpe-bandits kernels 6"
#: Options of everything that is compiled.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
#: Functions with less byte code than this are always inlined, unless marked by :func:`memory.called`.
_SHORT = 1500
#: Maximum number of kernels and pointers, and of their shared callees, that are kept in memory for their next use. What
#: is dropped is still on disk.
MAX_KEPT = 512
_compiled: OrderedDict[tuple[str, str], Any] = OrderedDict()
_callees: OrderedDict[str, Any] = OrderedDict()
#: Formulas that are known to compile, with the types they were compiled for.
_sound: set[tuple[str, Any]] = set()
_lock = threading.RLock()
#: Functions that placeholders for yes or no are bound to.
_CONSTANTS = (formulas.always, formulas.never)


def _keep(kept: OrderedDict[Any, Any], key: Any, compiled: Any) -> None:
    """Add an entry as the latest one, and drop those that were added or used longest ago if there are too many."""
    kept[key] = compiled
    kept.move_to_end(key)
    while len(kept) > MAX_KEPT:
        kept.popitem(last=False)


def is_disabled() -> bool:
    """Whether Numba's compiler is switched off (``NUMBA_DISABLE_JIT``), so that kernels run as plain Python."""
    import numba

    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]


@cache
def accelerator() -> ModuleType | None:
    """The module that compiles faster by Numba's internals; None if it is switched off, or if they have changed."""
    if os.environ.get("SHARPE_BANDITS_ACCELERATOR") == "0" or is_disabled():
        return None
    try:
        from . import accelerator

        checked = KernelFiles("accelerator", hashlib.sha256("\n".join(_versions()).encode()).hexdigest()[:24])
        if not checked.any():
            accelerator.check()
            checked.write("", b"")
    except Exception as error:  # an internal of Numba may have changed in any way
        print(
            f"sharpe-bandits: kernels compile more slowly with Numba {_versions()[3]}, whose internals have changed "
            f"({type(error).__name__}: {error})",
            file=sys.stderr,
        )
        return None
    return accelerator


def specialise(kernel: Callable[..., Any], bindings: Bindings, signature: Any = None) -> Any:
    """The kernel, a plain function, with its placeholders bound to formulas, compiled (or from the cache).

    With a signature it is a function that other kernels receive as an argument (a pointer), so that they need not be
    compiled for it.
    """
    with _lock:
        while True:
            digest = _digest(kernel, bindings)
            name = kernel.__name__, digest
            if name in _compiled:
                _compiled.move_to_end(name)
                return _compiled[name]
            compiled = _compile(kernel, bindings, digest, signature)
            # The translation has copied every value. The digest describes these copies unless one changed meanwhile.
            if _digest(kernel, bindings) == digest:
                _keep(_compiled, name, compiled)


def _compile(kernel: Callable[..., Any], bindings: Bindings, digest: str, signature: Any) -> Any:
    import numba

    function = _Translation(bindings, digest, []).rebound(kernel)
    if is_disabled():
        return function
    if fast := accelerator():
        files, own = KernelFiles(kernel.__name__, digest), all(map(is_own, call_tree(kernel, bindings)))
        if signature is None:
            return fast.kernel(function, files, own, **_OPTIONS)
        return fast.pointer(function, signature, files, own, **_OPTIONS)
    return _cached(numba.njit)(function) if signature is None else _cached(numba.cfunc, signature)(function)


def is_ready(kernel: Any) -> bool:
    """Whether a kernel of :func:`specialise` is compiled already, in memory or on disk (perhaps for other types)."""
    return is_disabled() or bool(kernel.overloads) or (hasattr(kernel, "files") and kernel.files.any())


def record_type() -> Any:
    """The type of an arm's record in compiled code."""
    from numba import float64, types, uint64

    return types.NamedTuple([uint64 if kind is int else float64 for kind in record_kinds().values()], ArmRecord)


def check_formula(formula: Callable[..., Any], arguments: tuple[Any, ...], what: str) -> None:
    """Compile an index formula on its own, so that errors are reported at the user's own line."""
    import numba

    if is_disabled():
        return
    signature = (record_type(), numba.int64, *(numba.typeof(a) for a in arguments))
    checked = (_digest(formula, {}), signature)
    if checked in _sound:
        return
    _check_integers(formula)
    _check_prints(formula)
    try:
        dispatcher = _shared(formula, [])
        dispatcher.compile(signature)
        result = dispatcher.overloads[signature].signature.return_type
    except (CompilationError, MemoryError):
        raise
    except Exception as error:  # not all that Numba raises is a NumbaError
        raise CompilationError(_explain(formula, error, what)) from error
    if not isinstance(result, (numba.types.Float, numba.types.Integer, numba.types.Boolean)):
        line = formula.__code__.co_firstlineno
        raise CompilationError(
            f"the index of {what} ({formula.__code__.co_filename}, line {line}) must return a number on every path, "
            f"but it returns {result}"
        )
    _sound.add(checked)


def _check_integers(formula: Callable[..., Any]) -> None:
    """Raise if a user's formula computes a power that Python has and 64 bits have not."""
    for function in call_tree(formula):
        instructions = [i for code in codes(function.__code__) for i in dis.get_instructions(code)]
        for (base, exponent), power in zip(pairwise(instructions), instructions[2:], strict=False):
            if power.argrepr != "**" or not type(base.argval) is type(exponent.argval) is int:
                continue
            if abs(base.argval) > 1 and exponent.argval * math.log2(abs(base.argval)) >= 64:
                raise CompilationError(
                    f"{function.__name__} computes {base.argval}**{exponent.argval}, an integer of over 64 bits, and "
                    "compiled integers have 64; write it as a float, such as 1e30"
                )


def _check_prints(formula: Callable[..., Any]) -> None:
    """Raise if a user's formula prints: compiled code waits for ever for the lock of the interpreter."""
    for function in call_tree(formula):
        own = function.__globals__.get("print", print)
        if own is print and any("print" in code.co_names for code in codes(function.__code__)):
            raise CompilationError(
                f"{function.__name__} prints, which compiled code cannot; leave print out: sb.trace(...) shows every "
                "choice, and statistics() of an agent what an index reads"
            )


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
    if field := re.search(r"Unknown attribute '(\w+)' of type ArmRecord", reason):
        reason = str(unknown("field of arm", field[1], ArmRecord._fields))
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

    def callee(self, function: Callable[..., Any]) -> Any:
        function = self.bindings.get(function, function)
        fast = accelerator()
        if fast and function in fast.INTRINSICS:
            return fast.INTRINSICS[function]
        if function in self.callers:
            raise CompilationError(f"{function.__name__} calls itself, which cannot be compiled here; write a loop")
        if function not in self.done:
            unbound = self.bindings.keys().isdisjoint(call_tree(function))
            self.done[function] = _shared(function, self.callers) if unbound else self.compiled(function)
        return self.done[function]

    def compiled(self, function: Callable[..., Any]) -> Any:
        import numba

        # A loop over runs or pulls is vectorised only if all its callees are inlined. In a user's function, reading
        # past the end of an array is an error instead of undefined behaviour.
        short, own = len(function.__code__.co_code) < _SHORT and not hasattr(function, "called"), is_own(function)
        self.callers.append(function)
        try:
            rebound = self.rebound(function)
        finally:
            self.callers.pop()
        if is_disabled():
            return rebound
        if function in _CONSTANTS:  # Numba then leaves out the branches that they rule out
            return numba.njit(**_OPTIONS, inline="always")(rebound)
        fast = accelerator()
        compiled: Any = fast.callee if fast else numba.njit
        return compiled(rebound, forceinline=short, boundscheck=not own, **_OPTIONS)

    def rebound(self, function: Callable[..., Any]) -> Function:
        """A copy of a function that calls compiled functions and reads copies of values."""
        copy = rebuilt(function, self._converted, f"{function.__name__}_{self.label}")
        if is_own(function) and not is_disabled() and function not in _BUILTINS.values():
            # Numba's own versions take any number of arguments, are compiled anew for each combination of types, and
            # treat NaN otherwise than Python does.
            used = _BUILTINS.keys() & set(copy.__code__.co_names)
            copy.__globals__.update({name: self.callee(_BUILTINS[name]) for name in used})
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
        return thing


def _cached(decorator: Any, *arguments: Any) -> Any:
    """A decorator of Numba, with Numba's own cache on disk where it has a folder for it."""

    def decorated(function: Callable[..., Any]) -> Any:
        try:
            return decorator(*arguments, cache=True, **_OPTIONS)(function)
        except RuntimeError:  # no folder
            return decorator(*arguments, **_OPTIONS)(function)

    return decorated


def smaller(first, second):  # type: ignore[no-untyped-def]
    """Python's ``min`` of two numbers."""
    return second if second < first else first


def larger(first, second):  # type: ignore[no-untyped-def]
    """Python's ``max`` of two numbers."""
    return second if second > first else first


#: Replacements of builtin functions in functions of this package.
_BUILTINS = {"min": smaller, "max": larger}


def _shared(function: Callable[..., Any], callers: list[Callable[..., Any]]) -> Any:
    """A function that no binding affects, compiled once for all its callers."""
    digest = _digest(function, {})
    with _lock:
        compiled = _callees.get(digest) or _Translation({}, digest, callers).compiled(function)
        _keep(_callees, digest, compiled)
        return compiled


def _digest(kernel: Callable[..., Any], bindings: Bindings) -> str:
    """A digest of everything that the machine code depends on: byte code, values, and versions of the compiler."""
    parts = [*_versions(), str(accelerator() is None), kernel.__name__, code_key(kernel, bindings)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


@cache
def _versions() -> tuple[str, ...]:
    import numba

    try:  # the records that kernels take as arguments may differ between versions
        ours = version("sharpe-bandits")
    except PackageNotFoundError:  # used from its sources, without being installed
        ours = sources()
    return _SALT, ours, sys.version, numba.__version__, version("llvmlite"), np.__version__


#: Packages whose errors are not a formula's.
_COMPILERS = {"numba", "llvmlite"}


def is_raised_by_formula(error: BaseException) -> bool:
    """Whether an error of a kernel comes from a user's formula: not from the compiler, and not from this package.

    To be called where the kernel was called: compiled code leaves no further frame, or one of the formula's own file.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    packages = [frame.f_globals.get("__name__", "").partition(".")[0] for frame in frames]
    own = len(packages) > 1 and packages[-1] == __name__.partition(".")[0]
    return not own and _COMPILERS.isdisjoint(packages)
