"""Pieces of the WHATWG tokenizer (HTML standard, 13.2.5): names, attributes, ends of raw text.

Each takes bytes, a place and an end, and gives the place after what it read. None looks back, so each byte is
read once and no input costs more than its length.
"""

from collections.abc import Iterable
from typing import Any

import numba as nb
import numpy as np

from undust.kernels.html_tables import (
    ATTRIBUTE_LETTER,
    BLANK,
    ELEMENT_BITS,
    ELEMENT_KEYS,
    HASH_BASIS,
    HASH_PRIME,
    TAG_LETTER,
    name_hash,
)

# Not inlined: they are called from several places, and compiling would take several times as long.
step = nb.njit(nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def integers(values: Iterable[int]) -> tuple[np.int64, ...]:
    """Make constants for kernels. A plain number would be a type of its own, and each a compilation of its own."""
    return tuple(np.int64(value) for value in values)


BASIS, PRIME = HASH_BASIS, HASH_PRIME
_TAG_LETTER, _ATTRIBUTE_LETTER, _BLANK = TAG_LETTER, ATTRIBUTE_LETTER, BLANK
_ELEMENT_KEYS, _ELEMENT_SHIFT = ELEMENT_KEYS, np.uint64(64 - ELEMENT_BITS)
_ELEMENT_MASK = (1 << ELEMENT_BITS) - 1
_LONGEST_RAW = 8  # noscript, textarea; reading on from each `<` of `<s<s<s` would cost the square of the length
_SCRIPT_HASH = name_hash("script")
_CDATA = np.frombuffer(b"<![CDATA[", np.uint8)

# What `attribute` found.
TAG_END, ATTRIBUTE, SELF_CLOSED, INPUT_END = integers(range(4))


@step
def tag_name(data: Any, i: Any, end: Any) -> Any:
    """Hash the lower-cased name that begins at i; give the hash and the place after it."""
    value = BASIS
    while i < end:
        letter = _TAG_LETTER[data[i]]
        if letter == 0:
            break
        value = (value ^ letter) * PRIME
        i += 1
    return value, i


@step
def element(key: Any) -> Any:
    """Find the place of an element in the tables by the hash of its name, -1 if it is not there."""
    place = np.int64(key >> _ELEMENT_SHIFT)
    while _ELEMENT_KEYS[place] != 0:
        if _ELEMENT_KEYS[place] == key:
            return place
        place = (place + 1) & _ELEMENT_MASK
    return -1


@step
def span_hash(data: Any, start: Any, end: Any) -> Any:
    """Hash the lower-cased bytes of a span, spaces around it left out."""
    while start < end and data[start] <= 32:
        start += 1
    while start < end and data[end - 1] <= 32:
        end -= 1
    value = BASIS
    for i in range(start, end):
        letter = np.uint64(data[i])
        if 65 <= data[i] <= 90:
            letter = np.uint64(data[i] + 32)
        value = (value ^ letter) * PRIME
    return value


@step
def has_token(data: Any, start: Any, end: Any, wanted: Any) -> Any:
    """Tell whether a list of tokens with spaces between them has the one with this hash."""
    i = start
    while i < end:
        while i < end and data[i] <= 32:
            i += 1
        first = i
        while i < end and data[i] > 32:
            i += 1
        if i > first and span_hash(data, first, i) == wanted:
            return True
    return False


@step
def skip_attributes(data: Any, i: Any, end: Any) -> Any:
    """Give the place after the `>` of a tag, from any place between its attributes."""
    while i < end:
        c = data[i]
        i += 1
        if c == 62:
            return i
        if c == 47 or _BLANK[c]:
            continue
        while i < end and _ATTRIBUTE_LETTER[data[i]] != 0:  # the first byte belongs to the name even if it is =
            i += 1
        while i < end and _BLANK[data[i]]:
            i += 1
        if i < end and data[i] == 61:
            i += 1
            while i < end and _BLANK[data[i]]:
                i += 1
            if i == end:
                return end
            quote = data[i]
            if quote == 34 or quote == 39:
                i += 1
                while i < end and data[i] != quote:
                    i += 1
                i += 1
            else:
                while i < end:
                    c = data[i]
                    if c == 62 or _BLANK[c]:
                        break
                    i += 1
    return end


@step
def attribute(data: Any, i: Any, end: Any) -> Any:
    """Read the next attribute of a tag: what was found, hash of its name, its value's span, the place after it."""
    found = TAG_END
    while i < end:
        c = data[i]
        if c == 62:
            return found, BASIS, i, i, i + 1
        if c == 47:
            found = SELF_CLOSED
        elif _BLANK[c]:
            found = TAG_END
        else:
            break
        i += 1
    if i >= end:
        return INPUT_END, BASIS, end, end, end
    letter = _ATTRIBUTE_LETTER[data[i]]
    key = BASIS
    while True:
        key = (key ^ letter) * PRIME
        i += 1
        if i >= end:
            return INPUT_END, BASIS, end, end, end
        letter = _ATTRIBUTE_LETTER[data[i]]
        if letter == 0:
            break
    while i < end and _BLANK[data[i]]:
        i += 1
    if i >= end or data[i] != 61:
        return ATTRIBUTE, key, i, i, i
    i += 1
    while i < end and _BLANK[data[i]]:
        i += 1
    if i >= end:
        return INPUT_END, BASIS, end, end, end
    quote = data[i]
    if quote == 34 or quote == 39:
        i += 1
        start = i
        while i < end and data[i] != quote:
            i += 1
        if i >= end:
            return INPUT_END, BASIS, end, end, end
        return ATTRIBUTE, key, start, i, i + 1
    start = i
    while i < end:
        c = data[i]
        if c == 62 or _BLANK[c]:
            break
        i += 1
    return ATTRIBUTE, key, start, i, i


@step
def _ends_name(data: Any, i: Any, end: Any) -> Any:
    return i < end and _TAG_LETTER[data[i]] == 0


@step
def raw_end(data: Any, i: Any, end: Any, key: Any) -> Any:
    """Find the end tag with this name's hash: the place of its `<`, or the end (13.2.5.2 and 3)."""
    while i < end:
        if data[i] == 60 and i + 1 < end and data[i + 1] == 47:
            found, after = tag_name(data, i + 2, min(end, i + 2 + _LONGEST_RAW))
            if found == key and _ends_name(data, after, end):
                return i
            i += 2
        else:
            i += 1
    return end


@step
def script_end(data: Any, i: Any, end: Any) -> Any:
    """Find the end tag of a script, which `<!-- <script>` puts off (13.2.5.15 to 31)."""
    escaped = 0
    while i < end:
        c = data[i]
        if c == 60 and i + 1 < end:
            d = data[i + 1]
            if d == 47:
                key, after = tag_name(data, i + 2, min(end, i + 2 + _LONGEST_RAW))
                if key == _SCRIPT_HASH and _ends_name(data, after, end):
                    if escaped < 2:
                        return i
                    escaped = 1
            elif d == 33:
                if escaped == 0 and i + 3 < end and data[i + 2] == 45 and data[i + 3] == 45:
                    escaped = 1
                    i += 1  # the dashes can be those of --> too
            elif escaped == 1 and (d | 32) == 115:
                key, after = tag_name(data, i + 1, min(end, i + 1 + _LONGEST_RAW))
                if key == _SCRIPT_HASH and _ends_name(data, after, end):
                    escaped = 2
        elif c == 45 and escaped > 0 and i + 2 < end and data[i + 1] == 45 and data[i + 2] == 62:
            escaped = 0
        i += 1
    return end


@step
def in_cdata(data: Any, i: Any, end: Any) -> Any:
    """Tell whether a CDATA section begins at the `<!` at i."""
    if i + 9 > end:
        return False
    for k in range(9):
        if data[i + k] != _CDATA[k]:
            return False
    return True


@step
def declaration_end(data: Any, i: Any, end: Any) -> Any:
    """Give the place after a comment, doctype or bogus comment that begins at `<!`, `<?` or `</` (13.2.5.41 to 53)."""
    if data[i + 1] == 33 and i + 3 < end and data[i + 2] == 45 and data[i + 3] == 45:
        i += 4
        if i < end and data[i] == 62:
            return i + 1
        if i + 1 < end and data[i] == 45 and data[i + 1] == 62:
            return i + 2
        while i + 2 < end:
            if data[i] == 45 and data[i + 1] == 45:
                if data[i + 2] == 62:
                    return i + 3
                if data[i + 2] == 33 and i + 3 < end and data[i + 3] == 62:
                    return i + 4
            i += 1
        return end
    i += 2
    while i < end and data[i] != 62:
        i += 1
    return min(i + 1, end)
