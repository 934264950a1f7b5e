"""Writes the faulty files of tests/data/faulty anew, each named for its fault: python -m tests.data.make_faulty."""

import io
from pathlib import Path

import pyarrow.parquet as pq

from tests.corpus_files import cdx, delimited, gzipped, http, jsonl, page_record, parquet, wacz, warc, zstd

FOLDER = Path(__file__).parent / "faulty"

GOOD = [page_record(number) for number in range(4)]
HTML = b"<p>hello</p>"


def among(bad: bytes) -> list[bytes]:
    """Four good records with a bad one between them."""
    return [*GOOD[:2], bad, *GOOD[2:]]


def flipped(data: bytes, at: int) -> bytes:
    """The same bytes, but for one."""
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def damaged_parquet() -> bytes:
    """Three row groups, the second of which cannot be read."""
    rows = [{"url": f"http://a.test/{number}", "text": f"page {number}"} for number in range(6)]
    data = parquet(rows, row_group_size=2, use_dictionary=False)
    at = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(1).column(1).data_page_offset
    return data[:at] + b"\xff" * 20 + data[at + 20 :]


def files() -> dict[str, bytes]:
    """Names and bytes of all faulty files."""
    wrong = warc(http(HTML * 9), length=b"60")
    archive = {"archive/a.warc.gz": gzipped(*GOOD[:2]), "archive/b.warc.gz": gzipped(*GOOD[2:])}
    return {
        "empty.warc.gz": b"",
        "text.warc": b"This is no archive.\n" * 9,
        "old-format.arc": b"filedesc://old.arc 0.0.0.0 20000101000000 text/plain 76\n1 0 x\n",
        "cut-in-a-record.warc.gz": gzipped(*GOOD)[:-40],
        "cut-in-a-record.warc": b"".join(GOOD)[:-12],
        "cut-in-a-header.warc": b"".join(GOOD[:3]) + GOOD[3][:50],
        "cut-in-the-first-record.warc": GOOD[0][:100],
        "length-too-short.warc": b"".join(among(wrong)),
        "length-too-short.warc.gz": gzipped(*among(wrong)),
        "length-too-short-all-in-one-member.warc.gz": gzipped(b"".join(among(wrong))),
        "length-too-long.warc": b"".join(among(warc(http(HTML), length=b"200"))),
        "length-10-gigabytes.warc": b"".join(among(warc(http(HTML), length=b"10737418240"))),
        "length-10-gigabytes.warc.gz": gzipped(*among(warc(http(HTML), length=b"10737418240"))),
        "no-length.warc": b"".join(among(warc(http(HTML)).replace(b"Content-Length", b"Content-Width"))),
        "rubbish-between-records.warc": b"".join(among(b"rubbish\r\n" * 9)),
        "rubbish-between-members.warc.gz": gzipped(*GOOD[:2]) + b"rubbish" * 9 + gzipped(*GOOD[2:]),
        "wrong-check-sum.warc.gz": gzipped(*GOOD[:2]) + flipped(gzipped(GOOD[0]), -6) + gzipped(*GOOD[2:]),
        "damaged-frame.warc.zst": zstd(*GOOD[:2]) + flipped(zstd(GOOD[0]), 5) + zstd(*GOOD[2:]),
        "http-0.9.warc": b"".join(among(warc(b"<html>no headers at all"))),
        "damaged-gzip-body.warc": b"".join(
            among(warc(http(b"\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff\xff", b"Content-Encoding: gzip")))
        ),
        "damaged-chunks.warc": b"".join(
            among(warc(http(b"5\r\nhello\r\nxyz\r\nworld", b"Transfer-Encoding: chunked")))
        ),
        "cut.wacz": wacz(archive)[:500],
        "no-directory.wacz": wacz(archive)[:-60],
        "no-archive.wacz": wacz({"pages/pages.jsonl": b"{}"}),
        "short-line.cdx": cdx() + b"test,a)/ 20240101000000 http://a.test/\n",
        "no-digest-field.cdx": b" CDX N b a\ntest,a)/ 20240101000000 http://a.test/\n",
        "not-json.jsonl": jsonl() + b"not json\n" + jsonl(),
        "cut-in-a-line.jsonl": jsonl()[:-20],
        "cut.jsonl.gz": gzipped(jsonl())[:-20],
        "array.json": b"[" + jsonl().replace(b"\n", b",")[:-1] + b"]",
        "unclosed-quote.csv": delimited(",") + b'http://a.test/,"<p>never closed\n',
        "no-url-column.csv": b"address,text\nhttp://a.test/,x\n",
        "not-utf8.tsv": b"url\ttext\nhttp://a.test/caf\xe9\tna\xefve\n",
        "cut.parquet": parquet()[:-30],
        "damaged-row-group.parquet": damaged_parquet(),
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(60),
    }


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for name, data in files().items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
