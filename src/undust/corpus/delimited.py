"""Reads CSV and TSV with a header line: by Arrow where nothing is quoted, else by Python's csv."""

import csv
import functools
import io
import re
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from undust import settings
from undust.corpus import columns as cols
from undust.corpus.decompress import Plain
from undust.corpus.lines import BLOCK_BYTES, Block, line_blocks
from undust.corpus.reading import Reading
from undust.corpus.streams import Source
from undust.corpus.tally import Tally
from undust.errors import InputError

_BLANK_LINE = re.compile(rb"(?:\A|\n)\r?\n")
BOM = b"\xef\xbb\xbf"

MAX_COLUMNS = 10_000
"""Every column costs memory for each block, also one that is not read."""


def read(source: Source, compression: str | None, reading: Reading, delimiter: str) -> Iterator[pa.RecordBatch]:
    """Pages of a CSV (`,`) or TSV (tab) file."""
    for batch in columns(source, compression, reading.tally, delimiter, cols.NAMES, cols.require_page_columns):
        yield from cols.pages(batch, source.name, reading)


def columns(
    source: Source,
    compression: str | None,
    tally: Tally,
    delimiter: str,
    known: dict[str, str],
    require: cols.Require,
) -> Iterator[cols.Columns]:
    """The known columns, some rows at a time; `require` says which there must be. TSV never quotes."""
    blocks = line_blocks(Plain(source, compression, tally), tally)
    first = next(blocks, None)
    if first is None:
        raise InputError(f"{source.name}: no whole header line in it; give a table with a header line")
    header, _, rest = first.data.removeprefix(BOM).partition(b"\n")
    if header.count(delimiter.encode()) > MAX_COLUMNS:
        raise InputError(f"{source.name}: more than {MAX_COLUMNS:,} columns; give a table with a header line")
    names = header_names(header, delimiter)
    chosen = cols.wanted(names, known)
    require(source.name, chosen, names)
    block: Block | None = Block(first.line + 1, rest)
    while block is not None:
        if delimiter == "," and b'"' in block.data:
            yield from _quoted_rows(block, blocks, len(names), chosen, source.name, tally)
            return
        if block.data:
            yield unquoted_columns(block, delimiter, len(names), chosen, _damage(source.name, tally))
        block = next(blocks, None)


def header_names(header: bytes, delimiter: str) -> list[str]:
    """Names in a header line.

    >>> header_names(b'URL,"digest"', ",")
    ['URL', 'digest']
    """
    text = header.decode("utf-8", "replace").rstrip("\r")
    if delimiter == "," and '"' in text:
        try:
            return next(csv.reader([text]), [])
        except csv.Error:
            return [text]
    return text.split(delimiter)


OnBadRow = Callable[[int, int, str], None]
"""Told of a row that does not fit: line, number of its cells, the line itself (cut short)."""


def unquoted_columns(
    block: Block, delimiter: str, width: int, chosen: dict[str, int], on_bad_row: OnBadRow
) -> cols.Columns:
    """The chosen columns of a block of lines without quotes, as bytes; an empty cell is null."""
    if not _is_utf8(block.data) or block.data.startswith(BOM):
        # Arrow hands bad rows on as text, and fails for those that are none. A byte order mark it drops.
        return _split_columns(block, delimiter, width, chosen, on_bad_row)

    def bad_row(row: pa_csv.InvalidRow) -> str:
        if row.text:
            on_bad_row(block.line + (row.number or 1) - 1, row.actual_columns, row.text[:200])
        return "skip"

    names = [str(position) for position in range(width)]
    table = pa_csv.read_csv(
        pa.BufferReader(block.data),
        # One thread: only then does Arrow know the numbers of bad rows.
        read_options=pa_csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block.data) + 1),
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter, quote_char=False, ignore_empty_lines=width == 1, invalid_row_handler=bad_row
        ),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.binary()),
            include_columns=[str(position) for position in chosen.values()],
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    if _BLANK_LINE.search(block.data):
        # Arrow makes rows of nulls out of blank lines; ignored by it, they would be missing in the numbers of lines.
        table = table.filter(functools.reduce(pc.or_, [pc.is_valid(column) for column in table.columns]))
    return {name: table.column(str(position)).combine_chunks() for name, position in chosen.items()}


def _split_columns(
    block: Block, delimiter: str, width: int, chosen: dict[str, int], on_bad_row: OnBadRow
) -> cols.Columns:
    rows: list[list[bytes]] = []
    for number, line in enumerate(block.data.split(b"\n"), block.line):
        row = line.removesuffix(b"\r").split(delimiter.encode())
        if len(row) == width and row != [b""]:
            rows.append(row)
        elif row != [b""]:
            on_bad_row(number, len(row), line[:200].decode("utf-8", "replace"))
    return {name: pa.array([row[at] or None for row in rows], pa.binary()) for name, at in chosen.items()}


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _damage(source: str, tally: Tally) -> OnBadRow:
    def count(line: int, cells: int, _text: str) -> None:
        tally.damage(source, f"{cells} cells, the header has another number", line=line)

    return count


def _quoted_rows(
    block: Block, blocks: Iterator[Block], width: int, chosen: dict[str, int], source: str, tally: Tally
) -> Iterator[cols.Columns]:
    """Columns of rows that may be quoted. Latin-1 stands for bytes here: it keeps every one of them."""
    # The limit is the process's, so it is only ever raised; cells over it would stop the reader.
    csv.field_size_limit(max(csv.field_size_limit(), settings.MAX_LINE_BYTES))
    gathered: list[list[str]] = []
    size = 0
    lines = _Lines(block, blocks)
    # Strict: only then does a cell that was cut inside its quotes not pass for a whole one.
    rows = csv.reader(iter(lines), strict=True)
    while True:
        line = lines.number
        try:
            row = next(rows, None)
        except csv.Error as error:
            tally.damage(source, f"not CSV ({error})", line=line)
            rows = csv.reader(iter(lines), strict=True)
            continue
        if row is None:
            break
        if not row:
            continue
        if len(row) != width:
            tally.damage(source, f"{len(row)} cells, the header has another number", line=line)
            continue
        gathered.append(row)
        size += sum(map(len, row))
        if size >= BLOCK_BYTES:
            yield _from_rows(gathered, chosen)
            gathered, size = [], 0
    if gathered:
        yield _from_rows(gathered, chosen)


class _Lines:
    """Lines of the blocks as text, and the number of the next one."""

    def __init__(self, block: Block, blocks: Iterator[Block]) -> None:
        self.number = block.line
        self._lines = self._all(block, blocks)

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def _all(self, block: Block | None, blocks: Iterator[Block]) -> Iterator[str]:
        while block is not None:
            for line in io.BytesIO(block.data):
                self.number += 1
                yield line.decode("latin-1")
            block = next(blocks, None)


def _from_rows(rows: list[list[str]], chosen: dict[str, int]) -> cols.Columns:
    return {
        name: pa.array([row[position].encode("latin-1") or None for row in rows], pa.binary())
        for name, position in chosen.items()
    }
