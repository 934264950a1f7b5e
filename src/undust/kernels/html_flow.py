"""Text and attribute values out of spans of HTML: references decoded, white space collapsed, controls dropped."""

from typing import Any

from undust.kernels import html_tables as t
from undust.kernels.characters import encode
from undust.kernels.html_references import reference
from undust.kernels.html_scan import integers, step

_CLASS = t.BYTE_CLASS
_SPACE, _AMPERSAND, _CONTROL, _LATIN = t.SPACE, t.AMPERSAND, t.CONTROL, t.LATIN

# What stands before the next word: the larger wins, but for a blank line, which only an end of line makes larger.
NOTHING, BLANK, LINE, EMPTY_LINE, NEW_BLOCK = integers(range(5))

# How a span is read.
REFERENCES, IN_ATTRIBUTE, LINES = integers((1, 2, 4))


@step
def separate(out: Any, o: Any, pending: Any) -> Any:
    """Write the separator that is due before a word."""
    out[o] = 32 if pending == BLANK else 10
    if pending == EMPTY_LINE:
        out[o + 1] = 10
        return o + 2
    return o + 1


@step
def after_space(data: Any, i: Any, end: Any, pending: Any) -> Any:
    """Say what is due before the next word after the space at i of preformatted text, whose lines are kept."""
    c = data[i]
    if c == 10 or (c == 13 and (i + 1 == end or data[i + 1] != 10)):
        if pending < LINE:
            return LINE
        return EMPTY_LINE if pending == LINE else pending
    return max(pending, BLANK)


@step
def blank(value: Any) -> Any:
    """Tell whether a code point is white space that collapses."""
    return value == 32 or value == 0xA0 or 9 <= value <= 13


@step
def unseen(value: Any) -> Any:
    """Tell whether a code point is a control or a soft hyphen. 0 is not: it stands for no code point."""
    return 0 < value < 32 or 127 <= value < 0xA0 or value == 0xAD


@step
def flow(data: Any, i: Any, end: Any, out: Any, o: Any, stop: Any, how: Any) -> Any:
    """Copy a span as text, without spaces around it; give the place after it.

    It ends with the first whole character after `stop`, at most 10 bytes after it.
    """
    first = o
    pending = NOTHING
    while i < end and (o < stop or (data[i] & 0xC0 == 0x80 and o < stop + 6)):
        kind = _CLASS[data[i]]
        value, second = 0, 0
        if kind == _SPACE:
            pending = after_space(data, i, end, pending) if how & LINES else BLANK
            i += 1
            continue
        if kind == _CONTROL:
            i += 1
            continue
        if kind == _LATIN and i + 1 < end and (data[i + 1] <= 0xA0 or data[i + 1] == 0xAD):
            if data[i + 1] == 0xA0:
                pending = max(pending, BLANK)
            i += 2
            continue
        if kind == _AMPERSAND and how & REFERENCES:
            i, value, second = reference(data, i, end, how & IN_ATTRIBUTE)
            if blank(value):
                pending = max(pending, BLANK)
                continue
            if unseen(value):
                continue
            if value == 0:
                value = 38
        if pending != NOTHING and o > first:
            o = separate(out, o, pending)
        pending = NOTHING
        if value == 0:
            out[o] = data[i]
            i += 1
            o += 1
        else:
            o = encode(value, out, o)
            if second:
                o = encode(second, out, o)
    return o


@step
def value_of(data: Any, i: Any, end: Any, out: Any, o: Any) -> Any:
    """Copy the value of an attribute that holds a URL or a name: spaces around it and breaks inside it left out.

    URL standard, basic parser: controls and spaces around, and any tab or end of line, are removed.
    """
    while i < end and data[i] <= 32:
        i += 1
    while i < end and data[end - 1] <= 32:
        end -= 1
    while i < end:
        c = data[i]
        if c == 38:
            i, value, second = reference(data, i, end, IN_ATTRIBUTE)
            o = encode(value if value else 38, out, o)
            if second:
                o = encode(second, out, o)
            continue
        if c >= 32 and c != 127:
            out[o] = c
            o += 1
        i += 1
    return o
