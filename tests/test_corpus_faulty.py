"""Faulty files, kept as they are in tests/data/faulty: what is used of each, and what is said of it."""

from pathlib import Path

import pytest

from tests.corpus_files import read_table
from tests.data.make_faulty import files
from undust.errors import InputError

FOLDER = Path(__file__).parent / "data" / "faulty"

# Name of the file, pages, what is said of the damage (one text for each damaged place), which is never fatal.
USED: list[tuple[str, int, list[str]]] = [
    ("cut-in-a-record.warc.gz", 3, ["record ends after"]),
    ("cut-in-a-record.warc", 3, ["record ends after 49 of 57 bytes"]),
    ("cut-in-a-header.warc", 3, ["Content-Length"]),
    ("cut-in-the-first-record.warc", 0, ["Content-Length"]),
    ("length-too-short.warc", 4, ["record states a length that it does not have"]),
    ("length-too-short.warc.gz", 4, ["record states a length that it does not have"]),
    ("length-too-short-all-in-one-member.warc.gz", 4, ["(counted in the decompressed bytes)"]),
    ("length-too-long.warc", 4, ["record states a length that it does not have"]),
    ("length-10-gigabytes.warc", 4, ["record states 10,737,418,240 bytes, the file ends before that"]),
    ("length-10-gigabytes.warc.gz", 4, ["of 10,737,418,240 bytes"]),
    ("no-length.warc", 4, ["record without a usable Content-Length"]),
    ("rubbish-between-records.warc", 4, ["Invalid WARC header"]),
    ("rubbish-between-members.warc.gz", 4, ["Gzip"]),
    ("wrong-check-sum.warc.gz", 4, ["Gzip"]),
    ("damaged-frame.warc.zst", 4, [""]),
    ("http-0.9.warc", 4, ["no HTTP response in the record"]),
    ("damaged-gzip-body.warc", 4, ["gzip body is damaged"]),
    ("damaged-chunks.warc", 4, ["chunked body is damaged"]),
    ("cut.wacz", 2, ["zip directory is missing or damaged", "gzip member ends early"]),
    ("no-directory.wacz", 4, ["zip directory is missing or damaged"]),
    ("short-line.cdx", 12, ["3 fields instead of 11"]),
    ("not-json.jsonl", 24, ["not JSON"]),
    ("cut-in-a-line.jsonl", 11, ["not JSON"]),
    ("cut.jsonl.gz", 11, ["gzip stream ends early"]),
    ("unclosed-quote.csv", 12, ["not CSV"]),
    ("not-utf8.tsv", 1, []),
    ("damaged-row-group.parquet", 4, ["row group 1 is damaged"]),
]

# Name of the file, what is said of it, which is all that comes out.
REFUSED: list[tuple[str, str]] = [
    ("empty.warc.gz", "is empty; give a file with pages in it"),
    ("text.warc", "no WARC record in it"),
    ("old-format.arc", "an ARC file"),
    ("no-archive.wacz", "a zip file without archive/"),
    ("no-digest-field.cdx", "CDX without the fields a"),
    ("array.json", "a JSON array"),
    ("no-url-column.csv", "needs a column url and one of html, text, digest, cluster; it has address, text"),
    ("cut.parquet", "not a whole Parquet file"),
    ("picture.png", "not a format that undust reads"),
]


@pytest.mark.parametrize(("name", "pages", "damage"), USED, ids=[case[0] for case in USED])
def test_what_is_good_in_a_faulty_file_is_used_and_the_rest_is_named(name: str, pages: int, damage: list[str]) -> None:
    table, tally = read_table(FOLDER / name)
    assert table.num_rows == tally.pages == pages
    assert tally.damaged == len(tally.listed) == len(damage), tally.summary()
    for found, what in zip(tally.listed, damage, strict=True):
        assert what in found.what
        assert found.source.startswith(str(FOLDER / name))
        if not name.endswith((".wacz", ".parquet")):
            assert (found.offset is None) != (found.line is None)


@pytest.mark.parametrize(("name", "what"), REFUSED)
def test_a_file_that_is_not_what_it_should_be_is_refused(name: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(FOLDER / name)
    message = str(caught.value)
    assert message.startswith(f"{FOLDER / name}: {what}")
    assert "\n" not in message


def test_every_faulty_file_is_tested_and_can_be_made_again() -> None:
    names = sorted([case[0] for case in USED] + [case[0] for case in REFUSED])
    assert sorted(path.name for path in FOLDER.iterdir()) == names == sorted(files())
