"""Reading: a WARC to a table of pages beside a bare FastWARC loop, and two files with two processes beside one."""

import gzip
import os
import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from fastwarc import ArchiveIterator

from benchmarks.timing import best_seconds, row
from undust.corpus import Tally, read_pages
from undust.detect.pages import PageFingerprints
from undust.pipeline import fingerprint_batches

DATA = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data"))

LARGE_BYTES = 700 * 2**20
"""Of each file for two processes: their start, of about a second, must not decide."""


def archive(folder: Path) -> Path:
    """The largest of the recorded crawls if the shared data is there, else one of made-up pages."""
    found = sorted((DATA / "webapps").glob("*.warc.gz"), key=lambda path: path.stat().st_size)
    return found[-1] if found else _made_up(folder / "made-up.warc.gz")


def run() -> list[dict[str, Any]]:
    """Measure both on the same files."""
    with tempfile.TemporaryDirectory(prefix="undust-bench-") as folder:
        file = archive(Path(folder))
        return [_table_beside_loop(file), _two_processes(file, Path(folder))]


def _table_beside_loop(file: Path) -> dict[str, Any]:
    ours, bare = best_seconds(lambda: _read(file), lambda: _loop(file), rounds=15, clock=time.process_time)
    assert _read(file) <= _loop(file)

    def rate(seconds: float) -> str:
        return f"{file.stat().st_size / seconds / 1e6:.0f} MB/s of gzip"

    return row("WARC to page table : bare FastWARC loop (time)", rate(ours), rate(bare), ours / bare, 1.3, at_most=True)


def _two_processes(file: Path, folder: Path) -> dict[str, Any]:
    large = folder / "large.warc.gz"
    with large.open("wb") as target:
        while target.tell() < LARGE_BYTES:
            with file.open("rb") as source:
                shutil.copyfileobj(source, target, 2**20)
    files = [large, large]
    two, one = best_seconds(lambda: _fingerprint(files, 2), lambda: _fingerprint(files, 1), rounds=2)
    size = 2 * large.stat().st_size

    def rate(seconds: float) -> str:
        return f"{size / seconds / 1e6:.0f} MB/s of gzip"

    return row("fingerprints of two files, two processes : one", rate(two), rate(one), one / two, 1.7)


def _read(file: Path) -> int:
    return sum(batch.num_rows for batch in read_pages([file], tally=Tally()))


def _loop(file: Path) -> int:
    """What anybody who uses FastWARC has to do at least: HTTP headers and body of each record."""
    count = 0
    with file.open("rb") as opened:
        for record in ArchiveIterator(opened, parse_http=True):
            count += record.reader.read() is not None
    return count


def _fingerprint(files: list[Path], jobs: int) -> int:
    exact = PageFingerprints(exact_only=True)  # reading is measured here, not signatures
    return sum(batch.num_rows for batch in fingerprint_batches(files, exact, tally=Tally(), jobs=jobs))


def _made_up(path: Path) -> Path:
    """Some 20 MB of pages of about the size, and the redundancy, that pages have."""
    chance = random.Random(0)  # noqa: S311 - no secret
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(5000)]
    with path.open("wb") as file:
        number = 0
        while file.tell() < 20e6:
            paragraphs = [" ".join(chance.choices(words, k=60)) for _ in range(chance.randint(5, 60))]
            body = "".join(f"<p class=text>{text}</p>\n" for text in paragraphs).encode()
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: x\r\n\r\n<html><body>" + body
            head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/{number}\r\n"
            head += f"WARC-Date: 2024-01-01T00:00:00Z\r\nContent-Length: {len(block)}\r\n\r\n"
            file.write(gzip.compress(head.encode() + block + b"\r\n\r\n", 5))
            number += 1
    return path
