"""Character references of HTML (HTML standard, 13.2.5.72 to 80) and code points as UTF-8, for kernels."""

from typing import Any

import numpy as np

from undust.kernels import html_tables as t
from undust.kernels.html_scan import BASIS, PRIME, step

_ALPHANUMERIC = t.ALPHANUMERIC
_KEYS, _SHIFT, _MASK = t.REFERENCE_KEYS, np.uint64(64 - t.REFERENCE_BITS), (1 << t.REFERENCE_BITS) - 1
_VALUES, _BARE = t.REFERENCE_VALUES, t.REFERENCE_BARE
_LONGEST, _LONGEST_BARE = t.MAX_REFERENCE, t.MAX_BARE
_C1_MEANINGS = t.C1_MEANINGS


@step
def _number(data: Any, i: Any, end: Any) -> Any:
    """Read a numeric reference from after `&#` (13.2.5.75 to 80): place after it and code point, or 0 if none."""
    base = 10
    if i < end and (data[i] == 120 or data[i] == 88):
        base = 16
        i += 1
    first = i
    value = 0
    while i < end:
        c = np.int64(data[i])
        if 48 <= c <= 57:
            digit = c - 48
        elif base == 16 and 97 <= (c | 32) <= 102:
            digit = (c | 32) - 87
        else:
            break
        value = min(value * base + digit, 0x110000)
        i += 1
    if i == first:
        return i, 0
    if i < end and data[i] == 59:
        i += 1
    if value == 0 or value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        return i, 0xFFFD
    if 0x80 <= value < 0xA0:
        return i, np.int64(_C1_MEANINGS[value - 0x80])
    return i, value


@step
def _known(key: Any) -> Any:
    place = np.int64(key >> _SHIFT)
    while _KEYS[place] != 0:
        if _KEYS[place] == key:
            return place
        place = (place + 1) & _MASK
    return -1


@step
def reference(data: Any, i: Any, end: Any, in_attribute: Any) -> Any:
    """Read the character reference at an `&`: the place after it, one or two code points; 0 where there is none."""
    start = i + 1
    if start < end and data[start] == 35:
        i, value = _number(data, start + 1, end)
        return (i, value, 0) if value else (start, 0, 0)
    key = BASIS
    i = start
    stop = min(end, start + _LONGEST + 1)
    while i < stop and _ALPHANUMERIC[data[i]]:
        key = (key ^ np.uint64(data[i])) * PRIME
        i += 1
    if i == start:
        return start, 0, 0
    if i < end and data[i] == 59:
        place = _known(key)
        if place >= 0:
            return i + 1, np.int64(_VALUES[place, 0]), np.int64(_VALUES[place, 1])
    for size in range(min(i - start, _LONGEST_BARE), 1, -1):
        key = BASIS
        for k in range(start, start + size):
            key = (key ^ np.uint64(data[k])) * PRIME
        place = _known(key)
        if place >= 0 and _BARE[place]:
            after = start + size
            if in_attribute and after < end and (data[after] == 61 or _ALPHANUMERIC[data[after]]):
                break  # 13.2.5.73: in /?a=1&copy=2 nothing is a reference
            return after, np.int64(_VALUES[place, 0]), 0
    return start, 0, 0
