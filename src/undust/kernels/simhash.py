"""Simhash (paper 001, figure 2): the majority of the words' hashes, bit by bit."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import splitmix64

PLANES = 40  # counters reach 2**40, more words than a text can have


@kernel("void(Array(uint64, 1, 'C', readonly=True), uint64, uint64[::1])")
def mix_hashes(hashes: Any, key: np.uint64, mixed: Any) -> None:
    """Make another independent hash of each hash, by a key."""
    for i in range(len(hashes)):
        mixed[i] = splitmix64(hashes[i] ^ key)


@part
def _add(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Add three bits in each of 64 columns: sums and carries."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@part
def _add_8(
    ones: np.uint64, twos: np.uint64, fours: np.uint64, hashes: Any, at: int
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Add eight hashes to what is left over of those before; the last of the results is worth eight."""
    ones, two_a = _add(ones, hashes[at], hashes[at + 1])
    ones, two_b = _add(ones, hashes[at + 2], hashes[at + 3])
    twos, four_a = _add(twos, two_a, two_b)
    ones, two_a = _add(ones, hashes[at + 4], hashes[at + 5])
    ones, two_b = _add(ones, hashes[at + 6], hashes[at + 7])
    twos, four_b = _add(twos, two_a, two_b)
    fours, eights = _add(fours, four_a, four_b)
    return ones, twos, fours, eights


@part
def _count(planes: Any, plane: int, bits: np.uint64) -> None:
    """Add bits worth 2**plane to 64 counters, which lie across the planes: bit i of plane p is bit p of counter i."""
    while bits:
        carry = planes[plane] & bits
        planes[plane] ^= bits
        bits = carry
        plane += 1


@part
def _majority(planes: Any, words: int) -> np.uint64:
    """Compare 64 counters with half the words at once, from the highest bit down. A tie is not a majority."""
    half = words >> 1
    above, equal = np.uint64(0), ~np.uint64(0)
    for plane in range(PLANES - 1, -1, -1):
        if half >> plane & 1:
            equal &= planes[plane]
        else:
            above |= equal & planes[plane]
            equal &= ~planes[plane]
    return above


@kernel("void(Array(uint64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint64[::1], uint64[::1])")
def simhash_rows(hashes: Any, rows: Any, planes: Any, simhashes: Any) -> None:
    """Give each text the bits that more than half of its words' hashes have.

    Figure 2 adds a word's weight, its count, for a one and subtracts it for a zero, and asks whether the sum is
    above 0. Adding 1 for each occurrence is the same, and "ones > zeros" is "ones > half". 64 counters at once fit
    into a few machine words, sixteen hashes are summed by carry-save adders first (Harley and Seal's popcount).
    """
    for i in range(len(rows) - 1):
        planes[:] = 0
        at, end = rows[i], rows[i + 1]
        ones = twos = fours = eights = np.uint64(0)
        while at + 16 <= end:
            ones, twos, fours, eights_a = _add_8(ones, twos, fours, hashes, at)
            ones, twos, fours, eights_b = _add_8(ones, twos, fours, hashes, at + 8)
            eights, sixteens = _add(eights, eights_a, eights_b)
            _count(planes, 4, sixteens)
            at += 16
        _count(planes, 0, ones)
        _count(planes, 1, twos)
        _count(planes, 2, fours)
        _count(planes, 3, eights)
        while at < end:
            _count(planes, 0, hashes[at])
            at += 1
        simhashes[i] = _majority(planes, end - rows[i])
