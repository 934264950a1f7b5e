"""Writes pages into an archive, WARC or JSONL, that is complete or absent."""

import contextlib
import gzip
import os
import uuid
import zlib
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

import orjson

from undust.asides import forget, open_aside
from undust.errors import OutputError, UsageError

FORMATS = ("warc", "jsonl")
_TIME = "2010-04-26T00:00:00Z"  # always the same: the same web gives the same bytes


class Archive:
    """Takes pages one by one; the file is put in place when all went well."""

    def __init__(self, folder: Path, form: str) -> None:
        if form not in FORMATS:
            raise UsageError(f"unknown format of pages {form!r}; one of {', '.join(FORMATS)}")
        self.path = folder / f"pages.{form}.gz"
        self._form = form

    def __enter__(self) -> Self:
        try:
            self._raw, self._aside = open_aside(str(self.path))
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}; choose another folder") from error
        self._file: IO[bytes] = self._raw
        if self._form == "jsonl":
            self._file = cast(
                IO[bytes], gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=self._raw, mtime=0)
            )
        else:
            self._file.write(_record("warcinfo", "", b"software: undust synth\r\nformat: WARC File Format 1.0\r\n"))
        return self

    def add(self, url: str, body: bytes) -> None:
        """Add the page of a URL."""
        if self._form == "jsonl":
            self._file.write(orjson.dumps({"url": url, "html": body.decode()}, option=orjson.OPT_APPEND_NEWLINE))
            return
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        self._file.write(_record("response", url, head.encode() + body))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._file is not self._raw:
                self._file.close()
            self._raw.flush()
            os.fsync(self._raw.fileno())
            if kind is None:
                Path(self._aside).replace(self.path)
        except OSError as problem:
            raise OutputError(f"{self.path}: cannot be written: {problem.strerror}; make room on the disk") from problem
        finally:
            with contextlib.suppress(OSError):
                self._raw.close()
            forget(self._aside)


def _record(kind: str, url: str, block: bytes) -> bytes:
    """Write a record of a WARC file, as a gzip member of its own."""
    media = "application/warc-fields" if kind == "warcinfo" else "application/http;msgtype=response"
    target = f"WARC-Target-URI: {url}\r\n" if url else ""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\n{target}WARC-Date: {_TIME}\r\n"
        f"WARC-Record-ID: <urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, url)}>\r\n"
        f"Content-Type: {media}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(head.encode() + block + b"\r\n\r\n") + packer.flush()
