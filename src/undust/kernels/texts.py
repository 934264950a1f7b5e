"""Whole texts: which may not be in Unicode form NFC, and the same with white space made uniform."""

from typing import Any

import numpy as np

from undust.kernels.characters import copy_64, decode, place, spaces_64
from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import load64
from undust.kernels.unicode_tables import COMPOSES, KIND, NEWLINE, SPACE

_ONE = np.uint64(1)


MANY_MARKS = 30  # no language piles so many on a letter (UAX #15, stream-safe text format)
COMPOSED, PERHAPS_NOT, PILED = 0, 1, 2


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint16[::1], uint8[::1],uint8[::1])"
)
def find_composing(data: Any, offsets: Any, pages: Any, kinds: Any, found: Any) -> None:
    """Tell which texts are in form NFC for certain, which perhaps not, and which of these have long runs of marks."""
    for i in range(len(found)):
        found[i] = COMPOSED
        at, end = offsets[i], offsets[i + 1]
        marks = 0
        while at < end:
            if at + 8 <= end and load64(data, at) & np.uint64(0x8080808080808080) == 0:
                at += 8
                marks = 0
                continue
            code, size = decode(data, at, end)
            at += size
            if kinds[place(pages, code)] & COMPOSES == 0:
                marks = 0
                continue
            found[i] = PERHAPS_NOT
            marks += 1
            if marks > MANY_MARKS:
                found[i] = PILED
                break


@part
def _squeeze(
    data: Any, at: int, until: int, end: int, pages: Any, kinds: Any, squeezed: Any, first: int, n: int, pending: bool
) -> tuple[int, int, bool]:
    """Copy character by character."""
    while at < until:
        code, size = decode(data, at, end)
        kind = kinds[place(pages, code)] & KIND
        if kind == SPACE or kind == NEWLINE:
            pending = n > first
        else:
            if pending:
                squeezed[n] = 32
                n += 1
                pending = False
            for j in range(size):
                squeezed[n] = data[at + j]
                n += 1
        at += size
    return at, n, pending


@kernel(
    "int64(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint16[::1], uint8[::1],"
    "uint8[::1], int64[::1])"
)
def squeeze_spaces(data: Any, offsets: Any, pages: Any, kinds: Any, squeezed: Any, squeezed_offsets: Any) -> int:
    """Copy texts with each run of white space made one blank, and none at the ends.

    Blocks of 64 bytes whose only white space is single blanks are copied whole. `squeezed` needs 64 bytes more
    than the texts have.
    """
    n = 0
    squeezed_offsets[0] = 0
    for i in range(len(offsets) - 1):
        at, end = offsets[i], offsets[i + 1]
        first = n
        pending = False  # a blank is due before the next character
        while at < end:
            if at + 64 <= end:
                blanks, odd = spaces_64(data, at)
                doubled = blanks & (blanks << _ONE)
                if not odd and not doubled and not (blanks & _ONE and (pending or n == first)):
                    if pending:
                        squeezed[n] = 32
                        n += 1
                    copy_64(data, at, squeezed, n)
                    pending = blanks >> np.uint64(63) != 0
                    n += 63 if pending else 64
                    at += 64
                    continue
            at, n, pending = _squeeze(data, at, min(at + 64, end), end, pages, kinds, squeezed, first, n, pending)
        squeezed_offsets[i + 1] = n
    return n
