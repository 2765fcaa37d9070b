"""Intrinsics that replace :mod:`sharpe_bandits.kernels.memory` in compiled code."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from ..kernels import memory
from .callees import callee


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
def _word_of(typing: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def _number_of(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@intrinsic
def _scratch(typing: Any) -> Any:
    array_type = types.Array(types.float64, 2, "C")
    shape = 4, memory.SCRATCH

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = make_array(array_type)(context, builder)
        word = context.get_value_type(types.intp)
        populate_array(
            array,
            data=cgutils.alloca_once(builder, ir.DoubleType(), shape[0] * shape[1]),
            shape=cgutils.pack_array(builder, [word(size) for size in shape], ty=word),
            strides=cgutils.pack_array(builder, [word(8 * shape[1]), word(8)], ty=word),
            itemsize=word(8),
            meminfo=None,
        )
        return array._getvalue()

    return array_type(), generate


@intrinsic
def _fetch(typing: Any, pool: Any, rows: Any, first: Any) -> Any:
    eight = memory.FETCHED
    assert (pool.ndim, pool.layout, rows.ndim, rows.layout, eight) == (1, "C", 2, "C", 8)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = make_array(pool)(context, builder, arguments[0]).data
        target = make_array(rows)(context, builder, arguments[1])
        width = builder.extract_value(target.shape, 1)
        word, double = ir.IntType(64), ir.DoubleType()

        def shuffled(a: Any, b: Any, *order: int) -> Any:
            return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(order)), list(order)))

        def column(number: int) -> Any:
            place = builder.gep(target.data, [builder.add(arguments[2], word(number))])
            found = builder.gep(source, [builder.load(builder.bitcast(place, word.as_pointer()))])
            four = builder.load(builder.bitcast(found, ir.VectorType(double, 4).as_pointer()))
            four.align = 8
            return four

        columns = [column(number) for number in range(eight)]
        pairs = [shuffled(*columns[n : n + 2], *range(8)) for n in range(0, eight, 2)]
        # Halves of four columns: rows 0 and 1 of them, then rows 2 and 3.
        low = [shuffled(*pairs[n : n + 2], 0, 4, 8, 12, 1, 5, 9, 13) for n in (0, 2)]
        high = [shuffled(*pairs[n : n + 2], 2, 6, 10, 14, 3, 7, 11, 15) for n in (0, 2)]
        for row in range(4):
            begin = 4 * (row % 2)
            whole = shuffled(*(high if row > 1 else low), *range(begin, begin + 4), *range(begin + 8, begin + 12))
            place = builder.gep(target.data, [builder.add(builder.mul(width, word(row)), arguments[2])])
            stored = builder.store(whole, builder.bitcast(place, ir.VectorType(double, eight).as_pointer()))
            stored.align = 8
        return context.get_dummy_value()

    return types.void(pool, rows, types.intp), generate


def _either(comparison: Any) -> Any:
    """A builtin function of two numbers that returns the second if ``comparison(second, first)``, else the first.

    Numba's own version takes any number of arguments and is compiled for each combination of types.
    """

    @intrinsic
    def either(typing: Any, first: Any, second: Any) -> Any:
        kind = typing.unify_types(types.unliteral(first), types.unliteral(second))

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            one, other = (context.cast(builder, a, b, kind) for a, b in zip(arguments, signature.args, strict=True))
            compare = context.get_function(comparison, types.boolean(kind, kind))
            return builder.select(compare(builder, (other, one)), other, one)

        return kind(first, second), generate

    return either


#: Replacements of builtin functions of two numbers in functions of this package.
BUILTINS: dict[str, Any] = {"min": _either(operator.lt), "max": _either(operator.gt)}


def _new(shape: Any, kind: Any = np.float64) -> Any:
    return _zeros(shape, kind)


#: The caller must release the array (see :mod:`sharpe_bandits.engine.pipeline`).
_new.returns_array = True  # type: ignore[attr-defined]

#: The replacement of each function. Zeros are made by a call, not an intrinsic: if a kernel's own code showed that an
#: array is LANES wide, LLVM would unroll its loops before inlining their callees, and not vectorise them.
INTRINSICS: dict[Any, Any] = {
    memory.zeros: callee(_new, _nrt=True),
    memory.words: _words,
    memory.word_of: _word_of,
    memory.number_of: _number_of,
    memory.scratch: _scratch,
    memory.fetch: _fetch,
}
