"""Standard normalization of a column of URLs, for the spellings that nearly all have.

A row that needs more (IDNA, IPv6, user information, control characters, an error message) is left to the
scalar function: `PUNT` in `status`. What is not punted is byte for byte what the scalar function gives.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from undust.kernels.compiling import kernel, part
from undust.settings import MAX_URL_BYTES

_BYTES, _INTS = "Array(uint8, 1, 'C', readonly=True)", "Array(int32, 1, 'C', readonly=True)"

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

DONE, PUNT = 0, 1

# What a byte means in a path or query.
_COPY, _ESCAPE, _PERCENT, _SLASH, _QUESTION, _HASH, _GIVE_UP = range(7)


def _classes(copied: str) -> Bytes:
    table = np.full(256, _ESCAPE, np.uint8)
    table[np.frombuffer(copied.encode(), np.uint8)] = _COPY
    table[ord("%")] = _PERCENT
    table[ord("#")] = _HASH
    table[[9, 10, 13]] = _GIVE_UP  # browsers delete these
    return table


_ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_PCHAR = _ALNUM + "-._~!$&'()*+,;=:@"
_PATH = _classes(_PCHAR)
_PATH[ord("/")] = _SLASH
_PATH[ord("?")] = _QUESTION
_PATH[ord("\\")] = _GIVE_UP  # a slash in browsers' eyes
_QUERY = _classes(_PCHAR + "/?")

_HOST = np.zeros(256, np.uint8)  # the byte to write, 0 if the host is not a plain name
for _letter in _ALNUM + "-_.":
    _HOST[ord(_letter)] = ord(_letter.lower())

_UNRESERVED = np.zeros(256, np.bool_)
_UNRESERVED[np.frombuffer((_ALNUM + "-._~").encode(), np.uint8)] = True

_HEX = np.full(256, 16, np.uint8)  # value of a hexadecimal digit, 16 for other bytes
for _value, _digit in enumerate("0123456789abcdef"):
    _HEX[ord(_digit)] = _HEX[ord(_digit.upper())] = _value
_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)


@part
def _escape(byte: Any, out: Any, o: Any) -> Any:
    out[o] = 37
    out[o + 1] = _DIGITS[byte >> 4]
    out[o + 2] = _DIGITS[byte & 15]
    return o + 3


@part
def _percent(data: Any, i: Any, end: Any, out: Any, o: Any) -> Any:
    """Mend the escape at `i`; give the next places to read and to write."""
    if i + 2 < end:
        high, low = _HEX[data[i + 1]], _HEX[data[i + 2]]
        if high < 16 and low < 16:
            byte = high * 16 + low
            if _UNRESERVED[byte]:
                out[o] = byte
                return i + 3, o + 1
            return i + 3, _escape(byte, out, o)
    return i + 1, _escape(37, out, o)


@part
def _dotted_quad(out: Any, start: Any, end: Any) -> Any:
    """Tell whether a host is an IPv4 address in its normal spelling."""
    numbers, value, digits = 1, 0, 0
    for i in range(start, end):
        c = out[i]
        if c == 46:
            if digits == 0:
                return False
            numbers += 1
            value = digits = 0
        elif 48 <= c <= 57 and not (digits > 0 and value == 0):
            value = value * 10 + (c - 48)
            digits += 1
            if value > 255:
                return False
        else:
            return False
    return numbers == 4 and digits > 0


@part
def _authority(data: Any, i: Any, end: Any, out: Any, o: Any, default_port: Any) -> Any:
    """Write host and port; give the next places to read and to write, or a negative place to give up."""
    start = o
    last = o  # where the last label begins
    while i < end:
        c = data[i]
        written = _HOST[c]
        if written == 0:
            break
        out[o] = written
        o += 1
        i += 1
        if written == 46:
            last = o
    if o == last or (48 <= out[last] <= 57 and not _dotted_quad(out, start, o)):
        return -1, o
    if i < end and data[i] == 58:
        i += 1
        port, first = 0, i
        while i < end and 48 <= data[i] <= 57 and i - first < 5:
            port = port * 10 + (data[i] - 48)
            i += 1
        if i > first:
            if data[first] == 48 or port > 65535:
                return -1, o
            if port != default_port:
                out[o] = 58
                o += 1
                for k in range(first, i):
                    out[o] = data[k]
                    o += 1
    if i < end and data[i] != 47 and data[i] != 63 and data[i] != 35:
        return -1, o
    return i, o


@part
def _end_segment(out: Any, path: Any, segment: Any, o: Any) -> Any:
    """Take back a dot segment (RFC 3986 section 5.2.4). `path` is the place after the path's first slash."""
    size = o - segment
    if size == 1 and out[segment] == 46:
        return segment
    if size == 2 and out[segment] == 46 and out[segment + 1] == 46:
        if segment == path:
            return path
        o = segment - 1
        while out[o - 1] != 47:
            o -= 1
        return o
    return o


@part
def _path(data: Any, i: Any, end: Any, out: Any, o: Any) -> Any:
    out[o] = 47
    o += 1
    if i < end and data[i] == 47:
        i += 1
    path = segment = o
    while i < end:
        c = data[i]
        kind = _PATH[c]
        if kind == _COPY:
            out[o] = c
            o += 1
            i += 1
        elif kind == _SLASH:
            kept = _end_segment(out, path, segment, o)
            if kept == o:
                out[o] = 47
                o += 1
            else:
                o = kept
            segment = o
            i += 1
        elif kind == _PERCENT:
            i, o = _percent(data, i, end, out, o)
        elif kind == _ESCAPE:
            o = _escape(c, out, o)
            i += 1
        elif kind == _GIVE_UP:
            return -1, o
        else:
            break
    return i, _end_segment(out, path, segment, o)


@part
def _query(data: Any, i: Any, end: Any, out: Any, o: Any) -> Any:
    out[o] = 63
    o += 1
    i += 1
    while i < end:
        c = data[i]
        kind = _QUERY[c]
        if kind == _COPY:
            out[o] = c
            o += 1
            i += 1
        elif kind == _PERCENT:
            i, o = _percent(data, i, end, out, o)
        elif kind == _ESCAPE:
            o = _escape(c, out, o)
            i += 1
        elif kind == _GIVE_UP:
            return -1, o
        else:
            break
    return i, o


@part
def normalize_one(data: Any, i: Any, end: Any, out: Any, o: Any) -> Any:
    """Normalize data[i:end] to out[o:]; give the place after it, or -1 to punt."""
    if end - i < 8 or end - i > MAX_URL_BYTES or data[i] <= 32 or data[end - 1] <= 32:
        return -1
    for k, letter in enumerate((104, 116, 116, 112)):
        if data[i + k] | 32 != letter:
            return -1
        out[o + k] = letter
    i += 4
    o += 4
    default_port = 80
    if data[i] | 32 == 115:
        out[o] = 115
        i += 1
        o += 1
        default_port = 443
    if i + 3 > end or data[i] != 58 or data[i + 1] != 47 or data[i + 2] != 47:
        return -1
    out[o] = 58
    out[o + 1] = 47
    out[o + 2] = 47
    i, o = _authority(data, i + 3, end, out, o + 3, default_port)
    if i >= 0:
        i, o = _path(data, i, end, out, o)
    if i >= 0 and i < end and data[i] == 63:
        i, o = _query(data, i, end, out, o)
    return o if i >= 0 else -1


@kernel(f"void({_BYTES}, {_INTS}, uint8[::1], int32[::1], uint8[::1])")
def normalize_column(data: Any, offsets: Any, out: Any, out_offsets: Any, status: Any) -> Any:
    """Normalize each URL of a column; `out` needs room for three bytes for each of `data` and 16 a row.

    A punted row is left empty in `out`. The bytes written are `out[: out_offsets[-1]]`.
    """
    o = 0
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        end = normalize_one(data, offsets[row], offsets[row + 1], out, o)
        if end < 0 or end - o > MAX_URL_BYTES:
            status[row] = PUNT
        else:
            status[row] = DONE
            o = end
        out_offsets[row + 1] = o
