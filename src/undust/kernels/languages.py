"""Letters of each script and frequent words of each language in texts, counted as a kernel."""

from typing import Any

import numpy as np
import numpy.typing as npt

from undust.kernels.compiling import kernel
from undust.kernels.html_scan import BASIS, PRIME, integers, step

# Scripts, as blocks of 128 code points.
(NO_SCRIPT, LATIN, CYRILLIC, ARABIC, DEVANAGARI, HAN, KANA, FIRST_SINGLE) = range(8)
SINGLE = {  # scripts of (nearly) one language on the web, by their blocks of 128
    "el": (0x380,), "hy": (0x500, 0x580), "he": (0x580,), "bn": (0x980,), "pa": (0xA00,), "gu": (0xA80,),
    "or": (0xB00,), "ta": (0xB80,), "te": (0xC00,), "kn": (0xC80,), "ml": (0xD00,), "si": (0xD80,),
    "th": (0xE00,), "lo": (0xE80,), "bo": (0xF00,), "my": (0x1000,), "ka": (0x1080,),
    "ko": tuple(range(0xAC00, 0xD800, 128)), "am": (0x1200, 0x1280, 0x1300), "km": (0x1780,),
}  # fmt: skip
_BLOCKS = {
    LATIN: (0x0, 0x80, 0x100, 0x180, 0x1E00, 0x1E80),
    CYRILLIC: (0x400, 0x480),
    ARABIC: (0x600, 0x680, 0x700, 0xFB80, 0xFC00, 0xFC80, 0xFD00, 0xFD80, 0xFE80),
    DEVANAGARI: (0x900,),
    HAN: tuple(range(0x3400, 0xA000, 128)),
    KANA: (0x3000, 0x3080),
} | {FIRST_SINGLE + k: blocks for k, blocks in enumerate(SINGLE.values())}
SCRIPTS = FIRST_SINGLE + len(SINGLE)
_SCRIPT: npt.NDArray[np.int64] = np.zeros(512, np.int64)
for _script, _starts in _BLOCKS.items():
    _SCRIPT[[start >> 7 for start in _starts]] = _script

# Code points of those blocks that are no letters.
_OTHER: npt.NDArray[np.bool_] = np.zeros(0x400, np.bool_)
_OTHER[:0xC0] = [not (chr(i).isalpha()) for i in range(0xC0)]
_OTHER[[0xD7, 0xF7]] = True

_MAX_CODE, _GENERAL_MARKS, _CJK_MARKS = integers((0x10000, 0x2000 >> 7, 0x3040))


def lower(code: int) -> int:
    """Lower the case of the letters that the word lists have; the kernel does the same."""
    if 65 <= code <= 90 or (0xC0 <= code <= 0xDE and code != 0xD7) or 0x410 <= code <= 0x42F:
        return code + 32
    if 0x400 <= code <= 0x40F:
        return code + 80
    if 0x100 <= code <= 0x137 or 0x14A <= code <= 0x177 or 0x218 <= code <= 0x21B or 0x1EA0 <= code <= 0x1EF9:
        return code | 1
    return code + (code & 1) if 0x139 <= code <= 0x148 or 0x179 <= code <= 0x17E else code


def word_hash(word: str) -> int:
    """Hash a word as the kernel does."""
    value = int(BASIS)
    for letter in word:
        value = (value ^ lower(ord(letter))) * int(PRIME) & 0xFFFFFFFFFFFFFFFF
    return value


_lower = step(lower)


@step
def _decode(text: Any, i: Any) -> Any:
    """Read a character of valid UTF-8: code point and size."""
    c = np.int64(text[i])
    if c < 0x80:
        return c, 1
    if c < 0xE0:
        return (c & 31) << 6 | np.int64(text[i + 1] & 63), 2
    if c < 0xF0:
        return (c & 15) << 12 | np.int64(text[i + 1] & 63) << 6 | np.int64(text[i + 2] & 63), 3
    return _MAX_CODE, 4


@kernel(
    "void(Array(uint8, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), int64,"
    " Array(uint64, 1, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True), int64[:, ::1], int64[:, ::1],"
    " int64[::1])"
)
def count_signs(
    text: Any, offsets: Any, max_bytes: Any, keys: Any, masks: Any, letters: Any, hits: Any, words: Any
) -> None:
    """Count the letters of each script, the words of each language that `keys` knows, and all words of each text.

    `keys` is a table of hashes with open addressing, its size a power of two; `masks` has a bit for each language.
    """
    size = len(keys) - 1
    for row in range(len(offsets) - 1):
        letters[row] = 0
        hits[row] = 0
        words[row] = 0
        i, end = offsets[row], offsets[row + 1]
        limit = min(end, i + max_bytes)
        value = BASIS
        while i < limit:
            code, width = _decode(text, i)
            i += width
            script = NO_SCRIPT
            if code < 0x400:
                if not _OTHER[code]:
                    script = _SCRIPT[code >> 7]
            elif code < _MAX_CODE and not (0x3000 <= code < _CJK_MARKS):
                script = _SCRIPT[code >> 7]
            if script != NO_SCRIPT:
                letters[row, script] += 1
                value = (value ^ np.uint64(_lower(code))) * PRIME
                if i < limit:
                    continue
            if value == BASIS:
                continue
            words[row] += 1
            place = np.int64(value) & size
            while keys[place] != 0:
                if keys[place] == value:
                    mask = masks[place]
                    for k in range(hits.shape[1]):
                        hits[row, k] += np.int64(mask >> np.uint64(k) & np.uint64(1))
                    break
                place = (place + 1) & size
            value = BASIS
