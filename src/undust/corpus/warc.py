"""Reads WARC files, plain or compressed, with FastWARC; starts anew behind damaged places."""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from fastwarc import ArchiveIterator, WarcHeader, WarcRecord, WarcRecordType
from fastwarc.stream_io import ZstdReader
from fastwarc.warc import HeaderMap

from undust.corpus.batches import PageRows
from undust.corpus.bodies import (
    MAX_HEAD_BYTES,
    BodyDamaged,
    BodyTooLarge,
    Response,
    decode_body,
    parse_response,
)
from undust.corpus.reading import Reading
from undust.corpus.resync import RecordFinder
from undust.corpus.streams import Source

MAX_REREAD_BYTES = 2**30
"""How much may be read twice in search of records that a damaged one swallowed; a bound on hostile files."""

_SWALLOWED = re.compile(rb"\nWARC/[01]\.\d")
"""In the block of a record that is followed by no record: it states too long a length, others are inside."""

_URI = WarcHeader.WARC_TARGET_URI
_DATE = WarcHeader.WARC_DATE
_DIGEST = WarcHeader.WARC_PAYLOAD_DIGEST
_TYPE = WarcHeader.CONTENT_TYPE
_LENGTH = WarcHeader.CONTENT_LENGTH
_WARC_TYPE = WarcHeader.WARC_TYPE

_RESPONSE = int(WarcRecordType.response)
_RESOURCE = int(WarcRecordType.resource)
_REVISIT = int(WarcRecordType.revisit)
_CONVERSION = int(WarcRecordType.conversion)
_QUIET = {
    int(WarcRecordType.request): "request record",
    int(WarcRecordType.metadata): "metadata record",
    int(WarcRecordType.warcinfo): "warcinfo record",
    int(WarcRecordType.continuation): "continuation record",
}


def read(source: Source, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of a WARC file."""
    return _WarcRead(source, reading).batches()


class _Broken(Exception):  # noqa: N818 - caught here
    """The file cannot be read on from here; the message says why."""


class _Moved(Exception):  # noqa: N818 - caught here
    """The source was moved to the start of another record."""


class _WarcRead:
    """One read of one file: where it is, what it gathered."""

    def __init__(self, source: Source, reading: Reading) -> None:
        self._source = source
        self._reading = reading
        self._tally = reading.tally
        self._rows = PageRows(source.name, reading.tally)
        self._finder = RecordFinder(source)
        self._max_block = reading.max_body_bytes + MAX_HEAD_BYTES
        self._at = 0  # offset of the record looked at last
        self._block = b""  # its block
        self._rows_before = 0  # pages gathered before it
        self._reread = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Pages, up to the end of the file and over all damaged places."""
        again = True
        found = False  # whether the read starts at a record that was searched for
        while again:
            again = False
            try:
                for record in ArchiveIterator(self._opened(), parse_http=False):
                    self._at = max(self._at, record.stream_pos)
                    found = False
                    self._take(record)
                    if self._rows.full:
                        yield self._rows.take()
            except _Moved:
                again = True
            except (_Broken, OSError) as error:
                # A record that was searched for may be the very one that failed: one damaged place, not two.
                again = found = self._search(None if found else str(error))
        if len(self._rows):
            yield self._rows.take()

    def _opened(self) -> Any:
        if self._finder.dictionary is not None and self._source.tell() > 0:
            return ZstdReader(self._source, dictionary=self._finder.dictionary)
        return self._source

    def _search(self, damage: str | None) -> bool:
        """Go to the next record behind the last one; false at the end of the file."""
        if damage is not None and _SWALLOWED.search(self._block):
            damage = "record states a length that it does not have"
            self._reread += len(self._block)
            if len(self._rows) > self._rows_before:
                self._rows.drop_last()
        if damage is not None:
            self._damage(damage)
        self._block = b""
        after = self._at if self._reread <= MAX_REREAD_BYTES else max(self._at, self._source.tell())
        found = self._finder.next_after(after)
        self._at = after if found is None else found
        return found is not None

    def _take(self, record: WarcRecord) -> None:
        """Add the page of a record, if it is one."""
        length = record.content_length
        headers = record.headers
        if length > self._max_block:
            self._take_large(record, length)
            return
        self._rows_before = len(self._rows)
        self._block = b""
        if length:
            block = record.reader.read(length)
            if len(block) < length:
                self._reread += len(block)
                raise _Broken(f"record ends after {len(block)} of {length} bytes")
            self._block = block
        elif (headers.get_bytes(_LENGTH) or b"-").strip(b" \t0"):
            raise _Broken("record without a usable Content-Length")
        self._page(int(record.record_type), headers, self._block)

    def _take_large(self, record: WarcRecord, length: int) -> None:
        """Leave out a block that may not exist at all, and do not let it swallow what follows."""
        start = record.stream_pos
        if int(record.record_type) in (_RESPONSE, _RESOURCE, _CONVERSION):
            self._bodiless(record.headers, parse_response(record.reader.read(MAX_HEAD_BYTES)))
        else:
            self._tally.skip(self._reading.body_over)
        self._block = b""
        if self._finder.compression is None:
            size = self._source.size()
            if size is None or start + length <= size:
                return  # FastWARC passes over it
            raise _Broken(f"record states {length} bytes, the file ends before that")
        here = self._source.tell()
        # Compressed files have a record in each member, and the next one is quicker found than decompressed to.
        # A file that is one member has no next one.
        if self._finder.next_after(start) is not None:
            self._at = self._source.tell()
            raise _Moved
        self._source.rewind(here)

    def _page(self, kind: int, headers: HeaderMap, block: bytes) -> None:
        quiet = _QUIET.get(kind)
        if quiet is not None:
            self._tally.skip(quiet)
            return
        url = headers.get_bytes(_URI)
        if url is None:
            if headers.get_bytes(_WARC_TYPE) is None:
                self._damage("record without WARC-Type")
            else:
                self._tally.skip("no URL")
            return
        if not url.startswith(b"http"):
            url = _bare_url(url)
            if url is None:
                self._tally.skip("not http")
                return
        if kind == _RESPONSE:
            self._response(url, headers, block)
        elif kind == _REVISIT:
            self._revisit(url, headers, block)
        elif kind == _RESOURCE:
            self._resource(url, headers, block)
        elif kind == _CONVERSION:
            self._conversion(url, headers, block)
        else:
            self._tally.skip("record of unknown type")

    def _response(self, url: bytes, headers: HeaderMap, block: bytes) -> None:
        response = parse_response(block)
        if response is None:
            self._damage("no HTTP response in the record")
            return
        status = response.status
        if status != 200 and not self._reading.any_status:
            self._tally.skip(f"status {status}")
            return
        try:
            body = decode_body(response, self._reading.max_body_bytes)
        except BodyDamaged as error:
            self._damage(str(error))
            return
        except BodyTooLarge:
            self._bodiless(headers, response)
            return
        self._rows.add(
            url,
            html=body,
            digest=headers.get_bytes(_DIGEST),
            status=status,
            content_type=response.content_type,
            time=headers.get_bytes(_DATE),
        )

    def _bodiless(self, headers: HeaderMap, response: Response | None) -> None:
        """A page whose body is too large stays one where its digest says what it is."""
        url = _bare_url(headers.get_bytes(_URI) or b"")
        digest = headers.get_bytes(_DIGEST)
        status = None if response is None else response.status
        if status not in (None, 200) and not self._reading.any_status:
            self._tally.skip(f"status {status}")
        elif digest is None or url is None:
            self._tally.skip(self._reading.body_over)
        else:
            self._tally.limit(self._reading.body_over)
            content_type = headers.get_bytes(_TYPE) if response is None else response.content_type
            time = headers.get_bytes(_DATE)
            self._rows.add(url, digest=digest, status=status, content_type=content_type, time=time)

    def _revisit(self, url: bytes, headers: HeaderMap, block: bytes) -> None:
        digest = headers.get_bytes(_DIGEST)
        response = parse_response(block)
        status = None if response is None else response.status
        if digest is None:
            self._tally.skip("revisit record without digest")
        elif status not in (None, 200, 304) and not self._reading.any_status:
            self._tally.skip(f"status {status}")
        else:
            content_type = None if response is None else response.content_type
            time = headers.get_bytes(_DATE)
            self._rows.add(url, digest=digest, status=status, content_type=content_type, time=time)

    def _resource(self, url: bytes, headers: HeaderMap, block: bytes) -> None:
        if len(block) > self._reading.max_body_bytes:
            self._bodiless(headers, None)
            return
        digest = headers.get_bytes(_DIGEST)
        content_type = headers.get_bytes(_TYPE)
        self._rows.add(url, html=block, digest=digest, content_type=content_type, time=headers.get_bytes(_DATE))

    def _conversion(self, url: bytes, headers: HeaderMap, block: bytes) -> None:
        content_type = headers.get_bytes(_TYPE) or b""
        if not content_type.lower().startswith(b"text/plain"):
            self._tally.skip("conversion record that is not text")
        elif len(block) > self._reading.max_body_bytes:
            self._bodiless(headers, None)
        else:
            self._rows.add(url, text=block, content_type=content_type, time=headers.get_bytes(_DATE))

    def _damage(self, what: str) -> None:
        self._tally.damage(self._source.name, what, offset=self._at)


def _bare_url(url: bytes) -> bytes | None:
    """The URL without the angle brackets that wget once wrote; nothing where it is not of the web."""
    bare = url.strip().removeprefix(b"<").removesuffix(b">")
    return bare if bare[:8].lower().startswith((b"http://", b"https://")) else None
