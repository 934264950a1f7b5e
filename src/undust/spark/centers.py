"""Clusters from pairs on Spark: CENTER, star or components; what scans pairs in order does so component by component.

What happens in one component does not touch another, so many of them share a task, which runs the scan of the embedded
engine. A component of more than `MAX_PAIRS` pairs goes round in `giants`.
"""

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from undust.detect.clusters import cluster_chunks
from undust.detect.pairs import sort_once, unpacked
from undust.spark.components import components
from undust.spark.exchange import described, gathered, kept
from undust.spark.giants import center_in_rounds
from undust.spark.pairs import PAIRS

MAX_PAIRS = 5_000_000
"""Pairs of a component that one task scans, in some seconds."""

MEMBERS = pa.schema([("row", pa.int64()), ("center", pa.int64()), ("similarity", pa.float32())])
"""Rows that have a pair, the row that names the cluster of each, and how similar the two are."""

_OF_COMPONENT = pa.schema([*PAIRS, pa.field("component", pa.int64())])


def cluster_rows(pairs: Any, by: str, tasks: int, *, max_pairs: int = MAX_PAIRS) -> Any:
    """Group rows by their pairs (`a`, `b`, `similarity`); of components the similarity is not told."""
    from pyspark.sql import functions as sql

    with described(pairs.sparkSession, "pairs, verified"):
        once = kept(pairs.groupBy("a", "b").agg(sql.max("similarity").alias("similarity")).select(*PAIRS.names))
    found = components(once)
    if by == "components":
        return found.selectExpr("row", "root as center", "cast(if(row = root, 1, 0) as float) as similarity")
    told = once.join(found.selectExpr("row as a", "root as component"), "a").select(*_OF_COMPONENT.names)
    sizes = told.groupBy("component").agg(sql.count("*").alias("size")).where(f"size > {max_pairs}")
    giants = [row["component"] for row in sizes.collect()]  # few: each has millions of pairs
    step = partial(scan_components, by=by)
    if not giants or by == "star":
        return gathered(told, ["component"], tasks, step, _OF_COMPONENT, MEMBERS)
    is_giant = sql.col("component").isin(giants)
    usual = gathered(told.where(~is_giant), ["component"], tasks, step, _OF_COMPONENT, MEMBERS)
    return usual.union(center_in_rounds(told.where(is_giant).select(*PAIRS.names)))


def scan_components(table: pa.Table, by: str) -> pa.Table:
    """Scan the pairs of whole components, as the embedded engine scans those of all."""
    columns = {name: table[name].to_numpy() for name in PAIRS.names}
    rows = np.unique(np.concatenate([columns["a"], columns["b"]]))
    a, b = (np.searchsorted(rows, columns[name]).astype(np.uint64) for name in ("a", "b"))
    packed, similarities = sort_once(a << np.uint64(32) | b, columns["similarity"].copy())
    chunk = (*unpacked(packed), similarities)
    made = cluster_chunks(lambda: [chunk], len(rows), by=by, names=rows.astype(np.uint32))
    return pa.table({"row": rows, "center": rows[made.rows], "similarity": made.similarities}, schema=MEMBERS)
