"""The steps in which a function of this package is compiled: those of Numba's that it needs.

Three things take most of the time that Numba would spend on such a function before LLVM sees it: it tries every
implementation of an operator wherever one stands, works out several times how long variables live, and makes forty
instructions of every access to an array. Here, an operator is looked up once for each combination of types, lifetimes
are not worked out, since references to arrays are not counted, and an access to an array is a few instructions.
"""

from __future__ import annotations

from typing import Any

import llvmlite.ir
from numba import types
from numba.core import (
    cgutils,
    compiler_machinery,
    ir,
    ir_utils,
    lowering,
    postproc,
    ssa,
    typed_passes,
    typing,
    untyped_passes,
)
from numba.np import arrayobj


class TypingContext(typing.Context):
    """A typing context that remembers what builtin functions and operators give for which types.

    Numba would try every implementation of ``+`` on every addition.
    """

    _known: dict[Any, Any] = {}  # noqa: RUF012 - one for all

    @classmethod
    def of(cls, context: Any) -> TypingContext:
        """The same context, that remembers."""
        same = object.__new__(cls)
        same.__dict__ = context.__dict__
        return same

    def _resolve_user_function_type(self, func: Any, args: Any, kws: Any, literals: Any = None) -> Any:
        function = self._lookup_global(func) or func  # type: ignore[no-untyped-call]
        if not isinstance(function, types.Function):
            return super()._resolve_user_function_type(func, args, kws, literals)  # type: ignore[no-untyped-call]
        key = function, tuple(args), tuple(kws.items())
        if key not in self._known:
            self._known[key] = function.get_call_type(self, args, kws)
        return self._known[key]


def _step(step: Any) -> Any:
    """Make a step of a class: after it Numba does not work out anew how long variables live."""
    return compiler_machinery.register_pass(mutates_CFG=False, analysis_only=False)(step)


def _alone(step: Any) -> Any:
    """A step of Numba's as it is."""
    return _step(type(f"_{step.__name__}", (step,), {"_name": f"{step._name}_alone"}))


@_step
class _SingleAssignments(untyped_passes.ReconstructSSA):
    """Numba's, without working out lifetimes."""

    _name = "single_assignments"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = ssa.reconstruct_ssa(state.func_ir)  # type: ignore[no-untyped-call]
        self._patch_locals(state)  # type: ignore[no-untyped-call]
        state.func_ir._definitions = ir_utils.build_definitions(state.func_ir.blocks)  # type: ignore[no-untyped-call]
        return True


@_step
class _PlainAssignments(typed_passes.PreLowerStripPhis):
    """Numba's, without working out lifetimes."""

    _name = "plain_assignments"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)  # type: ignore[no-untyped-call]
        state.func_ir._definitions = ir_utils.build_definitions(state.func_ir.blocks)  # type: ignore[no-untyped-call]
        return True


@_step
class _Lifetimes(compiler_machinery.AnalysisPass):
    """Says where a variable is used for the last time, in functions that count references."""

    _name = "lifetimes"

    def __init__(self) -> None:
        """Asked for by Numba."""

    def run_pass(self, state: Any) -> bool:
        state.func_ir.generator_info = None
        if state.flags.nrt:
            postproc.PostProcessor(state.func_ir).run(emit_dels=True)
        return True


class _Lower(lowering.Lower):
    """Numba's, but that a number is read from an array, or written to it, in a few instructions instead of forty; and
    that a function which does not count references gives back in the end what :func:`memory.zeros` gave it.
    """

    def pre_lower(self) -> None:
        super().pre_lower()  # type: ignore[no-untyped-call]
        self._made: list[Any] = []
        self._ends: list[Any] = []

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        made = super()._lower_call_normal(fnty, expr, signature)  # type: ignore[no-untyped-call]
        called = getattr(getattr(fnty, "dispatcher", None), "py_func", None)
        if hasattr(called, "gives_array") and not self.context.enable_nrt:
            model = self.context.data_model_manager[signature.return_type]
            self._made.append(cgutils.alloca_once_value(self.builder, cgutils.get_null_value(cgutils.voidptr_t)))
            self._give_back(self._made[-1])  # what it gave in the round before, in a loop
            self.builder.store(model.get(self.builder, made, "meminfo"), self._made[-1])
        return made

    def _give_back(self, place: Any) -> None:
        kind = llvmlite.ir.FunctionType(llvmlite.ir.VoidType(), [cgutils.voidptr_t])
        release = cgutils.get_or_insert_function(self.module, kind, "NRT_decref")
        self.builder.call(release, [self.builder.load(place)])

    def lower_inst(self, inst: Any) -> None:
        super().lower_inst(inst)  # type: ignore[no-untyped-call]
        if isinstance(inst, ir.Return):
            self._ends.append(self.builder.basic_block)

    def post_lower(self) -> None:
        for end in self._ends:
            self.builder.position_before(end.terminator)
            for place in self._made:
                self._give_back(place)
        super().post_lower()  # type: ignore[no-untyped-call]

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        kind = self.typeof(value.name)  # type: ignore[no-untyped-call]
        place = self._place(kind, value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)  # type: ignore[no-untyped-call]
        found = arrayobj.load_item(self.context, self.builder, kind, place)  # type: ignore[no-untyped-call]
        return self.context.cast(self.builder, found, kind.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        kind = self.typeof(target_var.name)  # type: ignore[no-untyped-call]
        place = self._place(kind, target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)  # type: ignore[no-untyped-call]
        value, given = self.loadvar(value_var.name), self.typeof(value_var.name)  # type: ignore[no-untyped-call]
        value = self.context.cast(self.builder, value, given, kind.dtype)
        return arrayobj.store_item(self.context, self.builder, kind, value, place)  # type: ignore[no-untyped-call]

    def _place(self, kind: Any, array: Any, index: Any) -> Any:
        """Where a number of an array is; None if it is not an array, or an index not of one number."""
        index_kind = self.typeof(index.name)  # type: ignore[no-untyped-call]
        kinds = tuple(index_kind) if isinstance(index_kind, types.BaseTuple) else (index_kind,)
        if not (isinstance(kind, types.Array) and kind.ndim == len(kinds)) or self.context.enable_boundscheck:
            return None
        if not all(isinstance(one, types.Integer) for one in kinds):
            return None
        builder, given = self.builder, self.loadvar(index.name)  # type: ignore[no-untyped-call]
        places = cgutils.unpack_tuple(builder, given) if isinstance(index_kind, types.BaseTuple) else [given]
        model, value = self.context.data_model_manager[kind], self.loadvar(array.name)  # type: ignore[no-untyped-call]
        shape, strides = (
            cgutils.unpack_tuple(builder, model.get(builder, value, name), kind.ndim) for name in ("shape", "strides")
        )
        places = [
            arrayobj.fix_integer_index(self.context, builder, one, place, size)  # type: ignore[no-untyped-call]
            for one, place, size in zip(kinds, places, shape, strict=True)
        ]
        data = model.get(builder, value, "data")
        return cgutils.get_item_pointer2(self.context, builder, data, shape, strides, kind.layout, places)  # type: ignore[no-untyped-call]


@_step
class _Lowering(typed_passes.NativeLowering):
    """To instructions of LLVM."""

    _name = "lowering"

    @property
    def lowering_class(self) -> type[lowering.Lower]:
        return _Lower


#: What becomes of a function of this package: no nested functions, ``with``, generators, whole-array expressions,
#: branches on the types of arguments, or overloads that ask to be inlined.
_STEPS = (
    _alone(untyped_passes.TranslateByteCode),
    _alone(untyped_passes.FixupArgs),
    untyped_passes.IRProcessing,
    untyped_passes.GenericRewrites,
    _SingleAssignments,
    typed_passes.NopythonTypeInference,
    _PlainAssignments,
    _Lifetimes,
    typed_passes.AnnotateTypes,
    _Lowering,
    _alone(typed_passes.NoPythonBackend),
)


def pipeline() -> Any:
    """All steps, in their order."""
    steps = compiler_machinery.PassManager("kernels")
    for step in _STEPS:
        steps.add_pass(step, step._name)
    steps.finalize()
    return steps
