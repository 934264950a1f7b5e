"""Texts to words: by hand in many languages, and against an oracle of a few lines."""

import re
import unicodedata
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import load
from undust.detect.words import Words, normalized, split, text_digests
from undust.errors import InputError, UsageError
from undust.kernels.hashing import MAX_WORD_BYTES, hash_words
from undust.kernels.texts import COMPOSED, find_composing
from undust.kernels.unicode_tables import KIND, fold, unicode_tables

CASES = load("words")
# A few characters of each kind that words are told by, and some that are alike in their first byte.
ALPHABET = (
    "aZ9éßΣяİ²म्ि中々ぁのタﾀーท่ ก\u00ad\u200d\ufe0f.'’·,_،-:!?…。 \u00a0\u3000\t\n\x00\u0301\u20dd👍𠮷𝔄\u200b٫１ａ"
)
# Sizes have a least value: Hypothesis draws about six characters where it may, and a block is 64 bytes.
TEXTS = st.one_of(
    st.text(ALPHABET, max_size=20),
    st.text(ALPHABET, min_size=50, max_size=120),
    st.text(st.sampled_from("aZ9'., _é"), min_size=60, max_size=250),
    st.text(st.sampled_from("abcdefgh "), min_size=60, max_size=250),
    st.text(max_size=30),
    st.text(st.sampled_from("aé\u0301"), min_size=100, max_size=400),
    st.text(st.sampled_from("中\u0302a"), min_size=100, max_size=200),
)

_CLASS = ".LDUKMIBTNJ"  # of the kinds 0 to 10, in the order of unicode_tables; others separate
_WORD = re.compile(
    r"(?P<word>(?:L[MI]*(?:[BTJ](?=L)|J(?=D))?|D[MI]*(?:[BNJ](?=D)|J(?=L))?)+)"
    r"|(?P<katakana>(?:K[MI]*)+)|(?P<unspaced>(?:U[MI]*)+)"
)


def words_of(text: str) -> list[bytes]:
    """The oracle: classes of characters as letters, words by a regular expression over them, then folded."""
    tables = unicode_tables()
    kinds = [int(tables.kinds[int(tables.pages[ord(c) >> 8]) << 8 | ord(c) & 255] & KIND) for c in text]
    classes = "".join(_CLASS[kind] if kind < len(_CLASS) else "." for kind in kinds)
    found: list[bytes] = []
    for match in _WORD.finditer(classes):
        spans = [match.span()]
        if match["unspaced"]:
            units = [
                unit.span() for unit in re.finditer("U[MI]*", classes[: match.end()]) if unit.start() >= match.start()
            ]
            spans = [(a[0], b[1]) for a, b in pairwise(units)] or spans
        for start, end in spans:
            word = b""
            for i in range(start, end):
                if classes[i] == "I":
                    continue
                if len(word) > MAX_WORD_BYTES - 4:
                    if match["unspaced"]:
                        continue  # marks beyond what a word has room for
                    found.append(word)
                    word = b""
                word += chr(fold(ord(text[i]))).encode()
            found.append(word)
    return found


def folded(words: Words) -> list[str]:
    return words.strings(np.arange(len(words.hashes)))


@pytest.mark.parametrize("case", CASES, ids=[case["why"] for case in CASES])
def test_words_of_many_languages_are_what_a_reader_expects(case: dict[str, Any]) -> None:
    assert folded(split(normalized(pa.array([case["text"]])))) == case["words"]


@pytest.mark.parametrize("case", CASES, ids=[case["why"] for case in CASES])
def test_words_do_not_depend_on_where_in_the_memory_a_text_lies(case: dict[str, Any]) -> None:
    for before in (1, 37, 63):
        texts = pa.array(["x" * before, case["text"], "y " * 100], pa.large_string())
        words = split(normalized(texts))
        assert folded(words)[words.rows[1] : words.rows[2]] == case["words"]


@given(st.lists(TEXTS, max_size=4), st.integers(0, 70))
def test_words_are_those_of_the_oracle(texts: list[str], before: int) -> None:
    words = split(pa.array(["-" * before, *texts, " " * 200], pa.string()))
    expected = [words_of(text) for text in texts]
    assert np.diff(words.rows).tolist() == [0, *map(len, expected), 0]
    assert words.hashes.tolist() == [xxhash.xxh3_64_intdigest(word) for row in expected for word in row]


SNIPPETS = [
    "ab.cd", "1,000", "don't", "a.é", "é.a", "a,é", "9,é", "x_y", "_x", "a1.2b", "1.a", "a'", "ß", "abcdefghi",
    "U.S.A.", "abcdefghijklmnop", "abcdefghijklmnopq", "中文", "a中", "a\u0301", "a.\u0301", "1.５",
    "x" * 63, "y" * 130,
]  # fmt: skip


@pytest.mark.parametrize("snippet", SNIPPETS)
@pytest.mark.parametrize("filler", ["-", "a ", "é ", "1."])
def test_words_at_the_edges_of_blocks_are_those_of_the_oracle(snippet: str, filler: str) -> None:
    texts = [(filler * 140)[:before] + snippet + after for before in range(135) for after in ("", " end")]
    words = split(pa.array([*texts, " " * 200]))
    expected = [words_of(text) for text in texts]
    assert np.diff(words.rows).tolist() == [*map(len, expected), 0]
    assert words.hashes.tolist() == [xxhash.xxh3_64_intdigest(word) for row in expected for word in row]


@pytest.mark.parametrize("gap", [" ", "  ", "\n", " \n ", "\u3000", "\u200b"])
def test_white_space_at_the_edges_of_blocks_is_made_uniform(gap: str) -> None:
    texts = ["x" * before + gap + "y" * after for before in range(140) for after in (0, 1, 63, 64, 65, 130)]
    expected = [" ".join(re.split(gap, text)).strip() for text in texts]
    found = text_digests(pa.array(texts)).to_pylist()
    assert found == [xxhash.xxh3_128_digest(text.encode()) if text else None for text in expected]


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_slice_of_an_array_has_the_words_of_its_rows(texts: list[str]) -> None:
    whole = pa.array(["before", *texts, "after"])
    part = split(whole.slice(1, len(texts)))
    assert part.hashes.tolist() == split(pa.array(texts, pa.large_string())).hashes.tolist()


@given(TEXTS)
def test_the_places_of_words_hold_their_text(text: str) -> None:
    words = split(pa.array([text, "." * 99]))
    raw = text.encode()
    places = zip(words.starts.tolist(), words.ends.tolist(), strict=True)
    spelled = [raw[start:end].decode() for start, end in places]
    tables = unicode_tables()
    kinds = {c: int(tables.kinds[int(tables.pages[ord(c) >> 8]) << 8 | ord(c) & 255]) & KIND for c in text}
    assert folded(words) == ["".join(chr(fold(ord(c))) for c in word if kinds[c] != 6) for word in spelled]


@given(st.lists(st.binary(min_size=1, max_size=MAX_WORD_BYTES), max_size=20))
def test_hashes_of_words_are_xxh3(words: list[bytes]) -> None:
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    hashes = np.empty(len(words), dtype=np.uint64)
    buffer = np.full(MAX_WORD_BYTES + 16, 0xAA, dtype=np.uint8)  # what an earlier word left must not matter
    hash_words(np.frombuffer(b"".join(words), dtype=np.uint8), offsets, buffer, hashes)
    assert hashes.tolist() == [xxhash.xxh3_64_intdigest(word) for word in words]


def test_words_of_every_length_hash_as_xxh3() -> None:
    words = [bytes(range(1, n + 1)) for n in range(1, MAX_WORD_BYTES + 1)]
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    hashes = np.empty(len(words), dtype=np.uint64)
    hash_words(np.frombuffer(b"".join(words), np.uint8), offsets, np.empty(MAX_WORD_BYTES + 16, np.uint8), hashes)
    assert hashes.tolist() == [xxhash.xxh3_64_intdigest(word) for word in words]


def test_folding_joins_the_cases_of_a_letter_and_folds_no_further() -> None:
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        letter = chr(code)
        once = fold(code)
        assert fold(once) == once, hex(code)
        for other in (letter.lower(), letter.upper()):
            # A letter that becomes several, such as ß to SS, has no partner of one character.
            if len(other) == 1 and len(letter.upper()) == 1 and len(letter.casefold()) == 1 and letter not in "ıI":
                assert fold(ord(other)) == once, hex(code)


@pytest.mark.parametrize(("letter", "expected"), ["Aa", "Ää", "Яя", "ẞß", "ßß", "ſs", "Kk", "Ａa", "１1", "ﾀタ", "’'"])
def test_folding_by_hand(letter: str, expected: str) -> None:
    assert chr(fold(ord(letter))) == expected


@given(TEXTS)
def test_a_text_found_in_form_nfc_is_in_form_nfc(text: str) -> None:
    tables = unicode_tables()
    raw = np.frombuffer(text.encode() or b"\0", dtype=np.uint8)
    found = np.empty(1, dtype=np.uint8)
    find_composing(raw, np.array([0, len(text.encode())]), tables.pages, tables.kinds, found)
    if found[0] == COMPOSED:
        assert unicodedata.is_normalized("NFC", text)


def test_no_character_that_form_nfc_replaces_or_joins_is_missed() -> None:
    changed = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    changed = [c for c in changed if not unicodedata.is_normalized("NFC", c) or unicodedata.combining(c)]
    assert normalized(pa.array(changed)).to_pylist() == [unicodedata.normalize("NFC", c) for c in changed]
    pairs = [
        "e\u0301",
        "\u1100\u1161",
        "\uac00\u11a8",
        "\u0bc6\u0bbe",
        "a\u0315\u0300",
        "\u05d0\u05b7",
        "\U00011099\U000110ba",
    ]
    assert normalized(pa.array(pairs)).to_pylist() == [unicodedata.normalize("NFC", pair) for pair in pairs]


@given(st.lists(st.one_of(TEXTS, st.none()), max_size=4))
def test_normalizing_is_form_nfc_and_keeps_nulls(texts: list[str | None]) -> None:
    expected = [None if text is None else unicodedata.normalize("NFC", text) for text in texts]
    piled = [text is not None and re.search("[\u0301\u0302\u0e48\u20dd\u094d]{31}", text) is not None for text in texts]
    found = normalized(pa.array(texts, pa.string())).to_pylist()
    assert [a for a, pile in zip(found, piled, strict=True) if not pile] == [
        a for a, pile in zip(expected, piled, strict=True) if not pile
    ]


def test_a_pile_of_marks_is_parted() -> None:
    # Marks above before marks below must change places: within 30, as UAX #15 has it, and not within a million.
    [found] = normalized(pa.array(["a" + "\u0301\u0323" * 20_000])).to_pylist()
    runs = re.split("\u034f", found)
    assert max(map(len, runs)) <= 31
    assert runs[1] == "\u0323" * 15 + "\u0301" * 15
    usual = "a" + "\u0301\u0323" * 15
    assert normalized(pa.array([usual])).to_pylist() == [unicodedata.normalize("NFC", usual)]


@given(st.lists(TEXTS, max_size=5))
def test_the_exact_digest_is_that_of_the_text_with_uniform_white_space(texts: list[str]) -> None:
    space = "[\t-\r\x1c-\x1f \x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000]+"
    uniform = [re.sub(space, " ", text).strip(" ") for text in texts]
    expected = [xxhash.xxh3_128_digest(text.encode()) if text else None for text in uniform]
    assert text_digests(pa.array(texts, pa.string())).to_pylist() == expected


@given(
    st.lists(
        st.sampled_from(["a", "bc", " ", " ", "  ", "\n", "é", "\u2003", "中", "x" * 61, "y" * 64, "a b " * 9]),
        min_size=10,
        max_size=40,
    )
)
def test_the_exact_digest_copes_with_blocks_of_64_bytes(pieces: list[str]) -> None:
    text = "".join(pieces)
    expected = " ".join(text.split())
    digest = text_digests(pa.array(["pad", text, " "]))[1].as_py()
    assert digest == (xxhash.xxh3_128_digest(expected.encode()) if expected else None)


def test_damaged_utf8_in_a_string_array_harms_nobody() -> None:
    for raw in (
        b"ab\xff\xfe cd",
        b"ab \xe4\xb8",
        b"\xf0\x9f\x91",
        b"x \xf4\xbf\xbf\xbf y",
        b"\xc3(",
        b"\xed\xa0\x80 z",
        b"e\xcc\x81\xff",
    ):
        texts = pa.array([raw, b"good words"]).view(pa.string())
        words = split(normalized(texts))
        assert folded(words)[words.rows[1] :] == ["good", "words"]
        assert text_digests(texts)[0].is_valid


def test_an_array_with_wrong_offsets_is_refused() -> None:
    offsets = pa.py_buffer(np.array([0, 9, 4], dtype=np.int32))
    texts = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"abcd"))
    with pytest.raises(InputError, match="built wrongly"):
        split(texts)


def test_a_text_too_long_for_32_bits_is_refused_before_it_is_read() -> None:
    offsets = pa.py_buffer(np.array([0, 2**31], dtype=np.int64))
    data = pa.py_buffer(np.zeros(2**31, dtype=np.uint8))  # pages of zeros that nobody touches take no memory
    with pytest.raises(UsageError, match="2,147,483,648 bytes"):
        split(pa.LargeStringArray.from_buffers(1, offsets, data))
