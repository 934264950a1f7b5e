"""Sentence counts: by hand in many languages, and the kernel against the same rules in Python."""

import re
import unicodedata
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import load
from undust.detect.sentences import sentence_counts
from undust.detect.words import normalized, split
from undust.kernels.unicode_tables import CLOSER, KIND, NEWLINE, SPACE, STOP, UNSPACED, unicode_tables

CASES = [*load("words"), *load("sentences")]
# Of what the pieces below spell: abbreviations, those before a number only, whether 3. is an ordinal.
RULES = {"en": ({"dr", "mrs"}, {"no", "fig"}, False), "de": ({"dr"}, set[str](), True)}
PIECES = [
    *("a", "B", "dr", "Mrs", "no", "fig", "U.S", "12", "1999", "中", "文字", "ein", "Ç"),
    *(". ", ".", "! ", "?", "...", "… ", "。", "．", "।", '." ', "’ ", ") ", ", ", " ", "\n", " \u2029", ": "),
]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=4, max_size=40).map("".join)


def count(texts: list[str], languages: list[str | None]) -> list[int]:
    counts: list[int] = sentence_counts(split(normalized(pa.array(texts))), pa.array(languages, pa.string())).tolist()
    return counts


def kind(character: str) -> int:
    tables = unicode_tables()
    return int(tables.kinds[int(tables.pages[ord(character) >> 8]) << 8 | ord(character) & 255]) & KIND


def sentences_of(text: str, language: str) -> int:
    """The oracle: look at what stands between two words, and decide whether a sentence ends there."""
    always, before_number, ordinals = RULES[language]
    raw = text.encode()
    words = split(pa.array([text]))
    places = [
        (raw[:a].decode(), raw[a:b].decode()) for a, b in zip(words.starts.tolist(), words.ends.tolist(), strict=True)
    ]
    spans = [(len(before), len(before) + len(word)) for before, word in places]
    ends, begin = 0, 0
    for at, ((start, stop), (after, _)) in enumerate(pairwise(spans)):
        gap, word, following = text[stop:after], text[start:stop], text[after]
        if not any(kind(c) == NEWLINE for c in gap):
            certain = any(kind(c) == STOP and c != "…" for c in gap)
            stops = [i for i, c in enumerate(gap) if c in ".．…" or kind(c) == STOP]
            if not stops:
                continue
            tail = gap[stops[0] :]
            spaced = next((i for i, c in enumerate(tail) if kind(c) == SPACE), len(tail))
            dots = sum(c in ".．" for c in tail[:spaced]) + 3 * gap.count("…")
            closed = any(kind(c) == CLOSER or c in "'’" for c in tail)
            lower = unicodedata.category(following) == "Ll"
            if not certain and not dots:
                continue
            if lower and (closed or not certain):
                continue
            if dots == 1 and not certain:
                if spaced == len(tail) and kind(following) != UNSPACED:
                    continue
                letters, digits = sum(c.isalpha() for c in word), sum(c.isdigit() for c in word)
                if gap[0] == "." and (
                    word.lower() in always
                    or (word.lower() in before_number and following.isdigit())
                    or (letters == 1 and not digits)
                    or ("." in word and not digits)
                    or (letters == 0 and (at == begin or (ordinals and len(word) < 3)))
                ):
                    continue
        ends += 1
        begin = at + 1
    return ends + bool(spans)


@pytest.mark.parametrize("case", CASES, ids=[case["why"] for case in CASES])
def test_sentences_are_counted_as_a_reader_counts_them(case: dict[str, Any]) -> None:
    assert count([case["text"]], [case["language"]]) == [case["sentences"]]


@given(TEXTS, st.sampled_from(sorted(RULES)))
def test_sentences_are_those_of_the_oracle(text: str, language: str) -> None:
    text = re.sub(r"(?<=\w)\.(?=\w)", "", text.replace("U.S", "U\0S")).replace("\0", ".")  # no other abbreviations
    assert count([text], [language]) == [sentences_of(text, language)]


def test_each_text_is_counted_in_its_own_language() -> None:
    text = "Er kam am 3. Mai an."
    assert count([text, text, text], ["de", "en", "DE-at"]) == [1, 2, 1]


def test_counting_does_not_depend_on_the_neighbours() -> None:
    texts = [case["text"] for case in CASES]
    languages = [case["language"] for case in CASES]
    assert count(texts, languages) == [case["sentences"] for case in CASES]
    assert count(texts[::-1], languages[::-1]) == [case["sentences"] for case in CASES[::-1]]
