"""Texts to words, in one pass over their UTF-8 bytes: where each word is, and the hash of its folded form.

A word is what UAX #29 says, with these choices:
- Scripts without spaces (Han, Hiragana, Thai, Lao, Khmer, Myanmar and kin) give overlapping pairs of characters,
  and a lone character itself. The default of UAX #29, single characters, tells texts apart badly, and
  dictionaries differ between versions; pairs need none and are what search engines fall back to.
- A run of Katakana is a word. Marks belong to the letter before; invisible characters are passed over.
- An underscore joins like an apostrophe does, but does not begin or end a word.
- A word of more than 128 bytes (data, not language) is cut into pieces.
"""

from typing import Any

import numpy as np

from undust.kernels.characters import classify_64, decode, encode, place
from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import MAX_WORD_BYTES, load64, trailing_zeros, xxh3_8, xxh3_16, xxh3_128_bytes
from undust.kernels.unicode_tables import (
    DIGIT,
    IGNORED,
    JOINER,
    KATAKANA,
    KIND,
    LETTER,
    MARK,
    MID_BOTH,
    MID_DIGIT,
    MID_LETTER,
    UNSPACED,
)

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_CASE = np.uint64(0x2020202020202020)  # this bit is what lower-case letters have more; digits . , ' have it too
_READS = 64 + 16  # the fast path reads this far ahead of where it is


@part
def _emit(buffer: Any, length: int, start: int, end: int, n: int, hashes: Any, starts: Any, ends: Any) -> int:
    hashes[n] = xxh3_128_bytes(buffer, length)
    starts[n] = start
    ends[n] = end
    return n + 1


@part
def _joins(mid: int, before: int, after: int) -> bool:
    if before == after:
        if before == LETTER:
            return mid == MID_BOTH or mid == MID_LETTER or mid == JOINER
        if before == DIGIT:
            return mid == MID_BOTH or mid == MID_DIGIT or mid == JOINER
        return False
    return mid == JOINER and before + after == LETTER + DIGIT


@part
def _spaced(
    data: Any, row: int, at: int, end: int, pages: Any, kinds: Any, shifts: Any, buffer: Any,
    n: int, hashes: Any, starts: Any, ends: Any,
) -> tuple[int, int]:  # fmt: skip
    """Read the word that begins at an index. Return where it ends and how many words there are now."""
    start = at
    length = 0
    stop = at  # end of the word, before invisible characters that trail it
    base = 0  # kind of the last letter or digit
    while at < end:
        code, size = decode(data, at, end)
        entry = place(pages, code)
        kind = np.int64(kinds[entry] & KIND)
        if kind == IGNORED:
            at += size
            continue
        if kind == LETTER or kind == DIGIT or kind == KATAKANA:
            if base and (kind == KATAKANA) != (base == KATAKANA):
                break
            base = kind
        elif kind != MARK:
            if kind < MID_BOTH or kind > JOINER or at + size >= end:
                break
            after, _ = decode(data, at + size, end)
            if not _joins(kind, base, np.int64(kinds[place(pages, after)] & KIND)):
                break
        if length > MAX_WORD_BYTES - 4:
            n = _emit(buffer, length, start - row, stop - row, n, hashes, starts, ends)
            start, length = at, 0
        length = encode(np.int64(np.uint32(np.uint32(code) + shifts[entry])), buffer, length)
        at += size
        stop = at
    return at, _emit(buffer, length, start - row, stop - row, n, hashes, starts, ends)


@part
def _unspaced(
    data: Any, row: int, at: int, end: int, pages: Any, kinds: Any, shifts: Any, buffer: Any,
    n: int, hashes: Any, starts: Any, ends: Any,
) -> tuple[int, int]:  # fmt: skip
    """Read a run of a script without spaces as pairs of units, a unit being a letter with its marks."""
    first = second = at  # where the pair begins, and its second unit
    split = 0  # where in the buffer the second unit begins
    length = 0
    stop = at
    units = 0
    emitted = False
    while True:
        code, size = np.int64(0), 1
        kind = np.int64(-1)
        entry = np.int64(0)
        if at < end:
            code, size = decode(data, at, end)
            entry = place(pages, code)
            kind = np.int64(kinds[entry] & KIND)
        if kind == IGNORED:
            at += size
            continue
        if kind != MARK:
            if units == 2:
                n = _emit(buffer, length, first - row, stop - row, n, hashes, starts, ends)
                emitted = True
                for i in range(split, length):
                    buffer[i - split] = buffer[i]
                length -= split
                first = second
                units = 1
            if kind != UNSPACED:
                break
            units += 1
            second, split = at, length
        if length <= MAX_WORD_BYTES - 4:  # no script piles so many marks on a letter; some people do
            length = encode(np.int64(np.uint32(np.uint32(code) + shifts[entry])), buffer, length)
        at += size
        stop = at
    if not emitted:
        n = _emit(buffer, length, first - row, stop - row, n, hashes, starts, ends)
    return at, n


@part
def _closely(
    data: Any, row: int, at: int, end: int, pages: Any, kinds: Any, shifts: Any, buffer: Any,
    n: int, hashes: Any, starts: Any, ends: Any,
) -> tuple[int, int]:  # fmt: skip
    """Read one word, run of pairs, or character that is neither."""
    code, size = decode(data, at, end)
    kind = kinds[place(pages, code)] & KIND
    if kind == LETTER or kind == DIGIT or kind == KATAKANA:
        return _spaced(data, row, at, end, pages, kinds, shifts, buffer, n, hashes, starts, ends)
    if kind == UNSPACED:
        return _unspaced(data, row, at, end, pages, kinds, shifts, buffer, n, hashes, starts, ends)
    return at + size, n


@part
def _quickly(
    data: Any, row: int, at: int, end: int, n: int, hashes: Any, starts: Any, ends: Any, short: Any
) -> tuple[int, int, bool]:
    """Read the ASCII words of 64 bytes. Return where it stopped, the words, and whether to look closely there.

    A word is known once its end is, so one that reaches past the block begins the next. Of a word of up to 8 bytes the
    length is noted in `short`, and its bytes stand for its hash until `_hash_short` has been there.
    """
    letters, digits, stops, commas, special = classify_64(data, at)
    seen = min(end - at, 64)
    if seen < 64:
        inside = (_ONE << np.uint64(seen)) - _ONE
        letters, digits, special = letters & inside, digits & inside, special & inside
    joined = stops & (((letters << _ONE) & (letters >> _ONE)) | ((digits << _ONE) & (digits >> _ONE)))
    joined |= commas & (digits << _ONE) & (digits >> _ONE)
    special |= (stops | commas) & ((special << _ONE) | (special >> _ONE))
    known = seen if seen < 64 else 62
    words = letters | digits | joined | special
    while words:
        beyond = words + (words & (~words + _ONE))  # the carry runs through the lowest word and comes out at its end
        start = trailing_zeros(words)
        stop = trailing_zeros(beyond)
        length = stop - start
        if stop > known:
            return at + start, n, start == 0
        if special & words & ~beyond or length > 16:
            return at + start, n, True
        low = load64(data, at + start) | _CASE
        if length > 8:
            high = (load64(data, at + start + 8) | _CASE) & (_ALL >> np.uint64(8 * (16 - length)))
            hashes[n] = xxh3_16(low, high, np.uint64(length))
        else:
            hashes[n] = low & (_ALL >> np.uint64(8 * (8 - length)))
            short[n] = length
        starts[n] = at + start - row
        ends[n] = at + stop - row
        n += 1
        words &= beyond
    return at + known, n, False


@part
def _hash_short(hashes: Any, short: Any) -> None:
    """Hash the words of which only the bytes are there. No branch and no table: processors do some of them at once."""
    for i in range(len(hashes)):
        length = np.uint64(short[i])
        low = hashes[i]
        hashes[i] = xxh3_8(low, length) if length else low


@kernel(
    "int64(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), uint16[::1], uint8[::1],"
    "uint32[::1], uint8[::1], uint64[::1], int32[::1], int32[::1], uint8[::1], int64[::1])"
)
def split_words(
    data: Any, offsets: Any, pages: Any, kinds: Any, shifts: Any, buffer: Any,
    hashes: Any, starts: Any, ends: Any, short: Any, rows: Any,
) -> int:  # fmt: skip
    """Split each text into words; write their hashes and places (within the text), and where each text's begin.

    The output arrays need room for a word in every two bytes of each text, rounded up; the buffer for a word. `short`
    is zeros, one for each word.
    """
    n = 0
    rows[0] = 0
    for i in range(len(offsets) - 1):
        row, end = offsets[i], offsets[i + 1]
        at = row
        while at < end:
            close = True
            if at + _READS <= len(data):
                at, n, close = _quickly(data, row, at, end, n, hashes, starts, ends, short)
            if close:
                at, n = _closely(data, row, at, end, pages, kinds, shifts, buffer, n, hashes, starts, ends)
        _hash_short(hashes[rows[i] : n], short[rows[i] : n])
        rows[i + 1] = n
    return n


@kernel(
    "int64(Array(uint8, 1, 'C', readonly=True), int64[::1], int64[::1], uint16[::1], uint8[::1], uint32[::1],"
    "uint8[::1], int64[::1])"
)
def fold_spans(
    data: Any, starts: Any, ends: Any, pages: Any, kinds: Any, shifts: Any, folded: Any, offsets: Any
) -> int:
    """Write the folded forms of spans of text one after the other. `folded` needs twice the bytes of the spans."""
    n = 0
    offsets[0] = 0
    for i in range(len(starts)):
        at = starts[i]
        while at < ends[i]:
            code, size = decode(data, at, ends[i])
            entry = place(pages, code)
            if kinds[entry] & KIND != IGNORED:
                n = encode(np.int64(np.uint32(np.uint32(code) + shifts[entry])), folded, n)
            at += size
        offsets[i + 1] = n
    return n
