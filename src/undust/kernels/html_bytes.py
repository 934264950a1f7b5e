"""What the bytes of a page tell about their encoding, as a kernel: ASCII, UTF-8, marks, controls."""

from typing import Any

import numpy as np
import numpy.typing as npt

from undust.kernels.compiling import kernel
from undust.kernels.hashing import load64
from undust.kernels.html_scan import integers, step

HEAD_BYTES = 1024  # the part that browsers look at (HTML standard, 13.2.3.2)

# What was found. ESCAPES are those of ISO-2022-JP, which is made of ASCII bytes; CONTROLS are in the head.
(NOT_ASCII, NOT_UTF8, ESCAPES, CONTROLS) = integers((1, 2, 4, 8))
(UTF8_MARK, LE_MARK, BE_MARK) = integers((16, 32, 64))

# Bytes that no text has ("binary data byte" of the MIME sniffing standard).
BINARY: npt.NDArray[np.bool_] = np.array([i < 32 and i not in b"\t\n\f\r\x1b" for i in range(256)])
_BINARY = BINARY
_HIGH_BITS, _EIGHT_ONES = np.uint64(0x8080808080808080), np.uint64(0x0101010101010101)
_EIGHT_ESCAPES = np.uint64(0x1B1B1B1B1B1B1B1B)


@step
def _mark(data: Any, i: Any, end: Any) -> Any:
    if i + 2 < end and data[i] == 0xEF and data[i + 1] == 0xBB and data[i + 2] == 0xBF:
        return UTF8_MARK
    if i + 1 < end and data[i] == 0xFF and data[i + 1] == 0xFE:
        return LE_MARK
    if i + 1 < end and data[i] == 0xFE and data[i + 1] == 0xFF:
        return BE_MARK
    return 0


@step
def _plain(data: Any, i: Any, end: Any) -> Any:
    """Tell whether all bytes are ASCII, and whether an escape may be among them (false is certain)."""
    seen = np.uint64(0)
    escapes = np.uint64(0)
    while i + 8 <= end:
        eight = load64(data, i)
        seen |= eight
        other = eight ^ _EIGHT_ESCAPES  # a byte that is zero here has its high bit set below
        escapes |= (other - _EIGHT_ONES) & ~other
        i += 8
    while i < end:
        seen |= np.uint64(data[i])
        escapes |= np.uint64(128 if data[i] == 27 else 0)
        i += 1
    return seen & _HIGH_BITS == 0, escapes & _HIGH_BITS != 0


@step
def _is_utf8(data: Any, i: Any, end: Any) -> Any:
    """Tell whether bytes are well-formed UTF-8 (Unicode standard, table 3-7)."""
    while i < end:
        c = data[i]
        if c < 0x80:
            i += 1
            while i + 8 <= end and load64(data, i) & _HIGH_BITS == 0:
                i += 8
            continue
        if c < 0xC2 or c > 0xF4:
            return False
        size = 2 if c < 0xE0 else (3 if c < 0xF0 else 4)
        if i + size > end:
            return False
        low, high = 0x80, 0xBF
        if c == 0xE0:
            low = 0xA0
        elif c == 0xED:
            high = 0x9F
        elif c == 0xF0:
            low = 0x90
        elif c == 0xF4:
            high = 0x8F
        if data[i + 1] < low or data[i + 1] > high:
            return False
        for k in range(2, size):
            if data[i + k] & 0xC0 != 0x80:
                return False
        i += size
    return True


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    " Array(int64, 1, 'C', readonly=True), uint8[::1])"
)
def inspect(data: Any, starts: Any, ends: Any, found: Any) -> None:
    """Write what was found of each page."""
    for row in range(len(starts)):
        i, end = starts[row], ends[row]
        flags = _mark(data, i, end)
        ascii_only, escapes = _plain(data, i, end)
        if escapes:
            flags |= ESCAPES
        if not ascii_only:
            flags |= NOT_ASCII
            if not _is_utf8(data, i, end):
                flags |= NOT_UTF8
        for k in range(i, min(end, i + HEAD_BYTES)):
            if _BINARY[data[k]]:
                flags |= CONTROLS
                break
        found[row] = flags
