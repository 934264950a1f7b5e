"""Counts sentences, from the gaps between words."""

from typing import Any

import numpy as np

from undust.kernels.characters import decode, place
from undust.kernels.compiling import kernel, part
from undust.kernels.unicode_tables import CLOSER, DIGIT, KIND, LETTER, LOWER, NEWLINE, SPACE, STOP, UNSPACED

ABBREVIATION = 1  # its full stop does not end a sentence
BEFORE_NUMBER = 2  # the same, where a number follows: "no. 5", but "I said no."

_ELLIPSIS = 0x2026


@part
def _look_up(key: np.uint64, keys: Any, classes: Any) -> int:
    mask = len(keys) - 1
    slot = np.int64(key) & mask
    while classes[slot] and keys[slot] != key:
        slot = (slot + 1) & mask
    return np.int64(classes[slot])


@part
def _shape(data: Any, start: int, end: int, pages: Any, kinds: Any) -> tuple[int, int, bool]:
    """Count the letters and the digits of a word, and tell whether it has a full stop inside."""
    letters = digits = 0
    dotted = False
    while start < end:
        code, size = decode(data, start, end)
        kind = kinds[place(pages, code)] & KIND
        letters += kind == LETTER or kind == UNSPACED
        digits += kind == DIGIT
        dotted |= code == 46
        start += size
    return letters, digits, dotted


@part
def _gap(data: Any, at: int, end: int, pages: Any, kinds: Any) -> tuple[bool, bool, int, bool, bool]:
    """Read what is between two words: new line, certain stop, full stops, then a closing quote, then a space."""
    newline = certain = closed = spaced = False
    dots = 0
    while at < end:
        code, size = decode(data, at, end)
        kind = kinds[place(pages, code)] & KIND
        if code == 46 or code == 0xFF0E:
            dots += not spaced
        elif code == _ELLIPSIS:
            dots += 3
        elif kind == STOP:
            certain = True
        elif kind == NEWLINE:
            newline = True
        elif kind == SPACE:
            spaced |= dots > 0 or certain
        elif kind == CLOSER or code == 39 or code == 0x2019:
            closed |= dots > 0 or certain
        at += size
    return newline, certain, dots, closed, spaced


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint64[::1], int32[::1],"
    "int32[::1], int64[::1], uint16[::1], uint8[::1], uint64[::1], uint8[::1], Array(uint64, 1, 'C', readonly=True),"
    "boolean[::1], int32[::1], uint8[::1])"
)
def count_sentences(
    data: Any, offsets: Any, hashes: Any, starts: Any, ends: Any, rows: Any, pages: Any, kinds: Any,
    keys: Any, classes: Any, salts: Any, ordinals: Any, sentences: Any, last: Any,
) -> None:  # fmt: skip
    """Count the sentences of each text: runs of words up to a stop that is one.

    `keys` and `classes` are an open-addressing table of abbreviations, salted by language as the rows are.
    `ordinals` tells which texts are in a language where a short number with a full stop is an ordinal (German 3.).
    `last`, if it has room, is 1 for the last word of each sentence, and else as it was.
    """
    for i in range(len(rows) - 1):
        row = offsets[i]
        count = 0
        begin = rows[i]  # first word of the sentence
        for t in range(rows[i], rows[i + 1] - 1):
            stop, after = row + ends[t], row + starts[t + 1]
            if after <= stop or (after == stop + 1 and data[stop] == 32):
                continue
            newline, certain, dots, closed, spaced = _gap(data, stop, after, pages, kinds)
            if not newline:
                if not certain and dots == 0:
                    continue
                code, _ = decode(data, after, offsets[i + 1])
                kind = kinds[place(pages, code)]
                lower = kind & LOWER != 0
                if lower and (closed or not certain):
                    continue  # "Why?" he asked. Or an abbreviation, or an ellipsis
                if not certain and dots == 1:
                    if not spaced and kind & KIND != UNSPACED:
                        continue
                    if data[stop] == 46:
                        known = _look_up(hashes[t] ^ salts[i], keys, classes)
                        if known == ABBREVIATION or (known == BEFORE_NUMBER and kind & KIND == DIGIT):
                            continue
                        letters, digits, dotted = _shape(data, row + starts[t], stop, pages, kinds)
                        if digits == 0 and (letters == 1 or dotted):
                            continue  # initials: J. Smith, U.S. law
                        if letters == 0 and (t == begin or (ordinals[i] and digits < 3)):
                            continue  # the number of a list item, or an ordinal
            count += 1
            begin = t + 1
            if len(last):
                last[t] = 1
        sentences[i] = count + (rows[i + 1] > rows[i])
