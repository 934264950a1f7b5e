"""The inside of values: runs of letters and digits with what delimits them, and what the slots of a pattern take.

A percent escape is one character: a delimiter if it stands for ASCII, else a letter, as any byte beyond ASCII is.
"""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part

LOWER, UPPER, NUMBER, DELIMITER = range(4)
ALPHABETIC, NUMERIC = range(2)
START, END, UNIT_CHANGE = 512, 513, 514
"""Delimiters that are no characters. Others are their byte, or 256 and their byte where that is escaped."""
LITERAL, ANY, DIGITS, HEX = range(4)

_BYTES, _INTS = "Array(uint8, 1, 'C', readonly=True)", "Array(int32, 1, 'C', readonly=True)"
_PRIME, _BASIS = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)


@part
def _hex_digit(c: Any) -> Any:
    if 48 <= c <= 57:
        return c - 48
    c = c | 32
    return c - 87 if 97 <= c <= 102 else -1


@part
def _escaped(data: Any, i: Any, end: Any) -> Any:
    """Give the byte that an escape at a place stands for, -1 if there is none."""
    if data[i] != 37 or i + 2 >= end:
        return -1
    high, low = _hex_digit(np.int64(data[i + 1])), _hex_digit(np.int64(data[i + 2]))
    return high * 16 + low if high >= 0 and low >= 0 else -1


@part
def _class(data: Any, i: Any, end: Any) -> Any:
    c = data[i]
    if 97 <= c <= 122 or c >= 128:
        return LOWER
    if 65 <= c <= 90:
        return UPPER
    if 48 <= c <= 57:
        return NUMBER
    return LOWER if _escaped(data, i, end) >= 128 else DELIMITER


@part
def _width(data: Any, i: Any, end: Any) -> Any:
    return 3 if _escaped(data, i, end) >= 0 else 1


@part
def _delimiter(data: Any, i: Any, end: Any) -> Any:
    byte = _escaped(data, i, end)
    return np.int64(data[i]) if byte < 0 else 256 + byte


@part
def _run_end(data: Any, i: Any, end: Any) -> Any:
    """Give where the run ends that starts at a place: one class of characters, or a capital and small letters."""
    kind = _class(data, i, end)
    j = i + _width(data, i, end)
    while j < end and _class(data, j, end) == kind:
        j += _width(data, j, end)
    if kind == UPPER and j < end and _class(data, j, end) == LOWER:
        if j - i > 1:
            return j - 1  # the last capital begins the next word: `HTMLPage`
        while j < end and _class(data, j, end) == LOWER:
            j += _width(data, j, end)
    return j


@kernel(f"int64({_BYTES}, {_INTS}, int32[:, ::1], uint64[::1])")
def scan_anchors(data: Any, offsets: Any, anchors: Any, hashes: Any) -> Any:
    """Write the runs of every value: value, start, end, alphabetic or numeric, delimiters at start and at end.

    Gives their number; `hashes` has a hash of each one's text. What does not fit into `anchors` is left out.
    """
    count = 0
    for value in range(len(offsets) - 1):
        i, end = np.int64(offsets[value]), np.int64(offsets[value + 1])
        before = START
        while i < end and count < len(anchors):
            if _class(data, i, end) == DELIMITER:
                before = _delimiter(data, i, end)
                i += _width(data, i, end)
                continue
            j = _run_end(data, i, end)
            after = END
            if j < end:
                after = _delimiter(data, j, end) if _class(data, j, end) == DELIMITER else UNIT_CHANGE
            digest = _BASIS
            for at in range(i, j):
                digest = (digest ^ np.uint64(data[at])) * _PRIME
            anchors[count, 0] = value
            anchors[count, 1] = i - offsets[value]
            anchors[count, 2] = j - offsets[value]
            anchors[count, 3] = NUMERIC if _class(data, i, end) == NUMBER else ALPHABETIC
            anchors[count, 4] = before
            anchors[count, 5] = after
            hashes[count] = digest
            count += 1
            before = UNIT_CHANGE
            i = j
    return count


@part
def _of_kind(c: Any, kind: Any) -> Any:
    return 48 <= c <= 57 or (kind == HEX and 97 <= (c | 32) <= 102)


@part
def _equal(data: Any, at: Any, literals: Any, start: Any, size: Any) -> Any:
    for i in range(size):
        if data[at + i] != literals[start + i]:
            return False
    return True


@part
def _fit_forward(
    data: Any,
    at: Any,
    end: Any,
    kinds: Any,
    literals: Any,
    starts: Any,
    first: Any,
    last: Any,
    spans: Any,
    row: Any,
    slot: Any,
) -> Any:
    """Fit parts from a place on; give where they end, -1 if they do not fit."""
    for place in range(first, last):
        if kinds[place] == LITERAL:
            size = starts[place + 1] - starts[place]
            if at + size > end or not _equal(data, at, literals, starts[place], size):
                return -1
            at += size
            continue
        begin = at
        if kinds[place] == ANY:
            if place + 1 < len(kinds) and kinds[place + 1] == LITERAL:
                size = starts[place + 2] - starts[place + 1]
                while at + size <= end and not _equal(data, at, literals, starts[place + 1], size):
                    at += 1
                if at + size > end:
                    return -1
            else:
                at = end
        else:
            while at < end and _of_kind(data[at], kinds[place]):
                at += 1
            if at == begin:
                return -1
        spans[row, 2 * slot] = begin
        spans[row, 2 * slot + 1] = at
        slot += 1
    return at


@part
def _fit_backward(
    data: Any, start: Any, end: Any, kinds: Any, literals: Any, starts: Any, first: Any, spans: Any, row: Any, slot: Any
) -> Any:
    """Fit the parts from `first` on at the end of a value; give where they begin, -1 if they do not fit."""
    for place in range(len(kinds) - 1, first - 1, -1):
        if kinds[place] == LITERAL:
            size = starts[place + 1] - starts[place]
            if end - size < start or not _equal(data, end - size, literals, starts[place], size):
                return -1
            end -= size
            continue
        stop = end
        while end > start and _of_kind(data[end - 1], kinds[place]):
            end -= 1
        if end == stop:
            return -1
        spans[row, 2 * slot] = end
        spans[row, 2 * slot + 1] = stop
        slot -= 1
    return end


@kernel(f"void({_BYTES}, {_INTS}, Array(uint8, 1, 'C', readonly=True), {_BYTES}, {_INTS}, int32[:, ::1])")
def fit_column(data: Any, offsets: Any, kinds: Any, literals: Any, starts: Any, spans: Any) -> None:
    """Fit one pattern to every value, as `rules.values.Pattern.fit` does to one.

    `kinds` are its parts; `literals` from `starts[place]` to `starts[place + 1]` is the text of a literal part. `spans`
    gets start and end, in `data`, of what each slot takes; the first start is -1 where a value does not fit. A pattern
    without slots still has one column of spans, to tell that.
    """
    wide = slots = 0
    middle = 0
    for place in range(len(kinds)):
        if kinds[place] == ANY:
            wide += 1
            middle = place
        slots += kinds[place] != LITERAL
    before = 0
    for place in range(middle):
        before += kinds[place] != LITERAL
    for row in range(len(offsets) - 1):
        start, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        spans[row, 0] = start
        if wide != 1:
            at = _fit_forward(data, start, end, kinds, literals, starts, 0, len(kinds), spans, row, 0)
            if at != end:
                spans[row, 0] = -1
            continue
        at = _fit_forward(data, start, end, kinds, literals, starts, 0, middle, spans, row, 0)
        stop = np.int64(-1)
        if at >= 0:
            stop = _fit_backward(data, at, end, kinds, literals, starts, middle + 1, spans, row, slots - 1)
        if stop < 0:
            spans[row, 0] = -1
        else:
            spans[row, 2 * before] = at
            spans[row, 2 * before + 1] = stop
