"""The links of a page as kernels: anchor texts, windows of words around them, absolute URLs, columns."""

from typing import Any

from undust.kernels import html_tables as t
from undust.kernels.compiling import kernel
from undust.kernels.html_scan import span_hash, step
from undust.kernels.html_state import ABSENT, ANCHOR

WINDOW_BYTES = 256  # on each side of a link: eight words of 32 letters; what has longer ones is no prose
MAX_LINK_BYTES = 4096  # longer URLs are traps or data; a long `base` must not make many short links long
_ALPHANUMERIC = t.ALPHANUMERIC
_HTTP, _HTTPS = t.name_hash("http"), t.name_hash("https")

# Words are counted in quarters. Scripts without spaces have words of about two (Chinese, Japanese) or four
# letters (Thai, Lao, Burmese, Khmer); a window needs no better borders than that.
_WORD, _HAN_LETTER, _THAI_LETTER = 4, 2, 1

_RELATIVE, _ABSOLUTE, _NO_PAGE = range(3)


@step
def _quarters(text: Any, i: Any) -> Any:
    """Say how many quarters of a word the letter at i is, 0 if its script has spaces."""
    c = text[i]
    if 0xE3 <= c <= 0xE9:
        return _HAN_LETTER
    if c == 0xF0:
        return _HAN_LETTER if text[i + 1] >= 0xA0 else 0
    if c == 0xE0:
        return _THAI_LETTER if 0xB8 <= text[i + 1] <= 0xBB else 0
    if c == 0xE1:
        d = text[i + 1]
        return _THAI_LETTER if d <= 0x82 or d == 0x9E or d == 0x9F else 0
    return 0


@step
def _forward(text: Any, i: Any, end: Any, wanted: Any) -> Any:
    """Give the place after so many quarters of words."""
    if end > i + WINDOW_BYTES:
        end = i + WINDOW_BYTES
        while end > i and text[end] & 0xC0 == 0x80:  # the limit may lie in a letter: leave that out
            end -= 1
    got = 0
    in_word = False
    while i < end:
        c = text[i]
        wide = _quarters(text, i) if c >= 0xE0 else 0
        if in_word and (c <= 32 or wide):
            got += _WORD
            in_word = False
        if got >= wanted:
            break
        if c < 0x80:
            in_word = in_word or _ALPHANUMERIC[c]
            i += 1
        else:
            got += wide
            in_word = wide == 0
            i += 2 if c < 0xE0 else (3 if c < 0xF0 else 4)
    return i


@step
def _backward(text: Any, first: Any, i: Any, wanted: Any) -> Any:
    """Give the place of the first of so many quarters of words before i."""
    if first < i - WINDOW_BYTES:
        first = i - WINDOW_BYTES
        while first < i and text[first] & 0xC0 == 0x80:
            first += 1
    got = 0
    in_word = False
    while i > first:
        k = i - 1
        while k > first and text[k] & 0xC0 == 0x80:
            k -= 1
        c = text[k]
        wide = _quarters(text, k) if c >= 0xE0 else 0
        if in_word and (c <= 32 or wide):
            got += _WORD
            in_word = False
        if got >= wanted:
            break
        if c < 0x80:
            in_word = in_word or _ALPHANUMERIC[c]
        else:
            got += wide
            in_word = wide == 0
        i = k
    return i


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True),"
    " Array(int64, 1, 'A', readonly=True), int64[:, ::1], int64, Array(int64, 1, 'C', readonly=True), int64[:, ::1])"
)
def find_windows(text: Any, offsets: Any, ends: Any, links: Any, words: Any, budgets: Any, windows: Any) -> None:
    """Trim the anchor texts and write the span of the window around each, the anchor text included.

    Once the windows of a page have more bytes than its budget, the rest are empty.
    """
    m = 0
    for row in range(len(ends)):
        first, end = offsets[row], offsets[row + 1]
        budget = budgets[row]
        while m < ends[row]:
            start, stop = min(links[m, ANCHOR], end), min(links[m, ANCHOR + 1], end)
            while start < stop and text[start] <= 32:
                start += 1
            while start < stop and text[stop - 1] <= 32:
                stop -= 1
            links[m, ANCHOR], links[m, ANCHOR + 1] = start, stop
            before = start
            while before > first and text[before - 1] <= 32:
                before -= 1
            limit = before
            before = _backward(text, first, before, _WORD * words)
            while before < limit and text[before] <= 32:
                before += 1
            if before == limit:
                before = start
            while stop < end and text[stop] <= 32:
                stop += 1
            after = _forward(text, stop, end, _WORD * words)
            while after > before and text[after - 1] <= 32:
                after -= 1
            budget -= after - before
            windows[m, 0], windows[m, 1] = before, after if budget >= 0 else before
            m += 1


@step
def _kind(source: Any, i: Any, end: Any) -> Any:
    """Say what a reference is by its scheme."""
    k = i
    while k < end and (_ALPHANUMERIC[source[k]] or source[k] == 43 or source[k] == 45 or source[k] == 46):
        k += 1
    if k == i or k >= end or source[k] != 58 or source[i] < 65:
        return _RELATIVE
    scheme = span_hash(source, i, k)
    if (scheme == _HTTP or scheme == _HTTPS) and k + 2 < end and source[k + 1] == 47 and source[k + 2] == 47:
        return _ABSOLUTE
    return _NO_PAGE


@step
def _begins_name(c: Any) -> Any:
    return c != 47 and c != 92 and c != 63


@step
def _prefix(source: Any, i: Any, stop: Any, base: Any, start: Any, end: Any) -> Any:
    """Give the end of what a relative reference, not empty, takes over from its base (RFC 3986, 5.2.2).

    Dot segments stay; -1 if the base is no absolute URL.
    """
    k = start
    while k < end and base[k] != 58:
        k += 1
    if k == start or k + 2 >= end or base[k + 1] != 47 or base[k + 2] != 47:
        return ABSENT
    slash = source[i] == 47 or source[i] == 92
    if slash and i + 1 < stop and (source[i + 1] == 47 or source[i + 1] == 92):
        return k + 1
    k += 3
    while k < end and base[k] != 47 and base[k] != 63 and base[k] != 35:
        k += 1
    if slash:
        return k
    folder = k
    while k < end and base[k] != 63 and base[k] != 35:
        k += 1
        if base[k - 1] == 47:
            folder = k
    return k if source[i] == 63 else folder


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 2, 'A', readonly=True),"
    " Array(int64, 1, 'A', readonly=True), Array(uint8, 1, 'C', readonly=True),"
    " Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint8[::1], int32[::1])"
)
def resolve(
    source: Any, spans: Any, ends: Any, bases: Any, base_offsets: Any, budgets: Any, out: Any, offsets: Any
) -> None:
    """Write the absolute URL of each reference of each page, nothing where it names no page or only a part of one.

    Spans go from the first column to the second. `out` needs room for all budgets.
    """
    m = 0
    o = 0
    offsets[0] = 0
    for row in range(len(ends)):
        start, stop = base_offsets[row], base_offsets[row + 1]
        budget = budgets[row]
        while m < ends[row]:
            i, end = spans[m, 0], spans[m, 1]
            for k in range(i, end):
                if source[k] == 35:
                    end = k
                    break
            kind = _kind(source, i, end) if 0 <= i < end else _NO_PAGE
            prefix = start
            if kind == _RELATIVE:
                prefix = _prefix(source, i, end, bases, start, stop)
            size = prefix - start + end - i + 1
            if kind != _NO_PAGE and prefix != ABSENT and size <= MAX_LINK_BYTES and size <= budget:
                budget -= size
                for k in range(start, prefix):
                    out[o] = bases[k]
                    o += 1
                if kind == _RELATIVE and bases[prefix - 1] != 47 and _begins_name(source[i]):
                    out[o] = 47  # the base is a host without a path
                    o += 1
                for k in range(i, end):
                    out[o] = source[k]
                    o += 1
            m += 1
            offsets[m] = o


@kernel("void(Array(uint8, 1, 'C', readonly=True), Array(int64, 2, 'A', readonly=True), uint8[::1], int32[::1])")
def copy_spans(source: Any, spans: Any, out: Any, offsets: Any) -> None:
    """Copy spans, from the first column to the second, one after the other on a line each; nothing where negative."""
    o = 0
    offsets[0] = 0
    for row in range(len(spans)):
        start = spans[row, 0]
        if start >= 0:
            for i in range(start, spans[row, 1]):
                out[o] = source[i] if source[i] != 10 else 32
                o += 1
        offsets[row + 1] = o
