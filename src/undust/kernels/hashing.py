"""Hashes for kernels: XXH3 of words up to 128 bytes, SplitMix64, and the machine instructions they need.

Little-endian machines only, as Arrow itself assumes on every platform that NumPy and Numba ship wheels for.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from undust.kernels.compiling import kernel, part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MAX_WORD_BYTES = 128  # XXH3 has a short form up to here

# Primes and the first 128 bytes of the secret from the XXH3 specification (github.com/Cyan4973/xxHash, doc/).
_PRIME64_1 = np.uint64(0x9E3779B185EBCA87)
_PRIME64_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_PRIME64_3 = np.uint64(0x165667B19E3779F9)
_PRIME_MX1 = np.uint64(0x165667919E3779F9)
_PRIME_MX2 = np.uint64(0x9FB21C651E98DF25)
_SECRET = np.frombuffer(
    bytes.fromhex(
        "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
        "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
        "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
        "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    ),
    dtype=np.uint64,
)
_FLIP_3 = np.uint64(int(_SECRET[0]) & 0xFFFFFFFF ^ int(_SECRET[0]) >> 32)
_FLIP_8 = _SECRET[1] ^ _SECRET[2]
_FLIP_16_LOW = _SECRET[3] ^ _SECRET[4]
_FLIP_16_HIGH = _SECRET[5] ^ _SECRET[6]

_U1, _U8, _U16, _U24 = np.uint64(1), np.uint64(8), np.uint64(16), np.uint64(24)
_LOW_32 = np.uint64(0xFFFFFFFF)


@intrinsic
def load64(typing: Any, array: Any, index: Any) -> Any:
    """Read eight bytes of a byte array at any index as one integer. The caller keeps within bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(array, types.int64), generate


@intrinsic
def multiply_fold(typing: Any, a: Any, b: Any) -> Any:
    """Multiply to 128 bits and xor the halves."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        high = builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))
        return builder.xor(builder.trunc(product, ir.IntType(64)), high)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def swap_bytes(typing: Any, value: Any) -> Any:
    """Reverse the order of the eight bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def trailing_zeros(typing: Any, value: Any) -> Any:
    """Count zero bits below the lowest one; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.uint64), generate


@part
def splitmix64(x: np.uint64) -> np.uint64:
    """Mix 64 bits into 64 bits, one to one (the finalizer of SplitMix64: Steele, Lea, Flood, OOPSLA 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@part
def _avalanche(h: np.uint64) -> np.uint64:
    h = (h ^ (h >> np.uint64(37))) * _PRIME_MX1
    return h ^ (h >> np.uint64(32))


@part
def xxh3_8(low: np.uint64, length: np.uint64) -> np.uint64:
    """XXH3_64 (seed 0) of 1 to 8 bytes held in a register, the bytes past the length zero.

    Both forms are computed and one is chosen: a branch on the length is one mispredicted in three.
    """
    short = length < np.uint64(4)
    h = ((low >> ((length - np.uint64(4)) * _U8 & np.uint64(63))) & _LOW_32) + (low << np.uint64(32))
    h ^= _FLIP_8
    h ^= ((h << np.uint64(49)) | (h >> np.uint64(15))) ^ ((h << _U24) | (h >> np.uint64(40)))
    h *= _PRIME_MX2
    h = (h ^ ((h >> np.uint64(35)) + length)) * _PRIME_MX2
    h ^= h >> np.uint64(28)
    first = low & np.uint64(255)
    middle = (low >> ((length >> _U1) * _U8 & np.uint64(63))) & np.uint64(255)
    end = (low >> ((length - _U1) * _U8 & np.uint64(63))) & np.uint64(255)
    g = ((first << _U16) | (middle << _U24) | end | (length << _U8)) ^ _FLIP_3
    g = (g ^ (g >> np.uint64(33))) * _PRIME64_2
    g = (g ^ (g >> np.uint64(29))) * _PRIME64_3
    g ^= g >> np.uint64(32)
    return g if short else h


@part
def xxh3_16(low: np.uint64, high: np.uint64, length: np.uint64) -> np.uint64:
    """XXH3_64 (seed 0) of 1 to 16 bytes held in two registers, the bytes past the length zero."""
    if length <= _U8:
        return xxh3_8(low, length)
    shift = (_U16 - length) * _U8
    last = high if shift == np.uint64(0) else (high << shift) | (low >> (np.uint64(64) - shift))
    a = low ^ _FLIP_16_LOW
    b = last ^ _FLIP_16_HIGH
    return _avalanche(length + swap_bytes(a) + b + multiply_fold(a, b))


@part
def _mix_16(buffer: Any, at: int, secret: int) -> Any:
    return multiply_fold(load64(buffer, at) ^ _SECRET[secret], load64(buffer, at + 8) ^ _SECRET[secret + 1])


@part
def xxh3_128_bytes(buffer: Any, length: int) -> np.uint64:
    """XXH3_64 (seed 0) of the first 1 to 128 bytes of a buffer that has at least 16."""
    if length <= 16:
        low, high = load64(buffer, 0), load64(buffer, 8)
        if length < 8:
            low &= (_U1 << np.uint64(8 * length)) - _U1
            high = np.uint64(0)
        elif length < 16:
            high &= (_U1 << np.uint64(8 * (length - 8))) - _U1
        return xxh3_16(low, high, np.uint64(length))
    h = np.uint64(length) * _PRIME64_1
    for pair in range((length - 1) // 32, -1, -1):
        h += _mix_16(buffer, 16 * pair, 4 * pair) + _mix_16(buffer, length - 16 * (pair + 1), 4 * pair + 2)
    return _avalanche(h)


@kernel("void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint8[::1], uint64[::1])")
def hash_words(data: Any, offsets: Any, buffer: Any, hashes: Any) -> None:
    """XXH3_64 of each word of a byte array with offsets; words longer than 128 bytes are hashed by their start."""
    for i in range(len(hashes)):
        length = min(offsets[i + 1] - offsets[i], MAX_WORD_BYTES)
        for j in range(length):
            buffer[j] = data[offsets[i] + j]
        hashes[i] = xxh3_128_bytes(buffer, length) if length else np.uint64(0)
