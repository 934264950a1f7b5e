"""Signatures against oracles of a few lines, figure 2 of paper 001 step by step, and what a row depends on."""

import io
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import load
from undust.detect.bags import signature_key
from undust.detect.fingerprints import (
    MAX_TEXT_BYTES,
    SIGNATURES,
    agreement,
    body_digests,
    fingerprints,
    from_column,
    make_lexicon,
    schema,
    shingle_signatures,
    simhashes,
    to_column,
)
from undust.detect.fingerprints_parameters import NONE, SignatureParameters
from undust.detect.words import split
from undust.detect.words_lexicon import Keywords, Lexicon
from undust.errors import UsageError
from undust.kernels.simhash import PLANES, simhash_rows

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
# Of a few and of many words: Hypothesis alone draws about six, and eight are summed at a time.
HASHES = st.one_of(st.lists(st.integers(0, MASK), max_size=6), st.lists(st.integers(0, MASK), min_size=8, max_size=60))
WORDS = ["the", "cats", "running", "Straße", "maison", "été", "l'homme", "中文", "データ", "и", "не", "3.14", "_", "."]
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=4), st.lists(st.sampled_from(WORDS), min_size=8, max_size=40)
).map(" ".join)
LANGUAGES = st.sampled_from([None, "en", "de-AT", "fr", "ru", "zh", "xx", ""])


def mix(x: int) -> int:
    """SplitMix64's finalizer, from the paper."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def sketch(elements: list[int], size: int) -> list[int]:
    """Fast Similarity Sketching: a bucket keeps the least value of the first round that reached it."""
    signature: dict[int, int] = {}
    for turn in range(2 * size):
        thrown: dict[int, int] = {}
        for element in elements:
            product = element * (mix(turn * GOLDEN & MASK) | 1)
            value = product & MASK ^ product >> 64 if turn else element
            bucket = (value >> 32) * size >> 32 if turn < size else turn - size
            thrown[bucket] = min(thrown.get(bucket, MASK), value)
        signature = thrown | signature
    return [signature[bucket] for bucket in range(size)]


def figure_2(weights: dict[int, int], bits: int) -> int:
    """The pseudo code of paper 001, figure 2, line by line."""
    sim = [0] * bits
    for x, weight in weights.items():
        for i in range(bits):
            if x >> i & 1:
                sim[i] = sim[i] + weight
            else:
                sim[i] = sim[i] - weight
    return sum(1 << i for i in range(bits) if sim[i] > 0)


def rows_of(texts: list[list[int]]) -> Keywords:
    rows = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return Keywords(np.array([h for text in texts for h in text], dtype=np.uint64), rows)


def test_figure_2_of_paper_001_step_by_step() -> None:
    # Three keywords with hash values of 4 bits, the lowest bit first: weights 3, 2 and 1, six words in all.
    #   1 0 1 1  weight 3     +3 -3 +3 +3
    #   0 1 1 0  weight 2     -2 +2 +2 -2
    #   0 1 0 0  weight 1     -1 +1 -1 -1
    #                 sum      0  0 +4  0     only what is above 0 is a one: 0 0 1 0
    one, two, three = 0b1101, 0b0110, 0b0010
    hashes = np.array([one, two, one, three, two, one], dtype=np.uint64)
    found = np.empty(1, dtype=np.uint64)
    simhash_rows(hashes, np.array([0, 6]), np.zeros(PLANES, dtype=np.uint64), found)
    assert found.tolist() == [0b0100] == [figure_2({one: 3, two: 2, three: 1}, 4)]
    # One more occurrence of the first word tips the ties: +1 -1 +5 +1 is 1 0 1 1.
    simhash_rows(np.append(hashes, np.uint64(one)), np.array([0, 7]), np.zeros(PLANES, dtype=np.uint64), found)
    assert found.tolist() == [0b1101]


@given(st.lists(HASHES, max_size=4), st.integers(1, 128), st.integers(0, 2**60))
def test_simhash_of_any_width_is_that_of_figure_2(texts: list[list[int]], bits: int, seed: int) -> None:
    found = simhashes(rows_of(texts), bits=bits, seed=seed)
    for text, row in zip(texts, found.tolist(), strict=True):
        weights: dict[int, int] = {}
        for word in text:
            wide = mix(word ^ int(signature_key(seed, 0))) | mix(word ^ int(signature_key(seed, 1))) << 64
            weights[wide] = weights.get(wide, 0) + 1
        assert sum(half << 64 * i for i, half in enumerate(row)) == figure_2(weights, bits)


@given(st.integers(0, MASK), st.integers(0, MASK), st.integers(1, 3000), st.integers(0, 3000))
def test_simhash_counts_thousands_of_words(a: int, b: int, many: int, more: int) -> None:
    found = np.empty(1, dtype=np.uint64)
    hashes = np.array([a] * many + [b] * more, dtype=np.uint64)
    simhash_rows(hashes, np.array([0, len(hashes)]), np.zeros(PLANES, dtype=np.uint64), found)
    assert found[0] == (figure_2({a: many, b: more}, 64) if a != b else a)


@given(st.lists(HASHES, max_size=3), st.integers(1, 7), st.integers(1, 40), st.integers(0, 2**60))
def test_signatures_of_shingles_are_those_of_the_oracle(
    texts: list[list[int]], width: int, size: int, seed: int
) -> None:
    keywords = rows_of(texts)
    key, base = int(signature_key(seed, 2)), 0xD1342543DE82EF95
    found = shingle_signatures(keywords, shingle_words=width, values=size, seed=seed).tolist()
    for text, row in zip(texts, found, strict=True):
        elements = []
        for at in range(max(len(text) - width, 0) + 1):
            run = 0
            for word in text[at : at + width]:
                run = run * base + word & MASK
            elements.append(mix(run ^ key))
        assert row == (sketch(elements, size) if text else [0] * size)


def test_a_shingle_is_a_run_of_words_whatever_stands_between() -> None:
    a, b, c = shingle_signatures(
        split(pa.array(["One, two three", "one two -- THREE!", "three two one"])), shingle_words=2
    )
    assert agreement(a, b) == 1
    assert agreement(a, c) == 0


@given(st.lists(TEXTS, max_size=6), st.data(), st.sets(st.sampled_from(SIGNATURES)))
def test_a_row_depends_on_its_text_language_and_parameters_only(
    texts: list[str], data: st.DataObject, chosen: set[str]
) -> None:
    languages = data.draw(st.lists(LANGUAGES, min_size=len(texts), max_size=len(texts)))
    known = pa.array(languages, pa.string())
    parameters = SignatureParameters(minhash_values=16)
    whole = fingerprints(pa.array(texts, pa.string()), parameters, languages=known)
    some = fingerprints(pa.array(texts, pa.string()), parameters, languages=known, signatures=chosen)
    assert some.equals(whole.select(some.column_names))
    for i, (text, language) in enumerate(zip(texts, languages, strict=True)):
        alone = fingerprints(
            pa.array([text], pa.large_string()), parameters, languages=pa.array([language], pa.string())
        )
        assert alone.to_pylist() == whole.slice(i, 1).to_pylist()
        if language is None:
            unknown = fingerprints(pa.array([text]), parameters, signatures=chosen)
            assert unknown.to_pylist() == some.slice(i, 1).to_pylist()


def made_up_texts(count: int, seed: int = 5) -> list[str]:
    """Texts of 0 to 300 words with a vocabulary like that of a language: few words are frequent, most are rare."""
    random = np.random.default_rng(seed)
    numbers = np.minimum(random.zipf(1.3, size=150 * count), 50_000)
    lengths = random.integers(0, 300, size=count)
    at = np.cumsum(lengths) % (150 * count)
    return [
        " ".join(f"w{n:x}{'. ' if n == 7 else ''}" for n in numbers[a : a + b].tolist())
        for a, b in zip(at.tolist(), lengths.tolist(), strict=True)
    ]


def as_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue()


def test_one_and_two_threads_give_the_same_bytes() -> None:
    texts = pa.array(made_up_texts(3000))
    languages = pa.array([None, "en", "de"] * 1000)
    parameters = SignatureParameters()
    whole = as_bytes(fingerprints(texts, parameters, languages=languages))

    def share(cut: tuple[int, int]) -> pa.Table:
        return fingerprints(texts.slice(*cut), parameters, languages=languages.slice(*cut))

    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(share, [(start, 250) for start in range(0, 3000, 250)]))
    assert as_bytes(pa.concat_tables(parts)) == whole


def test_shuffled_input_gives_shuffled_output() -> None:
    texts = pa.array(made_up_texts(2000))
    languages = pa.array(["fr", "en"] * 1000)
    parameters = SignatureParameters(minhash_bytes=3)
    order = pa.array(np.random.default_rng(1).permutation(2000))
    straight = fingerprints(texts, parameters, languages=languages).take(order)
    shuffled = fingerprints(texts.take(order), parameters, languages=languages.take(order))
    assert as_bytes(shuffled) == as_bytes(straight)


@settings(max_examples=5)
@given(st.lists(st.integers(0, 800), max_size=6))
def test_where_batches_are_cut_does_not_matter(cuts: list[int]) -> None:
    texts = pa.chunked_array([made_up_texts(800)])
    parameters = SignatureParameters(minhash_values=32)
    lexicon = make_lexicon(parameters)
    ends = [0, *sorted(cuts), 800]
    parts = [fingerprints(texts.slice(a, b - a), parameters, lexicon=lexicon) for a, b in pairwise(ends)]
    assert as_bytes(pa.concat_tables(parts)) == as_bytes(fingerprints(texts, parameters))


def test_a_lexicon_that_has_learned_or_forgotten_gives_the_same() -> None:
    texts, languages = pa.array(made_up_texts(500)), pa.array(["en"] * 500)
    words = split(texts)
    fresh = Lexicon().keywords(words, languages)
    for used in (Lexicon(), Lexicon(max_words=10)):
        used.keywords(split(pa.array(made_up_texts(700, seed=6))), pa.array(["de"] * 700))
        for _ in range(2):
            again = used.keywords(words, languages)
            assert np.array_equal(again.hashes, fresh.hashes)
            assert np.array_equal(again.rows, fresh.rows)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The cats are running to the cat's house", ["cat", "run", "cat", "hous"]),
        ("de-CH", "Die Häuser und das Haus", ["haus", "haus"]),
        ("fr", "L’homme qu’il a vu, un prud’homme", ["homm", "prud'homm"]),  # elided words go, from the start only
        ("ru", "Кошки и собаки не спят", ["кошк", "собак", "спят"]),
        ("nb", "Hunden og kattene", ["hund", "katt"]),  # Norwegian Bokmål has the lists of Norwegian
        ("zh", "今天天气很好", ["今天", "天天", "天气", "气很", "很好"]),  # no stemmer
        (None, "The cats", ["the", "cats"]),  # no language: as they are
        ("xx", "The cats", ["the", "cats"]),
        ("../../etc", "The cats", ["the", "cats"]),
        ("en", "to be or not to be", ["to", "be", "or", "not", "to", "be"]),  # nothing but stop words: all stay
    ],
)
def test_keywords_are_stems_without_stop_words(language: str | None, text: str, expected: list[str]) -> None:
    lexicon = Lexicon()
    found = lexicon.keywords(split(pa.array([text])), pa.array([language], pa.string()))
    assert [lexicon.name(keyword) for keyword in found.hashes.tolist()] == expected


def test_stop_words_and_stemmers_can_be_left_out() -> None:
    words, english = split(pa.array(["The cats"])), pa.array(["en"])
    for parameters, expected in (
        (SignatureParameters(stop_words=NONE), ["the", "cat"]),
        (SignatureParameters(stemmer=NONE), ["cats"]),
        (SignatureParameters(stop_words=NONE, stemmer=NONE), ["the", "cats"]),
    ):
        lexicon = make_lexicon(parameters)
        assert [lexicon.name(h) for h in lexicon.keywords(words, english).hashes.tolist()] == expected


def test_a_fingerprint_by_hand() -> None:
    text = "The cat sat.  The cats sat on\nthe mat!"
    [row] = fingerprints(pa.array([text]), SignatureParameters(keywords=2), languages=pa.array(["en"])).to_pylist()
    assert row["words"] == 9
    assert row["sentences"] == 3
    assert row["keywords"] == ["sat", "cat"] or row["keywords"] == ["cat", "sat"]
    assert row["keyword_counts"] == [2, 2]
    assert row["text_xxh3"] == xxhash.xxh3_128_digest(b"The cat sat. The cats sat on the mat!")


@pytest.mark.parametrize("text", ["", " \n ", "!!! — 👍", "\x00\x00", None])
def test_a_text_without_words_has_null_signatures(text: str | None) -> None:
    for bits in (64, 128):
        parameters = SignatureParameters(simhash_bits=bits)
        table = fingerprints(pa.array([text, "a word", text], pa.string()), parameters, languages=pa.array(["en"] * 3))
        for name in ("text_xxh3", "simhash", "minhash", "bag_minhash"):
            assert table[name].is_valid().to_pylist() == [False, True, False], name
        assert table["words"].to_pylist() == [0, 2, 0]
        assert table["sentences"].to_pylist() == [0, 1, 0]
        assert table["keywords"].to_pylist()[0] == []
        values = from_column(table["minhash"], 8)
        assert agreement(values[0], values[2]) == 0  # two empty pages are not duplicates of each other
        assert agreement(values[1], values[1]) == 1


def test_no_texts_give_no_rows() -> None:
    for texts in (pa.array([], pa.string()), pa.chunked_array([], pa.large_string()), pa.array([], pa.null())):
        table = fingerprints(texts, SignatureParameters())
        assert table.num_rows == 0
        assert table.schema.equals(schema(SignatureParameters()), check_metadata=True)
        assert from_column(table["minhash"], 8).shape == (0, 128)


@given(st.integers(1, 9), st.sampled_from([3, 8]), st.lists(st.booleans(), min_size=1, max_size=6))
def test_signatures_survive_being_stored(values: int, width: int, present: list[bool]) -> None:
    random = np.random.default_rng(values)
    rows = random.integers(1, MASK, size=(len(present), values), dtype=np.uint64)
    column = to_column(rows, width, np.array(present))
    assert column.type == pa.binary(values * width)
    assert column.is_valid().to_pylist() == present
    expected = (rows & np.uint64(2 ** (8 * width) - 1)) * np.array(present)[:, None]
    assert np.array_equal(from_column(column, width), expected)
    assert np.array_equal(from_column(column.slice(1), width), expected[1:])


def test_three_bytes_estimate_what_eight_do() -> None:
    texts = made_up_texts(200)
    half = [" ".join([*text.split()[: len(text.split()) // 2], "and", "more", "of", "it"]) for text in texts]
    found = []
    for width in (3, 8):
        parameters = SignatureParameters(minhash_bytes=width)
        tables = [fingerprints(pa.array(some), parameters, signatures=["minhash"]) for some in (texts, half)]
        found.append(agreement(*(from_column(table["minhash"], width) for table in tables)))
    assert np.abs(found[0] - found[1]).max() <= 1 / 128  # a false agreement is one in 16 million
    assert 0.2 < found[0].mean() < 0.8


def test_other_seeds_give_other_signatures() -> None:
    texts = pa.array(made_up_texts(50)).filter(pa.array([len(text) > 0 for text in made_up_texts(50)]))
    first, second = (fingerprints(texts, SignatureParameters(seed=seed)) for seed in (0, 1))
    assert agreement(from_column(first["minhash"], 8), from_column(second["minhash"], 8)).max() == 0
    assert agreement(from_column(first["bag_minhash"], 8), from_column(second["bag_minhash"], 8)).max() == 0
    assert not any(a == b for a, b in zip(first["simhash"].to_pylist(), second["simhash"].to_pylist(), strict=True))


def test_texts_of_two_hundred_megabytes_are_fingerprinted_by_their_beginning() -> None:
    start = "abc def. " * (MAX_TEXT_BYTES // 9) + "é" * 9
    texts = pa.array([start + "x yz " * 33_000_000, start + "other", "small"], pa.large_string())
    assert len(texts[0].as_buffer()) > 190_000_000
    table = fingerprints(texts, SignatureParameters(), signatures=["exact", "simhash", "minhash", "sentences"])
    large, other, _ = table.to_pylist()
    assert {name for name in large if large[name] != other[name]} == {"text_xxh3"}
    assert large["words"] > 7_000_000


def test_wrong_columns_are_refused() -> None:
    parameters = SignatureParameters()
    with pytest.raises(UsageError, match="not of binary"):
        fingerprints(pa.array([b"bytes"]), parameters)
    with pytest.raises(UsageError, match="1 texts and 2 languages"):
        fingerprints(pa.array(["a"]), parameters, languages=pa.array(["en", "de"]))
    with pytest.raises(UsageError, match="unknown signature 'shash'; one of exact, simhash"):
        fingerprints(pa.array(["a"]), parameters, signatures=["shash"])
    with pytest.raises(UsageError, match="of 2 and of 3 values"):
        agreement(np.ones(2, dtype=np.uint64), np.ones(3, dtype=np.uint64))


def test_columns_of_other_kinds_of_string_are_taken() -> None:
    plain = fingerprints(pa.array(["one two", None, "three"]), SignatureParameters())
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        assert fingerprints(pa.array(["one two", None, "three"]).cast(kind), SignatureParameters()).equals(plain)
    chunks = pa.chunked_array([["one two"], [None, "three"]])
    assert fingerprints(chunks, SignatureParameters(), languages=pa.nulls(3)).equals(plain)


@given(st.lists(st.one_of(st.none(), st.binary(max_size=300)), max_size=6))
def test_digests_of_bodies_are_xxh3_128(bodies: list[bytes | None]) -> None:
    expected = [None if body is None else xxhash.xxh3_128_digest(body) for body in bodies]
    for kind in (pa.binary(), pa.large_binary()):
        assert body_digests(pa.array([b"-", *bodies], kind).slice(1)).to_pylist() == expected


def test_the_schema_is_that_of_the_table() -> None:
    texts = pa.array([case["text"] for case in load("words")])
    for parameters in (SignatureParameters(), SignatureParameters(simhash_bits=100, minhash_values=7, minhash_bytes=3)):
        for signatures in (SIGNATURES, ("exact",), ("keywords", "bags"), ()):
            made = fingerprints(texts, parameters, signatures=signatures)
            assert made.schema.equals(schema(parameters, signatures), check_metadata=True)
            made.validate(full=True)
