"""Reads CDX indexes, with or without their header line, and CDXJ."""

import itertools
import re
from collections.abc import Iterator

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from undust.corpus import columns as cols
from undust.corpus.decompress import Plain
from undust.corpus.delimited import BOM, unquoted_columns
from undust.corpus.lines import Block, line_blocks
from undust.corpus.reading import Reading
from undust.corpus.streams import Source
from undust.corpus.tally import Tally
from undust.errors import InputError

LETTERS = {"a": "url", "b": "time", "m": "content_type", "s": "status", "k": "digest"}
"""Letters of a CDX header that say something about a page."""

FIELDS_BY_COUNT = {
    7: "N b a m s k S",
    9: "N b a m s k r V g",
    10: "N b a m s k r M V g",
    11: "N b a m s k r M S V g",
}
"""Fields of files without header line: what the Wayback server answers, and the usual 9, 10 and 11."""

CDXJ_LINE = re.compile(rb"\S+ \d{4,17} \{")


def fields_of(line: bytes) -> tuple[str, list[str]] | None:
    """Delimiter and field letters that a header line states.

    >>> fields_of(b" CDX N b a m s k r M S V g")
    (' ', ['N', 'b', 'a', 'm', 's', 'k', 'r', 'M', 'S', 'V', 'g'])
    """
    delimiter = line[:1].decode("latin-1")
    if line[1:4] != b"CDX" or not delimiter or delimiter.isalnum() or delimiter in '\r\n"':
        return None
    if not delimiter.isascii():
        return None
    return delimiter, line[4:].decode("latin-1").strip("\r" + delimiter).split(delimiter)


def looks_like_cdx(line: bytes) -> bool:
    """Whether a line without header before it can only be CDX: right number of fields, 14 digits for the time."""
    parts = line.split()
    return len(parts) in FIELDS_BY_COUNT and len(parts[1]) == 14 and parts[1].isdigit()


def read(source: Source, compression: str | None, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of a CDX file."""
    blocks = line_blocks(Plain(source, compression, reading.tally), reading.tally)
    first = next(blocks, None)
    if first is None:
        return
    header, _, rest = first.data.removeprefix(BOM).partition(b"\n")
    stated = fields_of(header)
    if stated is not None:
        delimiter, letters = stated
        first = Block(first.line + 1, rest)
    else:
        delimiter, letters = " ", _guessed_fields(first.data)
    chosen = {LETTERS[letter]: i for i, letter in reversed(list(enumerate(letters))) if letter in LETTERS}
    if "url" not in chosen or "digest" not in chosen:
        raise InputError(f"{source.name}: CDX without the fields a (URL) and k (digest); write it with both")
    bad = _BadRows(source.name, len(letters), reading.tally)
    rows = 0
    for block in itertools.chain([first], blocks):
        if block.data:
            found = unquoted_columns(block, delimiter, len(letters), chosen, bad)
            rows += len(found["url"])
            yield from _pages(found, source.name, reading)
    if not rows and bad.count > 1:  # a single line may be the beginning of a file that was cut
        raise InputError(f"{source.name}: no line of it has the fields of CDX; give a file that is what its name says")


def _guessed_fields(data: bytes) -> list[str]:
    """Fields by the number that the first line with a known number of them has; 11 where none has."""
    for line in data[: 2**16].split(b"\n"):
        fields = FIELDS_BY_COUNT.get(len(line.split(b" ")))
        if fields is not None:
            return fields.split()
    return FIELDS_BY_COUNT[11].split()


class _BadRows:
    """Counts rows that have another number of fields."""

    def __init__(self, source: str, width: int, tally: Tally) -> None:
        self.count = 0
        self._source = source
        self._width = width
        self._tally = tally

    def __call__(self, line: int, cells: int, text: str) -> None:
        if text.strip(" \t\r") and fields_of(text.encode()) is None:  # files put together have headers inside
            self.count += 1
            self._tally.damage(self._source, f"{cells} fields instead of {self._width}", line=line)


def _pages(columns: cols.Columns, source: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    columns = {name: _dash_to_null(column) for name, column in columns.items()}
    # Archives index what they resolved and noted, too: dns:, whois:, urn:, metadata:.
    of_the_web = pc.fill_null(pc.match_substring_regex(columns["url"], "(?i)^https?:"), True)
    reading.tally.skip("not http", len(of_the_web) - (pc.sum(of_the_web).as_py() or 0))
    yield from cols.pages({name: column.filter(of_the_web) for name, column in columns.items()}, source, reading)


def _dash_to_null(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(column, b"-"), pa.scalar(None, pa.binary()), column)


def read_cdxj(source: Source, compression: str | None, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of a CDXJ file: key, time, JSON object on each line."""
    rows = 0
    damaged = reading.tally.damaged
    for block in line_blocks(Plain(source, compression, reading.tally), reading.tally):
        found = _cdxj_columns(block, source.name, reading.tally)
        rows += len(found["url"])
        if found["url"]:
            yield from _pages({n: pa.array(column, pa.binary()) for n, column in found.items()}, source.name, reading)
    if not rows and reading.tally.damaged > damaged + 1:  # one line may be the beginning of a file that was cut
        raise InputError(f"{source.name}: no line of it is CDXJ; give a file that is what its name says")


def _cdxj_columns(block: Block, source: str, tally: Tally) -> dict[str, list[bytes | None]]:
    found: dict[str, list[bytes | None]] = {name: [] for name in LETTERS.values()}
    for number, line in enumerate(block.data.split(b"\n"), block.line):
        if not line or line.isspace() or line.startswith(b"!"):  # OpenWayback's header lines
            continue
        row = _cdxj_row(line)
        if isinstance(row, str):
            tally.damage(source, row, line=number)
            continue
        for name, column in found.items():
            column.append(row.get(name))
    return found


def _cdxj_row(line: bytes) -> dict[str, bytes] | str:
    """Fields of one line, or what is wrong with it."""
    parts = line.split(b" ", 2)
    if len(parts) < 3:
        return "not CDXJ: fewer than three parts"
    try:
        stated = orjson.loads(parts[2])
    except orjson.JSONDecodeError as error:
        return f"not JSON ({error.msg})"
    if type(stated) is not dict:
        return "not a JSON object"
    row = {"time": parts[1]}
    for name, ours in (("url", "url"), ("mime", "content_type"), ("status", "status"), ("digest", "digest")):
        value = stated.get(name)
        if type(value) is str:
            if value != "-":
                row[ours] = value.encode()
        elif type(value) is int and ours == "status":
            row[ours] = str(value).encode()
        elif value is not None:
            return f"{name} is not a string"
    return row
