"""How kernels and the functions that they call are compiled: Numba's compiler, less what they do not need.

Numba optimises every function as a module of its own, with all that it calls, and turns it into machine code. What a
kernel calls is linked into the kernel's module and optimised with it, so for a callee all this would be work for
nothing. For the steps before that see :mod:`sharpe_bandits.engine.pipeline`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import _dynfunc, njit, types  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from ..call_tree import is_own
from .pipeline import TypingContext, pipeline


class _CalleeLibrary(JITCodeLibrary):
    """Code to be linked into a kernel's."""

    def finalize(self) -> None:
        """Nothing is linked, optimised or handed to the processor."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _KernelLibrary(JITCodeLibrary):
    """A kernel's code, with that of all functions it calls, and that they call."""

    def finalize(self) -> None:
        """Link everything once, callers first: what nothing calls yet is left out."""
        found: dict[Any, None] = {}
        _gather(self, found)
        self._linking_libraries = list(reversed(found))
        super().finalize()


def _gather(library: Any, found: dict[Any, None]) -> None:
    for linked in library._linking_libraries:
        if linked not in found:
            if isinstance(linked, _CalleeLibrary):
                _gather(linked, found)
            found[linked] = None


class _Compiler(Compiler):
    def define_pipelines(self) -> list[Any]:
        """The steps of this package's functions; all of Numba's for others."""
        if not is_own(self.state.func_id.func):
            return super().define_pipelines()
        self.state.typingctx = TypingContext.of(self.state.typingctx)
        return [pipeline()]


class KernelCompiler(_Compiler):
    """The compiler of kernels."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a kernel, and all that it calls, for the types given."""
        self.state.library = _KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        with _uncollected():
            return super().compile_extra(func)


class CalleeCompiler(_Compiler):
    """The compiler of functions that only compiled functions call: there is no machine code."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function for the types given."""
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = _CalleeLibrary(context.codegen(), func.__qualname__)
        result = super().compile_extra(func)
        returned = context.data_model_manager[result.signature.return_type]
        if is_own(func) and not hasattr(func, "gives_array") and returned.contains_nrt_meminfo():
            raise AssertionError(f"{func.__name__} gives an array, which nobody would give back")
        # Numba knows compiled functions by an object of this kind. There is nothing at the address that it calls.
        handle = _dynfunc.make_function(
            result.fndesc.lookup_module(), func.__name__, "", 0, result.environment, (result.library,)
        )
        context.insert_user_function(handle, result.fndesc, [result.library])
        return result._replace(entry_point=handle)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection, which would go through millions of living objects: a tenth of a first call."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def kernel(function: Any, **options: Any) -> Any:
    """A function that is compiled as a kernel once it is called."""
    return _compiled_by(KernelCompiler, **options)(function)


def callee(function: Any, **options: Any) -> Any:
    """A function that is compiled as a callee once it is called; nothing in Python does: it needs no wrapper."""
    dispatcher = _compiled_by(CalleeCompiler, no_cpython_wrapper=True, **options)(function)
    if is_own(function) and dispatcher is not function:  # it is where the compiler is switched off
        ask = dispatcher.get_call_template
        # A constant is a type of its own, for which Numba would compile the function again.
        dispatcher.get_call_template = lambda args, kws: ask(
            [types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()}
        )
    return dispatcher


def _compiled_by(compiler: Any, **options: Any) -> Any:
    options |= {"no_cfunc_wrapper": True}
    return njit(nogil=True, error_model="numpy", pipeline_class=compiler, **options)
