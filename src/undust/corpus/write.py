"""Writes tables to Parquet, JSONL, CSV and TSV files, which are complete or absent."""

import contextlib
import csv
import errno
import gzip
import io
import os
import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import IO, Self, cast

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from undust.asides import open_aside
from undust.corpus.streams import shown
from undust.errors import OutputError, UsageError

STDOUT = "-"
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"

_ROWS_AT_ONCE = 16_384
_TSV_BREAKS = (("\t", "%09"), ("\n", "%0A"), ("\r", "%0D"))


def output_format(path: str) -> str:
    """The format that the ending of a name asks for.

    >>> output_format("clusters.tsv.gz")
    'tsv'
    """
    if path == STDOUT:
        return "tsv"
    bare = path.lower().removesuffix(".gz")
    for ending in (".parquet", ".jsonl", ".csv", ".tsv"):
        if bare.endswith(ending):
            return ending[1:]
    raise UsageError(f"{shown(path)}: unknown ending; one of .parquet, .jsonl, .csv, .tsv (each also with .gz)")


class TableWriter:
    """Writes record batches beside the file, and puts the file in place when all went well.

    Until then, and after any exception, what was there before is untouched. `-` writes TSV to stdout.
    """

    def __init__(self, path: str | os.PathLike[str], schema: pa.Schema) -> None:
        self.path = os.fspath(path)
        self.schema = schema
        self._format = output_format(self.path)
        self._target = self.path
        self._aside: str | None = None
        self._parquet: pq.ParquetWriter | None = None
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            self._file = self._open()
            if self._format == "parquet":
                self._parquet = pq.ParquetWriter(self._file, self.schema, compression="zstd")
            elif self._format in ("csv", "tsv"):
                self._file.write(_delimited([self.schema.names], self._format))
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            self._forget()
            raise self._error(error) from error
        except BaseException:  # an interrupt between the first byte and the first row, too
            self._forget()
            raise
        return self

    def write(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add rows."""
        try:
            if self._parquet is not None:
                self._parquet.write(batch)
                return
            for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
                self._file.write(_as_text(batch.slice(start, _ROWS_AT_ONCE), self._format))
        except OSError as error:
            raise self._error(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._forget()
            return
        try:
            self._finish()
        except OSError as problem:
            self._forget()
            raise self._error(problem) from problem
        except BaseException:  # an interrupt between write and rename must leave nothing behind either
            self._forget()
            raise

    def _open(self) -> IO[bytes]:
        if self.path == STDOUT:
            return sys.stdout.buffer
        self._target = os.path.realpath(self.path)  # a link stays one, what it leads to is replaced
        if os.path.isdir(self._target):  # noqa: PTH112 - paths as the user gave them
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        self._raw, self._aside = open_aside(self._target)
        self._closing.enter_context(self._raw)
        if not self.path.lower().endswith(".gz"):
            return self._raw
        # No name and no time in the header: the same table gives the same bytes.
        packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=self._raw, mtime=0)
        self._closing.enter_context(packed)
        return cast(IO[bytes], packed)

    def _finish(self) -> None:
        if self._parquet is not None:
            self._parquet.close()
        if self._aside is None:
            self._file.flush()
            return
        if self._file is not self._raw:
            self._file.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        os.replace(self._aside, self._target)  # noqa: PTH105 - paths as the user gave them
        self._aside = None
        self._closing.close()  # held until it is in place

    def _forget(self) -> None:
        if self._parquet is not None:
            with contextlib.suppress(OSError, pa.ArrowException, ValueError):
                self._parquet.close()
        with contextlib.suppress(OSError, ValueError):
            self._closing.close()
        if self._aside is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._aside)  # noqa: PTH108
            self._aside = None

    def _error(self, error: OSError | ValueError) -> OutputError:
        what = getattr(error, "strerror", None) or error
        return OutputError(
            f"{shown(self.path)}: cannot be written: {what}; choose a folder that exists, has room and is yours"
        )


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a whole table; the ending of the name chooses the format."""
    with TableWriter(path, table.schema) as writer:
        writer.write(table)


def _as_text(rows: pa.RecordBatch | pa.Table, form: str) -> bytes:
    columns = {field.name: _spelled(rows.column(field.name), field.type) for field in rows.schema}
    if form == "jsonl":
        table = pa.table(columns).to_pylist()
        return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in table)
    if form == "tsv":
        columns = {name: _without_breaks(column, name) for name, column in columns.items()}
    lists = [["" if cell is None else str(cell) for cell in column.to_pylist()] for column in columns.values()]
    return _delimited(zip(*lists, strict=True), form)


def _delimited(rows: Iterable[Sequence[str]], form: str) -> bytes:
    if form == "tsv":
        return b"".join("\t".join(row).encode() + b"\n" for row in rows)
    text = io.StringIO()
    plain = csv.writer(text, lineterminator="\n")
    # Python before 3.13 does not quote a cell for a carriage return, which ends a line for those who read it.
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    return text.getvalue().encode()


def _spelled(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """A column in the types that text formats have: fixed bytes as hex, bodies as text, times as ISO 8601."""
    if pa.types.is_fixed_size_binary(kind):
        return pa.array([None if value is None else value.hex() for value in column.to_pylist()], pa.string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        decoded = [None if value is None else value.decode("utf-8", "replace") for value in column.to_pylist()]
        return pa.array(decoded, pa.string())
    if pa.types.is_timestamp(kind):
        return pc.strftime(column, format=TIME_FORMAT)
    return column


def _without_breaks(column: pa.Array, name: str) -> pa.Array:
    """TSV cannot hold tabs and line ends: in a URL they become escapes, elsewhere spaces."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    for break_, escape in _TSV_BREAKS:
        column = pc.replace_substring(column, break_, escape if name == "url" else " ")
    return column
