"""Deep tokens: the parts of values by the delimiters and words of a site, against hand-made and obvious answers."""

import random
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.kernels import deep as kernels
from undust.learn.deep import MAX_BYTES, MAX_PATTERNS, deep_patterns, deep_tokens
from undust.learn.deep_gaps import merged, tidy
from undust.learn.pairs.lexicon import Lexicon
from undust.rules.values import Pattern, Slot

FIGURE_2 = [
    "ctattractions-17876002-Austria_Vienna-attractions.html",
    "ctattractions-17826402-Austria_Salzburg-attractions.html",
    "ctattractions-17682302-Austria_Graz-attractions.html",
    "profile-78587305-Austria_Vienna-Belvedere.html",
    "profile-78587306-Austria_Salzburg-Dommuseum.html",
    "profile-78587307-Austria_Salzburg-Eisriesenwelt.html",
]
EBAY = [
    f"{title}_UPC_{upc}_W0QQ_fclsZ1QQ_pcatidZ{place % 3}QQ_pidZ{upc % 1000003}QQ_tabZ{place % 2}"
    for place, (title, upc) in enumerate(
        [("The-Grudge", 43396062603), ("Casino", 12396062601), ("Up", 786936797466), ("A-B", 25192110825)]
    )
]
SIMTEL = [
    f"accelerate.php%5Bid%5D{number}%5BSiteID%5D{site}"
    for number, site in [(100019, "softwareoasis"), (100020, "simtel.net"), (177777, "pcworld")]
]
CASES: dict[str, tuple[list[str], list[tuple[object, ...]]]] = {
    # name: values, and the patterns expected of them ({} is any slot, {d} a number)
    "figure 2": (
        FIGURE_2,
        [
            ("ctattractions-", "{d}", "-Austria_", "{}", "-attractions.html"),
            ("profile-", "{d}", "-Austria_", "{}", "-", "{}", ".html"),
        ],
    ),
    "eBay": (
        EBAY,
        [("{}", "_UPC_", "{d}", "_W0QQ_fclsZ1QQ_pcatidZ", "{d}", "QQ_pidZ", "{d}", "QQ_tabZ", "{d}")],
    ),
    "friends": (["friends-lttU7d6kIuGq", "friends-nMfcaJRPUSMQ"], [("friends-", "{}")]),
    "simtel": (SIMTEL, [("accelerate.php%5Bid%5D", "{d}", "%5BSiteID%5D", "{}")]),
    "imdb": (["tt0810900", "tt0053198"], [("tt", "{d}")]),
    "titles": (
        ["a-nice-title-12345.html", "another-title-777.html", "third-42.html"],
        [("{}", "-", "{d}", ".html")],
    ),
    "forum topics": (
        ["12.msg345", "13.msg9", "999.msg12", "12.0", "77.0", "500.0"],
        [("{d}", ".msg", "{d}"), ("{d}", ".0")],
    ),
    "one word differs": (
        [f"man{'158'[n % 3]}:{name}" for n, name in enumerate(("foo", "git-x", "b.conf", "zz", "y", "ls", "w", "q-9"))],
        [("man", "{d}", ":", "{}")],
    ),
    "session ids have no structure": (
        ["".join(random.Random(seed).choices("abcdef0123456789", k=26)) for seed in range(60)],
        [],
    ),
    "one value": (["only-one-12.html"], []),
    "nothing": ([], []),
}


def parts(*spelled: object) -> tuple[str | Slot, ...]:
    return tuple({"{}": Slot(), "{d}": Slot("digits")}.get(str(part), str(part)) for part in spelled)


@pytest.mark.parametrize("name", CASES)
def test_values_of_a_site_give_the_patterns_expected(name: str) -> None:
    values, expected = CASES[name]
    found = deep_patterns(pa.array(values, pa.string()))
    assert {pattern.parts for pattern in found} == {parts(*spelled) for spelled in expected}


def test_the_tokens_of_figure_2_are_those_of_the_paper() -> None:
    tokens = deep_tokens(FIGURE_2[0], deep_patterns(pa.array(FIGURE_2)))
    assert tokens == ("ctattractions", "-", "17876002", "-", "Austria", "_", "Vienna", "-", "attractions", ".", "html")


def test_a_value_that_no_pattern_fits_is_one_token() -> None:
    assert deep_tokens("index", deep_patterns(pa.array(FIGURE_2))) == ("index",)


VALUES = st.lists(
    st.one_of(
        st.sampled_from(FIGURE_2 + EBAY + SIMTEL),
        st.builds("{}-{}.html".format, st.text("ab-", max_size=6), st.integers(0, 10**6)),
        st.text("aB1-._%5", max_size=12),
        st.text(max_size=8),
    ),
    max_size=20,
)


@given(VALUES, st.randoms(use_true_random=False))
def test_patterns_do_not_depend_on_order_or_repetition(values: list[str], chance: random.Random) -> None:
    found = deep_patterns(pa.array(values, pa.string()))
    again = chance.sample(values, len(values)) + values[:3]
    assert deep_patterns(pa.array(again, pa.string())) == found
    assert len(found) <= MAX_PATTERNS


@given(VALUES)
def test_tokens_put_together_are_the_value_again(values: list[str]) -> None:
    patterns = deep_patterns(pa.array(values, pa.string()))
    for value in values:
        assert "".join(deep_tokens(value, patterns)) == value


@given(VALUES)
def test_each_pattern_fits_several_values_and_has_a_slot(values: list[str]) -> None:
    for pattern in deep_patterns(pa.array(values, pa.string())):
        assert sum(pattern.fit(value) is not None for value in set(values)) >= 2
        assert any(isinstance(part, Slot) for part in pattern.parts)


def test_hostile_values_cost_no_more_than_others() -> None:
    long = ["a-" * 40_000, "1a" * 30_000, "%" * 9_999, "x" * (MAX_BYTES + 1)]
    assert deep_patterns(pa.array(long)) == ()
    many = [f"{place:06}-{place * 7919 % 10007}-{place % 7}" for place in range(20_000)]
    assert deep_patterns(pa.array(many))


_RUN = re.compile(r"[A-Z]?(?:[a-z]|[^\x00-\x7f])+|[A-Z]+(?![a-z]|[^\x00-\x7f])|[0-9]+")


@given(st.lists(st.text("abXY19-_.", max_size=12), max_size=6))
def test_anchors_are_runs_of_one_kind_between_delimiters(values: list[str]) -> None:
    data = np.frombuffer("".join(values).encode(), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(value) for value in values])]).astype(np.int32)
    found, hashes = np.empty((len(data) + 1, 6), np.int32), np.empty(len(data) + 1, np.uint64)
    count = kernels.scan_anchors(data, offsets, found, hashes)
    expected = []
    for place, value in enumerate(values):
        for match in _RUN.finditer(value):
            before = kernels.START if match.start() == 0 else ord(value[match.start() - 1])
            after = kernels.END if match.end() == len(value) else ord(value[match.end()])
            if before < 128 and chr(before).isalnum():
                before = kernels.UNIT_CHANGE
            if after < 128 and chr(after).isalnum():
                after = kernels.UNIT_CHANGE
            expected.append((place, match.start(), match.end(), int(match[0].isdigit()), before, after))
    assert [tuple(row) for row in found[:count].tolist()] == expected


PATTERNS = st.lists(
    st.one_of(
        st.sampled_from(["-", "a", ".html", "1", "é"]), st.builds(Slot, st.sampled_from(["any", "digits", "hex"]))
    ),
    max_size=5,
).map(lambda parts: Pattern(tidy(parts)))


@given(PATTERNS, st.lists(st.text("a1f-.htmlé", max_size=10), max_size=8, unique=True))
def test_fitting_by_the_column_is_fitting_one_by_one(pattern: Pattern, values: list[str]) -> None:
    lexicon = Lexicon(pa.array(values, pa.string()))
    codes = np.arange(len(values) + 1, dtype=np.int32)  # 0 is ⊥, which nothing fits
    fits, slots = lexicon.slots(pattern, codes)
    taken = [None, *(pattern.fit(value) for value in values)]
    assert fits.tolist() == [each is not None for each in taken]
    for place, each in enumerate(taken):
        if each is not None:
            assert tuple(lexicon.text(int(codes[place])) for codes in slots) == each


@given(st.lists(st.lists(st.text(max_size=6), max_size=6), max_size=6))
def test_a_text_always_has_the_same_code(batches: list[list[str]]) -> None:
    lexicon = Lexicon(pa.array(["first"]))
    seen = {"first": 1}
    for batch in batches:
        for text, code in zip(batch, lexicon.add(pa.array(batch, pa.string())).tolist(), strict=True):
            assert seen.setdefault(text, code) == code
            assert lexicon.text(code) == text
    assert len(set(seen.values())) == len(seen) == len(lexicon) - 1


def test_patterns_that_differ_in_more_than_a_word_stay_apart() -> None:
    assert merged([Pattern(("man1:", Slot())), Pattern(("man5:", Slot()))]) == Pattern(
        ("man", Slot("digits"), ":", Slot())
    )
    assert merged([Pattern(("a-", Slot())), Pattern(("b_", Slot()))]) is None
    assert merged([Pattern(("a%5Bx", Slot())), Pattern(("a%5By", Slot()))]) is None  # two slots would touch
