"""Reads tables of fingerprints back, from any of the formats they can be written in."""

import contextlib
import os

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from undust import settings
from undust.corpus.decompress import compression_of, head_of
from undust.corpus.tally import Tally
from undust.errors import InputError
from undust.tables import FINGERPRINTS

_MARK = "body_xxh3"  # no table of pages has this column
_HEAD_BYTES = 2**16


def is_fingerprints(path: str) -> bool:
    """Tell whether a file holds fingerprints, by the names of its columns. A pipe is not looked into."""
    if not os.path.isfile(path):  # noqa: PTH113 - a path as the user gave it
        return False
    form, head = _format(path)
    if form == "parquet":
        with contextlib.suppress(pa.ArrowException, OSError):
            return _MARK in pq.read_schema(path).names
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


def read_signatures(path: str, *, tally: Tally) -> pa.Table:
    """Read a Parquet table that `undust fingerprint` wrote, with all its signatures and how they were made."""
    if _format(path)[0] != "parquet":
        raise InputError(f"{path}: signatures are read from Parquet only; write them with -o pages.parquet")
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        why = " ".join(str(error).split())[:160]
        raise InputError(f"{path}: not a whole table of fingerprints ({why}); write it again") from error
    tally.pages += table.num_rows
    tally.bytes += os.path.getsize(path)  # noqa: PTH202
    return table


def _format(path: str) -> tuple[str, bytes]:
    with open(path, "rb") as file:  # noqa: PTH123 - a path as the user gave it
        raw = file.read(_HEAD_BYTES)
    if raw.startswith(b"PAR1"):
        return "parquet", raw
    head = head_of(raw, compression_of(raw), _HEAD_BYTES)
    if head.lstrip().startswith(b"{"):
        return "jsonl", head
    return "tsv" if b"\t" in head.partition(b"\n")[0] else "csv", head


def _read(path: str, form: str) -> pa.Table:
    if form == "parquet":
        # Dictionaries and metadata of the writer are of no use here.
        return pq.read_table(path, columns=[n for n in pq.read_schema(path).names if n in FINGERPRINTS.names])
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
