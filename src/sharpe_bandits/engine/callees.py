"""How functions that only compiled functions call are compiled: as far as is needed to link and inline them.

Numba optimises every function as a module of its own and turns it into machine code. What a kernel calls is linked into
the kernel's module and optimised with it, so for a callee both would be work for nothing: an eighth of a first call.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _Library(JITCodeLibrary):
    """Code to be linked into a caller's."""

    def _optimize_final_module(self) -> None:
        """Left to the caller."""

    def _finalize_final_module(self) -> None:
        """Nothing is handed to the processor."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class CalleeCompiler(Compiler):
    """Numba's compiler, but for the machine code."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function for the types given."""
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = _Library(context.codegen(), func.__qualname__)  # type: ignore[no-untyped-call]
        result = super().compile_extra(func)  # type: ignore[no-untyped-call]
        # Numba knows compiled functions by an object of this kind. There is nothing at the address that it calls.
        handle = _dynfunc.make_function(
            result.fndesc.lookup_module(), func.__name__, "", 0, result.environment, (result.library,)
        )
        context.insert_user_function(handle, result.fndesc, [result.library])
        return result._replace(entry_point=handle)
