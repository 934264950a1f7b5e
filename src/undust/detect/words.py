"""Texts to words: the batch form that every signature is made from."""

import functools
import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust.errors import InputError, UsageError
from undust.kernels.hashing import MAX_WORD_BYTES
from undust.kernels.texts import COMPOSED, MANY_MARKS, PILED, find_composing, squeeze_spaces
from undust.kernels.unicode_tables import unicode_tables
from undust.kernels.words import fold_spans, split_words

WORD_MODEL = "1"
"""Goes up when the same text gives other words or hashes. The Unicode version is Python's and is told apart from it."""

UNICODE = unicodedata.unidata_version

# Codes that pages use, to those that lists are kept by: Norwegian in both its forms, and what ISO 639 has renamed.
_RENAMED = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "ji": "yi", "mo": "ro"}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a batch of texts, in order. Text i has the words `rows[i]` to `rows[i + 1]`."""

    data: npt.NDArray[np.uint8]  # the texts' UTF-8, and where each begins in it
    offsets: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]  # XXH3_64 of the folded word
    starts: npt.NDArray[np.int32]  # place of the word within its text
    ends: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int64]

    def strings(self, words: npt.NDArray[np.int64]) -> list[str]:
        """Return the folded forms of some of the words.

        >>> split(pa.array(["Ça va?", "l’ÉTÉ 2024"])).strings(np.array([0, 2, 3]))
        ['ça', "l'été", '2024']
        """
        row = self.offsets[np.searchsorted(self.rows, words, side="right") - 1]
        starts, ends = row + self.starts[words], row + self.ends[words]
        folded = np.empty(2 * int((ends - starts).sum()) + 4, dtype=np.uint8)
        offsets = np.empty(len(words) + 1, dtype=np.int64)
        tables = unicode_tables()
        fold_spans(self.data, starts, ends, tables.pages, tables.kinds, tables.shifts, folded, offsets)
        array = pa.LargeStringArray.from_buffers(len(words), pa.py_buffer(offsets), pa.py_buffer(folded))
        strings: list[str] = array.to_pylist()
        return strings


def buffers(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Give the bytes and offsets of an array of strings or bytes, without copying the bytes. A null is empty."""
    if texts.null_count:
        texts = pc.fill_null(texts, pa.scalar(b"").cast(texts.type))
    if not len(texts):
        return np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    _, offsets, data = texts.buffers()
    width = np.int64 if pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type) else np.int32
    places = np.frombuffer(offsets, dtype=width)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    content = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    if places[0] < 0 or places[-1] > len(content) or (places[1:] < places[:-1]).any():
        raise InputError("an array of strings whose offsets point outside of its bytes; it was built wrongly")
    return content, places


def normalized(texts: pa.Array) -> pa.Array:
    """Bring texts into Unicode form NFC, so that é is one character however it was typed.

    Only texts with characters that may compose are looked at one by one; most are handed on as they are.
    """
    data, offsets = buffers(texts)
    tables = unicode_tables()
    found = np.empty(len(texts), dtype=np.uint8)
    find_composing(data, offsets, tables.pages, tables.kinds, found)
    if not found.any():
        return texts
    mask = pa.array(found != COMPOSED)
    piled = (found[found != COMPOSED] == PILED).tolist()
    raw = texts.filter(mask).cast(pa.large_binary()).to_pylist()
    read = [text.decode("utf-8", "replace") for text in raw]
    parted = [_part_piles(text) if pile else text for text, pile in zip(read, piled, strict=True)]
    composed = [unicodedata.normalize("NFC", text) for text in parted]
    return pc.replace_with_mask(texts, mask, pa.array(composed, type=texts.type))


def _part_piles(text: str) -> str:
    """Part long runs of marks with an invisible joiner, as UAX #15 does: sorting takes time by their length squared."""
    return _piles().sub("\\g<0>\u034f", text)


@functools.cache
def _piles() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(0x20000) if unicodedata.combining(chr(code)))
    return re.compile(f"[{marks}]{{{MANY_MARKS}}}")


def split(texts: pa.Array) -> Words:
    """Split texts (`string` or `large_string`, in form NFC) into words."""
    data, offsets = buffers(texts)
    if offsets[-1] - offsets[0] >= 2**31 and (longest := np.diff(offsets).max()) >= 2**31:
        raise UsageError(f"a text of {longest:,} bytes; words are told from the first 2 GiB at most")
    room = int((offsets[-1] - offsets[0]) // 2) + len(offsets) + 8
    hashes = np.empty(room, dtype=np.uint64)
    starts, ends = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    rows = np.empty(len(offsets), dtype=np.int64)
    buffer = np.empty(MAX_WORD_BYTES + 16, dtype=np.uint8)
    tables = unicode_tables()
    short = np.zeros(room, dtype=np.uint8)
    n = split_words(data, offsets, tables.pages, tables.kinds, tables.shifts, buffer, hashes, starts, ends, short, rows)
    return Words(data, offsets, hashes[:n], starts[:n], ends[:n], rows)


def text_digests(texts: pa.Array) -> pa.Array:
    """`xxh3_128` of each text with its white space made uniform; null for a text of white space only."""
    data, offsets = buffers(texts)
    squeezed = np.empty(int(offsets[-1] - offsets[0]) + 64, dtype=np.uint8)
    places = np.empty(len(offsets), dtype=np.int64)
    tables = unicode_tables()
    squeeze_spaces(data, offsets, tables.pages, tables.kinds, squeezed, places)
    content = squeezed.data
    digest = xxhash.xxh3_128_digest
    found = [digest(content[a:b]) if b > a else None for a, b in pairwise(places.tolist())]
    return pa.array(found, type=pa.binary(16))


def language_codes(languages: pa.Array | None, count: int) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Reduce language tags to what lists are kept by: `pt-BR` to `pt`, null to the empty string.

    Returns the distinct codes and, for each row, which of them it has.

    >>> language_codes(pa.array(["pt-BR", None, "PT"]), 3)
    (['pt', '', 'pt'], array([0, 1, 2]))
    """
    if languages is None:
        return [""], np.zeros(count, dtype=np.int64)
    if len(languages) != count:
        raise UsageError(f"{count} texts and {len(languages)} languages; give one language, or null, for each text")
    encoded = pc.dictionary_encode(pc.fill_null(languages.cast(pa.string()), ""))
    codes = [tag.strip().replace("_", "-").split("-")[0].lower() for tag in encoded.dictionary.to_pylist()]
    return [_RENAMED.get(code, code) for code in codes], np.asarray(encoded.indices, dtype=np.int64)


def language_salts(codes: list[str], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Give each row a number for its language, to keep the words of languages apart in one table."""
    salts = [xxhash.xxh3_64_intdigest(code.encode()) if code else 0 for code in codes]
    return np.array(salts, dtype=np.uint64)[rows] if salts else np.zeros(0, dtype=np.uint64)
