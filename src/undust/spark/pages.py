"""Fingerprints on Spark: each task reads a file with pages, and writes what the embedded engine would."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from undust import corpus, pipeline
from undust.corpus import Tally
from undust.corpus.fingerprints import read_fingerprints
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.pages import PageFingerprints
from undust.errors import InputError
from undust.spark.files import Piece, list_files, pieces_of, read, told_pieces
from undust.spark.wire import from_wire, to_wire

TALLY = "tally"
"""A column beside those of fingerprints: what a task has met, in a row of its own."""


def fingerprint(
    session: Any,
    inputs: Iterable[str],
    made: PageFingerprints,
    *,
    any_status: bool = False,
    base_url: str | None = None,
) -> Any:
    """Give the fingerprints of the pages in files as a DataFrame, with a row for each file that holds its `tally`."""
    work = partial(_fingerprint_pieces, made=made, any_status=any_status, base_url=base_url)
    return read(session, pieces_of(list_files(inputs), cut=False), work, told_schema(made.schema))


def told_schema(schema: pa.Schema) -> pa.Schema:
    """Give the columns of fingerprints with that of the tally."""
    fields = [pa.field(field.name, field.type) for field in schema]
    return pa.schema([*fields, pa.field(TALLY, pa.string())])


def _fingerprint_pieces(
    batches: Iterator[pa.RecordBatch], made: PageFingerprints, any_status: bool, base_url: str | None
) -> Iterator[pa.RecordBatch]:
    schema = told_schema(made.schema)
    for piece in told_pieces(batches):
        tally = Tally()
        for batch in pipeline.fingerprint_file(piece.path, tally, made, any_status, base_url):
            columns = [*batch.columns, pa.nulls(len(batch), pa.string())]
            yield to_wire(pa.RecordBatch.from_arrays(columns, schema=schema))
        yield to_wire(tally_row(tally, schema))


def tally_row(tally: Tally, schema: pa.Schema) -> pa.RecordBatch:
    """Give the row that holds a tally."""
    text = json.dumps(tally.to_dict())
    columns = [pa.array([text if field.name == TALLY else None], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def without_tallies(batch: pa.RecordBatch, schema: pa.Schema, tally: Tally) -> pa.RecordBatch:
    """Take the rows of tallies out of what a task was given, and add them up."""
    rows = batch[TALLY].is_valid()
    for text in batch[TALLY].filter(rows).to_pylist():
        tally.merge([Tally.from_dict(json.loads(text))])
    return from_wire(batch.filter(pa.compute.invert(rows)), schema)


def is_ready(path: str) -> bool:
    """Tell whether a file holds fingerprints, so that none have to be made."""
    return corpus.is_fingerprints(path)


def parameters_of(paths: Sequence[str]) -> SignatureParameters:
    """Tell how the signatures in files were made; `UsageError` where some were made differently."""
    found = [SignatureParameters.from_metadata(pq.read_schema(path).metadata, path) for path in paths]
    for other, path in zip(found[1:], paths[1:], strict=True):
        found[0].require_same(other, paths[0], path)
    return found[0]


def read_columns(session: Any, paths: Sequence[str], schema: pa.Schema) -> Any:
    """Give some columns of files of fingerprints."""
    for path in paths:
        if _is_parquet(path) and (missing := set(schema.names) - set(pq.read_schema(path).names)):
            raise InputError(f"{path}: no column {min(missing)}; fingerprint the pages without --exact-only")
    return read(session, pieces_of(paths), partial(_read_pieces, schema=schema), schema)


def _read_pieces(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for piece in told_pieces(batches):
        for batch in _batches(piece, schema):
            yield to_wire(batch)


def _batches(piece: Piece, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if not _is_parquet(piece.path):
        yield from read_fingerprints(piece.path, tally=Tally()).select(schema.names).to_batches(16_384)
        return
    with pq.ParquetFile(piece.path, pre_buffer=False) as file:
        groups = range(file.metadata.num_row_groups) if piece.whole else range(piece.start, piece.stop)
        batches = file.iter_batches(8192, row_groups=list(groups), columns=schema.names, use_threads=False)
        for batch in batches:
            yield batch.select(schema.names).cast(schema)


def _is_parquet(path: str) -> bool:
    from undust.corpus.fingerprints import is_parquet

    return is_parquet(path)


def count(paths: Sequence[str]) -> int:
    """Count the rows of files of fingerprints; of formats that do not say how many they have, by reading them."""
    found = 0
    for path in paths:
        found += pq.read_metadata(path).num_rows if _is_parquet(path) else len(read_fingerprints(path, tally=Tally()))
    return int(found)
