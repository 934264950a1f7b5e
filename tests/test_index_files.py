"""The files of the online index: several processes, logs that are cut off, damage, formats, a disk that is full."""

import contextlib
import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from tests.index_load import MADE, change
from tests.index_oracle import Content, table
from undust.errors import InputError, OutputError, UsageError
from undust.index import writer
from undust.index.online import Index

ROOT = Path(__file__).parents[1]
METHODS = ("exact", "minhash", "simhash")
Rows = list[dict[str, object]]


def load(folder: Path, changes: int, *, first: int = 0, buffer_pages: int = 10_000) -> Index:
    """An index after some changes, as the processes of the crash test do them."""
    index = Index(folder, methods=METHODS, threshold=0.6, buffer_pages=buffer_pages)
    for number in range(first, first + changes):
        kind, pages = change(7, number)
        if kind == "add":
            index.add_many(table(pages, MADE))
        elif kind == "remove":
            index.remove_many([url for url, _ in pages])
    return index


def everything(index: Index) -> Rows:
    found: Rows = index.get_many([f"http://a.test/{n}" for n in range(2000)]).to_pylist()
    return found


def crashed(index: Index) -> None:
    index._session._release()


def rows_file(folder: Path) -> Path:
    return folder / "rows-0000-000.log"


def test_a_log_that_was_cut_off_anywhere_gives_the_state_of_a_whole_number_of_changes(tmp_path: Path) -> None:
    index = Index(tmp_path / "i", methods=METHODS, threshold=0.6)
    states, ends = [], []
    for number in range(12):
        _, pages = change(7, number)
        index.add_many(table(pages[:20], MADE))
        states.append(everything(index))
        ends.append(index.stats()["row_bytes"])
    crashed(index)
    data = rows_file(tmp_path / "i").read_bytes()[: ends[-1]]
    chance = random.Random(4)
    cuts = [*ends, *(end + chance.choice([-1, 1, 64, -64]) for end in ends[:-1]), *chance.sample(range(ends[-1]), 20)]
    for at, cut in enumerate(cuts):
        torn = tmp_path / f"torn{at}"
        shutil.copytree(tmp_path / "i", torn)
        left = data[:cut] + b"\0" * chance.choice([0, 100_000])
        rows_file(torn).write_bytes(left)
        whole = sum(left[:end] == data[:end] for end in ends)
        with Index(torn, read_only=True) as reader:
            assert reader.stats()["row_bytes"] == (ends[whole - 1] if whole else 0)
            if whole:
                assert everything(reader) == states[whole - 1]
        with Index(torn) as again:  # who writes goes on from there
            again.add_many(table([("http://new.test/", Content(99, 1, 1, (), (9,) * 32, frozenset([1])))], MADE))
        with Index(torn, read_only=True) as reader:
            assert "http://new.test/" in reader
            reader.check()


def test_a_record_that_is_damaged_with_whole_ones_behind_it_is_an_error_and_not_the_end(tmp_path: Path) -> None:
    index = load(tmp_path / "i", 30)
    size = index.stats()["row_bytes"]
    crashed(index)
    data = bytearray(rows_file(tmp_path / "i").read_bytes())
    for at in (0, 9, size // 3, size // 2):
        changed = bytearray(data)
        changed[at] ^= 16
        rows_file(tmp_path / "i").write_bytes(changed)
        for read_only in (True, False):
            with pytest.raises(InputError, match=r"damaged at byte [\d,]+; bring the folder back"):
                Index(tmp_path / "i", read_only=read_only)


def is_noticed(folder: Path) -> bool:
    """Whether opening, asking or at least checking an index says that it is damaged."""
    try:
        with Index(folder, read_only=True) as reader:
            with contextlib.suppress(InputError):
                everything(reader)
                reader.query_many(table(change(7, 200)[1], MADE))
            reader.check()
    except InputError as error:
        return "damaged" in str(error) or "made of format" in str(error) or "newer" in str(error)
    return False


def test_no_damaged_byte_goes_unnoticed_or_crashes_the_process(tmp_path: Path) -> None:
    index = load(tmp_path / "i", 60, buffer_pages=300)
    expected = everything(index)
    index.close()
    files = [path for path in sorted((tmp_path / "i").iterdir()) if path.name != "lock"]
    chance = random.Random(3)
    noticed = 0
    for _ in range(150):
        path = chance.choice(files)
        data = path.read_bytes()
        at = chance.randrange(len(data))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :])
        noticed += is_noticed(tmp_path / "i")
        path.write_bytes(data)
    assert noticed == 150
    with Index(tmp_path / "i", read_only=True) as reader:
        assert everything(reader) == expected


@pytest.mark.parametrize("fault", ["short rows", "short run", "no run", "no rows"])
def test_files_that_are_missing_or_short_are_named(tmp_path: Path, fault: str) -> None:
    load(tmp_path / "i", 10).close()
    how, which = fault.split()
    (path,) = (tmp_path / "i").glob("run-*" if which == "run" else "rows-*")
    if how == "short":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        path.unlink()
    with pytest.raises(InputError, match=f"{re.escape(str(path))}: (cut short|damaged|missing); bring the folder back"):
        Index(tmp_path / "i", read_only=True)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    load(tmp_path / "i", 3).close()
    path = tmp_path / "i" / "manifest.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "format": 2, "more": "than we know"}))
    for read_only in (True, False):
        with pytest.raises(InputError, match=r"made by a newer undust \(format 2\); update undust"):
            Index(tmp_path / "i", read_only=read_only)
    for text in (json.dumps({**kept, "pages": 5}), "{", "[]", json.dumps({**kept, "format": "x"})):
        path.write_text(text)
        with pytest.raises(InputError, match=r"manifest\.json: (damaged|an index made of format)"):
            Index(tmp_path / "i")


def test_a_second_writer_is_told_who_writes_and_readers_are_welcome(tmp_path: Path) -> None:
    code = (
        "import sys; from undust.index.online import Index; i = Index(sys.argv[1]);"
        " print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "i")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == b"open\n"
        with pytest.raises(UsageError, match=f"process {child.pid} is writing"):
            Index(tmp_path / "i")
        Index(tmp_path / "i", read_only=True).close()
        child.stdin.close()
        child.wait()
    with Index(tmp_path / "i"), pytest.raises(UsageError, match=f"process {os.getpid()} is writing"):
        Index(tmp_path / "i")


def test_readers_in_other_processes_see_whole_changes_only(tmp_path: Path) -> None:
    """A process adds pages in tens, merging all the time; readers never see a part of ten, nor fewer than before."""
    folder = tmp_path / "i"
    code = (
        "import sys; sys.path.insert(0, '.');"
        "from tests.index_oracle import Content, table; from tests.index_load import MADE;"
        "from undust.index.online import Index;"
        f"i = Index({str(folder)!r}, methods=('exact',), buffer_pages=40, sync=False); print('open', flush=True)\n"
        "for n in range(150):\n"
        "  i.add_many(table([(f'http://a.test/{n}/{k}', Content(n * 10 + k + 1, values=(1,) * 32)) for k in range(10)],"
        " MADE))\n"
        "  if n % 50 == 49: i.compact()\n"
        "i.close()"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"open\n"
        reader = Index(folder, read_only=True)
        seen = [len(reader)]
        while seen[-1] < 1500 and child.poll() in (None, 0):
            reader.refresh()
            count = len(reader)
            urls = [f"http://a.test/{n}/{k}" for n in range(150) for k in range(10)]
            assert reader.get_many(urls)["known"].to_pylist() == [at < count for at in range(1500)]
            seen.append(count)
        reader.close()
    assert child.returncode == 0
    assert seen[-1] == 1500
    assert all(count % 10 == 0 for count in seen)
    assert seen == sorted(seen)


def test_a_reader_keeps_its_snapshot_while_files_are_merged_and_written_anew(tmp_path: Path) -> None:
    index = load(tmp_path / "i", 20, buffer_pages=100)
    reader = Index(tmp_path / "i", read_only=True)
    before = everything(reader)
    assert before == everything(index)
    index.close()
    index = load(tmp_path / "i", 40, first=20, buffer_pages=100)
    index.compact()
    assert everything(index) != before
    assert everything(reader) == before
    assert reader.refresh()
    assert everything(reader) == everything(index)
    assert not reader.refresh()
    assert not index.refresh()
    index.close()
    reader.close()


def test_a_full_disk_is_an_error_and_the_index_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = load(tmp_path / "i", 10, buffer_pages=300)
    before = everything(index)
    real, left = os.pwrite, [3_000]

    def full(handle: int, data: memoryview, at: int) -> int:
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = real(handle, data[: left[0]], at)
        left[0] -= done
        return done

    monkeypatch.setattr(os, "pwrite", full)
    more = pa.concat_tables([table(change(8, number)[1], MADE) for number in range(20, 40)])
    with pytest.raises(OutputError, match="No space left on device; make room"):
        index.add_many(more)
    with pytest.raises(OutputError, match="an earlier change was not written"):
        index.add_many(table(change(8, 1)[1], MADE))
    monkeypatch.undo()
    index.close()
    with Index(tmp_path / "i") as again:
        assert everything(again) == before
        again.add_many(table(change(8, 2)[1], MADE))


def test_rows_go_to_the_next_file_when_one_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "SEGMENT_BYTES", 100_000)
    index = load(tmp_path / "i", 60, buffer_pages=500)
    expected = everything(index)
    assert len(list((tmp_path / "i").glob("rows-*"))) > 1
    crashed(index)
    with Index(tmp_path / "i") as again:
        again.check()
        assert everything(again) == expected
        again.compact()
        assert everything(again) == expected


def test_large_merges_are_done_beside_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    real = ThreadPoolExecutor.submit

    def submit(self: object, *arguments: object) -> object:
        started.append(arguments)
        return real(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    index = load(tmp_path / "i", 120, buffer_pages=60)
    expected = everything(index)
    assert started
    index.close()
    with Index(tmp_path / "i", read_only=True) as reader:
        assert everything(reader) == expected
        assert reader.stats()["runs"] < 12


def test_what_a_crash_leaves_behind_is_swept_up(tmp_path: Path) -> None:
    load(tmp_path / "i", 5).close()
    for name in ("run-99999999.tables", "rows-0007-000.log", ".manifest.json.x.part"):
        (tmp_path / "i" / name).write_bytes(b"half")
    (tmp_path / "i" / "notes.txt").write_text("mine")
    Index(tmp_path / "i").close()
    left = {path.name for path in (tmp_path / "i").iterdir()}
    assert left == {"lock", "manifest.json", "notes.txt", "rows-0000-000.log", "run-00000000.tables"}
