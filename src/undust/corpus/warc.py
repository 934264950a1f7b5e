"""Reads WARC files, plain or compressed, with FastWARC; starts anew behind damaged places."""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from undust import settings
from undust.corpus.batches import Page, PageRows
from undust.corpus.bodies import MAX_HEAD_BYTES
from undust.corpus.decompress import Plain
from undust.corpus.reading import Reading
from undust.corpus.records import Damaged, Limited, Outcome, Skipped, outcome_of, outcome_of_large
from undust.corpus.resync import RecordFinder, holds_many
from undust.corpus.streams import WINDOW_BYTES, Source
from undust.corpus.tally import Tally
from undust.errors import InputError

# After records.py, which deals with what FastWARC warns of when it is imported.
from fastwarc import ArchiveIterator, GzipReader, WarcHeader, WarcRecord, ZstdReader  # isort: skip

MAX_REREAD_BYTES = 2**30
"""How much may be read twice in search of records that a damaged one swallowed; a bound on hostile files."""

_MAX_HEADER_BYTES = settings.MAX_URL_BYTES + MAX_HEAD_BYTES

_STEP_BYTES = 2**20

_SWALLOWED = re.compile(rb"\nWARC/[01]\.\d")
"""In the block of a record that is followed by no record: it states too long a length, others are inside."""

_CLEAN_END = re.compile(rb"(?:\r?\n){2}|[\r\n]*\Z")
"""What stands behind the block of a record that has the length it states."""

_LENGTH = WarcHeader.CONTENT_LENGTH


def read(source: Source, compression: str | None, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of a WARC file."""
    source.window_bytes = max(WINDOW_BYTES, reading.max_body_bytes + _STEP_BYTES)
    if compression == "bzip2" or (compression is not None and holds_many(source, compression)):
        # Records are not members here, so that damage must be passed in the plain bytes.
        plain = Plain(source, compression, reading.tally)
        inner = Source(plain, source.name, Tally(), seekable=False, window_bytes=source.window_bytes)
        return _WarcRead(inner, None, reading, plain).batches()
    return _WarcRead(source, compression, reading, None).batches()


class _Broken(Exception):  # noqa: N818 - caught here
    """The file cannot be read on from here; the message says why."""


class _WarcRead:
    """One read of one file: where it is, what it gathered."""

    def __init__(self, source: Source, compression: str | None, reading: Reading, plain: Plain | None) -> None:
        self._source = source
        self._reading = reading
        self._plain = plain
        self._rows = PageRows(source.name, reading.tally)
        self._finder = RecordFinder(source, compression)
        self._max_block = reading.max_body_bytes + MAX_HEAD_BYTES
        self._members: Any = None  # the reader of a compressed file, which knows where its members start
        self._seen = source.peek(5) == b"WARC/"  # whether there is any record
        self._at = 0  # offset of the record looked at last
        self._block = b""
        self._outcome: Outcome | None = None  # of that record; it counts when the next shows that it ended well
        self._damaged_at = -1
        self._reread = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Pages, up to the end of the file and over all damaged places."""
        more = True
        while more:
            try:
                for record in ArchiveIterator(self._opened(), parse_http=False, max_header_len=_MAX_HEADER_BYTES):
                    self._settle()
                    if self._rows.full:
                        yield self._rows.take()
                    self._seen = True
                    self._at = record.stream_pos if self._members is None else self._members.frame_start_position()
                    self._take(record)
                self._check_end()
                more = False
            except (_Broken, OSError) as error:
                more = self._search(str(error))
        self._settle()
        if not self._seen:
            raise InputError(f"{self._source.name}: no WARC record in it; give a file that is what its name says")
        if len(self._rows):
            yield self._rows.take()

    def _opened(self) -> Any:
        if self._finder.compression == "gzip":
            self._members = GzipReader(self._source)  # type: ignore[arg-type] # needs no seek
        elif self._finder.compression == "zstd":
            self._members = ZstdReader(self._source, dictionary=self._finder.dictionary)  # type: ignore[arg-type]
        return self._members or self._source

    def _take(self, record: WarcRecord) -> None:
        """Find out what a record is; that its block is all there is known when this is done."""
        length = record.content_length
        self._block = b""
        if length > self._max_block:
            self._take_large(record, length)
            return
        if length:
            block = record.reader.read(length)
            if len(block) < length:
                self._reread += len(block)
                raise _Broken(f"record ends after {len(block):,} of {length:,} bytes")
            self._block = block
        elif (record.headers.get_bytes(_LENGTH) or b"-").strip(b" \t0"):
            raise _Broken("record without a usable Content-Length")
        self._outcome = outcome_of(int(record.record_type), record.headers, self._block, self._reading)

    def _take_large(self, record: WarcRecord, length: int) -> None:
        """Pass over a block that may not exist at all, and do not let it swallow what follows."""
        size = self._source.size()
        if self._finder.compression is None and size is not None and self._at + length > size:
            raise _Broken(f"record states {length:,} bytes, the file ends before that")
        start = record.reader.read(MAX_HEAD_BYTES)
        passed = len(start)
        while passed < length and (step := record.reader.consume(min(_STEP_BYTES, length - passed))):
            passed += step
            if self._members is not None and self._members.frame_start_position() != self._at:
                raise _Broken(f"record states {length:,} bytes, another follows before that")
        if passed < length:
            self._reread += passed
            raise _Broken(f"record ends after {passed:,} of {length:,} bytes")
        self._outcome = outcome_of_large(int(record.record_type), record.headers, start, self._reading)

    def _check_end(self) -> None:
        """At the end of the file, look for a record that was cut so early that FastWARC says nothing."""
        if self._members is None:
            # A header without block that is cut behind its Content-Length looks like a whole one.
            if self._outcome is not None and not self._block and self._finder.behind_block(self._at) is None:
                raise _Broken("record ends inside its header")
            return
        member = self._members.frame_start_position()
        if member is None or (member == self._at and self._block):
            return
        data = self._source.read_at(member, WINDOW_BYTES)
        if data and len(data) < WINDOW_BYTES and not self._finder.is_whole(data):
            if member == self._at:
                self._outcome = None
            self._damage(f"{self._finder.compression} member ends early", member)

    def _search(self, problem: str) -> bool:
        """Go to the next record behind a damaged place, which is counted; false at the end of the file."""
        place = behind = self._at
        if self._outcome is not None and (_SWALLOWED.search(self._block) or not self._ended_well()):
            problem = "record states a length that it does not have"
            self._outcome = None
            self._reread += len(self._block)
        elif self._outcome is not None:
            self._settle()
            place = self._expected()
            behind = place - 1 if self._members is None else self._at
            if self._finder.only_zeros_at(place):
                return False  # tape blocks and some writers fill up with zeros
        self._block = b""
        if self._reread > MAX_REREAD_BYTES:
            behind = max(behind, self._source.tell())
        found = self._finder.next_after(behind)
        if found is not None or self._plain is None or not self._plain.cut:  # a cut is counted already
            self._damage(problem, place)
        self._at = behind if found is None else found
        return found is not None

    def _ended_well(self) -> bool:
        """Whether the last record is followed by what should follow one, where that can still be seen."""
        if self._reread > MAX_REREAD_BYTES:
            return True
        behind = self._finder.behind_block(self._at)
        return behind is not None and _CLEAN_END.match(behind) is not None

    def _expected(self) -> int:
        """Where the next record should have been."""
        if self._members is not None:
            return max(self._at, self._members.frame_start_position() or 0)
        end = self._finder.block_end(self._at)
        if end is None:
            return self._source.tell()
        behind = self._source.read_at(end, 64) or b""
        return end + len(behind) - len(behind.lstrip(b"\r\n"))

    def _settle(self) -> None:
        """Count what became of the last record."""
        outcome, self._outcome = self._outcome, None
        if isinstance(outcome, Page):
            self._rows.add(outcome)
        elif isinstance(outcome, Skipped):
            self._reading.tally.skip(outcome.reason)
        elif isinstance(outcome, Damaged):
            self._damage(outcome.what, self._at)
        elif isinstance(outcome, Limited):
            self._reading.tally.limit(self._reading.body_over)
            self._rows.add(outcome.page)

    def _damage(self, what: str, offset: int) -> None:
        # A damaged record is found again by the search behind the record before it: one place, not two.
        if offset != self._damaged_at:
            self._damaged_at = offset
            what = what if self._plain is None else f"{what} (counted in the decompressed bytes)"
            self._reading.tally.damage(self._source.name, what, offset=offset)
