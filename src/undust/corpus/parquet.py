"""Reads Parquet files, a few rows at a time and only the columns that are needed."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from undust import settings
from undust.corpus import columns as cols
from undust.corpus.reading import Reading
from undust.corpus.streams import Source, as_file
from undust.corpus.tally import Tally
from undust.errors import InputError


def read(source: Source, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Pages of a Parquet file."""
    for batch in columns(source, reading.tally, cols.NAMES, cols.require_page_columns):
        yield from cols.pages(batch, source.name, reading)


def columns(source: Source, tally: Tally, known: dict[str, str], require: cols.Require) -> Iterator[cols.Columns]:
    """The known columns, some rows at a time; `require` says which there must be."""
    with as_file(source) as file:
        try:
            # Column chunks are streamed through a small buffer: a row group may be larger than memory.
            parquet = pq.ParquetFile(file, buffer_size=2**20, pre_buffer=False)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{source.name}: not a whole Parquet file ({_line(error)}); write it again") from error
        with parquet:
            names = parquet.schema_arrow.names
            chosen = cols.wanted(names, known)
            require(source.name, chosen, names)
            for name, position in chosen.items():
                _require_type(source.name, names[position], name, parquet.schema_arrow.field(position).type)
            yield from _row_groups(parquet, {name: names[p] for name, p in chosen.items()}, source.name, tally)


def _row_groups(parquet: pq.ParquetFile, chosen: dict[str, str], source: str, tally: Tally) -> Iterator[cols.Columns]:
    for group in range(parquet.num_row_groups):
        try:
            for batch in parquet.iter_batches(
                batch_size=_batch_rows(parquet, group),
                row_groups=[group],
                columns=list(chosen.values()),
                use_threads=False,
            ):
                yield {name: batch.column(theirs) for name, theirs in chosen.items()}
        except (pa.ArrowException, OSError, ValueError) as error:
            tally.damage(source, f"row group {group} is damaged ({_line(error)})")


def _batch_rows(parquet: pq.ParquetFile, group: int) -> int:
    """Rows that make about one batch, by the average row of this group."""
    stated = parquet.metadata.row_group(group)
    average = max(1, stated.total_byte_size // max(1, stated.num_rows))
    return max(1, min(settings.BATCH_ROWS, settings.BATCH_BYTES // average))


def _require_type(source: str, theirs: str, ours: str, kind: pa.DataType) -> None:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_text = (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    allowed = {
        "cluster": is_text or is_number,
        "status": is_text or is_number,
        "importance": is_number,
        "inlinks": is_number,
        "time": is_text or is_number or pa.types.is_timestamp(kind) or pa.types.is_date(kind),
    }
    if not (pa.types.is_null(kind) or allowed.get(ours, is_text)):
        raise InputError(f"{source}: column {theirs} is {kind}, which is no {ours}; convert it to string")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:160]
