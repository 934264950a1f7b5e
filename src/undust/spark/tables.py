"""Tables of clusters and of URLs as DataFrames: Parquet piece by piece, other formats file by file."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from undust import corpus
from undust.corpus.write import output_format
from undust.errors import InputError
from undust.spark.files import Piece, list_files, pieces_of, read, told_pieces
from undust.spark.wire import to_wire

WEIGHTS = ("importance", "inlinks")


def clusters_schema(weights: tuple[str, ...] = ()) -> pa.Schema:
    """Give the columns of clusters, with those that say which URLs matter more."""
    fields = [pa.field("url", pa.string()), pa.field("cluster", pa.string())]
    return pa.schema([*fields, *(pa.field(name, pa.float64()) for name in weights)])


def read_clusters(session: Any, path: str) -> Any:
    """Give a table of clusters: a file, or a folder of Parquet parts as `undust cluster --engine spark` writes it."""
    files = list_files([path])
    weights = tuple(name for name in WEIGHTS if any(name in _names(file) for file in files))
    schema = clusters_schema(weights)
    return read(session, pieces_of(files), partial(_read, schema=schema), schema)


def _names(path: str) -> list[str]:
    """Give the columns of a file; of formats that have to be read for that, by their beginning."""
    if _is_parquet(path):
        return [name.lower() for name in pq.read_schema(path).names]
    with pa.input_stream(path, compression="detect") as stream:
        head = stream.read(2**16).partition(b"\n")[0].decode("utf-8", "replace").lower()
    return [name for name in WEIGHTS if name in head]


def _is_parquet(path: str) -> bool:
    with open(path, "rb") as file:  # noqa: PTH123 - a path as the user gave it
        return file.read(4) == b"PAR1"


def _read(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for piece in told_pieces(batches):
        for batch in _batches(piece, schema):
            yield to_wire(batch)


def _batches(piece: Piece, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if piece.whole or not set(schema.names) <= set(pq.read_schema(piece.path).names):
        table = corpus.read_clusters(piece.path)
        columns = [
            table[n] if n in table.schema.names else pa.nulls(len(table), schema.field(n).type) for n in schema.names
        ]
        yield from pa.table(columns, schema=schema).to_batches(16_384)
        return
    with pq.ParquetFile(piece.path, pre_buffer=False) as file:
        groups = list(range(piece.start, piece.stop))
        for batch in file.iter_batches(65_536, row_groups=groups, columns=schema.names, use_threads=False):
            some = batch.select(schema.names).cast(schema)
            yield some.filter(pa.compute.and_(some["url"].is_valid(), some["cluster"].is_valid()))


URLS = pa.schema([pa.field("url", pa.string())])


def read_urls(session: Any, inputs: tuple[str, ...]) -> Any:
    """Give the column `url` of Parquet files, or the lines of text files."""
    return read(session, pieces_of(list_files(inputs)), _read_urls, URLS)


def _read_urls(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for piece in told_pieces(batches):
        if not _is_parquet(piece.path):
            yield from _lines(piece.path)
            continue
        with pq.ParquetFile(piece.path, pre_buffer=False) as file:
            if "url" not in file.schema_arrow.names:
                raise InputError(f"{piece.path}: no column url; rename the one that has the URLs")
            groups = range(file.metadata.num_row_groups) if piece.whole else range(piece.start, piece.stop)
            for batch in file.iter_batches(65_536, row_groups=list(groups), columns=["url"], use_threads=False):
                yield batch.cast(URLS)


def _lines(path: str) -> Iterator[pa.RecordBatch]:
    with pa.input_stream(path, compression="detect") as stream:
        rest = b""
        while data := stream.read(2**22):
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            yield _as_urls(lines)
        if rest:
            yield _as_urls([rest])


def _as_urls(lines: list[bytes]) -> pa.RecordBatch:
    texts = [line.rstrip(b"\r").decode("utf-8", "replace") for line in lines]
    return pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], schema=URLS)


def is_folder_output(path: str) -> bool:
    """Tell whether an output can be a folder of Parquet parts."""
    return output_format(path) == "parquet" and not path.endswith(".gz")
