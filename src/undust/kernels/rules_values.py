"""What the operations of a rule make of the values of a URL, for the URL to fetch and for the key."""

from typing import Any

import numpy as np

from undust.kernels.compiling import part
from undust.kernels.rules_bytes import SLACK, put
from undust.kernels.rules_layout import (
    COPIED,
    DECODE,
    ENCODE,
    KEYED,
    LITERAL,
    LOWER,
    OPERATION,
    OPERATIONS,
    PIECE,
    RULE,
    TEXTS,
    UPPER,
)
from undust.kernels.rules_match import fit
from undust.kernels.rules_split import value_of

CANNOT, NO_ROOM = -1, -2
_ABSENT, _IMPOSSIBLE, _TOO_LONG = -1, -2, -3

_UNRESERVED = np.zeros(256, np.bool_)
_UNRESERVED[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")] = True
_VALUE = np.full(256, 16, np.uint8)  # of a hexadecimal digit
for _value, _digit in enumerate(b"0123456789abcdef"):
    _VALUE[_digit] = _value
for _value, _digit in enumerate(b"ABCDEF", 10):
    _VALUE[_digit] = _value
_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)


@part
def _convert(through: int, src: Any, at: int, end: int, out: Any, o: int) -> Any:
    """Write a value through a conversion; at most three bytes for each of its bytes."""
    if through == LOWER:
        for i in range(at, end):
            c = src[i]
            out[o] = c | 32 if 65 <= c <= 90 else c
            o += 1
    elif through == UPPER:
        for i in range(at, end):
            c = src[i]
            out[o] = c & 223 if 97 <= c <= 122 else c
            o += 1
    elif through == ENCODE:
        for i in range(at, end):
            c = src[i]
            if _UNRESERVED[c]:
                out[o] = c
                o += 1
            else:
                out[o], out[o + 1], out[o + 2] = 37, _DIGITS[c >> 4], _DIGITS[c & 15]
                o += 3
    elif through == DECODE:
        i = at
        while i < end:
            c = src[i]
            if c == 37 and i + 2 < end and _VALUE[src[i + 1]] < 16 and _VALUE[src[i + 2]] < 16:
                out[o] = _VALUE[src[i + 1]] * 16 + _VALUE[src[i + 2]]
                i += 3
            else:
                out[o] = c
                i += 1
            o += 1
    else:
        o = put(out, o, src, at, end)
    return o


@part
def _pieces(src: Any, words: Any, texts: Any, blob: int, pieces: int, for_key: bool, s: Any, o: int) -> Any:
    """Put a value together; give the place after it, or `_ABSENT`, `_IMPOSSIBLE`, `_TOO_LONG`."""
    base = 4 * blob + words[blob + TEXTS]
    values = s.values
    count = words[pieces]
    for k in range(count):
        piece = pieces + 1 + PIECE * k
        kind = words[piece]
        if kind == COPIED:
            at, end = value_of(words[piece + 1], words, blob, s)
            if at < 0:
                return _ABSENT if count == 1 else _IMPOSSIBLE
            if words[piece + 2] != 0:
                _, at, end = fit(words, texts, base, blob, blob + words[piece + 2], src, at, end, words[piece + 3])
            if o + 3 * (end - at) + SLACK > len(values):
                return _TOO_LONG
            o = _convert(words[piece + 4], src, at, end, values, o)
        elif kind == LITERAL or not for_key:
            text, size = base + words[piece + 1], words[piece + 2]
            if o + size + SLACK > len(values):
                return _TOO_LONG
            o = put(values, o, texts, text, text + size)
        else:
            if o + SLACK > len(values):
                return _TOO_LONG
            values[o] = 42
            o += 1
    return o


@part
def make_values(src: Any, rules: Any, blob: int, rule: int, s: Any) -> Any:
    """Make the value of each key that a rule has an operation on: spans of `values`, -1 for ⊥.

    `results[operation]` has start and end of the value to fetch, then of that in the key. Gives how much of `values` is
    used, `CANNOT` or `NO_ROOM`.
    """
    words, texts = rules.words, rules.texts
    o = 0
    forms = 2 if words[rule] & KEYED else 1
    for k in range(words[rule + OPERATIONS]):
        pieces = words[rule + RULE + OPERATION * k + 2]
        for form in range(forms):
            after = np.int64(_ABSENT)
            if pieces != 0:
                after = _pieces(src, words, texts, blob, blob + pieces, form == 1, s, o)
            if after < _ABSENT:
                return CANNOT if after == _IMPOSSIBLE else NO_ROOM
            s.results[k, 2 * form] = -1 if after < 0 else o
            s.results[k, 2 * form + 1] = after
            o = max(o, after)
    return o
