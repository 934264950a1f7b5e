"""Reads Parquet files, a few rows at a time and only the columns that are needed."""

import contextlib
from collections.abc import Iterator
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from undust import settings
from undust.corpus import columns as cols
from undust.corpus.decompress import Plain
from undust.corpus.reading import Reading
from undust.corpus.streams import Source, as_file, spooled
from undust.corpus.tally import Tally
from undust.errors import InputError

MAX_GROWTH = 100
"""A compressed file that grows more than this is taken as a bomb; Parquet is compressed inside already."""

_SMALL_BYTES = 256 * 2**20


def read(source: Source, compression: str | None, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of a Parquet file."""
    for batch in columns(source, compression, reading.tally, cols.NAMES, cols.require_page_columns):
        yield from cols.pages(batch, source.name, reading)


def columns(
    source: Source, compression: str | None, tally: Tally, known: dict[str, str], require: cols.Require
) -> Iterator[cols.Columns]:
    """The known columns, some rows at a time; `require` says which there must be."""
    with plain_file(source, compression, tally) as file, _opened(file, source.name) as parquet:
        schema = parquet.schema_arrow
        chosen = cols.wanted(schema.names, known)
        require(source.name, chosen, schema.names)
        for name, position in chosen.items():
            _require_type(source.name, name, schema.field(position))
            if schema.names.count(schema.names[position]) > 1:
                raise InputError(f"{source.name}: two columns {schema.names[position]}; rename one of them")
        theirs = {name: schema.names[position] for name, position in chosen.items()}
        packed = [name for name in theirs.values() if cols.is_text(schema.field(name).type)]
        with _opened(file, source.name, packed) as dictionaries:
            yield from _row_groups(parquet, dictionaries, theirs, source.name, tally)


@contextlib.contextmanager
def plain_file(source: Source, compression: str | None, tally: Tally) -> Iterator[IO[bytes]]:
    """Give a source as a file that can be sought, without the compression around it."""
    if compression is None:
        with as_file(source) as file:
            yield file
        return
    with spooled(_limited(Plain(source, compression, tally), source), source.name) as file:
        yield file


def _limited(plain: Plain, source: Source) -> Iterator[bytes]:
    size = 0
    for piece in plain:
        size += len(piece)
        if size > max(_SMALL_BYTES, MAX_GROWTH * source.tell()):
            raise InputError(f"{source.name}: grows more than {MAX_GROWTH}-fold when decompressed; decompress it first")
        yield piece


def _opened(file: IO[bytes], name: str, packed: list[str] | None = None) -> pq.ParquetFile:
    try:
        # Column chunks are streamed through a small buffer: a row group may be larger than memory.
        return pq.ParquetFile(file, buffer_size=2**20, pre_buffer=False, read_dictionary=packed)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{name}: not a whole Parquet file ({_line(error)}); write it again") from error


def _row_groups(
    parquet: pq.ParquetFile, dictionaries: pq.ParquetFile, theirs: dict[str, str], source: str, tally: Tally
) -> Iterator[cols.Columns]:
    for group in range(parquet.num_row_groups):
        try:
            for batch in parquet.iter_batches(
                batch_size=_batch_rows(dictionaries, group, list(theirs.values())),
                row_groups=[group],
                columns=list(theirs.values()),
                use_threads=False,
            ):
                yield {name: batch.column(column) for name, column in theirs.items()}
        except (pa.ArrowException, OSError, ValueError) as error:
            tally.damage(source, f"row group {group} is damaged ({_line(error)})")


def _batch_rows(dictionaries: pq.ParquetFile, group: int, names: list[str]) -> int:
    """Rows that make about one batch, by the average row of this group, and by the longest value it holds once."""
    stated = dictionaries.metadata.row_group(group)
    average = max(1, int(stated.total_byte_size) // max(1, int(stated.num_rows)))
    rows = min(settings.BATCH_ROWS, settings.BATCH_BYTES // average)
    # A value that the file holds once, in a dictionary, may stand in each of a million rows.
    first = next(dictionaries.iter_batches(1, row_groups=[group], columns=names, use_threads=False), None)
    longest = 1
    for column in first.columns if first is not None else []:
        if pa.types.is_dictionary(column.type):
            longest += pc.max(pc.binary_length(column.dictionary)).as_py() or 0
    return max(1, min(rows, settings.BATCH_BYTES // longest))


def _require_type(source: str, ours: str, field: pa.Field) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    allowed = {
        "cluster": cols.is_text(kind) or is_number,
        "status": cols.is_text(kind) or is_number,
        "importance": is_number,
        "inlinks": is_number,
        "time": cols.is_text(kind) or is_number or pa.types.is_timestamp(kind) or pa.types.is_date(kind),
    }
    if not (pa.types.is_null(kind) or allowed.get(ours, cols.is_text(kind))):
        raise InputError(f"{source}: column {field.name} is {kind}, which is no {ours}; convert it to string")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:160]
