"""What kernels know of each character: its kind and its folded form, taken from Python's own Unicode data.

Two stages: `pages[code >> 8]` names a block of 256 characters in `kinds` and `shifts`; equal blocks are stored once.
"""

import functools
import unicodedata
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

OTHER = 0  # separates words
LETTER = 1
DIGIT = 2
UNSPACED = 3  # letters of scripts that put no space between words
KATAKANA = 4  # foreign words inside Japanese; a run of it is a word
MARK = 5  # belongs to the letter before
IGNORED = 6  # invisible: soft hyphen, joiners, variation selectors
MID_BOTH = 7  # joins two letters or two digits: don't, 3.14 (UAX #29: MidNumLet)
MID_LETTER = 8  # joins two letters: Catalan l·l (UAX #29: MidLetter)
MID_DIGIT = 9  # joins two digits: 1,000 (UAX #29: MidNum)
JOINER = 10  # joins letters and digits: snake_case (UAX #29: ExtendNumLet)
STOP = 11  # ends a sentence for certain; the full stop, which does so sometimes, is MID_BOTH
CLOSER = 12  # quotes and brackets, which may follow the end of a sentence
SPACE = 13
NEWLINE = 14

KIND = 15  # mask of the kind
LOWER = 16  # flag: a lower-case letter
COMPOSES = 32  # flag: may combine with a neighbour or be reordered; the text may not be in form NFC

_TERMINATORS = "!?…。｡！？।॥؟۔‼⁇⁈⁉።፧։။៖។៕།༎᠃᠉꘎꘏꛳꛷𑂾𑂿𑅁𑅂‽⸮"
_KINDS = (
    dict.fromkeys(map(ord, _TERMINATORS), STOP)
    | dict.fromkeys(map(ord, "'’＇.．․﹒"), MID_BOTH)
    | dict.fromkeys(map(ord, "·‧״"), MID_LETTER)  # the colon of UAX #29 is Swedish only and left out, as in CLDR
    | dict.fromkeys(map(ord, ",，٫٬"), MID_DIGIT)
    | dict.fromkeys(map(ord, '"＂'), CLOSER)
    | dict.fromkeys(map(ord, "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"), NEWLINE)
    | dict.fromkeys(map(ord, "\t\x1f\u200b"), SPACE)
    | dict.fromkeys(map(ord, "々〆〇〻"), UNSPACED)  # stand for ideographs, though not named so
    | {0x30FC: MARK, 0xFF70: MARK}  # ー lengthens Hiragana and Katakana alike
)
_FOLDS = dict.fromkeys(map(ord, "’ʼ＇"), ord("'")) | {0x130: ord("i")}
_UNSPACED_NAMES = (
    "CJK ",
    "HIRAGANA ",
    "THAI ",
    "LAO ",
    "KHMER ",
    "MYANMAR ",
    "TAI THAM ",
    "TAI LE ",
    "NEW TAI LUE ",
    "TAI VIET ",
    "JAVANESE ",
    "BALINESE ",
    "TANGUT ",
    "NUSHU ",
    "YI ",
)
_KATAKANA_NAMES = ("KATAKANA ", "HALFWIDTH KATAKANA ")
_IDEOGRAPHS = range(0x20000, 0x32400)  # planes 2 and 3 hold nothing else
_OF_CATEGORY = {
    **dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo"), LETTER),
    **dict.fromkeys(("Nd", "Nl", "No"), DIGIT),
    **dict.fromkeys(("Mn", "Mc", "Me"), MARK),
    **dict.fromkeys(("Pe", "Pf", "Pi"), CLOSER),
    "Cf": IGNORED,
    "Pc": JOINER,
    "Zs": SPACE,
}


@dataclass(frozen=True, slots=True)
class UnicodeTables:
    """The two-stage table, as kernels take it."""

    pages: npt.NDArray[np.uint16]
    kinds: npt.NDArray[np.uint8]
    shifts: npt.NDArray[np.uint32]  # what to add to a character to fold it, modulo 2**32


def fold(code: int) -> int:
    """Return the character that stands for this one and its variants of case and width.

    Simple case folding: one character for one. So ß stays ß (not ss), and Turkish capital I with and without a
    dot both become i. Full-width and half-width forms become the usual ones, typographic apostrophes the plain one.

    >>> "".join(chr(fold(ord(c))) for c in "ΣΑΣ ẞ Ａ２ İ ’")
    "σασ ß a2 i '"
    """
    if code in _FOLDS:
        return _FOLDS[code]
    form = unicodedata.decomposition(chr(code))
    if form.startswith(("<wide>", "<narrow>")):
        code = int(form.split()[1], 16)
    for folded in (chr(code).casefold(), chr(code).lower()):
        if len(folded) == 1:
            return ord(folded)
    return code


def _kind(code: int) -> int:
    category = unicodedata.category(chr(code))
    kind = _KINDS.get(code, _OF_CATEGORY.get(category, OTHER))
    if category[0] in "LM" and code >= 0xE00 and kind in (LETTER, MARK):
        name = unicodedata.name(chr(code), "")
        if kind == LETTER and name.startswith(_UNSPACED_NAMES):
            kind = UNSPACED
        elif kind == LETTER and name.startswith(_KATAKANA_NAMES):
            kind = KATAKANA
        elif "VARIATION SELECTOR" in name:
            kind = IGNORED
    return kind | LOWER if category == "Ll" else kind


def _composing() -> set[int]:
    """Characters that a text in form NFC may hold only in some places, or not at all."""
    found = {
        *range(0x1161, 0x1176),
        *range(0x11A8, 0x11C3),
        *range(0x2F800, 0x2FA20),
    }  # Hangul vowels and finals
    for code in range(0x20000):
        form = unicodedata.decomposition(chr(code))
        if form and form[0] != "<":
            if unicodedata.normalize("NFC", chr(code)) != chr(code):
                found.add(code)
            found.update(int(part, 16) for part in form.split()[1:])
        if unicodedata.combining(chr(code)):
            found.add(code)
    return found


@functools.cache
def unicode_tables() -> UnicodeTables:
    """Build the table, once a process (about a tenth of a second)."""
    kinds = np.zeros(0x110000, dtype=np.uint8)
    folds = np.arange(0x110000, dtype=np.uint32)
    for code in (*range(0x20000), *range(0xE0000, 0xE01F0)):
        kinds[code] = _kind(code)
        if kinds[code]:
            folds[code] = fold(code)
    kinds[_IDEOGRAPHS.start : _IDEOGRAPHS.stop] = UNSPACED
    kinds[list(_composing())] |= COMPOSES
    blocks: dict[bytes, int] = {}
    pages = np.zeros(0x1100, dtype=np.uint16)
    kept: list[int] = []
    for page in range(0x1100):
        span = slice(page << 8, (page + 1) << 8)
        # Blocks without letters of two cases fold to themselves: their kinds and shifts are what they share.
        key = kinds[span].tobytes() + (folds[span] - np.arange(span.start, span.stop, dtype=np.uint32)).tobytes()
        if key not in blocks:
            blocks[key] = len(kept)
            kept.append(page)
        pages[page] = blocks[key]
    block = np.array(kept)[:, None] * 256 + np.arange(256)
    shifts = folds[block] - block.astype(np.uint32)  # wraps around: a shift down is a large number
    return UnicodeTables(pages, np.ascontiguousarray(kinds[block].ravel()), np.ascontiguousarray(shifts.ravel()))
