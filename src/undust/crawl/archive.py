"""Writes pages as WARC, and cuts off at the next start what the state of the crawl does not know of.

A unique page is a `response` record; a page whose body was seen before is a `revisit`, which refers to it.
"""

import gzip
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path

from undust import __version__
from undust.errors import OutputError

IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
SAME_TEXT = "urn:undust:revisit:same-text"
"""Profile of a page with another body and the same text, or one alike: archives replay the page it refers to."""

MAX_FILE_BYTES = 2**30
"""A file of the archive is closed when it holds this much, as archives do."""

Headers = Iterable[tuple[bytes, bytes]]


class Archive:
    """Files `pages-00000.warc.gz` and so on in a folder, written to at the end only."""

    def __init__(self, folder: Path, number: int = 0, length: int = 0) -> None:
        self._folder, self.number, self.length = folder, number, length
        try:
            folder.mkdir(exist_ok=True)
            for path in folder.glob("pages-*.warc.gz"):
                if path.name > self._path().name:
                    path.unlink()
            self._file = self._path().open("ab")
            self._file.truncate(length)
            self._file.seek(length)
        except OSError as error:
            raise self._error(error) from error
        if not length:
            self._info()

    def _path(self) -> Path:
        return self._folder / f"pages-{self.number:05d}.warc.gz"

    def place(self) -> str:
        """Say where the next record will be."""
        return f"{self._path().name}:{self.length}"

    def response(self, url: str, time: datetime, head: bytes, body: bytes, *, digest: str) -> None:
        """Write a page that is new."""
        headers = {
            "WARC-Target-URI": url,
            "WARC-Payload-Digest": digest,
            "Content-Type": "application/http; msgtype=response",
        }
        self._record("response", time, headers, head + body)

    def revisit(self, url: str, time: datetime, head: bytes, *, digest: str, first: str, same_body: bool) -> None:
        """Write that a page is one that is there already."""
        headers = {
            "WARC-Target-URI": url,
            "WARC-Payload-Digest": digest,
            "WARC-Profile": IDENTICAL if same_body else SAME_TEXT,
            "WARC-Refers-To-Target-URI": first,
            "Content-Type": "application/http; msgtype=response",
        }
        self._record("revisit", time, headers, head)

    def flush(self) -> None:
        """Hand to the system what was written."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise self._error(error) from error

    def _info(self) -> None:
        body = f"software: undust {__version__}\r\nformat: WARC File Format 1.1\r\n".encode()
        headers = {"WARC-Filename": self._path().name, "Content-Type": "application/warc-fields"}
        self._record("warcinfo", datetime.now(UTC), headers, body)

    def _record(self, kind: str, time: datetime, headers: dict[str, str], block: bytes) -> None:
        if self.length > MAX_FILE_BYTES:
            self.close()
            self.number, self.length = self.number + 1, 0
            try:
                self._file = self._path().open("wb")
            except OSError as error:
                raise self._error(error) from error
            self._info()
        lines = [
            "WARC/1.1",
            f"WARC-Type: {kind}",
            f"WARC-Record-ID: <urn:uuid:{uuid.uuid4()}>",
            f"WARC-Date: {time:%Y-%m-%dT%H:%M:%SZ}",
            *(f"{name}: {value}" for name, value in headers.items()),
            f"Content-Length: {len(block)}",
        ]
        member = gzip.compress("\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n", 6)
        try:
            self._file.write(member)
        except OSError as error:
            raise self._error(error) from error
        self.length += len(member)

    def _error(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self._path()}: cannot be written: {error.strerror or error}; make room, then go on with --resume"
        )


def payload_digest(body: bytes) -> str:
    """Give the digest of a body as archives write it."""
    import base64

    return "sha1:" + base64.b32encode(sha1(body, usedforsecurity=False).digest()).decode()


def http_head(status: int, headers: Headers, length: int) -> bytes:
    """Write the head of a response whose codings were undone; no header can break out of its line."""
    gone = {b"content-encoding", b"transfer-encoding", b"content-length"}
    lines = [f"HTTP/1.1 {status} ".encode()]
    for name, value in headers:
        if name.lower() not in gone:
            lines.append(
                name.replace(b"\r", b" ").replace(b"\n", b" ") + b": " + value.replace(b"\r", b" ").replace(b"\n", b" ")
            )
    lines.append(f"Content-Length: {length}".encode())
    return b"\r\n".join(lines) + b"\r\n\r\n"
