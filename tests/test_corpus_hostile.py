"""Large and hostile files: memory stays flat, nothing but our own errors comes out, everything is counted."""

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import brotli
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.corpus_files import gzipped, http, page_record, read_bytes, read_table, wacz, warc, zstd
from undust.errors import InputError

MIB = 2**20
GOOD = page_record(1)
DIGEST = b"WARC-Payload-Digest: sha1:AAAA"


def read_apart(*paths: Path) -> list[dict[str, Any]]:
    """What reading each file gave, in one process for all of them."""
    command = [sys.executable, "-m", "tests.corpus_memory", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


# Large files of ordinary pages

PAGES = 6000
BODY = ("<html><body>" + "<p>words of a page; many of them; again and again</p>" * 800).encode()  # 42 kB


def large_warc(file: Any, compress: Callable[[bytes], bytes]) -> None:
    for number in range(PAGES):
        file.write(compress(warc(http(BODY + b"%d" % number), url=b"http://a.test/%d" % number)))


def large_jsonl(file: Any) -> None:
    body = json.dumps(BODY.decode())
    for number in range(PAGES):
        file.write(f'{{"url":"http://a.test/{number}","html":{body}}}\n'.encode())


def large_csv(file: Any, *, quoted: bool) -> None:
    file.write(b"url,html\n")
    for number in range(PAGES):
        file.write((b'http://a.test/%d,"%b"\n' if quoted else b"http://a.test/%d,%b\n") % (number, BODY))


def large_cdx(file: Any) -> None:
    file.write(b" CDX N b a m s k r M S V g\n")
    line = b"test,a)/%d 20240229123059 http://a.test/%d text/html 200 %032d - - 1 1 " + b"f" * 40_000 + b"\n"
    for number in range(PAGES):
        file.write(line % (number, number, number))


def large_parquet(path: Path) -> None:
    bodies = pa.array([BODY + b"%d" % (number % 5) for number in range(PAGES)])
    table = pa.table({"url": [f"http://a.test/{number}" for number in range(PAGES)], "html": bodies})
    pq.write_table(table, path, row_group_size=PAGES)


@pytest.fixture(scope="module")
def large_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("large")

    def made(name: str, write: Callable[[Any], None], *, packed: bool = False) -> Path:
        path = folder / name
        with gzip.open(path, "wb", compresslevel=1) if packed else path.open("wb") as file:
            write(file)
        return path

    large_parquet(folder / "i.parquet")
    return [
        made("a.warc", lambda file: large_warc(file, bytes)),
        made("b.warc.gz", lambda file: large_warc(file, lambda data: gzip.compress(data, 1))),
        made("c.warc.gz", lambda file: large_warc(file, bytes), packed=True),
        made("d.jsonl.gz", large_jsonl, packed=True),
        made("e.csv.gz", lambda file: large_csv(file, quoted=True), packed=True),
        made("f.csv.gz", lambda file: large_csv(file, quoted=False), packed=True),
        made("g.cdx.gz", large_cdx, packed=True),
        folder / "i.parquet",
    ]


def test_memory_stays_flat_whatever_the_size_of_a_file(large_files: list[Path]) -> None:
    found = read_apart(*large_files)
    assert [(told["pages"], told["damaged"], told["error"]) for told in found] == [(PAGES, 0, None)] * len(large_files)
    # Each holds 250 MB of pages. Some batches of 16 MiB and a window of 33 MiB are in memory at most.
    assert max(told["grown_mib"] for told in found) < 160, [told["grown_mib"] for told in found]


# Hostile files, made when they are needed: they would fill the memory of the tests otherwise.

JSON = b'{"url":"http://b/","text":"x"}\n'
LONG = 50 * MIB


def bomb(compress: Callable[[bytes], bytes], encoding: bytes) -> bytes:
    """Three records, and the body of the second grows to 256 MiB."""
    body = compress(bytes(256 * MIB))
    return GOOD + warc(http(body, b"Content-Encoding: " + encoding), DIGEST, url=b"http://a.test/bomb") + GOOD


def gzip_fast(data: bytes) -> bytes:
    return gzip.compress(data, 1)


def brotli_fast(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=0))


def endless(start: bytes, end: bytes, middle: bytes = b"x" * MIB) -> bytes:
    """Hundreds of megabytes between start and end, compressed; members are repeated, so that it is quickly made."""
    return gzipped(start) + gzipped(middle) * 256 + gzipped(end)


def zip_bomb() -> bytes:
    """A WACZ with 256 MiB of zeros behind one record."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("archive/a.warc", "w") as member:
        member.write(GOOD)
        member.write(bytes(256 * MIB))
    return file.getvalue()


def many_entries() -> bytes:
    """A zip file with a directory of 30 MB."""
    directory = (b"PK\x01\x02" + bytes(24) + b"\x0f" + bytes(17) + b"archive/a.warcx") * 500_000
    return b"PK\x03\x04" + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0, 0, len(directory), 4, 0)


def large_dictionary() -> bytes:
    """Four gigabytes of pages in a file of some kilobytes."""
    file = io.BytesIO()
    which = pa.array([n % 2 for n in range(100_000)])
    bodies = pa.DictionaryArray.from_arrays(which, pa.array([b"x" * 40_000, b"y" * 40_000]))
    pq.write_table(pa.table({"url": [f"http://a.test/{n}" for n in range(100_000)], "html": bodies}), file)
    return file.getvalue()


# Name of the file, how it is made, how many pages must come out.
SMALL: dict[str, tuple[Callable[[], bytes], int]] = {
    "claims-10-gigabytes.warc": (lambda: GOOD + warc(http(b"x"), length=b"10737418240") + GOOD * 9, 10),
    "claims-10-gigabytes.warc.gz": (lambda: gzipped(GOOD, warc(http(b"x"), length=b"10737418240"), *[GOOD] * 9), 10),
    "huge-record.warc.gz": (lambda: gzipped(GOOD) + gzip_fast(warc(http(bytes(256 * MIB)), DIGEST)) + gzipped(GOOD), 3),
    "endless-zeros.warc.gz": (lambda: endless(GOOD, b"", bytes(MIB)), 1),
    "url-of-50-megabytes.warc": (lambda: GOOD + warc(http(b"x"), url=b"http://a/" + b"x" * LONG) + GOOD, 2),
    "many-marks.warc.gz": (lambda: gzipped(GOOD) + b"\x1f\x8b\x08\x00" * 500_000 + gzipped(GOOD), 1),
    "many-frames.warc.zst": (lambda: zstd(GOOD) + b"\x28\xb5\x2f\xfd" * 500_000 + zstd(GOOD), 1),
    "many-records.warc": (lambda: GOOD + b"\r\nWARC/1.0\r\nContent-Length: 30000000\r\n\r\n" * 50_000, 1),
    "many-entries.wacz": (many_entries, 0),
    "bomb.parquet.gz": (lambda: endless(b"PAR1", b"", bytes(2 * MIB)), 0),
    "tiny-members.jsonl.gz": (lambda: gzipped(JSON) + gzipped(b"") * 100_000 + gzipped(JSON), 2),
    "bomb.html.gz": (lambda: endless(b"<html>", b""), 0),
    "bomb.wacz": (zip_bomb, 1),
    "huge-record-in-one-member.warc.gz": (lambda: gzip_fast(GOOD + warc(http(bytes(256 * MIB)), DIGEST) + GOOD), 3),
    "tiny-members-body.warc": (lambda: GOOD + warc(http(gzipped(b"") * 300_000, b"Content-Encoding: gzip")) + GOOD, 3),
    "tiny-chunks-body.warc": (lambda: GOOD + warc(http(b"2\r\nxx\r\n" * 1_000_000, b"Transfer-Encoding: chunked")), 2),
    "gzip-body.warc": (lambda: bomb(gzip_fast, b"gzip"), 3),
    "gzip-in-gzip-body.warc": (lambda: bomb(lambda data: gzip_fast(gzip_fast(data)), b"gzip, gzip"), 3),
    "deflate-body.warc": (lambda: bomb(lambda data: zlib.compress(data, 1), b"deflate"), 3),
    "zstd-body.warc": (lambda: bomb(zstandard.compress, b"zstd"), 3),
    "brotli-body.warc": (lambda: bomb(brotli_fast, b"br"), 3),
    "body.wacz": (lambda: wacz({"archive/a.warc": bomb(gzip_fast, b"gzip")}), 3),
    "endless-line.jsonl.gz": (lambda: endless(JSON[:-5], JSON[-5:] + JSON), 1),
    "endless-line.csv.gz": (lambda: endless(b"url,text\nhttp://a/,", b"\nhttp://b/,x\n"), 1),
    "endless-header.csv.gz": (lambda: endless(b"url,text,", b"\nhttp://b/,x\n"), 0),
    "endless-zeros.jsonl.zst": (lambda: zstd(JSON, bytes(256 * MIB)), 1),
    "wide-header.tsv": (lambda: b"url\ttext" + b"\t" * 20 * MIB + b"\nhttp://a/\tx\n", 0),
}
LARGE: dict[str, tuple[Callable[[], bytes], int]] = {
    "endless-cell.csv.gz": (lambda: endless(b'url,text\nhttp://a/,"', b'"\n', (b"x" * 9999 + b"\n") * 100), 0),
    "large-dictionary.parquet": (large_dictionary, 100_000),
    "url-of-50-megabytes.jsonl": (lambda: b'{"url":"http://a/%b","text":"x"}\n' % (b"x" * LONG) + JSON, 1),
    "url-of-50-megabytes.csv": (lambda: b"url,text\nhttp://a/%b,x\nhttp://b/,x\n" % (b"x" * LONG), 1),
    "url-of-random-megabytes.tsv": (lambda: b"url\ttext\n%b\tx\nhttp://b/\tx\n" % random_bytes(LONG), 1),
    "url-of-50-megabytes.cdx": (lambda: b" CDX a k\nhttp://a/%b D\nhttp://b/ D\n" % (b"x" * LONG), 1),
}
HARMLESS = {"tiny-chunks-body.warc", "tiny-members-body.warc", "tiny-members.jsonl.gz", "large-dictionary.parquet"}
HARMLESS |= {"bomb.wacz"}  # zeros behind the last record are padding


REFUSALS = {
    "bomb.parquet.gz": "grows more than 100-fold",
    "many-entries.wacz": "a huge directory",
    "wide-header.tsv": "more than 10,000 columns",
}


def random_bytes(size: int) -> bytes:
    """Bytes that can stand in a cell."""
    return os.urandom(size).translate(None, b'\n\r \t,"')


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """What came out of each hostile file, read one after the other in one process."""
    folder = tmp_path_factory.mktemp("hostile")
    cases = SMALL | LARGE
    for name, (make, _) in cases.items():
        (folder / name).write_bytes(make())
    yield dict(zip(cases, read_apart(*(folder / name for name in cases)), strict=True))
    for name in cases:
        (folder / name).unlink()


@pytest.mark.parametrize("name", SMALL | LARGE)
def test_a_hostile_file_costs_little_memory_and_is_counted(hostile: dict[str, dict[str, Any]], name: str) -> None:
    told = hostile[name]
    assert told["pages"] == (SMALL | LARGE)[name][1], told
    # A line of the largest size (64 MiB), and two pieces of 32 MiB as zstd gives them, may be held at once.
    assert told["grown_mib"] < (160 if name in SMALL else 350), told
    assert REFUSALS.get(name, "") in (told["error"] or ""), told
    if name not in HARMLESS:
        assert told["damaged"] or told["skipped"] or told["limited"] or told["error"], told


@pytest.mark.parametrize("kind", ["warc", "csv", "tsv", "jsonl", "cdx"])
def test_urls_of_random_bytes_are_escaped_or_counted(tmp_path: Path, kind: str) -> None:
    urls = [b"http://a/" + random_bytes(60) for _ in range(50)]
    data = {
        "warc": lambda: b"".join(warc(http(b"x"), url=url) for url in urls),
        "csv": lambda: b"url,text\n" + b"".join(url + b",x\n" for url in urls),
        "tsv": lambda: b"url\ttext\n" + b"".join(url + b"\tx\n" for url in urls),
        "jsonl": lambda: b"".join(b'{"url":"%b","text":"x"}\n' % url for url in [b"http://a/", *urls]),
        "cdx": lambda: b" CDX a k\n" + b"".join(url + b" D\n" for url in urls),
    }[kind]()
    table, tally = read_bytes(tmp_path, data, f"a.{kind}")
    assert tally.records >= len(urls)
    assert table.num_rows > 0
    assert all(url.startswith("http://a/") for url in table["url"].to_pylist())


def test_a_disk_that_fails_is_an_input_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            if not data:
                raise OSError(5, "Input/output error")
            return data

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Failing(gzipped(GOOD, GOOD))))
    with pytest.raises(InputError, match="stdin: cannot be read: Input/output error; check the disk"):
        read_table("-")
