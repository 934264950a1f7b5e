"""Laws of reading and writing, for whatever Hypothesis can think of."""

import gzip
import io
import tempfile
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import brotli
import pyarrow as pa
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus_files import SAMPLES, Sample, gzipped, http, read_bytes, read_table, rows_of, warc, zstd
from undust.corpus import write_table
from undust.corpus.batches import BytesColumn
from undust.corpus.bodies import decode_body, parse_response
from undust.corpus.decompress import Plain
from undust.corpus.lines import line_blocks
from undust.corpus.streams import Source
from undust.corpus.tally import Tally
from undust.errors import InputError, UndustError
from undust.tables import PAGES

SPACES = " \t\n\r\v\f"

# Cells as people have them, and as they should not be.
cells = st.one_of(
    st.none(), st.text(max_size=20), st.sampled_from(["", " ", '"', '""', "a,b", "\r", "a\r\nb", "\t", "-", "\0", "é"])
)
rows = st.fixed_dictionaries(
    {
        "url": st.one_of(st.just("http://a.test/"), st.text(max_size=20)),
        "html": cells.map(lambda text: None if text is None else text.encode()),
        "text": cells,
        "digest": cells,
        "cluster": cells,
        "status": st.sampled_from([None, 200]),
        "time": st.none() | st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
    }
)


def in_file(data: bytes, name: str, **options: Any) -> tuple[pa.Table, Tally]:
    with tempfile.TemporaryDirectory() as folder:
        return read_bytes(Path(folder), data, name, **options)


def as_read(row: dict[str, Any]) -> dict[str, Any] | None:
    """A row as every table gives it back: an empty cell is a missing one, a row without URL or content is none."""
    found = {name: value or None for name, value in row.items()}
    found["url"] = row["url"].strip(SPACES)
    content = any(found[name] is not None for name in ("html", "text", "digest", "cluster"))
    return found if found["url"] and content else None


@given(st.lists(rows, min_size=1, max_size=8), st.sampled_from([".parquet", ".jsonl", ".csv", ".csv.gz", ".jsonl.gz"]))
def test_what_is_written_is_read(given_rows: list[dict[str, Any]], ending: str) -> None:
    schema = pa.schema([field for field in PAGES if field.name in given_rows[0]])
    table = pa.Table.from_pylist(given_rows, schema)
    with tempfile.TemporaryDirectory() as folder:
        write_table(table, Path(folder, f"a{ending}"))
        found, tally = read_table(Path(folder, f"a{ending}"))
    given_back = table.to_pylist()  # times in whole seconds
    expected = [row for row in map(as_read, given_back) if row is not None]
    assert found.select(schema.names).to_pylist() == expected
    assert tally.damaged == 0
    assert tally.records == len(given_rows)


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20)), min_size=1, max_size=8))
def test_tsv_keeps_everything_but_breaks(pairs: list[tuple[str, str]]) -> None:
    table = pa.table({"url": ["http://a/" + url for url, _ in pairs], "text": ["x" + text for _, text in pairs]})
    with tempfile.TemporaryDirectory() as folder:
        write_table(table, Path(folder, "a.tsv"))
        found, tally = read_table(Path(folder, "a.tsv"))
    escaped = [url.replace("\t", "%09").replace("\n", "%0A").replace("\r", "%0D") for url in table["url"].to_pylist()]
    spaced = [text.translate(dict.fromkeys(map(ord, "\t\n\r"), " ")) for text in table["text"].to_pylist()]
    assert found["url"].to_pylist() == [url.rstrip(SPACES) for url in escaped]
    assert found["text"].to_pylist() == spaced
    assert tally.damaged == 0


@given(st.sampled_from(SAMPLES), st.integers(0, 10_000), st.booleans())
@settings(max_examples=300)
def test_a_cut_is_never_more_than_an_input_error(sample: Sample, cut: int, named: bool) -> None:
    cut %= len(sample.data) + 1
    try:
        table, _ = in_file(sample.data[:cut], sample.name if named else "x")
    except InputError:
        return
    found = rows_of(table)
    if sample.cuts == "line":
        found = found[:-1]
    assert found == sample.rows[: len(found)]


@given(st.sampled_from(SAMPLES), st.data())
@settings(max_examples=300)
def test_changed_bytes_never_raise_anything_but_our_errors(sample: Sample, data: st.DataObject) -> None:
    changed = bytearray(sample.data)
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 6))] = data.draw(st.binary(max_size=6))
        changed = changed or bytearray(b"x")
    refusal = ""
    try:
        _, tally = in_file(bytes(changed), sample.name)
        refusal = str(tally.listed[0]) if tally.listed else ""
    except UndustError as error:
        refusal = str(error)
    assert "\n" not in refusal


STARTS = [
    b"",
    b"WARC/1.0\r\n",
    b"PAR1",
    b"PK\x03\x04",
    b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd",
    b"BZh9",
    b"\x04\x22\x4d\x18",
]
STARTS += [
    b" CDX N b a m s k r M S V g\n",
    b"url,text\n",
    b"url\ttext\n",
    b'{"url":',
    b"<html>",
    b"\x5d\x2a\x4d\x18\x09\0\0\0",
]
NAMES = ["x", "x.warc", "x.cdx", "x.cdxj.gz", "x.jsonl", "x.csv", "x.tsv.zst", "x.html"]


@given(st.sampled_from(STARTS), st.binary(max_size=200), st.sampled_from(NAMES))
@settings(max_examples=300)
def test_random_bytes_never_raise_anything_but_our_errors(start: bytes, rest: bytes, name: str) -> None:
    refusal = ""
    try:
        table, tally = in_file(start + rest, name)
        assert tally.pages == table.num_rows
    except UndustError as error:
        refusal = str(error)
    assert "\n" not in refusal


def chunked(data: bytes) -> bytes:
    parts = [data[at : at + 7] for at in range(0, len(data), 7)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])


ENCODERS = {
    b"gzip": gzip.compress,
    b"deflate": zlib.compress,
    b"br": brotli.compress,
    b"zstd": zstandard.compress,
}


@given(st.binary(max_size=300), st.lists(st.sampled_from(sorted(ENCODERS)), max_size=3), st.booleans())
def test_encodings_are_undone_in_any_order(body: bytes, encodings: list[bytes], in_chunks: bool) -> None:
    sent = body
    for encoding in encodings:
        sent = ENCODERS[encoding](sent)
    headers = [b"Content-Encoding: " + b", ".join(encodings)]
    if in_chunks:
        sent = chunked(sent)
        headers.append(b"Transfer-Encoding: chunked")
    response = parse_response(http(sent, *headers))
    assert response is not None
    assert bytes(decode_body(response, 1000)) == body


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=12), st.sampled_from(["plain", "gzip", "zstd", "whole"]))
def test_bodies_come_back_from_an_archive_byte_for_byte(bodies: list[bytes], form: str) -> None:
    records = [warc(http(body), url=b"http://a.test/%d" % number) for number, body in enumerate(bodies)]
    make = {
        "plain": lambda: b"".join(records),
        "gzip": lambda: gzipped(*records),
        "zstd": lambda: zstd(*records),
        "whole": lambda: gzipped(b"".join(records)),
    }
    table, tally = in_file(make[form](), "a.warc")
    assert table["html"].to_pylist() == bodies
    assert tally.damaged == 0


# The parts that readers are made of, against a few obvious lines.


class Pieces:
    """A file that gives as many bytes at once as it likes, and cannot be sought."""

    def __init__(self, data: bytes, most: int) -> None:
        self._file = io.BytesIO(data)
        self._most = most

    def read(self, size: int = -1, /) -> bytes:
        return self._file.read(self._most if size < 0 else min(size, self._most))


STEPS = st.one_of(
    st.tuples(st.just("read"), st.integers(0, 60)),
    st.tuples(st.sampled_from(["peek", "rewind", "read_at"]), st.integers(0, 60)),
)


@given(st.binary(min_size=100, max_size=300), st.integers(1, 50), st.lists(STEPS, max_size=30))
def test_a_source_is_a_file_with_a_memory(data: bytes, most: int, steps: list[tuple[str, int]]) -> None:
    window = 40
    tally = Tally()
    source = Source(Pieces(data, most), "x", tally, seekable=False, window_bytes=window)
    at = furthest = 0
    for what, size in steps:
        target = max(0, at - size)
        if what == "read":
            found = source.read(size)
            assert found == data[at : at + len(found)]
            assert found or not size or at == len(data)
        elif what == "peek":
            assert source.peek(size) == data[at : at + size]
        elif what == "rewind":
            assert source.rewind(target) == target or furthest - target > window
        else:
            seen = source.read_at(target, 20)
            assert seen == data[target : target + 20] or (seen is None and furthest - target > window)
        assert source.tell() == at or what in ("read", "rewind")
        at = source.tell()
        furthest = max(furthest, at)
        assert tally.bytes == furthest
    # It remembers a window and the piece that reaches over its edge, not all that it ever gave.
    assert source.rewind(0) >= furthest - window - 60


@given(st.binary(max_size=400).map(lambda data: data.replace(b"x", b"\n")), st.integers(1, 40), st.integers(1, 90))
def test_blocks_of_lines_are_the_lines(data: bytes, most: int, block: int) -> None:
    source = Source(Pieces(data, most), "x", Tally(), seekable=False)
    blocks = list(line_blocks(Plain(source, None, Tally()), Tally(), block_bytes=block))
    assert b"".join(found.data for found in blocks) == data
    line = 1
    for found in blocks:
        assert found.line == line
        assert found.data.endswith(b"\n") or found is blocks[-1]
        line += found.data.count(b"\n")


@given(st.lists(st.binary(max_size=60).map(lambda line: line.replace(b"\n", b"")), max_size=20), st.integers(1, 20))
def test_a_line_that_is_too_long_becomes_an_empty_one(lines: list[bytes], most: int) -> None:
    tally = Tally()
    source = Source(Pieces(b"".join(line + b"\n" for line in lines), most), "x", tally, seekable=False)
    blocks = line_blocks(Plain(source, None, tally), tally, max_line_bytes=30)
    found = b"".join(block.data for block in blocks).split(b"\n")[:-1]
    assert len(found) == len(lines)
    dropped = 0
    for line, whole in zip(found, lines, strict=True):
        assert line == whole or (line == b"" and len(whole) > 30)
        assert len(line) <= 30 + most
        dropped += line != whole
    assert tally.skipped.total() == dropped


@given(st.lists(st.none() | st.binary(max_size=2000), min_size=1, max_size=40))
def test_a_column_of_bytes_is_the_list_of_them(values: list[bytes | None]) -> None:
    column = BytesColumn()
    for _ in range(2):  # a column that was taken is empty again
        for row, value in enumerate(values):
            if value is not None:
                column.add(row, value)
        taken = column.take(len(values))
        taken.validate(full=True)
        assert taken.to_pylist() == values
