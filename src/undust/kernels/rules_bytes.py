"""Spans of bytes for the kernels of rules: hash, compare, copy and search them, eight bytes at a time.

Reads and writes may go up to seven bytes past a span, so every array must have `SLACK` bytes to spare at its end.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from undust.kernels.compiling import part
from undust.kernels.hashing import load64
from undust.kernels.rules_layout import GOLDEN, PRIME

SLACK = 64

_GOLDEN, _PRIME = np.uint64(GOLDEN), np.uint64(PRIME)
_ONE, _SHIFT = np.uint64(1), np.uint64(29)


@intrinsic
def store64(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write eight bytes at any index of a byte array. The caller keeps within bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


@intrinsic
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Ask for the memory around an element of a one-dimensional array, which will be read soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch",
            [ir.IntType(8).as_pointer()],
            ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), number, number, number]),
        )
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@part
def hash_span(data: Any, at: int, size: int, seed: np.uint64) -> Any:
    """Hash a span as `undust.rules.flat_text.hash_text` does."""
    made = (np.uint64(size) + seed) * _GOLDEN
    while size >= 8:
        made = (made ^ load64(data, at)) * _PRIME
        made ^= made >> _SHIFT
        at += 8
        size -= 8
    if size > 0:
        made = (made ^ (load64(data, at) & ((_ONE << np.uint64(8 * size)) - _ONE))) * _PRIME
        made ^= made >> _SHIFT
    return made


@part
def same(a: Any, at: int, b: Any, from_b: int, size: int) -> Any:
    """Tell whether two spans hold the same bytes."""
    while size >= 8:
        if load64(a, at) != load64(b, from_b):
            return False
        at += 8
        from_b += 8
        size -= 8
    return size <= 0 or (load64(a, at) ^ load64(b, from_b)) << np.uint64(64 - 8 * size) == np.uint64(0)


@part
def put(out: Any, o: int, data: Any, at: int, end: int) -> Any:
    """Copy a span; give the place after it."""
    size = end - at
    k = 0
    while k < size:
        store64(out, o + k, load64(data, at + k))
        k += 8
    return o + max(size, 0)


@part
def find(data: Any, at: int, end: int, text: Any, text_at: int, size: int, words: Any, borders_at: int) -> Any:
    """Find a text in a span without stepping back (Knuth, Morris, Pratt); -1 if it is not there."""
    fits = 0
    if size == 0:
        return at
    while at < end:
        while fits > 0 and data[at] != text[text_at + fits]:
            fits = np.int64(words[borders_at + fits - 1])
        if data[at] == text[text_at + fits]:
            fits += 1
        at += 1
        if fits == size:
            return at - size
    return -1
