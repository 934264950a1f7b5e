"""LSH pairs on Spark: pages that agree in a band of their min-hash signatures, each pair verified exactly.

What is a pair is said in `undust.detect.pairs_minhash`, whose kernel verifies here, too. Rows travel without their
shingles until they are to be compared. A bucket of more than `MAX_BUCKET` pages compares with hubs, band after band,
as each page has so many tries in all; one that is hot beyond that is spread over all tasks, and its hubs go to them.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from undust.detect.fingerprints import from_column
from undust.detect.pairs_minhash import MAX_BUCKET, MAX_HUBS, MAX_TRIES
from undust.detect.shingles import ShingleSets
from undust.detect.shingles import from_column as sets_from_column
from undust.detect.sketches import Bands
from undust.kernels.banding import band_keys, find_equal, verify_buckets
from undust.spark.exchange import described, gathered, kept, mapped
from undust.spark.wire import from_wire

PAIRS = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("similarity", pa.float32())])
"""Pairs of rows, a < b; 64 bits, as there are more pages than one machine could number in 32."""

SHINGLES = pa.field("shingles", pa.large_list(pa.uint32()))

HOT_ROWS = 100_000
"""A bucket of more pages does not go to one task: its pages stay where they are, and are compared there."""

_SETS = pa.schema([("row", pa.int64()), SHINGLES])
_WHOLE = pa.schema([("row", pa.int64()), ("half", pa.int64()), SHINGLES])
_FIRST = pa.schema([("row", pa.int64()), ("first", pa.int64())])
_BANDS = pa.schema([("row", pa.int64()), ("band", pa.int32()), ("half", pa.int64())])
_CANDIDATES = pa.schema([("a", pa.int64()), ("b", pa.int64())])
_TOGETHER = pa.schema([*_CANDIDATES, pa.field("one", SHINGLES.type), pa.field("other", SHINGLES.type)])
_TRYING = pa.schema([("row", pa.int64()), ("half", pa.int64()), ("tries", pa.int32()), SHINGLES])
_TRIED = pa.schema([*PAIRS, pa.field("failed", pa.int64())])


class Lsh(NamedTuple):
    """How pairs are looked for."""

    bands: Bands
    threshold: float
    value_bytes: int
    tasks: int
    max_bucket: int = MAX_BUCKET
    hot_rows: int = HOT_ROWS


def lsh_pairs(session: Any, pages: Any, lsh: Lsh) -> Any:
    """Find the pairs among pages (`row`, `minhash`, `shingles`). A pair may come several times, always alike."""
    with described(session, "LSH pairs, equal sets"):
        firsts = kept(equal_sets(pages, lsh))
    doubles = firsts.where("row != first").selectExpr("first as a", "row as b", "cast(1 as float) as similarity")
    wanted = pages.join(firsts.where("row = first").select("row"), "row")
    sets = wanted.select("row", "shingles").persist()
    keys = mapped(wanted.select("row", "minhash"), partial(_band_rows, lsh=lsh), _BANDS).persist()
    with described(session, "LSH pairs, buckets"):
        large = kept(large_buckets(keys, lsh))
    small = keys.join(large.select("band", "half"), ["band", "half"], "left_anti")
    candidates = gathered(small, ["band", "half"], lsh.tasks, _bucket_pairs, _BANDS, _CANDIDATES).distinct()
    verified = verify(candidates, sets, lsh.threshold)
    return doubles.union(verified).union(_hub_pairs(session, keys, large, sets, lsh))


def equal_sets(pages: Any, lsh: Lsh) -> Any:
    """Give each row with words the first row with an equal set, itself if there is none."""
    whole = mapped(pages, partial(_whole_keys, lsh=lsh), _WHOLE)
    return gathered(whole, ["half"], lsh.tasks, _first_of_equal, _WHOLE, _FIRST)


def _signatures(batch: pa.RecordBatch, lsh: Lsh) -> Any:
    width = len(batch["minhash"][0].as_py()) if len(batch) else 0
    return from_column(batch["minhash"].cast(pa.binary(width)), lsh.value_bytes)


def _keys(batch: pa.RecordBatch, lsh: Lsh) -> tuple[Any, Any]:
    signatures = np.ascontiguousarray(_signatures(batch, lsh))
    keys, whole = np.zeros((lsh.bands.count, len(batch)), np.uint64), np.zeros(len(batch), np.uint64)
    band_keys(signatures, lsh.bands.rows, keys, 0, whole)
    return keys, whole


def _with_words(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        some = batch.filter(batch["minhash"].is_valid())
        if len(some):
            yield some


def _whole_keys(batches: Iterator[pa.RecordBatch], lsh: Lsh) -> Iterator[pa.RecordBatch]:
    for batch in _with_words(batches):
        _, whole = _keys(batch, lsh)
        half = pa.array((whole >> np.uint64(32)).astype(np.int64))
        made = pa.RecordBatch.from_arrays([batch["row"], half, batch["shingles"]], names=_WHOLE.names)
        yield made.filter(pa.array(whole != 0))


def _band_rows(batches: Iterator[pa.RecordBatch], lsh: Lsh) -> Iterator[pa.RecordBatch]:
    for batch in _with_words(batches):
        keys, _ = _keys(batch, lsh)
        rows = np.tile(batch["row"].to_numpy(), len(keys))
        bands = np.repeat(np.arange(len(keys), dtype=np.int32), len(batch))
        halves = (keys >> np.uint64(32)).astype(np.int64).reshape(-1)
        yield pa.RecordBatch.from_arrays([pa.array(rows), pa.array(bands), pa.array(halves)], schema=_BANDS)


def _packed(halves: Any, count: int) -> Any:
    """Pack rows, which are in order, as the kernels want them: sorted by key."""
    order = np.argsort(halves, kind="stable").astype(np.uint64)
    return halves.astype(np.uint64)[order.astype(np.int64)] << np.uint64(32) | order


def _first_of_equal(table: pa.Table) -> pa.Table:
    ordered = table.sort_by("row").combine_chunks()
    sets, rows = sets_from_column(ordered["shingles"]), ordered["row"].to_numpy()
    first = np.arange(len(rows), dtype=np.uint32)
    none = np.empty((0, 0), np.uint64)
    packed = _packed(ordered["half"].to_numpy(), len(rows))
    find_equal(packed, sets.hashes, sets.offsets, sets.counts, sets.ordered, sets.scratch(), none, first)
    return pa.table({"row": pa.array(rows), "first": pa.array(rows[first])}, schema=_FIRST)


def large_buckets(keys: Any, lsh: Lsh) -> Any:
    """Count the buckets whose pages are not all compared with each other."""
    from pyspark.sql import functions as sql

    return keys.groupBy("band", "half").agg(sql.count("*").alias("size")).where(f"size > {lsh.max_bucket}")


def _bucket_pairs(table: pa.Table) -> pa.Table:
    """Give all pairs in each bucket."""
    bands, halves, rows = (table[name].to_numpy() for name in ("band", "half", "row"))
    order = np.lexsort([rows, halves, bands])
    bands, halves, rows = bands[order], halves[order], rows[order]
    changes = (np.diff(bands, prepend=-1) != 0) | (np.diff(halves, prepend=-1) != 0)
    starts = np.flatnonzero(changes)
    ends = np.repeat(np.append(starts[1:], len(rows)), np.diff(np.append(starts, len(rows))))
    after = ends - np.arange(len(rows)) - 1  # rows of its bucket behind each
    a = np.repeat(np.arange(len(rows)), after)
    b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(after) - after, after)
    return pa.table({"a": pa.array(rows[a]), "b": pa.array(rows[b])}, schema=_CANDIDATES)


def verify(candidates: Any, sets: Any, threshold: float) -> Any:
    """Keep the pairs whose shingles have a Jaccard similarity of at least the threshold."""
    one = sets.selectExpr("row as a", "shingles as one")
    other = sets.selectExpr("row as b", "shingles as other")
    together = candidates.join(one, "a").join(other, "b").select(*_TOGETHER.names)
    return mapped(together, partial(_verify, threshold=threshold), PAIRS)


def _verify(batches: Iterator[pa.RecordBatch], threshold: float) -> Iterator[pa.RecordBatch]:
    for each in batches:
        batch = from_wire(each, _TOGETHER)
        similarities = compare_beside(batch["one"], batch["other"], threshold)
        columns = [batch["a"], batch["b"], pa.array(similarities)]
        yield pa.RecordBatch.from_arrays(columns, schema=PAIRS).filter(pa.array(similarities >= 0))


def compare_beside(one: pa.Array, other: pa.Array, threshold: float) -> Any:
    """Compare sets with those beside them; -1 below the threshold."""
    count = len(one)
    sets = sets_from_column(pa.chunked_array([one, other]))
    # Each pair is a bucket of two for the kernel of the embedded engine.
    pairs = np.arange(count, dtype=np.uint64)
    packed = np.repeat(pairs << np.uint64(32), 2)
    packed[0::2] |= pairs
    packed[1::2] |= pairs + np.uint64(count)
    found, similarities, _ = _run_kernel(packed, sets, threshold, 2, np.zeros(2 * count, np.uint8))
    made = np.full(count, -1, np.float32)
    made[(found >> np.uint64(32)).astype(np.int64)] = similarities
    return made


def _run_kernel(packed: Any, sets: ShingleSets, threshold: float, max_bucket: int, tries: Any) -> tuple[Any, Any, Any]:
    """Find the pairs in buckets; `tries` is counted down."""
    room = max(1 << 12, len(packed))
    hubs, state = np.empty(MAX_HUBS, np.uint32), np.zeros(3, np.int64)
    pairs, weights = np.empty(room, np.uint64), np.empty(room, np.float32)
    known, parent = np.full(16, 2**64 - 1, np.uint64), np.empty(0, np.uint32)
    arrays = (sets.hashes, sets.offsets, sets.counts, sets.ordered, sets.scratch(), np.empty((0, 0), np.uint64))
    found, similarities = [pairs[:0]], [weights[:0]]
    while state[0] < len(packed):
        verify_buckets(packed, *arrays, threshold, known, parent, max_bucket, hubs, tries, state, pairs, weights)
        found.append(pairs[: state[1]].copy())
        similarities.append(weights[: state[1]].copy())
        if state[2] > len(pairs):
            pairs, weights = np.empty(state[2], np.uint64), np.empty(state[2], np.float32)
    return np.concatenate(found), np.concatenate(similarities), tries


def _hub_pairs(session: Any, keys: Any, large: Any, sets: Any, lsh: Lsh) -> Any:
    """Compare the pages of large buckets with their hubs, one band after the other: tries count over all of them."""
    from pyspark.sql import functions as sql

    from undust.spark.hot import hot_pairs

    sizes = large.groupBy("band").agg(sql.max("size").alias("size")).orderBy("band").collect()
    found = session.createDataFrame([], "a long, b long, similarity float, failed long")
    for each in sizes:
        band = large.where(large["band"] == each["band"])
        used = (
            found.where("failed is not null").groupBy(sql.col("failed").alias("row")).agg(sql.count("*").alias("used"))
        )
        tries = (sql.lit(MAX_TRIES) - sql.coalesce("used", sql.lit(0))).cast("int").alias("tries")

        def trying(buckets: Any, band: int = each["band"], used: Any = used, tries: Any = tries) -> Any:
            mine = keys.where(keys["band"] == band).join(buckets.select("half"), "half")
            return mine.join(used, "row", "left").select("row", "half", tries).join(sets, "row")

        usual = trying(band.where(f"size <= {lsh.hot_rows}")).select(*_TRYING.names)
        step = partial(_try_hubs, threshold=lsh.threshold, max_bucket=lsh.max_bucket)
        found = found.union(gathered(usual, ["half"], lsh.tasks, step, _TRYING, _TRIED))
        if each["size"] > lsh.hot_rows:
            hot = trying(sql.broadcast(band.where(f"size > {lsh.hot_rows}"))).select(*_TRYING.names)
            found = found.union(hot_pairs(hot, lsh.threshold))
        with described(session, f"LSH pairs, large buckets of band {each['band']}"):
            found = kept(found)
    return found.where("failed is null").select(*PAIRS.names)


def _try_hubs(table: pa.Table, threshold: float, max_bucket: int) -> pa.Table:
    ordered = table.sort_by("row").combine_chunks()
    sets, rows = sets_from_column(ordered["shingles"]), ordered["row"].to_numpy()
    before = ordered["tries"].to_numpy().clip(0).astype(np.uint8)
    packed = _packed(ordered["half"].to_numpy(), len(rows))
    pairs, similarities, after = _run_kernel(packed, sets, threshold, max_bucket, before.copy())
    return tried(
        rows[(pairs >> np.uint64(32)).astype(np.int64)],
        rows[(pairs & np.uint64(2**32 - 1)).astype(np.int64)],
        similarities,
        np.repeat(rows, before.astype(np.int64) - after),
    )


def tried(a: Any, b: Any, similarities: Any, failed: Any) -> pa.Table:
    """Give pairs, and a row for each try in vain."""
    none = [None] * len(failed)
    return pa.table(
        {
            "a": pa.concat_arrays([pa.array(a, pa.int64()), pa.array(none, pa.int64())]),
            "b": pa.concat_arrays([pa.array(b, pa.int64()), pa.array(none, pa.int64())]),
            "similarity": pa.concat_arrays([pa.array(similarities, pa.float32()), pa.array(none, pa.float32())]),
            "failed": pa.concat_arrays([pa.nulls(len(a), pa.int64()), pa.array(failed, pa.int64())]),
        },
        schema=_TRIED,
    )
