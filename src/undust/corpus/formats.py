"""Tells the format of a source by its content, by its name only where the content says nothing."""

from dataclasses import dataclass
from pathlib import PurePath

from undust.corpus import cdx
from undust.corpus.decompress import compression_of, head_of
from undust.corpus.streams import Source
from undust.errors import InputError

PEEK_BYTES = 192 * 2**10
"""Enough for the first block of a zstd frame."""

HEAD_BYTES = 64 * 2**10

_BOM = b"\xef\xbb\xbf"
_COMPRESSED_ENDINGS = {".gz", ".zst", ".bz2", ".lz4"}
_BY_ENDING = {
    ".warc": "warc",
    ".wet": "warc",
    ".wat": "warc",
    ".cdx": "cdx",
    ".cdxj": "cdxj",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
}
_WHAT_TO_GIVE = "give WARC, WACZ, CDX, CDXJ, JSONL, CSV or TSV with a header line, Parquet, or HTML"


@dataclass(frozen=True, slots=True)
class Format:
    """Name of a format and of the compression around it."""

    name: str
    compression: str | None = None


def format_of(source: Source) -> Format:
    """The format of a source, which is not moved; `InputError` where it has none that can be read."""
    raw = source.peek(PEEK_BYTES)
    if not raw:
        raise InputError(f"{source.name}: is empty; give a file with pages in it")
    compression = compression_of(raw)
    if compression == "lz4":
        return Format("warc", "lz4")
    if raw.startswith(b"\x5d\x2a\x4d\x18"):
        return Format("warc", "zstd")  # the frame that holds the dictionary of a WARC.zst
    head = head_of(raw, compression, HEAD_BYTES)
    name = _by_content(head, source.name) or _by_name(source.name)
    # Of an archive the first record may be damaged, and others not.
    if not head.strip() and len(head) < HEAD_BYTES and (name != "warc" or compression is None):
        raise InputError(f"{source.name}: holds nothing; give a file with pages in it")
    if name is None:
        raise InputError(f"{source.name}: not a format that undust reads; {_WHAT_TO_GIVE}")
    if name == "wacz" and compression is not None:
        raise InputError(f"{source.name}: {name} inside {compression}; decompress it first")
    return Format(name, compression)


def _by_content(head: bytes, source: str) -> str | None:
    for magic, name in (
        (b"WARC/", "warc"),
        (b"PAR1", "parquet"),
        (b"PK\x03\x04", "wacz"),
        (b"filedesc://", "arc"),
    ):
        if head.startswith(magic):
            if name == "arc":
                raise InputError(f"{source}: an ARC file, the format before WARC; convert it with warcio recompress")
            return name
    text = head.removeprefix(_BOM)
    if text[1:4] == b"CDX" and cdx.fields_of(text.partition(b"\n")[0]) is not None:
        return "cdx"
    text = text.lstrip()
    if text.startswith(b"["):
        raise InputError(f"{source}: a JSON array; write one JSON object on each line instead")
    if text.startswith(b"{"):
        return "jsonl"
    if text.startswith(b"<"):
        return "html"
    return _by_first_line(text)


def _by_first_line(text: bytes) -> str | None:
    line = next((line for line in text.split(b"\n") if line.strip() and not line.startswith(b"!")), b"")
    if cdx.CDXJ_LINE.match(line):
        return "cdxj"
    if cdx.looks_like_cdx(line):
        return "cdx"
    for delimiter, name in ((b"\t", "tsv"), (b",", "csv")):
        if b"url" in [cell.strip(b'" \r').lower() for cell in line.split(delimiter)] and delimiter in line:
            return name
    return None


def _by_name(source: str) -> str | None:
    endings = [ending.lower() for ending in PurePath(source).suffixes]
    while endings and endings[-1] in _COMPRESSED_ENDINGS:
        endings.pop()
    return _BY_ENDING.get(endings[-1]) if endings else None
