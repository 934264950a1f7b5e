"""Writers: a table that is written comes back, and a file is complete or absent."""

import errno
import gzip
import io
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.corpus_files import ROWS, only, read_table, rows_of
from undust.corpus import TableWriter, write_table
from undust.errors import OutputError, UsageError
from undust.tables import PAGES

ENDINGS = [".parquet", ".jsonl", ".csv", ".tsv", ".parquet.gz", ".jsonl.gz", ".csv.gz", ".tsv.gz"]

TABLE = pa.Table.from_pylist([row | {"source": "x"} for row in ROWS], PAGES)

every_ending = pytest.mark.parametrize("ending", ENDINGS)


@every_ending
def test_what_is_written_comes_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"pages{ending}"
    write_table(TABLE, path)
    table, tally = read_table(path)
    assert rows_of(table) == only(tuple(ROWS[0]))
    assert tally.damaged == 0
    assert list(tmp_path.iterdir()) == [path]


@every_ending
def test_batches_give_the_same_rows_as_the_whole_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"pages{ending}"
    with TableWriter(path, PAGES) as writer:
        for start in range(0, len(ROWS), 5):
            writer.write(TABLE.slice(start, 5))
        writer.write(TABLE.slice(0, 0))
    assert rows_of(read_table(path)[0]) == only(tuple(ROWS[0]))


@every_ending
def test_the_same_table_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    written = []
    for name in ("a", "b"):
        write_table(TABLE, tmp_path / f"{name}{ending}")
        written.append((tmp_path / f"{name}{ending}").read_bytes())
    assert written[0] == written[1]


@every_ending
def test_an_empty_table_is_a_whole_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"pages{ending}"
    write_table(TABLE.slice(0, 0), path)
    data = path.read_bytes()
    if ending.endswith(".gz"):
        data = gzip.decompress(data)
    if "parquet" in ending:
        assert pq.read_table(io.BytesIO(data)).num_rows == 0
    elif "jsonl" in ending:
        assert data == b""
    else:
        assert data.splitlines() == [(b"," if "csv" in ending else b"\t").join(n.encode() for n in PAGES.names)]


def test_text_formats_spell_values_as_people_read_them(tmp_path: Path) -> None:
    table = pa.table(
        {
            "url": ["http://a/"],
            "digest": pa.array([b"\x01\xff"], pa.binary(2)),
            "html": [b"\xff<p>"],
            "time": pa.array([datetime(2024, 2, 29, tzinfo=UTC)], pa.timestamp("s", "UTC")),
            "n": [3],
            "none": pa.array([None], pa.string()),
        }
    )
    write_table(table, tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_text() == (
        '{"url":"http://a/","digest":"01ff","html":"\ufffd<p>","time":"2024-02-29T00:00:00Z","n":3,"none":null}\n'
    )
    write_table(table, tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_text().splitlines()[1] == "http://a/\t01ff\t\ufffd<p>\t2024-02-29T00:00:00Z\t3\t"


def test_tsv_has_no_breaks_inside_a_cell(tmp_path: Path) -> None:
    write_table(pa.table({"url": ["http://a/\t\n\r"], "text": ["x\ty\nz\r"]}), tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_bytes() == b"url\ttext\nhttp://a/%09%0A%0D\tx y z \n"


def test_an_unknown_ending_is_wrong_usage(tmp_path: Path) -> None:
    for name in ("a.xlsx", "a", "a.gz"):
        with pytest.raises(UsageError, match=r"unknown ending; one of \.parquet"):
            write_table(TABLE, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


# Complete or absent


def write_half(path: Path, error: type[BaseException]) -> None:
    with TableWriter(path, PAGES) as writer:
        writer.write(TABLE)
        raise error


@every_ending
def test_an_exception_in_the_middle_leaves_nothing(tmp_path: Path, ending: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_half(tmp_path / f"a{ending}", KeyboardInterrupt)
    assert list(tmp_path.iterdir()) == []


@every_ending
def test_an_exception_in_the_middle_leaves_what_was_there(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"precious")
    with pytest.raises(ZeroDivisionError):
        write_half(path, ZeroDivisionError)
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]


@every_ending
def test_nothing_is_there_before_all_is(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    with TableWriter(path, PAGES) as writer:
        writer.write(TABLE)
        assert not path.exists()
    assert path.exists()


WRITE_AND_WAIT = """
import sys
import pyarrow as pa
from undust.corpus import TableWriter
table = pa.table({"url": ["http://a.test/"] * 100_000})
with TableWriter(sys.argv[1], table.schema) as writer:
    writer.write(table)
    print("written", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("ending", [".parquet", ".csv.gz"])
def test_a_writer_that_is_killed_leaves_no_output(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    command = [sys.executable, "-c", WRITE_AND_WAIT, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"written\n"
        assert not path.exists()
        writer.kill()
        assert writer.wait() == -signal.SIGKILL
    assert not path.exists()


@every_ending
def test_a_target_that_cannot_be_written_is_named_in_one_line(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"folder{ending}").mkdir()
    targets: list[tuple[str | Path, str]] = [
        (tmp_path / "missing" / f"a{ending}", "No such file or directory"),
        (tmp_path / f"folder{ending}", "is a folder"),
        (f"{tmp_path}/a\0b{ending}", "null"),
        (tmp_path / f"{'x' * 300}{ending}", "too long"),
    ]
    for path, what in targets:
        with pytest.raises(OutputError, match=what) as caught:
            write_table(TABLE, path)
        assert "\n" not in str(caught.value)
        assert "; choose a folder" in str(caught.value)
    assert sorted(tmp_path.iterdir()) == [tmp_path / f"folder{ending}"]


@every_ending
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_output_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    opened = open

    def full(path: Any, *arguments: Any, **options: Any) -> Any:
        """Open what should be a new file as the disk that is always full."""
        opened(path, "xb").close()
        return opened("/dev/full", "wb", **options)

    large = pa.concat_tables([TABLE] * 20_000) if ending == ".jsonl" else TABLE
    monkeypatch.setattr("builtins.open", full)
    with pytest.raises(OutputError, match="No space left"):
        write_table(large, tmp_path / f"a{ending}")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_rename_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"precious")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OutputError, match="not permitted"):
        write_table(TABLE, path)
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "a.csv"
    link.symlink_to(tmp_path / "real" / "b.csv")
    write_table(TABLE, link)
    assert link.is_symlink()
    assert (tmp_path / "real" / "b.csv").stat().st_size > 0


def test_a_new_file_has_the_rights_that_others_have(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    write_table(TABLE, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_dash_is_tsv_on_stdout(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_table(pa.table({"url": ["http://a/"], "cluster": ["c"]}), "-")
    assert capsysbinary.readouterr().out == b"url\tcluster\nhttp://a/\tc\n"
    print("stdout is still open")
