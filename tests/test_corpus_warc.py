"""The WARC reader: what each kind of record becomes, how bodies are decoded, and how damage is passed."""

import gzip
import io
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import brotli
import pyarrow as pa
import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from tests.corpus_files import (
    RECORDS,
    ROWS,
    WARCINFO,
    gzipped,
    http,
    only,
    page_record,
    read_bytes,
    read_table,
    rows_of,
    wacz,
    warc,
    zstd,
)
from undust import corpus
from undust.corpus.bodies import BodyDamaged, BodyTooLarge, decode_body, parse_response
from undust.corpus.times import parse_time
from undust.errors import InputError, UsageError

HTML = b"<p>hello</p>"
TYPE = b"Content-Type: text/html"
DIGEST = b"WARC-Payload-Digest: sha1:AAAA"
PAGE = warc(http(HTML, TYPE))


def read_one_record(tmp_path: Path, record: bytes, **options: Any) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Rows and skip counts of a file with one record between two good ones."""
    first, last = page_record(1), page_record(2)
    table, tally = read_bytes(tmp_path, first + record + last, "a.warc", **options)
    rows = rows_of(table)
    assert [rows[0]["url"], rows[-1]["url"]] == ["http://a.test/1", "http://a.test/2"]
    assert tally.pages == len(rows)
    skipped = dict(tally.skipped)
    return rows[1:-1], skipped | ({"damaged": tally.damaged} if tally.damaged else {})


# What a record becomes: name, record, columns of the page that must be there (or None), what is counted.
KINDS: list[tuple[str, bytes, dict[str, Any] | None, dict[str, int]]] = [
    ("a response is a page", PAGE, {"html": HTML, "status": 200, "content_type": "text/html"}, {}),
    ("with its digest", warc(http(HTML), DIGEST), {"html": HTML, "digest": "sha1:AAAA"}, {}),
    ("HTTP/2 has a shorter status line", warc(http(HTML, version=b"HTTP/2", status=b"200")), {"html": HTML}, {}),
    ("no reason is needed", warc(http(HTML, status=b"200")), {"status": 200}, {}),
    ("an empty body is a body", warc(http(b"")), {"html": b""}, {}),
    ("headers only", warc(b"HTTP/1.1 200 OK\r\n" + TYPE), {"html": b"", "content_type": "text/html"}, {}),
    ("bare newlines", warc(b"HTTP/1.1 200 OK\n" + TYPE + b"\n\n" + HTML), {"html": HTML, "status": 200}, {}),
    ("a bare newline before a usual blank line", warc(b"HTTP/1.1 200 OK\nA: b\n\r\n" + HTML), {"html": HTML}, {}),
    ("a blank line in the body is no end of headers", warc(http(b"a\r\n\r\nb\n\nc")), {"html": b"a\r\n\r\nb\n\nc"}, {}),
    ("100 Continue stands before", warc(b"HTTP/1.1 100 Continue\r\n\r\n" + http(HTML)), {"html": HTML}, {}),
    ("another status is no page", warc(http(HTML, status=b"404 Not Found")), None, {"status 404": 1}),
    ("nor is a redirect", warc(http(b"", status=b"301 Moved")), None, {"status 301": 1}),
    ("a revisit is its digest", warc(http(b"", TYPE), DIGEST, kind=b"revisit"), {"digest": "sha1:AAAA"}, {}),
    ("a revisit without HTTP headers", warc(b"", DIGEST, kind=b"revisit"), {"digest": "sha1:AAAA", "html": None}, {}),
    ("a revisit never has a body", warc(http(HTML), DIGEST, kind=b"revisit"), {"html": None}, {}),
    (
        "a revisit that was not modified",
        warc(http(b"", status=b"304 Not Modified"), DIGEST, kind=b"revisit"),
        {"digest": "sha1:AAAA", "status": 304},
        {},
    ),
    (
        "a revisit of an error page",
        warc(http(b"", status=b"404 Not Found"), DIGEST, kind=b"revisit"),
        None,
        {"status 404": 1},
    ),
    ("a revisit that says nothing", warc(http(b""), kind=b"revisit"), None, {"revisit record without digest": 1}),
    (
        "a resource has no HTTP headers",
        warc(HTML, TYPE, DIGEST, kind=b"resource"),
        {"html": HTML, "status": None, "content_type": "text/html", "digest": "sha1:AAAA"},
        {},
    ),
    (
        "a conversion to text is text",
        warc(b"plain words", b"Content-Type: text/plain", kind=b"conversion"),
        {"text": "plain words", "html": None},
        {},
    ),
    (
        "another conversion is none",
        warc(b"...", b"Content-Type: image/png", kind=b"conversion"),
        None,
        {"conversion record that is not text": 1},
    ),
    ("a request", warc(b"GET / HTTP/1.1\r\n\r\n", kind=b"request"), None, {"request record": 1}),
    ("metadata", warc(b"fetchTimeMs: 1\r\n", kind=b"metadata"), None, {"metadata record": 1}),
    ("warcinfo", WARCINFO, None, {"warcinfo record": 1}),
    ("a continuation", warc(b"...", kind=b"continuation"), None, {"continuation record": 1}),
    ("an unknown type", warc(HTML, kind=b"strange"), None, {"record of unknown type": 1}),
    ("DNS", warc(b"a.test 1 IN A 1.2.3.4", url=b"dns:a.test", kind=b"response"), None, {"not http": 1}),
    ("FTP", warc(HTML, url=b"ftp://a.test/x", kind=b"resource"), None, {"not http": 1}),
    ("no URL", warc(http(HTML), url=None), None, {"no URL": 1}),
    ("a URL in angle brackets", warc(http(HTML), url=b"<http://a.test/x>"), {"url": "http://a.test/x"}, {}),
    ("a URL in capitals", warc(http(HTML), url=b"HTTP://A.test/"), {"url": "HTTP://A.test/"}, {}),
    ("a URL with stray bytes", warc(http(HTML), url=b"http://a.test/\xe9\xff"), {"url": "http://a.test/%E9%FF"}, {}),
    ("a URL in UTF-8", warc(http(HTML), url="http://a.test/é".encode()), {"url": "http://a.test/é"}, {}),
    ("a long URL", warc(http(HTML), url=b"http://a.test/" + b"x" * 60_000), {"html": HTML}, {}),
    ("too long a URL", warc(http(HTML), url=b"http://a.test/" + b"x" * 70_000), None, {"URL over 64 KiB": 1}),
    ("HTTP/0.9 has no headers", warc(b"<html>old</html>"), None, {"damaged": 1}),
    ("rubbish", warc(b"\x00\x01\x02 rubbish"), None, {"damaged": 1}),
    ("an empty response", warc(b""), None, {"damaged": 1}),
    ("headers without end", warc(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000), None, {"damaged": 1}),
    ("no WARC-Type", PAGE.replace(b"WARC-Type: response\r\n", b""), None, {"record of unknown type": 1}),
    ("WARC 1.1", PAGE.replace(b"WARC/1.0", b"WARC/1.1"), {"html": HTML}, {}),
    ("a charset that is not UTF-8", warc(http(HTML, b"Content-Type: \xff")), {"content_type": "\ufffd"}, {}),
    ("the first of two content types", warc(http(HTML, TYPE, b"Content-Type: a/b")), {"content_type": "text/html"}, {}),
    ("a date that is none", PAGE.replace(b"2024-02-29", b"2023-02-29"), {"time": None, "html": HTML}, {}),
]


@pytest.mark.parametrize(("name", "record", "page", "counted"), KINDS, ids=[case[0] for case in KINDS])
def test_a_record_becomes_a_page_or_is_counted(
    tmp_path: Path, name: str, record: bytes, page: dict[str, Any] | None, counted: dict[str, int]
) -> None:
    rows, skipped = read_one_record(tmp_path, record)
    assert skipped == counted
    assert len(rows) == (page is not None)
    if page is not None:
        assert {column: rows[0][column] for column in page} == page


def test_every_status_is_a_page_on_request(tmp_path: Path) -> None:
    rows, skipped = read_one_record(tmp_path, warc(http(HTML, status=b"404 Not Found")), any_status=True)
    assert (rows[0]["status"], rows[0]["html"], skipped) == (404, HTML, {})


def test_the_time_of_a_record_is_read(tmp_path: Path) -> None:
    rows, _ = read_one_record(tmp_path, PAGE.replace(b"2024-02-29T12:30:59Z", b"2024-02-29T12:30:59.123456Z"))
    assert rows[0]["time"] == ROWS[0]["time"]


# Bodies

RAW_DEFLATE = zlib.compress(HTML * 9)[2:-4]
CHUNKED = b"6\r\n<p>hel\r\n6;ext=1\r\nlo</p>\r\n0\r\n\r\n"
GZIP = gzip.compress(HTML * 9, mtime=0)
BROTLI = brotli.compress(HTML * 9)
ZSTD = zstandard.compress(HTML * 9)


def chunked(data: bytes, size: int = 10) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])


# Name, headers, body as sent, body as meant (None: damaged).
BODIES: list[tuple[str, list[bytes], bytes, bytes | None]] = [
    ("plain", [], HTML, HTML),
    ("chunked", [b"Transfer-Encoding: chunked"], CHUNKED, HTML),
    ("chunked in capitals", [b"transfer-encoding: Chunked"], CHUNKED, HTML),
    ("chunked, but undone", [b"Transfer-Encoding: chunked"], HTML, HTML),
    ("chunked, undone, begins like a chunk", [b"Transfer-Encoding: chunked"], b"abc\ndef", b"abc\ndef"),
    ("chunked with bare newlines", [b"Transfer-Encoding: chunked"], CHUNKED.replace(b"\r", b""), HTML),
    ("chunked and cut", [b"Transfer-Encoding: chunked"], CHUNKED[:22], b"<p>hello"),
    ("chunked without end", [b"Transfer-Encoding: chunked"], CHUNKED[:-5], HTML),
    ("chunked and damaged", [b"Transfer-Encoding: chunked"], CHUNKED[:11] + b"xyz" + CHUNKED[11:], None),
    ("gzip", [b"Content-Encoding: gzip"], GZIP, HTML * 9),
    ("x-gzip", [b"Content-Encoding: x-gzip"], GZIP, HTML * 9),
    ("gzip, but undone", [b"Content-Encoding: gzip"], HTML, HTML),
    ("gzip and cut", [b"Content-Encoding: gzip"], gzip.compress(bytes(range(256)))[:-9], bytes(range(256))[:-1]),
    ("gzip in two members", [b"Content-Encoding: gzip"], GZIP + GZIP, HTML * 18),
    ("gzip and padding", [b"Content-Encoding: gzip"], GZIP + b"\0\0\0", HTML * 9),
    ("gzip and damaged", [b"Content-Encoding: gzip"], GZIP[:12] + b"\xff\xff\xff" + GZIP[15:], None),
    ("deflate", [b"Content-Encoding: deflate"], zlib.compress(HTML * 9), HTML * 9),
    ("deflate without its header", [b"Content-Encoding: deflate"], RAW_DEFLATE, HTML * 9),
    ("deflate, but undone", [b"Content-Encoding: deflate"], b"<p>", b"<p>"),
    ("deflate and damaged", [b"Content-Encoding: deflate"], b"\xff\xfe\x00\x01", None),
    ("br", [b"Content-Encoding: br"], BROTLI, HTML * 9),
    ("br, but undone", [b"Content-Encoding: br"], HTML, HTML),
    ("br and damaged", [b"Content-Encoding: br"], b"\xff\xfe\x00\x01\x02\x03\x04", None),
    ("zstd", [b"Content-Encoding: zstd"], ZSTD, HTML * 9),
    ("zstd, but undone", [b"Content-Encoding: zstd"], HTML, HTML),
    ("zstd and damaged", [b"Content-Encoding: zstd"], ZSTD[:6] + b"\xff\xff\xff\xff" + ZSTD[10:], None),
    ("gzip in chunks", [b"Content-Encoding: gzip", b"Transfer-Encoding: chunked"], chunked(GZIP), HTML * 9),
    ("br in chunks", [b"Content-Encoding: br", b"Transfer-Encoding: chunked"], chunked(BROTLI), HTML * 9),
    ("both as transfer encodings", [b"Transfer-Encoding: gzip, chunked"], chunked(GZIP), HTML * 9),
    ("gzip twice", [b"Content-Encoding: gzip, gzip"], gzip.compress(GZIP), HTML * 9),
    (
        "gzip twice in two headers",
        [b"Content-Encoding: gzip", b"Content-Encoding: gzip"],
        gzip.compress(GZIP),
        HTML * 9,
    ),
    ("identity", [b"Content-Encoding: identity"], HTML, HTML),
    ("an encoding that nobody knows", [b"Content-Encoding: rot13"], HTML, HTML),
    ("an encoding named by mistake", [b"Content-Encoding: UTF-8"], HTML, HTML),
]


@pytest.mark.parametrize(("name", "headers", "sent", "meant"), BODIES, ids=[case[0] for case in BODIES])
def test_a_body_is_what_the_server_meant(
    tmp_path: Path, name: str, headers: list[bytes], sent: bytes, meant: bytes | None
) -> None:
    rows, counted = read_one_record(tmp_path, warc(http(sent, *headers)))
    if meant is None:
        assert (rows, counted) == ([], {"damaged": 1})
    else:
        assert ([row["html"] for row in rows], counted) == ([meant], {})


@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate", "br", "zstd", "chunked"])
def test_a_body_of_the_largest_size_is_read_and_one_byte_more_is_not(encoding: str) -> None:
    body = b"x" * 5000
    packed = {
        "identity": bytes,
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": brotli.compress,
        "zstd": zstandard.compress,
        "chunked": chunked,
    }[encoding](body)
    kind = b"Transfer" if encoding == "chunked" else b"Content"
    response = parse_response(http(packed, kind + b"-Encoding: " + encoding.encode()))
    assert response is not None
    assert bytes(decode_body(response, 5000)) == body
    with pytest.raises(BodyTooLarge):
        decode_body(response, 4999)


def test_a_damaged_body_says_which_encoding() -> None:
    response = parse_response(http(GZIP[:10] + b"\xff" * 9, b"Content-Encoding: gzip"))
    assert response is not None
    with pytest.raises(BodyDamaged, match="gzip body is damaged"):
        decode_body(response, 5000)


def test_a_page_over_the_limit_stays_as_its_digest(tmp_path: Path) -> None:
    records = [
        warc(http(b"x" * 5000), DIGEST, url=b"http://a.test/plain"),
        warc(http(gzip.compress(b"x" * 5000), b"Content-Encoding: gzip"), DIGEST, url=b"http://a.test/gzip"),
        warc(b"x" * 5000, DIGEST, kind=b"resource", url=b"http://a.test/resource"),
        warc(http(b"x" * 5000), url=b"http://a.test/no-digest"),
        warc(http(b"x" * 5000, status=b"404 Not Found"), DIGEST, url=b"http://a.test/404"),
        warc(http(b"x" * 999), DIGEST, url=b"http://a.test/small"),
    ]
    table, tally = read_bytes(tmp_path, b"".join(records), max_body_bytes=1000)
    assert table["url"].to_pylist() == [f"http://a.test/{name}" for name in ("plain", "gzip", "resource", "small")]
    assert table["html"].to_pylist() == [None, None, None, b"x" * 999]
    assert table["digest"].to_pylist() == ["sha1:AAAA"] * 4
    assert tally.limited == {"body over 1000 bytes": 3}
    assert tally.skipped == {"body over 1000 bytes": 1, "status 404": 1}


@pytest.mark.parametrize("limit", [-1, 2**40])
def test_a_limit_that_no_batch_can_hold_is_refused(tmp_path: Path, limit: int) -> None:
    with pytest.raises(UsageError, match="max_body_bytes"):
        read_bytes(tmp_path, PAGE, max_body_bytes=limit)


@pytest.mark.parametrize("compress", [lambda *r: b"".join(r), gzipped, zstd], ids=["plain", "gzip", "zstd"])
def test_a_large_record_is_passed_over_and_the_next_is_read(tmp_path: Path, compress: Any) -> None:
    large = warc(http(b"x" * 3_000_000), DIGEST, url=b"http://a.test/large")
    large_request = warc(b"x" * 3_000_000, kind=b"request")
    data = compress(page_record(1), large, page_record(2), large_request, page_record(3))
    table, tally = read_bytes(tmp_path, data, max_body_bytes=1000)
    assert table["url"].to_pylist() == [f"http://a.test/{name}" for name in ("1", "large", "2", "3")]
    assert (tally.damaged, tally.limited.total(), tally.skipped) == (0, 1, {"request record": 1})


# Damage: what stands between two good records, and what must be said of it.
GOOD = [page_record(number) for number in range(6)]
WRONG_LENGTH = "record states a length that it does not have"
DAMAGE: list[tuple[str, bytes, str]] = [
    ("length too short", warc(http(HTML * 9), length=b"60"), WRONG_LENGTH),
    ("length too short by one", warc(http(HTML), length=b"%d" % (len(http(HTML)) - 1)), WRONG_LENGTH),
    ("length too long", warc(http(HTML), length=b"200"), WRONG_LENGTH),
    ("length too long by one", warc(http(HTML), length=b"%d" % (len(http(HTML)) + 5)), WRONG_LENGTH),
    ("length of 10 GB", warc(http(HTML), length=b"10000000000"), "record states 10,000,000,000 bytes"),
    ("length of 1 MB", warc(http(HTML), length=b"1000000"), "record ends after"),
    ("length that no machine has", warc(http(HTML), length=b"9" * 30), "Content-Length"),
    ("length below zero", warc(http(HTML), length=b"-5"), "Content-Length"),
    ("length that is no number", warc(http(HTML), length=b"many"), "Content-Length"),
    ("no length", PAGE.replace(b"Content-Length", b"Content-Width"), "Content-Length"),
    ("rubbish between records", b"rubbish\r\n" * 20, "WARC header"),
    ("a header that is too long", warc(http(HTML), b"X: " + b"y" * 300_000), "header"),
    ("a header without end", b"WARC/1.0\r\n" + b"X" * 300_000 + b"\r\n\r\n", "header"),
    ("a version that nobody knows", PAGE.replace(b"WARC/1.0", b"WRAC/1.0"), "WARC header"),
]


@pytest.mark.parametrize("compress", ["plain", "gzip", "zstd", "whole gzip", "whole zstd", "wacz"])
@pytest.mark.parametrize(("name", "bad", "what"), DAMAGE, ids=[case[0] for case in DAMAGE])
def test_a_damaged_record_is_counted_and_the_others_are_read(
    tmp_path: Path, name: str, bad: bytes, what: str, compress: str
) -> None:
    records = [*GOOD[:3], bad, *GOOD[3:]]
    data = {
        "plain": lambda: b"".join(records),
        "gzip": lambda: gzipped(*records),
        "zstd": lambda: zstd(*records),
        "whole gzip": lambda: gzipped(b"".join(records)),
        "whole zstd": lambda: zstd(b"".join(records)),
        "wacz": lambda: wacz({"archive/a.warc.gz": gzipped(*records)}),
    }[compress]()
    table, tally = read_bytes(tmp_path, data, "a.warc")
    assert table["url"].to_pylist() == [f"http://a.test/{number}" for number in range(6)]
    assert tally.damaged == 1
    assert tally.pages == 6
    if compress == "plain":
        assert what in tally.listed[0].what
        assert tally.listed[0].offset == sum(map(len, GOOD[:3]))


def test_a_record_that_claims_too_much_swallows_nothing_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    # More follows than a pipe can step back.
    others = [warc(os.urandom(900_000), DIGEST, kind=b"resource") for _ in range(8)]
    data = gzipped(GOOD[0], warc(http(HTML), length=b"10000000000"), *others, GOOD[1])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    table, tally = read_table("-", max_body_bytes=1000)
    assert (table.num_rows, tally.damaged, tally.limited.total()) == (10, 1, 8)
    assert tally.listed[0].what == "record states 10,000,000,000 bytes, another follows before that"


def test_a_pipe_can_step_back_over_the_largest_block(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [warc(os.urandom(900_000), kind=b"resource") for _ in range(8)]
    data = b"".join([GOOD[0], warc(http(HTML), length=b"5000000"), *others, GOOD[1]])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    table, tally = read_table("-")
    assert (table.num_rows, tally.damaged) == (10, 1)


def test_damage_is_named_by_the_byte_where_it_starts(tmp_path: Path) -> None:
    members = [gzipped(record) for record in GOOD]
    broken = bytearray(members[2])
    broken[30:34] = b"\xff\xff\xff\xff"
    _, tally = read_bytes(tmp_path, b"".join([*members[:2], broken, *members[3:]]), "a.warc.gz")
    assert tally.listed[0].offset == len(members[0]) + len(members[1])
    assert tally.listed[0].source == str(tmp_path / "a.warc.gz")
    assert tally.summary().splitlines()[1].startswith(f"  {tmp_path / 'a.warc.gz'}: byte ")


@pytest.mark.parametrize("compress", [gzipped, zstd])
@pytest.mark.parametrize("place", [8, 20, 60, 100, -3])
@pytest.mark.parametrize("which", [0, 2, 5])
def test_a_damaged_member_costs_its_own_record_only(tmp_path: Path, compress: Any, place: int, which: int) -> None:
    members = [bytearray(compress(record)) for record in GOOD]
    for by in range(3):
        members[which][place + by] ^= 0x5A
    table, tally = read_bytes(tmp_path, b"".join(members), "a.warc.gz")
    lost = set(range(6)) - {int(url[-1]) for url in table["url"].to_pylist()}
    assert lost <= {which}
    if lost or compress is gzipped:  # a zstd frame may have no check sum
        assert tally.damaged == 1


def test_two_damaged_members_in_a_row_are_two(tmp_path: Path) -> None:
    members = [bytearray(gzipped(record)) for record in GOOD]
    for which in (2, 3):
        members[which][60:64] = b"\xff\xff\xff\xff"
    table, tally = read_bytes(tmp_path, b"".join(members), "a.warc.gz")
    assert [url[-1] for url in table["url"].to_pylist()] == ["0", "1", "4", "5"]
    assert tally.damaged == 2


def test_rubbish_before_the_first_record_is_passed(tmp_path: Path) -> None:
    table, tally = read_bytes(tmp_path, b"rubbish\r\n" * 50 + b"".join(GOOD), "a.warc")
    assert (table.num_rows, tally.damaged) == (6, 1)


@pytest.mark.parametrize("compress", [lambda *r: b"".join(r), gzipped])
def test_zeros_at_the_end_are_padding(tmp_path: Path, compress: Any) -> None:
    table, tally = read_bytes(tmp_path, compress(*GOOD) + bytes(10_000), "a.warc")
    assert (table.num_rows, tally.damaged) == (6, 0)


def test_a_cut_file_is_continued_by_the_next_one(tmp_path: Path) -> None:
    whole = gzipped(*GOOD)
    table, tally = read_bytes(tmp_path, whole[:-30] + whole, "a.warc.gz")
    assert table.num_rows == 5 + 6
    assert tally.damaged == 1


def test_a_record_that_holds_an_archive_is_one_page(tmp_path: Path) -> None:
    inner = b"".join(GOOD)
    data = b"".join([GOOD[0], warc(http(inner), url=b"http://a.test/archive"), GOOD[1]])
    table, tally = read_bytes(tmp_path, data, "a.warc")
    assert table["url"].to_pylist() == ["http://a.test/0", "http://a.test/archive", "http://a.test/1"]
    assert (table["html"][1].as_py(), tally.damaged) == (inner, 0)


def test_a_large_record_that_holds_a_compressed_archive_is_one_page(tmp_path: Path) -> None:
    inner = gzipped(*GOOD)
    stored = gzip.compress(warc(http(inner * 99), DIGEST, url=b"http://a.test/archive"), compresslevel=0)
    table, tally = read_bytes(tmp_path, gzipped(GOOD[0]) + stored + gzipped(GOOD[1]), max_body_bytes=1000)
    assert table["url"].to_pylist() == ["http://a.test/0", "http://a.test/archive", "http://a.test/1"]
    assert (tally.damaged, tally.limited.total()) == (0, 1)


def test_a_header_without_block_that_was_cut_is_damaged(tmp_path: Path) -> None:
    revisit = b"WARC/1.0\r\nWARC-Type: revisit\r\nContent-Length: 0\r\nWARC-Target-URI: http://a.test/long\r\n"
    revisit += b"WARC-Payload-Digest: sha1:ABCDEF\r\n\r\n\r\n\r\n"
    for cut in (92, 110, 115):
        for data in (GOOD[0] + revisit[:cut], gzipped(GOOD[0]) + gzipped(revisit)[: cut - 20]):
            table, tally = read_bytes(tmp_path, data, "a.warc")
            assert (table.num_rows, tally.damaged) == (1, 1), (cut, data)
    table, tally = read_bytes(tmp_path, GOOD[0] + revisit, "a.warc")
    assert (table["digest"].to_pylist(), tally.damaged) == ([None, "sha1:ABCDEF"], 0)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_zstd_archive_with_a_dictionary_is_read_and_resynchronized(tmp_path: Path, compressed: bool) -> None:
    dictionary = zstandard.train_dictionary(2048, [page_record(number) * 3 for number in range(500)])
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    frames = [packer.compress(record) for record in GOOD]
    stored = dictionary.as_bytes()
    stored = zstandard.compress(stored) if compressed else stored
    head = struct.pack("<II", 0x184D2A5D, len(stored)) + stored
    table, tally = read_bytes(tmp_path, head + b"".join(frames), "a.warc.zst")
    assert (table.num_rows, tally.damaged) == (6, 0)
    table, tally = read_bytes(tmp_path, head + b"".join([*frames[:2], b"rubbish" * 9, *frames[2:]]), "a.warc.zst")
    assert (table.num_rows, tally.damaged) == (6, 1)


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("text.warc", b"just some text\n" * 99, "no WARC record in it"),
        ("text.warc.gz", gzipped(b"just some text\n" * 99), "no WARC record in it"),
        ("old.arc.gz", gzipped(b"filedesc://x.arc 0.0.0.0 20000101000000 text/plain 76\n"), "an ARC file"),
        ("table.lz4", b"\x04\x22\x4d\x18" + b"x" * 99, "no WARC record in it"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        read_bytes(tmp_path, data, name)
    assert str(caught.value).startswith(str(tmp_path / name))


# WACZ


def test_a_zip_file_without_archives_is_refused(tmp_path: Path) -> None:
    for data in (wacz({"pages/pages.jsonl": b"{}"}), wacz({"pages/pages.jsonl": b"{}"})[:-30]):
        with pytest.raises(InputError, match="without archive/"):
            read_bytes(tmp_path, data, "a.wacz")


def test_a_damaged_member_of_a_wacz_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    data = bytearray(wacz({"archive/a.warc.gz": gzipped(*GOOD[:3]), "archive/b.warc.gz": gzipped(*GOOD[3:])}, 8))
    at = data.find(b"archive/a.warc.gz") + 80
    data[at : at + 8] = b"\xff" * 8
    table, tally = read_bytes(tmp_path, bytes(data), "a.wacz")
    assert [url[-1] for url in table["url"].to_pylist()[-3:]] == ["3", "4", "5"]
    assert tally.damaged == 1
    assert "archive/a.warc.gz" in tally.listed[0].source


@pytest.mark.parametrize("method", [12, 14])  # bzip2, LZMA
def test_a_member_packed_in_a_way_that_wacz_does_not_allow_is_counted(tmp_path: Path, method: int) -> None:
    table, tally = read_bytes(tmp_path, wacz({"archive/a.warc": b"".join(GOOD)}, method), "a.wacz")
    assert (table.num_rows, tally.damaged) == (0, 1)


def test_sources_of_a_wacz_name_the_archive_inside(tmp_path: Path) -> None:
    table, _ = read_bytes(tmp_path, wacz({"archive/a.warc.gz": gzipped(*GOOD)}), "a.wacz")
    assert set(table["source"].to_pylist()) == {f"{tmp_path / 'a.wacz'}:archive/a.warc.gz"}


# The oracle


def by_warcio(path: Path) -> list[tuple[str, bytes, int, str | None, str | None]]:
    """Pages as warcio sees them."""
    pages = []
    with path.open("rb") as file:
        for record in WarcioIterator(file):
            if record.rec_type != "response" or record.http_headers is None:
                continue
            headers = record.rec_headers
            status = int(record.http_headers.get_statuscode())
            if status == 200:
                body = record.content_stream().read()
                content_type = record.http_headers.get_header("Content-Type")
                digest = headers.get_header("WARC-Payload-Digest")
                pages.append((headers.get_header("WARC-Target-URI"), body, status, content_type, digest))
    return pages


@pytest.mark.parametrize("crawl", ["autoindex", "docs", "dokuwiki", "dokuwiki_sid", "wordpress"])
def test_real_crawls_give_what_warcio_gives(shared_data: Path, crawl: str) -> None:
    path = shared_data / "webapps" / f"{crawl}.warc.gz"
    table, tally = read_table(path)
    expected = by_warcio(path)
    assert len(expected) > 1000
    columns = ("url", "html", "status", "content_type", "digest")
    found = list(zip(*(table[name].to_pylist() for name in columns), strict=True))
    assert found == expected
    assert tally.damaged == 0
    assert tally.bytes == path.stat().st_size


def test_made_up_records_give_what_warcio_gives(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(gzipped(*RECORDS))
    table, _ = read_table(tmp_path / "a.warc.gz")
    assert [tuple(row.values()) for row in table.select(["url", "html"]).to_pylist()] == [
        (url, body) for url, body, *_ in by_warcio(tmp_path / "a.warc.gz")
    ]


def test_batches_are_small_and_rows_keep_their_order(tmp_path: Path) -> None:
    body = b"x" * 2_000_000
    records = [warc(http(body + b"%d" % number), url=b"http://a.test/%d" % number) for number in range(30)]
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(records))
    batches = list(corpus.read_pages([path], tally=corpus.Tally()))
    assert len(batches) > 2
    assert all(batch.nbytes < 20 * 2**20 for batch in batches)
    table = pa.Table.from_batches(batches)
    assert rows_of(table) == only(
        ("url", "html", "status", "time"),
        [
            {"url": f"http://a.test/{n}", "html": body + b"%d" % n, "status": 200, "time": ROWS[0]["time"]}
            for n in range(30)
        ],
    )


# Name, text, seconds since 1970.
TIMES = [
    ("2024-02-29T12:30:59Z", 1709209859),
    ("2024-02-29T12:30:59.5Z", 1709209859),
    ("2024-02-29T14:30:59+02:00", 1709209859),
    ("2024-02-29T10:00:59-02:30", 1709209859),
    ("2024-02-29 12:30:59", 1709209859),
    ("20240229123059", 1709209859),
    ("20240229123059999", 1709209859),
    ("1709209859", 1709209859),
    ("1709209859.25", 1709209859),
    ("1709209859250", 1709209859),
    ("2024-02-29", 1709164800),
    ("20240229", 1709164800),
    ("2024", 1704067200),
    ("2016-12-31T23:59:60Z", 1483228799),  # a leap second
    ("2016-12-31T23:59:61Z", None),
    ("2023-02-29", None),
    ("0000-01-01", None),
    ("yesterday", None),
    ("", None),
    ("12", None),
]


@pytest.mark.parametrize(("text", "seconds"), TIMES)
def test_a_time_is_read_in_every_spelling(text: str, seconds: int | None) -> None:
    assert parse_time(text.encode()) == seconds


def test_stderr_stays_silent_when_fastwarc_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import undust.corpus.warc"], capture_output=True, check=True
    )
    assert done.stderr == b""
