"""Writes tables to Parquet, JSONL, CSV and TSV files, which are complete or absent."""

import contextlib
import csv
import gzip
import io
import os
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from undust.errors import OutputError, UsageError

ENDINGS = (".parquet", ".jsonl", ".csv", ".tsv", ".jsonl.gz", ".csv.gz", ".tsv.gz", ".parquet.gz")
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
    raise UsageError(f"{path}: unknown ending; one of .parquet, .jsonl, .csv, .tsv (each also with .gz)")


class TableWriter:
    """Writes record batches beside the file, and puts the file in place when all went well.

    Until then, and after any exception, what was there before is untouched. `-` writes TSV to stdout.
    """

    def __init__(self, path: str | os.PathLike[str], schema: pa.Schema) -> None:
        self.path = os.fspath(path)
        self.schema = schema
        self._format = output_format(self.path)
        self._aside: str | None = None
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> Self:
        try:
            file = self._open()
        except OSError as error:
            self._forget()
            raise self._error(error) from error
        self._file = file
        self._parquet: pq.ParquetWriter | None = None
        try:
            if self._format == "parquet":
                self._parquet = pq.ParquetWriter(file, self.schema, compression="zstd")
            elif self._format in ("csv", "tsv"):
                self._file.write(_delimited([self.schema.names], self._format))
        except OSError as error:
            self._forget()
            raise self._error(error) from error
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
        folder = Path(self.path).parent
        if Path(self.path).is_dir():
            raise IsADirectoryError(21, "is a folder")
        # In the same folder: a rename across file systems is a copy, and can be cut.
        handle, self._aside = tempfile.mkstemp(prefix=f".{Path(self.path).name[:80]}.", suffix=".part", dir=folder)
        raw = self._closing.enter_context(open(handle, "wb", buffering=2**20))  # noqa: PTH123 - a descriptor
        self._raw = raw
        if not self.path.lower().endswith(".gz"):
            return raw
        # No name and no time in the header: the same table gives the same bytes.
        packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0)
        return self._closing.enter_context(packed)  # type: ignore[return-value]

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
        self._closing.close()
        os.chmod(self._aside, 0o666 & ~_umask())  # noqa: PTH101 - mkstemp's file is for its owner only
        os.replace(self._aside, self.path)  # noqa: PTH105 - paths as the user gave them
        self._aside = None

    def _forget(self) -> None:
        if self._parquet_open():
            with contextlib.suppress(OSError, pa.ArrowException, ValueError):
                self._parquet.close()  # type: ignore[union-attr]
        with contextlib.suppress(OSError, ValueError):
            self._closing.close()
        if self._aside is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._aside)  # noqa: PTH108
            self._aside = None

    def _parquet_open(self) -> bool:
        return getattr(self, "_parquet", None) is not None

    def _error(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self.path}: cannot be written: {error.strerror or error}; choose a folder that exists, has room and is yours"
        )


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a whole table; the ending of the name chooses the format."""
    with TableWriter(path, table.schema) as writer:
        writer.write(table)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _as_text(rows: pa.RecordBatch | pa.Table, form: str) -> bytes:
    columns = {field.name: _spelled(rows.column(field.name), field.type) for field in rows.schema}
    if form == "jsonl":
        table = pa.table(columns).to_pylist()
        return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in table)
    if form == "tsv":
        columns = {name: _without_breaks(column, name) for name, column in columns.items()}
    lists = [["" if cell is None else str(cell) for cell in column.to_pylist()] for column in columns.values()]
    return _delimited(zip(*lists, strict=True), form)


def _delimited(rows: object, form: str) -> bytes:
    if form == "tsv":
        return b"".join("\t".join(row).encode() + b"\n" for row in rows)  # type: ignore[attr-defined]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)  # type: ignore[call-overload]
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
    if not pa.types.is_string(column.type):
        return column
    for break_, escape in _TSV_BREAKS:
        column = pc.replace_substring(column, break_, escape if name == "url" else " ")
    return column
