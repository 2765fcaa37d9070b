"""How kernels and their callees are compiled: Numba's compiler without the steps that they do not need.

Numba optimises every function as a module of its own, with all its callees, and generates machine code for it. A
kernel's callees are linked into the kernel's module and optimised there, so doing this for each callee would be wasted
work. For the earlier steps see :mod:`sharpe_bandits.engine.pipeline`.
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
    """Code to be linked into a kernel."""

    def finalize(self) -> None:
        """Skip linking, optimisation and code generation."""
        self._finalize_dynamic_globals()
        self._finalized = True


class _KernelLibrary(JITCodeLibrary):
    """The code of a kernel and of its whole call tree."""

    def finalize(self) -> None:
        """Link everything once, callers first: code that nothing calls yet is left out."""
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
        """The reduced pipeline for functions of this package; Numba's own for others."""
        if not is_own(self.state.func_id.func):
            return super().define_pipelines()
        self.state.typingctx = TypingContext.of(self.state.typingctx)
        return [pipeline()]


class KernelCompiler(_Compiler):
    """The compiler of kernels."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a kernel and its callees for the given types."""
        self.state.library = _KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        with _uncollected():
            return super().compile_extra(func)


class CalleeCompiler(_Compiler):
    """The compiler of functions that only compiled functions call: it generates no machine code."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function for the given types."""
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = _CalleeLibrary(context.codegen(), func.__qualname__)
        result = super().compile_extra(func)
        returned = context.data_model_manager[result.signature.return_type]
        if is_own(func) and not hasattr(func, "returns_array") and returned.contains_nrt_meminfo():
            raise AssertionError(f"{func.__name__} returns an array that would never be freed")
        # Numba identifies compiled functions by an object of this kind. Its entry point is never called.
        handle = _dynfunc.make_function(
            result.fndesc.lookup_module(), func.__name__, "", 0, result.environment, (result.library,)
        )
        context.insert_user_function(handle, result.fndesc, [result.library])
        return result._replace(entry_point=handle)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable garbage collection, which would scan millions of live objects and take a tenth of a first call."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def kernel(function: Any, **options: Any) -> Any:
    """A function that is compiled as a kernel on its first call."""
    return _compiled_by(KernelCompiler, **options)(function)


def callee(function: Any, **options: Any) -> Any:
    """A function that is compiled as a callee on its first call; Python never calls it, so it needs no wrapper."""
    dispatcher = _compiled_by(CalleeCompiler, no_cpython_wrapper=True, **options)(function)
    if is_own(function) and dispatcher is not function:  # they are the same if the JIT is disabled
        ask = dispatcher.get_call_template
        # A literal has a type of its own, for which Numba would compile the function again.
        dispatcher.get_call_template = lambda args, kws: ask(
            [types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()}
        )
    return dispatcher


def _compiled_by(compiler: Any, **options: Any) -> Any:
    options |= {"no_cfunc_wrapper": True}
    return njit(nogil=True, error_model="numpy", pipeline_class=compiler, **options)
