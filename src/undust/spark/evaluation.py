"""Measures on Spark: URLs are counted by key and cluster where they are, and the counts add up to those of `evaluate`.

What comes to the driver is a line for each site, as the report has one.
"""

from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from typing import Any

import pyarrow as pa

from undust.evaluate.measures import LARGE_SHARE, Counts
from undust.evaluate.report import Report, report_of
from undust.rules.ruleset import RuleSet
from undust.spark.exchange import mapped
from undust.urls.batch import normalize_many, split_many

_KEYED = pa.schema([(name, pa.string()) for name in ("given", "site", "cluster", "key")])


def evaluate(rules: RuleSet, clusters: Any) -> Report:
    """Measure what rules do to the URLs of a DataFrame of clusters: the report of `undust.evaluate`."""
    from pyspark.sql import functions as sql

    given = _one_row_each(clusters)
    keyed = mapped(given, partial(_with_keys, rules=rules), _KEYED).persist()
    unusable = keyed.where("site is null").count()
    usable = keyed.where("site is not null")
    # Where a key or a cluster is met first, in the order of URLs, decides between equals.
    first = sql.min("given").alias("first")
    cells = usable.groupBy("site", "key", "cluster").agg(sql.count("*").alias("size"), first).persist()
    firsts = cells.groupBy("cluster").agg(sql.min("first").alias("cluster_first"))
    told = cells.join(firsts, "cluster")
    sites = cells.groupBy("site").agg(sql.min("first").alias("site_first"))
    told = told.join(sites, "site").persist()
    found = _counts(told, ["site"])
    micro = _counts(told.withColumn("all", sql.lit("")), ["all"]).get("", Counts(*([0] * len(fields(Counts)))))
    for frame in (keyed, cells, told):
        frame.unpersist()
    return report_of(micro, found, len(rules), unusable)


def _one_row_each(clusters: Any) -> Any:
    """Give each URL once, as `tables.one_row_each` does."""
    from pyspark.sql import functions as sql

    known = clusters.select("url", "cluster").where("url is not null and cluster is not null")
    counted = known.groupBy("url", "cluster").agg((-sql.count("*")).alias("order"))
    best = counted.groupBy("url").agg(sql.min(sql.struct("order", "cluster")).alias("best"))
    return best.select("url", sql.col("best.cluster").alias("cluster"))


def _with_keys(batches: Iterator[pa.RecordBatch], rules: RuleSet) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        urls = normalize_many(batch["url"]).urls.combine_chunks()
        usable = urls.is_valid()
        bad = batch["url"].filter(pa.compute.invert(usable))
        if len(bad):
            none = pa.nulls(len(bad), pa.string())
            yield pa.RecordBatch.from_arrays([bad, none, none, none], schema=_KEYED)
        standard, rest = urls.filter(usable), batch.filter(usable)
        keys = rules.key_many(standard)
        keys = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
        columns = [rest["url"], split_many(standard).sites(), rest["cluster"], keys]
        yield pa.RecordBatch.from_arrays([_plain(column) for column in columns], schema=_KEYED)


def _plain(column: Any) -> pa.Array:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.cast(pa.string())


def _counts(told: Any, by: list[str]) -> dict[str, Counts]:
    """Count what measures are made of, for each group; a cluster that spans sites is a cluster of each."""
    from pyspark.sql import functions as sql

    (name,) = by
    of_cluster = told.groupBy(*by, sql.col("site").alias("of_site"), "cluster").agg(
        sql.sum("size").alias("cluster_size")
    )
    totals = of_cluster.groupBy(*by).agg(
        sql.sum("cluster_size").alias("urls"),
        sql.count("*").alias("clusters"),
        sql.sum(sql.expr("cast(cluster_size as decimal(19, 0)) * cluster_size")).alias("cluster_squares"),
    )
    right = told.groupBy(*by).agg(sql.sum(_pairs("size")).alias("right"))
    # The cluster that has most URLs of a key; of equals, the one that is met first.
    of_key_and_cluster = told.groupBy(
        *by, "key", "site_first", "cluster_first", sql.col("site").alias("of_site"), "cluster"
    ).agg(sql.sum("size").alias("cell"))
    best = sql.min(sql.struct((-sql.col("cell")).alias("order"), "site_first", "cluster_first", "of_site", "cluster"))
    of_key = of_key_and_cluster.groupBy(*by, "key").agg(sql.sum("cell").alias("key_size"), best.alias("best"))
    keys = of_key.groupBy(*by).agg(
        sql.count("*").alias("keys"),
        sql.sum(_pairs("key_size")).alias("pairs"),
        sql.sum(_pairs("key_size").cast("decimal(19, 0)") * _pairs("key_size").cast("decimal(19, 0)")).alias(
            "pair_squares"
        ),
        sql.count_distinct("best.of_site", "best.cluster").alias("kept"),
    )
    limit = sql.greatest(sql.lit(LARGE_SHARE) * sql.col("urls"), sql.lit(1.0))
    small = of_cluster.join(totals, by).where(sql.col("cluster_size") <= limit).select(*by, "of_site", "cluster")
    among = told.withColumn("of_site", sql.col("site")).join(small, [*by, "of_site", "cluster"])
    without = among.groupBy(*by).agg(
        sql.sum("size").alias("small_urls"),
        sql.count_distinct("key").alias("small_keys"),
        sql.count_distinct("of_site", "cluster").alias("small_clusters"),
    )
    joined = totals.join(right, by).join(keys, by).join(without, by, "left").fillna(0)
    names = Counts.__dataclass_fields__
    return {row[name]: Counts(**{each: int(row[each]) for each in names}) for row in joined.collect()}


def _pairs(size: str) -> Any:
    from pyspark.sql import functions as sql

    return sql.expr(f"cast({size} as decimal(20, 0)) * ({size} - 1) / 2")
