"""The compiler passes for a function of this package: those of Numba's that it needs.

Three things would take most of the time that Numba spends on such a function before LLVM sees it. It tries every
implementation of an operator at every use, computes the lifetimes of variables several times, and generates forty
instructions for every array access. Here, an operator is looked up once for each combination of types. Lifetimes are
not computed, since references to arrays are not counted. An array access is a few instructions.
"""

from __future__ import annotations

import operator
from typing import Any

import llvmlite.ir
from numba import types
from numba.core import (
    analysis,
    cgutils,
    compiler_machinery,
    ir,
    ir_utils,
    lowering,
    postproc,
    ssa,
    transforms,
    typed_passes,
    untyped_passes,
)
from numba.core.typing.context import Context
from numba.np import arrayobj

from ..kernels import formulas

#: Values of :func:`~sharpe_bandits.kernels.formulas.yes` and :func:`~sharpe_bandits.kernels.formulas.no` by code
#: object.
_ANSWERS = {formulas.yes.__code__: True, formulas.no.__code__: False}


class TypingContext(Context):
    """A typing context that caches the result types of builtin functions and operators by argument types.

    Numba would try every implementation of ``+`` on every addition.
    """

    _known: dict[Any, Any] = {}  # noqa: RUF012 - one for all

    @classmethod
    def of(cls, context: Any) -> TypingContext:
        """The same context, with caching."""
        same = object.__new__(cls)
        same.__dict__ = context.__dict__
        return same

    def _resolve_user_function_type(self, func: Any, args: Any, kws: Any, literals: Any = None) -> Any:
        function = self._lookup_global(func) or func
        if not isinstance(function, types.Function):
            return super()._resolve_user_function_type(func, args, kws, literals)
        key = function, tuple(args), tuple(kws.items())
        if key not in self._known:
            self._known[key] = function.get_call_type(self, args, kws)
        return self._known[key]


def _step(step: Any) -> Any:
    """Register a class as a pass after which Numba does not recompute the lifetimes of variables."""
    return compiler_machinery.register_pass(mutates_CFG=False, analysis_only=False)(step)


def _alone(step: Any) -> Any:
    """A pass of Numba's, unchanged."""
    return _step(type(f"_{step.__name__}", (step,), {"_name": f"{step._name}_alone"}))


@_step
class _Blocks(untyped_passes.IRProcessing):
    """Removes unreachable blocks, including branches not taken because a condition is bound to a constant (see
    :func:`sharpe_bandits.kernels.formulas.answer`): functions that only they call are not compiled. Generators are not
    supported.
    """

    _name = "blocks"

    def run_pass(self, state: Any) -> bool:
        for block in state.func_ir.blocks.values():
            branch = block.terminator
            if isinstance(branch, ir.Branch):
                answer = ir_utils.guard(_answer, state.func_ir, branch.cond)
                if answer is not None:
                    block.body[-1] = ir.Jump(branch.truebr if answer else branch.falsebr, branch.loc)
        for label in analysis.compute_cfg_from_blocks(state.func_ir.blocks).dead_nodes():
            del state.func_ir.blocks[label]
        state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)
        state.func_ir.generator_info = None
        return True


def _answer(function: Any, variable: Any) -> bool:
    """The constant value of a branch's condition; raises GuardException if it is not bound to a constant."""
    asked = ir_utils.get_definition(function, variable)
    if isinstance(asked, ir.Expr) and asked.op == "unary" and asked.fn is operator.not_:
        return not _answer(function, asked.value)
    ir_utils.require(isinstance(asked, ir.Expr) and asked.op == "call")
    called = ir_utils.find_outer_value(function, asked.func)
    if called is bool:
        return _answer(function, asked.args[0])
    plain: Any = getattr(called, "py_func", None)
    ir_utils.require(plain is not None and plain.__code__ in _ANSWERS)
    return _ANSWERS[plain.__code__]


@_step
class _SingleAssignments(untyped_passes.ReconstructSSA):
    """Numba's pass without the computation of lifetimes."""

    _name = "single_assignments"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = ssa.reconstruct_ssa(state.func_ir)
        self._patch_locals(state)
        state.func_ir._definitions = ir_utils.build_definitions(state.func_ir.blocks)
        return True


@_step
class _PlainAssignments(typed_passes.PreLowerStripPhis):
    """Numba's pass without the computation of lifetimes."""

    _name = "plain_assignments"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = ir_utils.build_definitions(state.func_ir.blocks)
        return True


@_step
class _Lifetimes(compiler_machinery.AnalysisPass):
    """Marks the last use of each variable, in functions that count references."""

    _name = "lifetimes"

    def __init__(self) -> None:
        """Required by Numba."""

    def run_pass(self, state: Any) -> bool:
        if state.flags.nrt:
            postproc.PostProcessor(state.func_ir).run(emit_dels=True)
        return True


class _Lower(lowering.Lower):
    """Numba's lowering with three changes: operators are looked up once; reading or writing an array element takes a
    few instructions instead of forty; and a function releases the arrays it got from :func:`memory.zeros` when it
    returns.
    """

    def pre_lower(self) -> None:
        super().pre_lower()
        self._made: list[Any] = []
        self._ends: list[Any] = []

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        made = super()._lower_call_normal(fnty, expr, signature)
        called = getattr(getattr(fnty, "dispatcher", None), "py_func", None)
        if hasattr(called, "returns_array") and not self.context.enable_nrt:
            model = self.context.data_model_manager[signature.return_type]
            self._made.append(cgutils.alloca_once(self.builder, cgutils.voidptr_t))  # initially null
            self._release(self._made[-1])  # in a loop: the array of the previous iteration
            self.builder.store(model.get(self.builder, made, "meminfo"), self._made[-1])
        return made

    def _release(self, place: Any) -> None:
        kind = llvmlite.ir.FunctionType(llvmlite.ir.VoidType(), [cgutils.voidptr_t])
        release = cgutils.get_or_insert_function(self.module, kind, "NRT_decref")
        self.builder.call(release, [self.builder.load(place)])

    def lower_inst(self, inst: Any) -> None:
        super().lower_inst(inst)
        if isinstance(inst, ir.Return):
            self._ends.append(self.builder.basic_block)

    def post_lower(self) -> None:
        for end in self._ends:
            self.builder.position_before(end.terminator)
            for place in self._made:
                self._release(place)
        super().post_lower()

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        if expr.static_lhs is not ir.UNDEFINED or expr.static_rhs is not ir.UNDEFINED:
            return super().lower_binop(resty, expr, op)
        context, builder, signature = self.context, self.builder, self.fndesc.calltypes[expr]
        given = [
            context.cast(builder, self.loadvar(side.name), self.typeof(side.name), kind)
            for side, kind in zip((expr.lhs, expr.rhs), signature.args, strict=True)
        ]
        function = context.typing_context.resolve_value_type(op)
        found = TypingContext.of(context.typing_context).resolve_function_type(function, signature.args, {})
        result = context.get_function(function, found)(builder, given)
        return context.cast(builder, result, signature.return_type, resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        kind = self.typeof(value.name)
        place = self._place(kind, value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        found = arrayobj.load_item(self.context, self.builder, kind, place)
        return self.context.cast(self.builder, found, kind.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        kind = self.typeof(target_var.name)
        place = self._place(kind, target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value, given = self.loadvar(value_var.name), self.typeof(value_var.name)
        value = self.context.cast(self.builder, value, given, kind.dtype)
        return arrayobj.store_item(self.context, self.builder, kind, value, place)

    def _place(self, kind: Any, array: Any, index: Any) -> Any:
        """The address of an array element; None if it is not an array or the index does not select a single element."""
        index_kind = self.typeof(index.name)
        kinds = getattr(index_kind, "types", (index_kind,))
        if not (isinstance(kind, types.Array) and kind.ndim == len(kinds)) or self.context.enable_boundscheck:
            return None
        if not all(isinstance(one, types.Integer) for one in kinds):
            return None
        builder, given = self.builder, self.loadvar(index.name)
        places = cgutils.unpack_tuple(builder, given) if hasattr(index_kind, "types") else [given]
        model, value = self.context.data_model_manager[kind], self.loadvar(array.name)
        shape, strides = (
            cgutils.unpack_tuple(builder, model.get(builder, value, name), kind.ndim) for name in ("shape", "strides")
        )
        places = [
            arrayobj.fix_integer_index(self.context, builder, one, place, size)
            for one, place, size in zip(kinds, places, shape, strict=True)
        ]
        data = model.get(builder, value, "data")
        return cgutils.get_item_pointer2(self.context, builder, data, shape, strides, kind.layout, places)


@_step
class _Lowering(typed_passes.NativeLowering):
    """Lowering to LLVM instructions."""

    _name = "lowering"

    @property
    def lowering_class(self) -> type[lowering.Lower]:
        return _Lower


#: The passes for a function of this package. They do not support nested functions, ``with``, generators, whole-array
#: expressions, branches on the types of arguments, or overloads that ask to be inlined.
_STEPS = (
    _alone(untyped_passes.TranslateByteCode),
    _alone(untyped_passes.FixupArgs),
    _Blocks,
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
    """All passes, in order."""
    steps = compiler_machinery.PassManager("kernels")
    for step in _STEPS:
        steps.add_pass(step, step._name)
    steps.finalize()
    return steps
