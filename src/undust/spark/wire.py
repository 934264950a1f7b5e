"""How our Arrow columns travel through Spark, which has no unsigned numbers and no fixed-size bytes, and back."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def wire_type(kind: pa.DataType) -> pa.DataType:
    """Give the type that a column has on its way. Lists of numbers go as their bytes, which nobody has to unpack.

    >>> wire_type(pa.uint64()), wire_type(pa.binary(16)), wire_type(pa.large_list(pa.uint32()))
    (DataType(int64), DataType(binary), DataType(binary))
    """
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    if pa.types.is_fixed_size_binary(kind) or _is_numbers(kind):
        return pa.binary()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return kind


def wire_schema(schema: pa.Schema) -> pa.Schema:
    """Give the schema that a table has on its way."""
    return pa.schema([pa.field(field.name, wire_type(field.type)) for field in schema])


def to_wire(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Make a batch ready to travel."""
    columns = [_sent(column, field.type) for column, field in zip(batch.columns, batch.schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def from_wire(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Give the columns of a schema back as they were before they travelled."""
    columns = [_arrived(batch[field.name], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def spark_schema(schema: pa.Schema) -> Any:
    """Give the Spark schema of a table on its way."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(wire_schema(schema))


def together(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Give what arrived at a task as one table of our own types."""
    return pa.Table.from_batches([from_wire(batch, schema) for batch in batches], schema)


def sent(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Send a table on its way, some rows at a time."""
    for batch in table.to_batches(max_chunksize=16_384):
        yield to_wire(batch)


def _is_numbers(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(is_list and pa.types.is_integer(kind.value_type))


def _sent(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if kind == pa.uint64():
        return column.view(pa.int64())
    if _is_numbers(kind):
        return _bytes_of(column, kind)
    return column.cast(wire_type(kind))


def _arrived(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if kind == pa.uint64():
        return column.cast(pa.int64()).view(pa.uint64())
    if _is_numbers(kind):
        return _numbers_of(column, kind)
    return column if column.type == kind else column.cast(kind)


def _bytes_of(column: pa.Array, kind: pa.DataType) -> pa.Array:
    width = kind.value_type.bit_width // 8
    sizes = column.value_lengths().fill_null(0).to_numpy().astype(np.int64) * width
    values = column.flatten().to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    valid = None if not column.null_count else pa.array(np.asarray(column.is_valid())).buffers()[1]
    data = pa.py_buffer(np.ascontiguousarray(values))
    large = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(column), [valid, pa.py_buffer(offsets), data])
    return large.cast(pa.binary())


def _numbers_of(column: pa.Array, kind: pa.DataType) -> pa.Array:
    width = kind.value_type.bit_width // 8
    large = column.cast(pa.large_binary())
    _, offsets, data = large.buffers()
    places = np.frombuffer(offsets, np.int64)[large.offset :][: len(large) + 1]
    kept = data.slice(int(places[0]), int(places[-1] - places[0])) if data is not None else pa.py_buffer(b"")
    values = pa.Array.from_buffers(kind.value_type, kept.size // width, [None, kept])
    starts = pa.array((places - places[0]) // width)
    mask = pa.array(np.asarray(column.is_null())) if column.null_count else None
    return pa.LargeListArray.from_arrays(starts, values, mask=mask).cast(kind)
