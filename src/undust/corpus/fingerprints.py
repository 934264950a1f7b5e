"""Reads tables of fingerprints back, from any of the formats they can be written in."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from undust import settings
from undust.corpus.decompress import compression_of, head_of
from undust.corpus.streams import open_source
from undust.corpus.tally import Tally
from undust.corpus.write import write_table
from undust.errors import InputError
from undust.tables import FINGERPRINTS

_MARK = "body_xxh3"  # no table of pages has this column
_PACKED = "parquet inside a compression"
_HEAD_BYTES = 2**16
_BATCH_ROWS = 8192


def is_fingerprints(path: str) -> bool:
    """Tell whether a file holds fingerprints, by the names of its columns. A pipe is not looked into."""
    if not os.path.isfile(path):  # noqa: PTH113 - a path as the user gave it
        return False
    form, head = _format(path)
    if form in ("parquet", _PACKED):
        with contextlib.suppress(pa.ArrowException, OSError), _plain(path) as file:
            return _MARK in pq.read_schema(file).names
        return False
    return _MARK.encode() in head.partition(b"\n")[0]


def read_fingerprints(path: str, *, tally: Tally) -> pa.Table:
    """Read a table that `undust fingerprint` wrote; `InputError` where it was cut or changed."""
    form, _ = _format(path)
    try:
        table = _read(path, form)
        missing = set(FINGERPRINTS.names) - set(table.schema.names)
        if missing:
            raise InputError(f"{path}: no column {min(missing)}; write it again with undust fingerprint")
        columns = [_typed(table[field.name], field.type) for field in FINGERPRINTS]
        table = pa.Table.from_arrays(columns, schema=FINGERPRINTS)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = " ".join(str(error).split())[:160]
        raise InputError(f"{path}: not a whole table of fingerprints ({why}); write it again") from error
    if table["url"].null_count:
        raise InputError(f"{path}: rows without a URL; write it again with undust fingerprint")
    tally.pages += table.num_rows
    tally.bytes += os.path.getsize(path)  # noqa: PTH202
    return table


def as_parquet(path: str, folder: Path, *, digests: bool) -> str:
    """Give a file of fingerprints as Parquet that can be read some columns at a time: as it is, or anew in the folder.

    Text formats do not say how signatures were made, so they are written anew only for their `digests`.
    """
    form, _ = _format(path)
    if form == "parquet" or (form != _PACKED and not digests):
        return path
    aside = Path(tempfile.mkdtemp(dir=folder), "fingerprints.parquet")
    if form != _PACKED:
        write_table(read_fingerprints(path, tally=Tally()), aside)
        return str(aside)
    with _plain(path) as packed, aside.open("wb") as plain:
        shutil.copyfileobj(packed, plain, 2**20)
    return str(aside)


@dataclass(frozen=True, slots=True)
class FingerprintFiles:
    """Parquet files that `undust fingerprint` wrote, one after the other, read some columns and rows at a time."""

    paths: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """Columns of the first file, with how its signatures were made."""
        with _parquet(self.paths[0]) as file:
            return file.schema_arrow

    @property
    def schemas(self) -> list[pa.Schema]:
        """Columns of each file."""
        found = []
        for path in self.paths:
            with _parquet(path) as file:
                found.append(file.schema_arrow)
        return found

    def count(self) -> int:
        """Count the rows of all files."""
        total = 0
        for path in self.paths:
            with _parquet(path) as file:
                total += int(file.metadata.num_rows)
        return total

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Give some columns of all files, a few thousand rows at a time."""
        for path in self.paths:
            with _parquet(path) as file:
                if missing := [name for name in columns if name not in file.schema_arrow.names]:
                    raise InputError(f"{path}: no column {missing[0]}; write it again with undust fingerprint")
                try:
                    yield from file.iter_batches(_BATCH_ROWS, columns=list(columns), use_threads=False)
                except (pa.ArrowException, OSError, ValueError) as error:
                    raise _not_whole(path, error) from error


def _parquet(path: str) -> pq.ParquetFile:
    form, _ = _format(path)
    if form == _PACKED:
        raise InputError(f"{path}: is compressed as a whole; decompress it first, Parquet is compressed inside")
    if form != "parquet":
        raise InputError(f"{path}: signatures are read from Parquet only; write them with -o pages.parquet")
    try:
        return pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _not_whole(path, error) from error


def is_parquet(path: str) -> bool:
    """Tell whether a file is Parquet, by its first bytes."""
    return _format(path)[0] == "parquet"


def _not_whole(path: str, error: Exception) -> InputError:
    why = " ".join(str(error).split())[:160]
    return InputError(f"{path}: not a whole table of fingerprints ({why}); write it again")


def _format(path: str) -> tuple[str, bytes]:
    with open(path, "rb") as file:  # noqa: PTH123 - a path as the user gave it
        raw = file.read(_HEAD_BYTES)
    if raw.startswith(b"PAR1"):
        return "parquet", raw
    head = head_of(raw, compression_of(raw), _HEAD_BYTES)
    if head.startswith(b"PAR1"):
        return _PACKED, head
    if head.lstrip().startswith(b"{"):
        return "jsonl", head
    return "tsv" if b"\t" in head.partition(b"\n")[0] else "csv", head


@contextlib.contextmanager
def _plain(path: str) -> Iterator[IO[bytes]]:
    """Open a Parquet file for seeking, without the compression around it."""
    from undust.corpus.parquet import plain_file

    with open_source(path, Tally()) as source, plain_file(source, compression_of(source.peek(16)), Tally()) as file:
        yield file


def _read(path: str, form: str) -> pa.Table:
    if form in ("parquet", _PACKED):
        with _plain(path) as file:
            # Dictionaries and metadata of the writer are of no use here.
            return pq.read_table(file, columns=[n for n in pq.read_schema(file).names if n in FINGERPRINTS.names])
    strings = pa.schema([(field.name, _written(field.type)) for field in FINGERPRINTS])
    with pa.input_stream(path, compression="detect") as stream:
        if form == "jsonl":
            parse = pa_json.ParseOptions(explicit_schema=strings, unexpected_field_behavior="ignore")
            read = pa_json.ReadOptions(block_size=4 * settings.MAX_URL_BYTES * 8)
            return pa_json.read_json(stream, read, parse)
        plain = form == "tsv"  # TSV is written without quotes
        parse = pa_csv.ParseOptions(delimiter="\t" if plain else ",", quote_char=False if plain else '"')
        convert = pa_csv.ConvertOptions(
            column_types=strings,
            include_columns=strings.names,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        )
        return pa_csv.read_csv(stream, parse_options=parse, convert_options=convert)


def _written(kind: pa.DataType) -> pa.DataType:
    """Tell the type that text formats have for a column: numbers as they are, anything else as text."""
    return kind if pa.types.is_integer(kind) else pa.string()


def _typed(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    if pa.types.is_fixed_size_binary(kind) and pa.types.is_string(column.type):
        return pa.chunked_array(
            [[None if cell is None else bytes.fromhex(cell) for cell in chunk.to_pylist()] for chunk in column.chunks],
            kind,
        )
    if pa.types.is_timestamp(kind) and pa.types.is_string(column.type):
        return pc.strptime(column, format="%Y-%m-%dT%H:%M:%SZ", unit="s").cast(kind)
    return column.cast(kind)
