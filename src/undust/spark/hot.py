"""Buckets too hot for one task: their pages stay where they are, and the hubs come to them, one in each round."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa

from undust.detect.pairs_minhash import MAX_HUBS
from undust.spark.exchange import kept, mapped
from undust.spark.wire import from_wire, to_wire

_SHINGLES = pa.large_list(pa.uint32())
_WAITING = pa.schema([("row", pa.int64()), ("half", pa.int64()), ("tries", pa.int32()), ("shingles", _SHINGLES)])
_COMPARING = pa.schema([*_WAITING, pa.field("hub", pa.int64()), pa.field("hub_shingles", _SHINGLES)])
_COMPARED = pa.schema([*_WAITING, pa.field("hub", pa.int64()), pa.field("similarity", pa.float32())])


def hot_pairs(waiting: Any, threshold: float) -> Any:
    """Compare the pages of hot buckets with hubs, as `verify_buckets` does; give pairs and tries in vain.

    The first page that is left in a bucket is its next hub: what came before it was like an earlier one. A page that
    has no tries left is not compared any more, but is a hub where it is the first.
    """
    from pyspark.sql import functions as sql

    results = []
    for _ in range(MAX_HUBS):
        hubs = waiting.groupBy("half").agg(
            sql.min_by(sql.struct(sql.col("row").alias("hub"), sql.col("shingles").alias("hub_shingles")), "row").alias(
                "hub"
            )
        )
        told = waiting.where("tries >= 0").join(sql.broadcast(hubs.select("half", "hub.*")), "half")
        others = told.where("row != hub and tries > 0").select(*_COMPARING.names)
        compared = kept(mapped(others, partial(_compare, threshold=threshold), _COMPARED))
        pairs = compared.where("similarity >= 0").selectExpr(
            "hub as a", "row as b", "similarity", "cast(null as long) as failed"
        )
        failed = compared.where("similarity < 0").selectExpr(
            "cast(null as long) as a", "cast(null as long) as b", "cast(null as float) as similarity", "row as failed"
        )
        results += [pairs, failed]
        waiting = compared.where("similarity < 0").select(
            "row", "half", (sql.col("tries") - 1).cast("int").alias("tries"), "shingles"
        )
    made = results[0]
    for each in results[1:]:
        made = made.union(each)
    return made


def _compare(batches: Iterator[pa.RecordBatch], threshold: float) -> Iterator[pa.RecordBatch]:
    from undust.spark.pairs import compare_beside

    for each in batches:
        batch = from_wire(each, _COMPARING)
        similarities = compare_beside(batch["hub_shingles"], batch["shingles"], threshold)
        columns = [*(batch[name] for name in _WAITING.names), batch["hub"], pa.array(similarities)]
        yield to_wire(pa.RecordBatch.from_arrays(columns, schema=_COMPARED))
