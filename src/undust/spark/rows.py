"""The rows that pages are on Spark: each URL once, by its latest capture, numbered in the order of URLs.

They are the rows of `undust.detect.captures`: what the embedded engine decides by the number of a row comes out the
same here.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from undust.detect.captures import content_order
from undust.detect.exact import CONTENT_COLUMNS, batch_contents, content_names
from undust.spark.exchange import mapped, task
from undust.spark.wire import Work, from_wire, to_wire
from undust.tables import CLUSTERS, FINGERPRINTS

CONTENTS = pa.schema(
    [
        pa.field("time_order", pa.int64()),  # the latest first
        pa.field("tie", pa.int64()),  # of equally late ones the first by content
        pa.field("content", pa.binary(16)),  # of the body; null where nothing is known of it
        pa.field("stated_content", pa.binary(16)),  # of what else names the content
        pa.field("stated", pa.string()),
    ]
)
ROW = pa.field("row", pa.int64())

_NEVER = -(2**62)
_KNOWN = ("url", "time", *CONTENT_COLUMNS)


def read_schema(signatures: pa.Schema) -> pa.Schema:
    """Give the columns of fingerprints that rows are made of."""
    return pa.schema([*(FINGERPRINTS.field(name) for name in _KNOWN), *signatures])


def captures(fingerprints: Any, signatures: pa.Schema) -> Any:
    """Choose the capture of each URL that counts; give its contents and signatures. Columns as of `read_schema`."""
    from pyspark.sql import functions as sql

    schema = pa.schema([FINGERPRINTS.field("url"), *CONTENTS, *signatures])
    told = mapped(fingerprints, partial(_tell_contents, given=read_schema(signatures), made=schema), schema)
    told = _with_digests_resolved(told)
    order = [told["time_order"], told["tie"]]
    rest = [name for name in told.columns if name not in ("url", "time_order", "tie")]
    # One shuffle, and captures of one URL meet early: no window, which would sort them all.
    chosen = told.groupBy("url").agg(sql.min_by(sql.struct(*rest), sql.struct(*order)).alias("chosen"))
    return chosen.select("url", "chosen.*")


def _tell_contents(batches: Iterator[pa.RecordBatch], given: pa.Schema, made: pa.Schema) -> Iterator[pa.RecordBatch]:
    for each in batches:
        batch = from_wire(each, given)
        keys, digests, stated = batch_contents(batch)
        time = batch["time"].cast(pa.int64()).fill_null(_NEVER)
        # Signed, as Spark has it, in the order of unsigned.
        tie = (content_order(batch).to_numpy() ^ np.uint64(2**63)).view(np.int64)
        columns = {
            "url": batch["url"],
            "time_order": pa.array(-time.to_numpy()),
            "tie": pa.array(tie),
            "content": _sixteen(keys),
            "stated_content": _sixteen(digests),
            "stated": stated,
        }
        columns |= {name: batch[name] for name in made.names if name not in columns}
        yield to_wire(pa.RecordBatch.from_arrays([columns[name] for name in made.names], schema=made))


def _sixteen(keys: Any) -> pa.Array:
    known = keys.any(axis=1)
    valid = None if known.all() else pa.array(known).buffers()[1]
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), len(keys), [valid, pa.py_buffer(np.ascontiguousarray(keys))]
    )


def _with_digests_resolved(told: Any) -> Any:
    """Give pages without a body that of a page with the same digest, the first by its bytes, else their digest."""
    from pyspark.sql import functions as sql

    both = told.where("content is not null and stated_content is not null")
    bodies = both.groupBy(sql.col("stated_content").alias("asked")).agg(sql.min("content").alias("found"))
    # Pages that ask for nothing are spread by their URL: nulls would all go to one task.
    asked = sql.when(sql.col("content").isNull(), sql.col("stated_content"))
    joined = told.withColumn("asked", sql.coalesce(asked, sql.encode("url", "utf-8"))).join(bodies, "asked", "left")
    return joined.withColumns(
        {
            "has_body": sql.col("content").isNotNull() | sql.col("found").isNotNull(),
            "content": sql.coalesce("content", "found", "stated_content"),
        }
    ).drop("stated_content", "asked", "found")


NAMED = pa.schema(
    [
        pa.field("url", pa.string()),
        pa.field("content", pa.binary(16)),
        pa.field("has_body", pa.bool_()),
        pa.field("stated", pa.string()),
    ]
)


def name_contents(chosen: Any) -> Any:
    """Put the URLs of equal content into one cluster, named by it: the method `exact`."""
    return mapped(chosen.select(*NAMED.names), _name_contents, CLUSTERS)


def _name_contents(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for each in batches:
        batch = from_wire(each, NAMED)
        raw = batch["content"].fill_null(bytes(16))
        keys = np.frombuffer(raw.buffers()[1], np.uint64)[2 * raw.offset :][: 2 * len(raw)].reshape(-1, 2)
        names = content_names(keys, np.asarray(batch["has_body"]), batch["stated"], batch["url"])
        yield pa.RecordBatch.from_arrays([batch["url"], names], schema=CLUSTERS)


def numbered(frame: Any, schema: pa.Schema, count: int) -> Any:
    """Number rows in the order of their URLs, from 0; the result is kept, so that numbers stay what they are.

    Each task counts its rows; one number of each goes through the driver.
    """
    ranged = frame.repartitionByRange(count, "url").sortWithinPartitions("url").persist()
    counts = pa.schema([("part", pa.int64()), ("rows", pa.int64())])
    found = {row["part"]: row["rows"] for row in mapped(ranged.select("url"), _count, counts).collect()}
    starts, total = {}, 0
    for part in sorted(found):
        starts[part] = total
        total += found[part]
    made = pa.schema([ROW, *schema])
    return mapped(ranged.select(*schema.names), _numbers(starts), made)


def _count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = sum(len(batch) for batch in batches)
    yield pa.RecordBatch.from_pydict({"part": [task()[0]], "rows": [rows]})


def _numbers(starts: dict[int, int]) -> Work:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        at = starts.get(task()[0], 0)
        for batch in batches:
            rows = pa.array(np.arange(at, at + len(batch)))
            at += len(batch)
            yield pa.RecordBatch.from_arrays([rows, *batch.columns], names=["row", *batch.schema.names])

    return work
