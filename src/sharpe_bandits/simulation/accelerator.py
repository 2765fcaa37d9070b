"""Compiles kernels faster than Numba's public API does, and keeps them in one folder, by its internals. Nothing depends
on it.

Numba optimises every function as a module of its own, with all its callees, and generates machine code for it. Here, a
kernel's callees are linked into the kernel's module and optimised there only. Besides, a few functions of
:mod:`sharpe_bandits.play.memory` become some instructions each. A first call takes about half the time, and loops
over rewards run faster.

:mod:`sharpe_bandits.simulation.compiler` leaves this file out if the environment says so
(``SHARPE_BANDITS_ACCELERATOR=0``), or if :func:`check` fails because Numba's internals have changed.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numba.experimental.function_type  # so that Numba knows the type of pointers, even if nothing is compiled
import numpy as np
from llvmlite import ir
from llvmlite.binding import newpassmanagers, parse_assembly
from llvmlite.binding.ffi import ObjectRef
from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from .._support.call_tree import is_own
from ..play import memory
from .cache import KernelFiles, warn_once

njit: Any = numba.njit  # with options that its type does not know

# llvmlite frees no pass manager, since the first base class of each has a ``_dispose`` that does nothing. Numba makes
# one for every function that a module names: 0.7 MB for a user's index.
for _manager in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager):
    if _manager._dispose is ObjectRef._dispose:
        _manager._dispose = newpassmanagers.NewPassManager._dispose


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
        libraries: dict[Any, None] = {}
        _gather(self, libraries)
        self._linking_libraries = list(reversed(libraries))
        super().finalize()

    def _finalize_final_module(self) -> None:
        """Pass machine code to the execution engine, which never frees anything. Numba passes LLVM's code, which takes
        ten times as much memory.
        """
        optimised = self._final_module
        self._compiled_object = machine_code = self._codegen._tm.emit_object(optimised)
        self._final_module = parse_assembly(str(self._codegen._create_empty_module(self.name)))
        super()._finalize_final_module()
        self._codegen._engine._load_defined_symbols(optimised)
        self._shared_module, self._compiled_object = optimised, machine_code  # until they are saved


def _gather(library: Any, libraries: dict[Any, None]) -> None:
    for linked in library._linking_libraries:
        if linked not in libraries:
            if isinstance(linked, _CalleeLibrary):
                _gather(linked, libraries)
            libraries[linked] = None


class _KernelCompiler(Compiler):
    def compile_extra(self, func: Any) -> Any:
        """Compile a kernel and its callees for the given types."""
        self.state.library = _KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        with _uncollected():
            return super().compile_extra(func)


class _CalleeCompiler(Compiler):
    def compile_extra(self, func: Any) -> Any:
        """Compile a function that only compiled functions call: no machine code is generated."""
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = _CalleeLibrary(context.codegen(), func.__qualname__)
        result = super().compile_extra(func)
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


class _Cache:
    """What a dispatcher of Numba loads compiled kernels from and saves them to.

    ``own``: whether all of the code is from this package. It then does not need the library functions that other
    compiled code may call; loading them takes half of a program's start-up time.
    """

    def __init__(self, files: KernelFiles, own: bool) -> None:
        self.files, self.own = files, own

    @property
    def cache_path(self) -> str | None:
        """The folder, as Numba's statistics show it."""
        return None if self.files.folder is None else str(self.files.folder)

    def enable(self) -> None:
        """Required by Numba; there is nothing to do."""

    disable = flush = enable

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel for these types; None if it is missing or damaged."""
        compiled = self.files.read(_key(signature, target_context.codegen()))
        if compiled is None:
            return None
        try:
            if self.own:
                rtsys.initialize(target_context)  # allocates the memory of arrays
            else:
                target_context.refresh()
            return CompileResult._rebuild(target_context, *pickle.loads(compiled))
        except Exception:  # any failure to load is a miss: the kernel is compiled again and the file replaced
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Save a compiled kernel, unless it holds addresses of this process."""
        try:
            if result.library.has_dynamic_globals:
                return
            key, compiled = _key(signature, result.codegen), dumps(result._reduce())
            result.library._shared_module = None
        except Exception as error:  # internals of Numba have changed: everything works, but is compiled in each process
            warn_once(f"this version of Numba stores compiled code differently ({type(error).__name__}: {error})")
            return
        self.files.write(key, compiled)


def _key(signature: Any, codegen: Any) -> str:
    kinds = getattr(signature, "args", signature)
    return repr((str(signature), [_names(kind) for kind in kinds], codegen.magic_tuple()))


def _names(kind: Any) -> list[Any]:
    """The names of a record's fields in their order, and of records in it: Numba's name of its type lacks them, and
    code that was compiled for another order would read other fields.
    """
    if not isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
        return []
    return [(name, _names(part)) for name, part in zip(kind.fields, kind.types, strict=True)]


def kernel(function: Any, files: KernelFiles | None = None, own: bool = False, **options: Any) -> Any:
    """A function that is compiled as a kernel on its first call, or loaded from its files."""
    dispatcher = njit(pipeline_class=_KernelCompiler, no_cfunc_wrapper=True, **options)(function)
    if files is not None:
        dispatcher.files, dispatcher._cache = files, _Cache(files, own)
    return dispatcher


def callee(function: Any, **options: Any) -> Any:
    """A function that is compiled as a callee on its first call; Python never calls it, so it needs no wrapper."""
    dispatcher = njit(pipeline_class=_CalleeCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(
        function
    )
    if is_own(function):
        template = dispatcher.get_call_template
        # A literal has a type of its own, for which Numba would compile the function again.
        dispatcher.get_call_template = lambda args, kws: template(
            [types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()}
        )
    return dispatcher


def pointer(function: Any, signature: Any, files: KernelFiles, own: bool, **options: Any) -> Any:
    """A function that compiled code calls by a pointer, compiled or loaded from its files."""
    compiled: Any = CFunc(function, (signature.args, signature.return_type), {}, options, _KernelCompiler)
    compiled._cache = _Cache(files, own)
    compiled.compile()
    return compiled


@intrinsic
def _zeros(typing: Any, shape: Any, kind: Any = None) -> Any:
    dtype = kind.dtype if isinstance(kind, types.NumberClass) else types.float64  # the default
    sizes: Any = getattr(shape, "types", (shape,))
    array_type = types.Array(dtype, len(sizes), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = cgutils.unpack_tuple(builder, arguments[0]) if hasattr(shape, "types") else arguments[:1]
        extents = [context.cast(builder, s, kind, types.intp) for s, kind in zip(given, sizes, strict=True)]
        strides = [context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dtype)))]
        for extent in reversed(extents):
            strides.append(builder.mul(strides[-1], extent))
        size = strides.pop()
        block = context.nrt.meminfo_alloc_aligned(builder, size, context.get_preferred_array_alignment(dtype))
        with builder.if_then(cgutils.is_null(builder, block), likely=False):
            context.call_conv.return_user_exc(builder, MemoryError, ("a kernel's arrays do not fit into memory",))
        data = context.nrt.meminfo_data(builder, block)
        cgutils.memset(builder, data, size, 0)
        array = make_array(array_type)(context, builder)
        word = context.get_value_type(types.intp)
        populate_array(
            array,
            data=builder.bitcast(data, context.get_data_type(dtype).as_pointer()),
            shape=cgutils.pack_array(builder, extents, ty=word),
            strides=cgutils.pack_array(builder, strides[::-1], ty=word),
            itemsize=strides[0],
            meminfo=block,
        )
        return impl_ret_new_ref(context, builder, array_type, array._getvalue())

    return array_type(shape, kind), generate


@intrinsic
def _words(typing: Any, array: Any) -> Any:
    seen_type = array.copy(dtype=types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = make_array(array)(context, builder, arguments[0])
        seen = make_array(seen_type)(context, builder)
        populate_array(
            seen,
            data=builder.bitcast(given.data, ir.IntType(64).as_pointer()),
            shape=given.shape,
            strides=given.strides,
            itemsize=given.itemsize,
            meminfo=given.meminfo,
            parent=given.parent,
        )
        return impl_ret_borrowed(context, builder, seen_type, seen._getvalue())

    return seen_type(array), generate


@intrinsic
def _scratch(typing: Any) -> Any:
    array_type = types.Array(types.float64, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = make_array(array_type)(context, builder)
        word = context.get_value_type(types.intp)
        populate_array(
            array,
            data=cgutils.alloca_once(builder, ir.DoubleType(), memory.SCRATCH),
            shape=cgutils.pack_array(builder, [word(memory.SCRATCH)], ty=word),
            strides=cgutils.pack_array(builder, [word(8)], ty=word),
            itemsize=word(8),
            meminfo=None,
        )
        return array._getvalue()

    return array_type(), generate


#: The replacement of each function. Zeros are made by a call, not an intrinsic: if a kernel's own code showed that an
#: array is LANES wide, LLVM would unroll its loops before inlining their callees, and not vectorise them.
INTRINSICS: dict[Any, Any] = {
    memory.zeros: callee(lambda shape, kind=np.float64: _zeros(shape, kind), nogil=True, error_model="numpy"),
    memory.words: _words,
    memory.scratch: _scratch,
}


def check() -> None:
    """Raise unless a small kernel, compiled here, gives what plain Python gives."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    zeros, words, scratch = (INTRINSICS[function] for function in (memory.zeros, memory.words, memory.scratch))

    def total(pool, numbers):  # type: ignore[no-untyped-def]
        sums = zeros(pool.size)
        for j in range(pool.size):
            sums[j] += numbers[j] * pool[0]
        return sums

    linked = callee(total, **options)

    def trial(pool):  # type: ignore[no-untyped-def]
        numbers = scratch()
        for j in range(pool.size):
            words(numbers)[j] = words(pool)[j]
        return linked(pool, numbers)

    pool = np.sqrt(np.arange(8.0)) - 2.0
    if kernel(trial, **options)(pool).tolist() != (pool * pool[0]).tolist():
        raise AssertionError("a linked kernel gives other results than plain Python")
