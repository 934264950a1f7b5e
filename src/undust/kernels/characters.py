"""Characters in UTF-8 bytes: decode, look up, encode; and 64 bytes at once by kind."""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from undust.kernels.compiling import part


@intrinsic
def classify_64(typing: Any, array: Any, index: Any) -> Any:
    """Sort the 64 bytes from an index on; five masks with a bit for each byte.

    Letters; digits; full stops and apostrophes; commas; bytes that need a closer look (not ASCII, or underscore).
    LLVM turns the generic vectors into what the processor has: AVX-512, AVX2, SSE2 or NEON.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), 64)

        def every(byte: int) -> Any:
            return ir.Constant(vector, [byte] * 64)

        def mask(bits: Any) -> Any:
            return builder.bitcast(bits, ir.IntType(64))

        def equal(byte: int) -> Any:
            return builder.icmp_unsigned("==", block, every(byte))

        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), vector.as_pointer())
        block = builder.load(pointer, align=1)
        folded = builder.sub(builder.or_(block, every(0x20)), every(ord("a")))
        letters = builder.icmp_unsigned("<", folded, every(26))
        digits = builder.icmp_unsigned("<", builder.sub(block, every(ord("0"))), every(10))
        stops = builder.or_(equal(ord(".")), equal(ord("'")))
        special = builder.or_(builder.icmp_unsigned(">=", block, every(0x80)), equal(ord("_")))
        masks = [mask(bits) for bits in (letters, digits, stops, equal(ord(",")), special)]
        return context.make_tuple(builder, signature.return_type, masks)

    return types.UniTuple(types.uint64, 5)(array, types.int64), generate


@intrinsic
def spaces_64(typing: Any, array: Any, index: Any) -> Any:
    """Find the blanks among 64 bytes, and the bytes that are or may begin other white space; two masks."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), 64)

        def compare(operator: str, byte: int) -> Any:
            return builder.icmp_unsigned(operator, block, ir.Constant(vector, [byte] * 64))

        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), vector.as_pointer())
        block = builder.load(pointer, align=1)
        odd = compare("<", 0x20)
        for lead in (0xC2, 0xE1, 0xE2, 0xE3):  # of U+0085, U+00A0, U+1680, U+2000 to U+205F, U+3000
            odd = builder.or_(odd, compare("==", lead))
        masks = [builder.bitcast(bits, ir.IntType(64)) for bits in (compare("==", 0x20), odd)]
        return context.make_tuple(builder, signature.return_type, masks)

    return types.UniTuple(types.uint64, 2)(array, types.int64), generate


@intrinsic
def copy_64(typing: Any, source: Any, at: Any, target: Any, to: Any) -> Any:
    """Copy 64 bytes at once. The caller keeps within bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), 64).as_pointer()
        read, write = (
            builder.bitcast(
                builder.gep(
                    context.make_array(signature.args[i])(context, builder, arguments[i]).data, [arguments[i + 1]]
                ),
                vector,
            )
            for i in (0, 2)
        )
        builder.store(builder.load(read, align=1), write, align=1)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64), generate


@part
def decode(data: Any, at: int, end: int) -> tuple[int, int]:
    """Decode the character at an index: code and length. A damaged one is U+FFFD, one byte long."""
    first = np.int64(data[at])
    if first < 0x80:
        return first, 1
    if 0xC2 <= first < 0xE0 and at + 1 < end and data[at + 1] & 0xC0 == 0x80:
        return (first & 0x1F) << 6 | data[at + 1] & 0x3F, 2
    # A byte that continues is 10xxxxxx: below 0x40 once the first bit is flipped.
    if 0xE0 <= first < 0xF0 and at + 2 < end and (data[at + 1] ^ 0x80) | (data[at + 2] ^ 0x80) < 0x40:
        return (first & 0x0F) << 12 | np.int64(data[at + 1] & 0x3F) << 6 | data[at + 2] & 0x3F, 3
    if (
        0xF0 <= first < 0xF5
        and at + 3 < end
        and (data[at + 1] ^ 0x80) | (data[at + 2] ^ 0x80) | (data[at + 3] ^ 0x80) < 0x40
    ):
        code = (first & 0x07) << 18 | np.int64(data[at + 1] & 0x3F) << 12
        code |= np.int64(data[at + 2] & 0x3F) << 6 | data[at + 3] & 0x3F
        if code < 0x110000:
            return code, 4
    return np.int64(0xFFFD), 1


@part
def place(pages: Any, code: int) -> int:
    """Where a character's entry is in the second stage of the table."""
    return np.int64(pages[code >> 8]) << 8 | code & 255


@part
def encode(code: int, buffer: Any, at: int) -> int:
    """Write a character as UTF-8 into a buffer; return the index after it."""
    if code < 0x80:
        buffer[at] = code
        return at + 1
    if code < 0x800:
        buffer[at] = 0xC0 | code >> 6
        buffer[at + 1] = 0x80 | code & 0x3F
        return at + 2
    if code < 0x10000:
        buffer[at] = 0xE0 | code >> 12
        buffer[at + 1] = 0x80 | code >> 6 & 0x3F
        buffer[at + 2] = 0x80 | code & 0x3F
        return at + 3
    buffer[at] = 0xF0 | code >> 18
    buffer[at + 1] = 0x80 | code >> 12 & 0x3F
    buffer[at + 2] = 0x80 | code >> 6 & 0x3F
    buffer[at + 3] = 0x80 | code & 0x3F
    return at + 4
