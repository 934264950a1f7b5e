"""Clusters on Spark, as of the embedded engine: `exact`, or near: `simhash`, `minhash`, `bag` or `cascade`."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.clustering import SIGNATURES, THRESHOLDS
from undust.detect.fingerprints import schema as signature_schema
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near import METHODS as NEAR
from undust.detect.shingles import flattened_bags
from undust.detect.sketches import choose_bands
from undust.errors import UsageError
from undust.spark import hamming, pairs, rows
from undust.spark.centers import MAX_PAIRS, cluster_rows
from undust.spark.exchange import PARTITION_ROWS, cores, mapped, partitions_for
from undust.spark.pages import parameters_of, read_columns
from undust.spark.wire import from_wire, to_wire
from undust.tables import CLUSTERS

METHODS = tuple(SIGNATURES)
MADE = pa.schema([("url", pa.string()), ("cluster", pa.string()), ("similarity", pa.float32())])
"""Columns of clusters of near duplicates; of exact ones `undust.tables.CLUSTERS`."""


def cluster(
    session: Any,
    paths: Sequence[str],
    *,
    method: str = "exact",
    by: str = "center",
    threshold: float | None = None,
    distance: int = 3,
    partition_rows: int = PARTITION_ROWS,
    max_pairs: int = MAX_PAIRS,
) -> Any:
    """Group the URLs of files of fingerprints as a DataFrame, sorted by URL: as `undust.cluster` would."""
    require_method(method)
    parameters = SignatureParameters() if method == "exact" else parameters_of(paths)
    signatures = pa.schema([]) if method == "exact" else _columns(method, parameters)
    fingerprints = read_columns(session, paths, rows.read_schema(signatures))
    chosen = rows.captures(fingerprints, signatures)
    if method == "exact":
        named = rows.name_contents(chosen)
        return named.repartitionByRange("url").sortWithinPartitions("url")
    chosen = chosen.persist()
    tasks = partitions_for(chosen.count(), cores(session), partition_rows)
    given = pa.schema([CLUSTERS.field("url"), pa.field("content", pa.binary(16)), *signatures])
    pages = rows.numbered(chosen, given, tasks).persist()
    if method == "bag":
        made = _as_sets_schema(parameters)
        pages = mapped(pages, partial(_as_sets, given=pa.schema([rows.ROW, *given]), made=made), made).persist()
    least = THRESHOLDS.get(method, 0.0) if threshold is None else threshold
    found, compare = _pairs(session, pages, method, parameters, least, distance, tasks)
    members = cluster_rows(found, by, tasks, max_pairs=max_pairs)
    if by == "components":
        members = compare(members)
    return _named(pages, members, "minhash" if method == "bag" else NEAR[method][0][0])


def require_method(method: str) -> None:
    """Refuse a method that does not run on Spark, before anything is done for it."""
    if method not in METHODS:
        raise UsageError(f"{method} does not run on Spark; one of {', '.join(METHODS)}")


def _columns(method: str, parameters: SignatureParameters) -> pa.Schema:
    made = signature_schema(parameters, SIGNATURES[method])
    return pa.schema([made.field(name) for name in NEAR[method][0]])


def _as_sets_schema(parameters: SignatureParameters) -> pa.Schema:
    """Give the columns that min-hash works on, whatever its sets are made of."""
    sets = signature_schema(parameters, ("minhash", "shingles"))
    content = pa.field("content", pa.binary(16))
    return pa.schema([rows.ROW, CLUSTERS.field("url"), content, sets.field("minhash"), sets.field("shingles")])


def _as_sets(batches: Iterator[pa.RecordBatch], given: pa.Schema, made: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Give bags as the sets that they are: a word that occurs n times is n elements."""
    for each in batches:
        batch = from_wire(each, given)
        sets = flattened_bags(batch["bag"], batch["bag_counts"]).to_column()
        sets = pc.if_else(batch["bag"].is_valid(), sets, pa.scalar(None, sets.type))
        columns = [batch["row"], batch["url"], batch["content"], batch["bag_minhash"], sets]
        yield to_wire(pa.RecordBatch.from_arrays(columns, schema=made))


def _pairs(
    session: Any, pages: Any, method: str, parameters: SignatureParameters, threshold: float, distance: int, tasks: int
) -> tuple[Any, Any]:
    """Give the pairs of a method, and what tells how similar rows are to the row that names their cluster."""
    if method in THRESHOLDS:
        bands = choose_bands(threshold, values=parameters.minhash_values)
        lsh = pairs.Lsh(bands, threshold, parameters.minhash_bytes, tasks)
        return pairs.lsh_pairs(session, pages, lsh), partial(_compared, pages.select("row", "shingles"))
    bits = parameters.simhash_bits
    gap = hamming.CASCADE_GAP if method == "cascade" else 0
    signed = hamming.signed(pages.select("row", "simhash"), bits)
    if method == "cascade":
        signed = hamming.with_modes(signed, pages.where("simhash is not null"), parameters.keywords)
    found = hamming.hamming_pairs(signed.persist(), hamming.Near(bits, distance, tasks, gap))
    return found, partial(_compared_bits, signed.select("row", "low", "high"), bits=bits)


_COMPARING = pa.schema(
    [("row", pa.int64()), ("center", pa.int64()), ("one", pairs.SHINGLES.type), ("other", pairs.SHINGLES.type)]
)
_MEMBERS = pa.schema([("row", pa.int64()), ("center", pa.int64()), ("similarity", pa.float32())])


def _beside(members: Any, columns: Any, names: Sequence[str]) -> Any:
    """Put columns of the row and of its centre beside each member."""
    one = columns.selectExpr("row", *(f"{name} as one_{name}" for name in names))
    other = columns.selectExpr("row as center", *(f"{name} as other_{name}" for name in names))
    return members.select("row", "center").join(one, "row").join(other, "center")


def _compared(sets: Any, members: Any) -> Any:
    told = _beside(members, sets, ["shingles"])
    told = told.selectExpr("row", "center", "one_shingles as one", "other_shingles as other")
    return mapped(told, _compare_sets, _MEMBERS)


def _compare_sets(batches: Any) -> Any:
    from undust.detect.shingles import from_column

    for each in batches:
        batch = from_wire(each, _COMPARING)
        sets = from_column(pa.chunked_array([batch["one"], batch["other"]]))
        count = len(batch)
        found = sets.similarities(np.arange(count), np.arange(count) + count).astype(np.float32)
        yield pa.RecordBatch.from_arrays([batch["row"], batch["center"], pa.array(found)], schema=_MEMBERS)


def _compared_bits(signed: Any, members: Any, bits: int) -> Any:
    different = "bit_count(one_low ^ other_low) + bit_count(one_high ^ other_high)"
    told = _beside(members, signed, ["low", "high"])
    # In 64 bits, then 32: as the embedded engine counts.
    return told.selectExpr("row", "center", f"cast(1D - ({different}) / cast({bits} as double) as float) as similarity")


def _named(pages: Any, members: Any, present: str) -> Any:
    """Name each cluster by the URL of the row that it is named by. Pages without words join pages of equal content."""
    from pyspark.sql import functions as sql

    told = pages.select("row", "url", "content", sql.col(present).isNotNull().alias("present"))
    told = told.join(members, "row", "left").withColumns(
        {"center": sql.coalesce("center", "row"), "similarity": sql.coalesce("similarity", sql.lit(1.0).cast("float"))}
    )
    led = (
        told.where("content is not null")
        .groupBy("content")
        .agg(
            sql.min(sql.when(sql.col("present"), sql.struct("row", "center"))).alias("wordy"),
            sql.min("row").alias("first"),
        )
    )
    wordless = told.where("not present and content is not null").drop("center").join(led, "content", "left")
    lead = sql.coalesce(sql.col("wordy.center"), sql.col("first")).alias("center")
    kept = told.where("present or content is null").select("url", "center", "similarity")
    everything = kept.union(wordless.select("url", lead, "similarity"))
    names = pages.selectExpr("row as center", "url as cluster")
    named = everything.join(names, "center").select(*MADE.names)
    return named.repartitionByRange("url").sortWithinPartitions("url")


def count_clusters(clusters: Any) -> dict[str, int | float]:
    """Count URLs, clusters and duplicates, as `undust.clustering.count_clusters` does."""
    from pyspark.sql import functions as sql

    sizes = clusters.groupBy("cluster").agg(sql.count("*").alias("size"))
    found = sizes.agg(sql.sum("size"), sql.count("*"), sql.max("size")).first()
    urls, count, largest = (int(value or 0) for value in found)
    return {
        "urls": urls,
        "clusters": count,
        "duplicates": urls - count,
        "duplicate_rate": (urls - count) / urls if urls else 0.0,
        "largest": largest,
    }
