"""The same few pages written in every format that can be read, and the records that such files are made of."""

import bz2
import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from undust import corpus
from undust.corpus import Tally
from undust.tables import PAGES

TIME = datetime(2024, 2, 29, 12, 30, 59, tzinfo=UTC)
ISO = b"2024-02-29T12:30:59Z"
DIGITS = "20240229123059"

Row = dict[str, Any]

ROWS: list[Row] = [
    {
        "url": f"http://site{number % 3}.test/path/{number}?q={number}&r=%20",
        "html": f"<html><title>Page {number}</title><p>{'text of page ' * number}{number}</html>".encode(),
        "digest": f"sha1:{'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[number % 32 :]:A<32}",
        "status": 200,
        "content_type": "text/html; charset=utf-8",
        "time": TIME,
    }
    for number in range(12)
]
"""What every reader must give, as far as its format can say it."""

ALL = tuple(ROWS[0])


def read_table(path: str | Path, **options: Any) -> tuple[pa.Table, Tally]:
    """All pages of an input, and what was counted."""
    tally = Tally()
    batches = list(corpus.read_pages([path], tally=tally, **options))
    table = pa.Table.from_batches(batches, PAGES)
    table.validate(full=True)
    return table, tally


def read_bytes(folder: Path, data: bytes, name: str = "input", **options: Any) -> tuple[pa.Table, Tally]:
    """The same for bytes, by way of a file."""
    path = folder / name
    path.write_bytes(data)
    return read_table(path, **options)


def only(columns: tuple[str, ...], rows: list[Row] = ROWS) -> list[Row]:
    """Rows as they come out of a format that has these columns only, without `source`."""
    names = [name for name in PAGES.names if name != "source"]
    return [{name: row.get(name) if name in columns else None for name in names} for row in rows]


def rows_of(table: pa.Table) -> list[Row]:
    """Rows without `source`, which differs from file to file."""
    rows: list[Row] = table.drop_columns(["source"]).to_pylist()
    return rows


# WARC


def http(body: bytes, *headers: bytes, status: bytes = b"200 OK", version: bytes = b"HTTP/1.1") -> bytes:
    """An HTTP response."""
    return b"\r\n".join([version + b" " + status, *headers, b"", body])


def warc(
    block: bytes,
    *headers: bytes,
    kind: bytes = b"response",
    url: bytes | None = b"http://a.test/",
    length: bytes | None = None,
    end: bytes = b"\r\n\r\n",
) -> bytes:
    """One WARC record; `length` is what its header claims, if that is not the truth."""
    lines = [b"WARC/1.0", b"WARC-Type: " + kind, b"WARC-Date: " + ISO, *headers]
    lines += [] if url is None else [b"WARC-Target-URI: " + url]
    lines += [b"Content-Length: " + (b"%d" % len(block) if length is None else length)]
    return b"\r\n".join([*lines, b"", block]) + end


def page_record(number: int) -> bytes:
    """A plain response record with a page of its own."""
    body = b"<p>page %d</p>" % number
    return warc(http(body, b"Content-Type: text/html"), url=b"http://a.test/%d" % number)


def record_of(row: Row) -> bytes:
    """The response record of a row."""
    block = http(row["html"], b"Content-Type: " + row["content_type"].encode(), b"Server: x")
    return warc(block, b"WARC-Payload-Digest: " + row["digest"].encode(), url=row["url"].encode())


WARCINFO = warc(b"software: tests\r\n", kind=b"warcinfo", url=None)

RECORDS = [WARCINFO, *(record_of(row) for row in ROWS)]


# Compressions


def gzipped(*parts: bytes) -> bytes:
    """Each part as a member of its own."""
    return b"".join(gzip.compress(part, mtime=0) for part in parts)


def zstd(*parts: bytes) -> bytes:
    """Each part as a frame of its own."""
    return b"".join(zstandard.compress(part) for part in parts)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzipped,
    ".zst": zstd,
    ".bz2": bz2.compress,
}


# Tables of text


def cdx_line(row: Row, fields: str) -> str:
    """A line of a CDX file with the fields that the letters name."""
    values = {
        "N": "test,site)/",
        "b": DIGITS,
        "a": row["url"],
        "m": row["content_type"].replace(" ", ""),
        "s": str(row["status"]),
        "k": row["digest"],
        "V": "17",
        "S": "99",
        "g": "file.warc.gz",
    }
    return " ".join(values.get(letter, "-") for letter in fields.split())


def cdx(fields: str = "N b a m s k r M S V g", *, header: bool = True, rows: list[Row] = ROWS) -> bytes:
    """A CDX file."""
    lines = [f" CDX {fields}"] if header else []
    return "".join(f"{line}\n" for line in [*lines, *(cdx_line(row, fields) for row in rows)]).encode()


def cdxj(rows: list[Row] = ROWS) -> bytes:
    """A CDXJ file."""
    lines = []
    for row in rows:
        told = {"url": row["url"], "mime": row["content_type"], "status": str(row["status"]), "digest": row["digest"]}
        lines.append(f"test,site)/ {DIGITS} {json.dumps(told)}\n")
    return "".join(lines).encode()


def spelled(row: Row) -> dict[str, str | int]:
    """A row in types that JSON has."""
    return row | {"html": row["html"].decode(), "time": ISO.decode()}


def jsonl(rows: list[Row] = ROWS) -> bytes:
    """JSON lines."""
    return "".join(json.dumps(spelled(row)) + "\n" for row in rows).encode()


def delimited(delimiter: str, rows: list[Row] = ROWS) -> bytes:
    """CSV or TSV with a header line."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ALL, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(spelled(row) for row in rows)
    return text.getvalue().encode()


def parquet(rows: list[Row] = ROWS, **options: Any) -> bytes:
    """A Parquet file."""
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file, **options)
    return file.getvalue()


def wacz(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A WACZ with members as given and a data package."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo("datapackage.json"), "{}")
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            archive.writestr(info, data)
    return file.getvalue()


# The files of the contract


@dataclass(frozen=True)
class Sample:
    """A file that holds `ROWS`, as far as its format can."""

    name: str
    data: bytes
    columns: tuple[str, ...] = ALL
    content_type: str = "text/html; charset=utf-8"
    cuts: str = "records"
    """What a cut leaves: whole `records`, also an uncertain last `line`, whole `blocks` of compression, `nothing`."""
    starts: frozenset[int] = field(default_factory=frozenset)
    """Offsets where a record starts."""
    behind: int = 0
    """Bytes in front of these that tell nothing (newlines, check sums, names of archives): a cut there is no damage."""

    def is_harmless(self, cut: int) -> bool:
        """Whether a cut at an offset damages no record."""
        return any(cut + by in self.starts for by in range(self.behind + 1))

    @property
    def rows(self) -> list[Row]:
        """What must come out."""
        return only(self.columns, [row | {"content_type": self.content_type} for row in ROWS])


def _starts(parts: list[bytes]) -> frozenset[int]:
    at = 0
    found = {0}
    for part in parts:
        at += len(part)
        found.add(at)
    return frozenset(found)


def _warcs() -> list[Sample]:
    gz, zst = [gzipped(record) for record in RECORDS], [zstd(record) for record in RECORDS]
    plain = b"".join(RECORDS)
    half = len(RECORDS) // 2
    return [
        Sample("pages.warc", plain, starts=_starts(RECORDS), behind=4),
        Sample("pages.warc.gz", b"".join(gz), starts=_starts(gz), behind=16),
        Sample("pages.warc.zst", b"".join(zst), starts=_starts(zst), behind=16),
        Sample("whole.warc.gz", gzipped(plain)),
        Sample("whole.warc.zst", zstd(plain), cuts="blocks"),
        Sample("whole.warc.bz2", bz2.compress(plain), cuts="blocks"),
        Sample(
            "pages.wacz", wacz({"archive/a.warc.gz": b"".join(gz[:half]), "archive/b.warc.gz": b"".join(gz[half:])})
        ),
        Sample("packed.wacz", wacz({"archive/a.warc": plain}, zipfile.ZIP_DEFLATED)),
    ]


def _tables() -> list[Sample]:
    plain = "text/html;charset=utf-8"  # CDX has no spaces in a field
    known = ("url", "digest", "status", "content_type", "time")
    nine = "N b a m s k r V g"
    texts = [
        Sample("pages11.cdx", cdx(), known, plain, behind=13),
        Sample("pages9.cdx", cdx(nine), known, plain, behind=13),
        Sample("bare11.cdx", cdx(header=False), known, plain, behind=13),
        Sample("bare9.cdx", cdx(nine, header=False), known, plain, behind=13),
        Sample("pages.cdxj", cdxj(), known, behind=1),
        Sample("pages.jsonl", jsonl(), behind=1),
        Sample("pages.csv", delimited(","), cuts="line"),
        Sample("pages.tsv", delimited("\t"), cuts="line"),
    ]
    samples = []
    for text in texts:
        for ending, compress in COMPRESSIONS.items():
            starts = _starts(text.data.splitlines(keepends=True)) if not ending else frozenset()
            cuts = {"": text.cuts, ".gz": "records"}.get(ending, "blocks")
            data = compress(text.data)
            samples.append(replace(text, name=text.name + ending, data=data, cuts=cuts, starts=starts))
    return samples


SAMPLES = [
    *_warcs(),
    *_tables(),
    Sample("pages.parquet", parquet(), cuts="nothing"),
    Sample("groups.parquet", parquet(row_group_size=5), cuts="nothing"),
    Sample("pages.parquet.gz", gzipped(parquet()), cuts="nothing"),
]
