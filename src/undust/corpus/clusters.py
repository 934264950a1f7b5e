"""Reads tables of clusters: Parquet, JSONL, CSV or TSV with the columns url and cluster."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from undust.corpus import columns as cols
from undust.corpus import delimited, jsonl, parquet
from undust.corpus.formats import format_of
from undust.corpus.streams import Source, open_source
from undust.corpus.tally import Tally
from undust.errors import InputError


def read_clusters(path: str, *, tally: Tally | None = None) -> pa.Table:
    """A table of `url`, `cluster` and, where the file has them, `importance` and `inlinks`.

    Rows without URL or cluster, and damaged ones, are left out and counted in `tally`.
    """
    tally = Tally() if tally is None else tally
    with open_source(path, tally) as source:
        made = [_typed(batch, tally) for batch in _columns(source, tally)]
    names = [name for name in cols.CLUSTER_NAMES.values() if any(name in batch.schema.names for batch in made)]
    schema = pa.schema([pa.field(name, _TYPES[name], nullable=name not in _NEEDED) for name in names or _NEEDED])
    filled = [
        pa.RecordBatch.from_arrays(
            [
                batch.column(field.name) if field.name in batch.schema.names else pa.nulls(batch.num_rows, field.type)
                for field in schema
            ],
            schema=schema,
        )
        for batch in made
    ]
    table = pa.Table.from_batches(filled, schema)
    tally.pages += table.num_rows
    return table


_NEEDED = ("url", "cluster")
_TYPES = {"url": pa.string(), "cluster": pa.string(), "importance": pa.float64(), "inlinks": pa.float64()}


def _columns(source: Source, tally: Tally) -> Iterator[cols.Columns]:
    form = format_of(source)
    known, require = cols.CLUSTER_NAMES, cols.require_cluster_columns
    if form.name == "parquet":
        return parquet.columns(source, form.compression, tally, known, require)
    if form.name == "jsonl":
        return jsonl.columns(source, form.compression, tally, known, require)
    if form.name in ("csv", "tsv"):
        delimiter = "," if form.name == "csv" else "\t"
        return delimited.columns(source, form.compression, tally, delimiter, known, require)
    raise InputError(
        f"{source.name}: {form.name.upper()} has no clusters; give Parquet, JSONL, CSV or TSV with url and cluster"
    )


def _typed(columns: cols.Columns, tally: Tally) -> pa.RecordBatch:
    columns = cols.usable_urls(columns, tally)
    cluster = cols.text_column(columns["cluster"])
    arrays = {"url": columns["url"], "cluster": cluster}
    for name in ("importance", "inlinks"):
        if name in columns:
            arrays[name] = _numbers(columns[name])
    batch = pa.RecordBatch.from_pydict(arrays)
    if not cluster.null_count:
        return batch
    tally.skip("no cluster", cluster.null_count)
    return batch.filter(pc.is_valid(cluster))


def _numbers(column: pa.Array) -> pa.Array:
    """Numbers out of a column; null where a cell is none."""
    if not cols.is_text(column.type):
        return column.cast(pa.float64(), safe=False)
    text = cols.text_column(column)
    is_number = pc.match_substring_regex(text, r"^\s*[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]{1,3})?\s*$")
    return pc.utf8_trim_whitespace(pc.if_else(is_number, text, pa.scalar(None, pa.string()))).cast(pa.float64())
