"""Where the parts, segments, parameters and arguments of each URL of a column lie.

What `undust.urls.parse.split`, `split_path` and `split_query` do for one URL, without an object for any.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from undust.kernels.compiling import kernel, part
from undust.settings import MAX_ARGUMENTS, MAX_URL_BYTES

_BYTES, _INTS = "Array(uint8, 1, 'C', readonly=True)", "Array(int32, 1, 'C', readonly=True)"
_TOKENS = "Array(int32, 2, 'C', readonly=True)"

Int32s = npt.NDArray[np.int32]

SCHEME, USERINFO, HOST, PORT, PATH, QUERY, FRAGMENT = range(7)
SEGMENT, PARAM, ARGUMENT = range(3)
ABSENT = -1

_SCHEME_BYTE = np.zeros(256, np.bool_)
for _letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-":
    _SCHEME_BYTE[ord(_letter)] = True


@part
def _span(spans: Any, row: Any, which: Any, start: Any, end: Any) -> Any:
    spans[row, 2 * which] = start
    spans[row, 2 * which + 1] = end


@part
def _parts(data: Any, start: Any, end: Any, parts: Any, row: Any) -> Any:
    """Write the spans of the seven parts of one URL; tell whether it has a scheme and an authority."""
    for which in range(14):
        parts[row, which] = ABSENT
    i = start
    while i < end and _SCHEME_BYTE[data[i]]:
        i += 1
    letter = data[start] | 32 if i > start else 0
    if not (97 <= letter <= 122) or i + 3 > end or data[i] != 58 or data[i + 1] != 47 or data[i + 2] != 47:
        return False
    _span(parts, row, SCHEME, start, i)
    i += 3
    host, at, colon = i, ABSENT, ABSENT
    while i < end:
        c = data[i]
        if c == 47 or c == 63 or c == 35:
            break
        if c == 64:
            at, host, colon = i, i + 1, ABSENT
        elif c == 58:
            colon = i
        elif c == 93:
            colon = ABSENT  # a colon inside [::1] is part of the host
        i += 1
    if at != ABSENT:
        _span(parts, row, USERINFO, parts[row, 1] + 3, at)
    if colon == ABSENT:
        _span(parts, row, HOST, host, i)
    else:
        _span(parts, row, HOST, host, colon)
        _span(parts, row, PORT, colon + 1, i)
    path = i
    while i < end and data[i] != 63 and data[i] != 35:
        i += 1
    _span(parts, row, PATH, path, i)
    if i < end and data[i] == 63:
        query = i + 1
        while i < end and data[i] != 35:
            i += 1
        _span(parts, row, QUERY, query, i)
    if i < end:
        _span(parts, row, FRAGMENT, i + 1, end)
    return True


@part
def _token(tokens: Any, m: Any, kind: Any, name: Any, name_end: Any, value: Any, value_end: Any) -> Any:
    tokens[m, 0] = kind
    tokens[m, 1] = 1
    tokens[m, 2] = name
    tokens[m, 3] = name_end
    tokens[m, 4] = value
    tokens[m, 5] = value_end


@part
def _number_repeats(data: Any, tokens: Any, first: Any, m: Any) -> Any:
    """Number the last token among those of its kind and name in this URL, from 1."""
    start, size = tokens[m, 2], tokens[m, 3] - tokens[m, 2]
    for k in range(m - 1, first - 1, -1):
        if tokens[k, 0] == tokens[m, 0] and tokens[k, 3] - tokens[k, 2] == size:
            other = tokens[k, 2]
            same = True
            for j in range(size):
                if data[start + j] != data[other + j]:
                    same = False
                    break
            if same:
                tokens[m, 1] = tokens[k, 1] + 1
                return


@part
def _params(data: Any, semicolon: Any, end: Any, tokens: Any, first: Any, m: Any, budget: Any) -> Any:
    """Write the parameters of a segment; give the place after the last, or -1 if they are none."""
    before = m
    i = semicolon
    while i < end:
        name = i + 1
        equals = ABSENT
        i = name
        while i < end and data[i] != 59:
            if data[i] == 61 and equals == ABSENT:
                equals = i
            i += 1
        if equals <= name or m - before >= budget:
            return -1
        _token(tokens, m, PARAM, name, equals, equals + 1, i)
        _number_repeats(data, tokens, first, m)
        m += 1
    return m


@part
def _segments(data: Any, i: Any, end: Any, tokens: Any, first: Any, m: Any) -> Any:
    budget = MAX_ARGUMENTS
    while i < end:
        i += 1
        start = i
        semicolon = ABSENT
        while i < end and data[i] != 47:
            if data[i] == 59 and semicolon == ABSENT:
                semicolon = i
            i += 1
        _token(tokens, m, SEGMENT, ABSENT, ABSENT, start, i)
        m += 1
        if semicolon != ABSENT:
            after = _params(data, semicolon, i, tokens, first, m, budget)
            if after >= 0:
                tokens[m - 1, 5] = semicolon
                budget -= after - m
                m = after
    return m


@part
def _arguments(data: Any, start: Any, end: Any, tokens: Any, first: Any, m: Any) -> Any:
    pieces = 1
    named = False
    for i in range(start, end):
        c = data[i]
        if c == 61:
            named = True
        elif c == 38 or c == 59:
            pieces += 1
    if not named or pieces > MAX_ARGUMENTS:
        _token(tokens, m, ARGUMENT, ABSENT, ABSENT, start, end)
        return m + 1
    i = start
    while True:
        name = i
        equals = ABSENT
        while i < end and data[i] != 38 and data[i] != 59:
            if data[i] == 61 and equals == ABSENT:
                equals = i
            i += 1
        if equals == ABSENT:
            _token(tokens, m, ARGUMENT, name, i, ABSENT, ABSENT)
        else:
            _token(tokens, m, ARGUMENT, name, equals, equals + 1, i)
        _number_repeats(data, tokens, first, m)
        m += 1
        if i == end:
            return m
        i += 1


@kernel(f"int64({_BYTES}, {_INTS}, int64, int32[:, ::1], int32[:, ::1], int32[::1])")
def split_column(data: Any, offsets: Any, first_row: Any, parts: Any, tokens: Any, token_offsets: Any) -> Any:
    """Split the URLs of a column from `first_row` on; give the first row for which `tokens` had no room.

    `parts[row]` holds start and end of the seven parts, a row of `tokens` holds kind, nth of its name, start
    and end of the name, start and end of the value, and the tokens of a row end at `token_offsets[row + 1]`.
    A row that is no absolute URL has no parts and no tokens.
    """
    rows = len(offsets) - 1
    m = token_offsets[first_row]
    for row in range(first_row, rows):
        start, end = offsets[row], offsets[row + 1]
        if m + (end - start) + 1 > len(tokens):  # a token takes at least one byte
            return row
        if end - start <= MAX_URL_BYTES and _parts(data, start, end, parts, row):
            first = m
            m = _segments(data, parts[row, 2 * PATH], parts[row, 2 * PATH + 1], tokens, first, m)
            if parts[row, 2 * QUERY] != ABSENT:
                m = _arguments(data, parts[row, 2 * QUERY], parts[row, 2 * QUERY + 1], tokens, first, m)
        else:
            for which in range(14):
                parts[row, which] = ABSENT
        token_offsets[row + 1] = m
    return rows


@kernel(f"void({_INTS}, {_TOKENS}, int64, int32[::1], int32[::1])")
def find_segment(token_offsets: Any, tokens: Any, position: Any, starts: Any, ends: Any) -> Any:
    """Write for each URL the span of its path segment at a position, counted from the end if negative."""
    for row in range(len(token_offsets) - 1):
        first, last = token_offsets[row], token_offsets[row + 1]
        starts[row] = ABSENT
        skip = position if position >= 0 else -position - 1
        for k in range(last - first):
            m = first + k if position >= 0 else last - 1 - k
            if tokens[m, 0] == SEGMENT:
                if skip == 0:
                    starts[row], ends[row] = tokens[m, 4], tokens[m, 5]
                    break
                skip -= 1


@kernel(f"void({_BYTES}, {_INTS}, {_TOKENS}, int64, {_BYTES}, int64, int32[::1], int32[::1])")
def find_named(
    data: Any, token_offsets: Any, tokens: Any, kind: Any, name: Any, nth: Any, starts: Any, ends: Any
) -> Any:
    """Write for each URL the span of the parameter or argument of a name."""
    size = len(name)
    for row in range(len(token_offsets) - 1):
        starts[row] = ABSENT
        for m in range(token_offsets[row], token_offsets[row + 1]):
            start = tokens[m, 2]
            if tokens[m, 0] != kind or tokens[m, 1] != nth or tokens[m, 3] - start != size:
                continue
            same = True
            for j in range(size):
                if data[start + j] != name[j]:
                    same = False
                    break
            if same:
                starts[row] = tokens[m, 4] if tokens[m, 4] != ABSENT else tokens[m, 3]
                ends[row] = tokens[m, 5] if tokens[m, 4] != ABSENT else tokens[m, 3]
                break


@kernel(f"void({_BYTES}, {_INTS}, {_INTS}, uint8[::1], int32[::1])")
def gather(data: Any, starts: Any, ends: Any, out: Any, out_offsets: Any) -> Any:
    """Copy the span of each row to `out`, nothing where it is absent."""
    o = 0
    out_offsets[0] = 0
    for row in range(len(starts)):
        if starts[row] != ABSENT:
            for i in range(starts[row], ends[row]):
                out[o] = data[i]
                o += 1
        out_offsets[row + 1] = o
