"""How signatures were made is stored with them, and a difference is an error that says what differs."""

import dataclasses
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.detect.fingerprints import fingerprints
from undust.detect.fingerprints_parameters import METADATA_KEY, NONE, SignatureParameters
from undust.errors import InputError, UsageError

OTHER = {
    "seed": 1,
    "simhash_bits": 128,
    "shingle_words": 4,
    "minhash_values": 64,
    "minhash_bytes": 3,
    "bag_sum": 500.0,
    "keywords": 5,
    "text_model": "html 1",
    "stop_words": NONE,
    "stemmer": NONE,
    "sketch": "classic",
    "word_model": "0",
    "unicode": "1.0",
}


@given(st.integers(0, 2**60), st.integers(1, 128), st.sampled_from([3, 8]))
def test_parameters_survive_the_metadata(seed: int, bits: int, width: int) -> None:
    parameters = SignatureParameters(seed=seed, simhash_bits=bits, minhash_bytes=width, text_model="für „alle“")
    assert SignatureParameters.from_metadata(parameters.to_metadata()) == parameters


def test_parameters_survive_a_parquet_file(tmp_path: Path) -> None:
    parameters = SignatureParameters(seed=3, minhash_bytes=3)
    path = str(tmp_path / "pages.parquet")
    pq.write_table(fingerprints(pa.array(["some text"]), parameters), path)
    assert SignatureParameters.from_metadata(pq.read_schema(path).metadata, path) == parameters


def test_every_parameter_is_in_the_table_of_this_test() -> None:
    assert set(OTHER) == {field.name for field in dataclasses.fields(SignatureParameters)}


@pytest.mark.parametrize("name", OTHER)
def test_signatures_made_differently_cannot_be_compared(name: str) -> None:
    mine = SignatureParameters()
    theirs = dataclasses.replace(mine, **{name: OTHER[name]})  # type: ignore[arg-type] # of a table
    with pytest.raises(UsageError) as caught:
        mine.require_same(theirs, "a.parquet", "b.parquet")
    assert str(caught.value) == (
        "a.parquet and b.parquet: signatures were made differently"
        f" ({name} {getattr(mine, name)!r} and {OTHER[name]!r});"
        " fingerprint one of them again with the parameters of the other"
    )


def test_signatures_made_alike_can_be_compared() -> None:
    SignatureParameters(seed=4).require_same(SignatureParameters(seed=4))


def test_all_differences_are_named() -> None:
    with pytest.raises(UsageError, match=r"seed 0 and 2; shingle_words 5 and 3"):
        SignatureParameters().require_same(SignatureParameters(seed=2, shingle_words=3))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", -1),
        ("seed", 2**61),
        ("simhash_bits", 0),
        ("simhash_bits", 129),
        ("shingle_words", 0),
        ("minhash_values", 0),
        ("minhash_values", 100_000),
        ("minhash_bytes", 4),
        ("bag_sum", 0.5),
        ("bag_sum", float("nan")),
        ("keywords", -1),
    ],
)
def test_impossible_parameters_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"^{name} is {value}; choose"):
        dataclasses.replace(SignatureParameters(), **{name: value})  # type: ignore[arg-type] # of a table


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"seed": "x"}', '{"seed": 0, "later": 1}', '{"simhash_bits": 999}', '{"seed": null}'],
)
def test_unreadable_parameters_are_an_error_that_names_the_file(text: str) -> None:
    with pytest.raises(InputError, match=r"^pages\.parquet: unreadable signature parameters .*fingerprint the pages"):
        SignatureParameters.from_metadata({METADATA_KEY: text.encode()}, "pages.parquet")


@pytest.mark.parametrize("metadata", [None, {}, {b"pandas": b"{}"}])
def test_a_file_without_parameters_is_an_error_that_says_how_to_make_one(metadata: dict[bytes, bytes] | None) -> None:
    with pytest.raises(InputError, match=r"^x: no signature parameters; make the file with `undust fingerprint`"):
        SignatureParameters.from_metadata(metadata, "x")


def test_the_metadata_can_be_read_by_others() -> None:
    stored = json.loads(SignatureParameters().to_metadata()[METADATA_KEY])
    assert stored["minhash_values"] == 128
    assert stored["stop_words"].startswith("stopwordsiso ")
    assert stored["stemmer"].startswith("snowball ")
