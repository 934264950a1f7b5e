"""Which capture counts: the latest, whatever order they come in, from memory and from files."""

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import corpus
from undust.corpus.fingerprints import FingerprintFiles
from undust.detect.captures import BATCH_ROWS, Captures, TableFingerprints, find_captures
from undust.errors import InputError
from undust.kernels.banding import NO_ROW
from undust.tables import latest

Row = tuple[str, int | None, bytes | None]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["http://a.test/", "http://b.test/é", "http://a.test/x", "http://c.test/"]),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from([b"1" * 16, b"2" * 16]),
    ),
    max_size=12,
)


def table_of(rows: list[Row]) -> pa.Table:
    kinds = {"url": pa.string(), "time": pa.timestamp("s", tz="UTC"), "body_xxh3": pa.binary(16)}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(kinds.items())})


def captures_of(rows: list[Row]) -> Captures:
    return find_captures(TableFingerprints(table_of(rows)))


@given(ROWS, st.randoms(use_true_random=False))
def test_each_url_counts_by_its_latest_capture(rows: list[Row], chance: random.Random) -> None:
    found = captures_of(rows)
    expected = latest(table_of(rows))
    assert found.urls.to_pylist() == expected["url"].to_pylist()
    chosen = [rows[place] for place in found.places.tolist()]
    assert [row[2] for row in chosen] == expected["body_xxh3"].to_pylist()
    assert [found.urls[row].as_py() for row in found.rows.tolist()] == [row[0] for row in rows]
    counting = found.counting()
    assert sorted(counting[counting != NO_ROW].tolist()) == list(range(len(found)))
    shuffled = list(rows)
    chance.shuffle(shuffled)
    again = captures_of(shuffled)
    assert [shuffled[place] for place in again.places.tolist()] == chosen


def test_urls_are_given_in_chunks_of_usual_strings() -> None:
    rows: list[Row] = [(f"http://a.test/{number:06d}", None, None) for number in range(BATCH_ROWS + 3)]
    found = captures_of(rows)
    column = found.url_column()
    column.validate(full=True)
    assert column.num_chunks == 2
    assert column.to_pylist() == [row[0] for row in rows]
    assert found.url_column(np.array([2, 0, 2])).to_pylist() == [rows[2][0], rows[0][0], rows[2][0]]
    assert captures_of([]).url_column().to_pylist() == []


def test_files_give_what_a_table_gives(tmp_path: Path) -> None:
    rows: list[Row] = [("http://b.test/", 1, b"x" * 16), ("http://a.test/", None, None), ("http://b.test/", 2, None)]
    table = table_of(rows)
    corpus.write_table(table.slice(0, 1), tmp_path / "1.parquet")
    corpus.write_table(table.slice(1), tmp_path / "2.parquet")
    files = FingerprintFiles((str(tmp_path / "1.parquet"), str(tmp_path / "2.parquet")))
    assert files.count() == 3
    assert [schema.names for schema in files.schemas] == [table.schema.names] * 2
    found, expected = find_captures(files), captures_of(rows)
    assert found.places.tolist() == expected.places.tolist() == [1, 2]
    with pytest.raises(InputError, match="no column shingles"):
        list(files.batches(["url", "shingles"]))


def test_a_cut_file_of_fingerprints_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.parquet"
    corpus.write_table(table_of([("http://b.test/", 1, b"x" * 16)]), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cut\.parquet: not a whole table"):
        FingerprintFiles((str(path),)).count()
    path.write_text("url\tbody_xxh3\n")
    with pytest.raises(InputError, match="Parquet only"):
        FingerprintFiles((str(path),)).count()
