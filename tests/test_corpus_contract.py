"""Every reader passes one suite: the same pages come out of every format, however the file is named, given or cut."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.corpus_files import ROWS, SAMPLES, Sample, only, read_bytes, read_table, rows_of
from undust import corpus
from undust.corpus import Tally
from undust.errors import InputError
from undust.tables import PAGES

by_name = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@by_name
def test_the_same_pages_come_out_of_every_format(tmp_path: Path, sample: Sample) -> None:
    table, tally = read_bytes(tmp_path, sample.data, sample.name)
    assert rows_of(table) == sample.rows
    assert tally.pages == len(ROWS)
    assert (tally.damaged, tally.listed, tally.limited.total()) == (0, [], 0)
    assert tally.bytes == len(sample.data)
    if not sample.name.endswith(".wacz"):
        assert set(table["source"].to_pylist()) == {str(tmp_path / sample.name)}


@by_name
@pytest.mark.parametrize("name", ["no-ending", "wrong.html", "wrong.warc.gz", "wrong.csv.zst"])
def test_a_misleading_name_changes_nothing(tmp_path: Path, sample: Sample, name: str) -> None:
    table, tally = read_bytes(tmp_path, sample.data, name)
    assert rows_of(table) == sample.rows
    assert tally.damaged == 0


class Pipe(io.RawIOBase):
    """Gives a few bytes at a time and cannot be sought, as a pipe."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        return self._data.readinto(memoryview(buffer)[:1000])  # type: ignore[arg-type]


@by_name
def test_stdin_gives_what_the_file_gives(monkeypatch: pytest.MonkeyPatch, sample: Sample) -> None:
    pipe = io.BufferedReader(Pipe(sample.data))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
    table, tally = read_table("-")
    assert rows_of(table) == sample.rows
    assert (tally.damaged, tally.bytes) == (0, len(sample.data))
    assert not pipe.closed  # the stream of the process is not ours to close


READ_STDIN = """
import sys
from undust.corpus import Tally, read_pages
tally = Tally()
urls = [url for batch in read_pages(["-"], tally=tally) for url in batch["url"].to_pylist()]
print(len(urls), tally.damaged, tally.bytes)
"""


@pytest.mark.parametrize("name", ["pages.warc.gz", "pages.parquet", "pages.wacz"])
def test_a_real_pipe_works_too(name: str) -> None:
    sample = next(sample for sample in SAMPLES if sample.name == name)
    done = subprocess.run([sys.executable, "-c", READ_STDIN], input=sample.data, capture_output=True, check=True)
    assert done.stdout.decode().split() == [str(len(ROWS)), "0", str(len(sample.data))]


def offsets(sample: Sample) -> list[int]:
    """Some offsets spread over the file, all of the last bytes, and those around the starts of some records."""
    size = len(sample.data)
    spread = set(range(1, size, max(1, size // 60))) | set(range(max(1, size - 12), size))
    near = {start + by for start in sorted(sample.starts)[1:5] for by in (-1, 0, 1, 2, 9, 20)}
    return sorted(offset for offset in spread | near if 0 < offset < size)


@by_name
def test_a_cut_file_gives_what_stands_before_the_cut(tmp_path: Path, sample: Sample) -> None:
    whole = sample.rows
    found = set()
    refused = [0]
    for offset in offsets(sample):
        try:
            table, tally = read_bytes(tmp_path, sample.data[:offset], sample.name)
        except InputError:
            refused.append(offset)
            continue
        rows = rows_of(table)
        if sample.cuts == "line" and rows and tally.damaged == 0:
            rows.pop()  # text without its last bytes may still be a line
        assert rows == whole[: len(rows)], offset
        found.add(len(rows))
        if len(rows) < len(whole) and not sample.is_harmless(offset) and sample.cuts != "line":
            assert tally.damaged >= 1, offset
        # One cut, one damaged place; that the directory of a zip file is missing is another.
        assert tally.damaged <= 1 + sample.name.endswith(".wacz"), offset
        assert len(tally.listed) == tally.damaged
    if sample.cuts == "records":
        assert max(found) >= len(whole) - 1
    # Nothing can be told of very few bytes; Parquet has its directory at the end.
    assert max(refused) < 160 or sample.cuts in ("blocks", "nothing")


# JSON, Parquet and zip are known by their first bytes.
UNKNOWN = [sample for sample in SAMPLES if sample.data[:1] not in b"{P"]


@pytest.mark.parametrize("sample", UNKNOWN, ids=lambda sample: sample.name)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_file_cut_before_any_record_is_refused_by_name(tmp_path: Path, sample: Sample, size: int) -> None:
    with pytest.raises(InputError, match=re.escape(str(tmp_path / "no-ending"))):
        read_bytes(tmp_path, sample.data[:size], "no-ending")


def test_several_inputs_come_one_after_the_other(tmp_path: Path) -> None:
    chosen = [sample for sample in SAMPLES if sample.name in ("pages.warc.gz", "pages.jsonl", "pages.cdx", "x")]
    paths = []
    for sample in chosen:
        paths.append(tmp_path / sample.name)
        paths[-1].write_bytes(sample.data)
    tally = Tally()
    table = pa.Table.from_batches(corpus.read_pages(paths, tally=tally), PAGES)
    assert rows_of(table) == [row for sample in chosen for row in sample.rows]
    assert tally.pages == len(ROWS) * len(chosen)


def test_tallies_of_several_reads_add_up(tmp_path: Path) -> None:
    paths = []
    for name, data in (("a.jsonl", b'{"url":"http://a.test/","text":"x"}\nbad\n'), ("b.jsonl", SAMPLES[0].data)):
        paths.append(tmp_path / name)
        paths[-1].write_bytes(data)
    together, one, two = Tally(), Tally(), Tally()
    list(corpus.read_pages(paths, tally=together))
    list(corpus.read_one(paths[0], tally=one))
    list(corpus.read_one(paths[1], tally=two))
    one.merge([two])
    assert one.to_dict() == together.to_dict()


def test_a_folder_gives_urls_and_html(tmp_path: Path) -> None:
    for number, row in enumerate(ROWS):
        folder = tmp_path / "saved" / "site.test" / f"{number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:02}.html").write_bytes(row["html"])
    table, tally = read_table(tmp_path / "saved")
    order = sorted(range(len(ROWS)), key=lambda number: (number % 2, number))
    expected = [ROWS[n] | {"url": f"http://site.test/{n % 2}/{n:02}.html"} for n in order]
    assert rows_of(table) == only(("url", "html"), expected)
    assert (tally.pages, tally.damaged) == (len(ROWS), 0)
    assert tally.bytes == sum(len(row["html"]) for row in ROWS)
