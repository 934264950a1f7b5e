"""Simhash pairs on Spark, for `simhash` and `cascade`: pages that agree in all but some blocks of bits are compared.

All pairs within the distance are found, as by `undust.detect.pairs_hamming`, which compares the pages of each bucket
here, too. A bucket that is hot is salted: cut into parts, and each two parts are compared in a task of their own.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from undust.detect.cascade import MAX_SENTENCES, mode_groups
from undust.detect.kmodes import choose_modes, fit_modes, sample_keywords
from undust.detect.near_hamming import hash_keywords
from undust.detect.pairs_hamming import block_masks, near_rows
from undust.spark.exchange import gathered, mapped
from undust.spark.pairs import PAIRS
from undust.spark.wire import from_wire, to_wire

HOT_ROWS = 100_000
"""A bucket of more pages is salted into parts of so many."""

SIGNED = pa.schema(
    [("row", pa.int64()), ("low", pa.uint64()), ("high", pa.uint64()), ("mode", pa.int64()), ("level", pa.int32())]
)
KEYED = pa.schema([*SIGNED, pa.field("table", pa.int32()), pa.field("key", pa.int64()), pa.field("part", pa.int64())])
_WORDS = pa.schema([("row", pa.int64()), ("words", pa.large_list(pa.uint64()))])


class Near(NamedTuple):
    """How pairs are looked for."""

    bits: int
    distance: int
    tasks: int
    gap: int = 0
    hot_rows: int = HOT_ROWS


def signed(pages: Any, bits: int) -> Any:
    """Give the simhashes of pages (`row`, `simhash`) as numbers; pages without words are left out."""
    return mapped(pages, partial(_signed, bits=bits), SIGNED)


def _signed(batches: Iterator[pa.RecordBatch], bits: int) -> Iterator[pa.RecordBatch]:
    for each in batches:
        batch = each.filter(each["simhash"].is_valid())
        if bits > 64:
            raw = batch["simhash"].cast(pa.binary(16))
            halves = np.frombuffer(raw.buffers()[1] or b"", np.uint64)[2 * raw.offset :][: 2 * len(raw)].reshape(-1, 2)
        else:
            low = batch["simhash"].to_numpy().view(np.uint64)
            halves = np.stack([low, np.zeros_like(low)], axis=1)
        columns = [
            batch["row"],
            pa.array(halves[:, 0].copy()),
            pa.array(halves[:, 1].copy()),
            pa.array(np.zeros(len(batch), np.int64)),
            pa.array(np.zeros(len(batch), np.int32)),
        ]
        yield to_wire(pa.RecordBatch.from_arrays(columns, schema=SIGNED))


def with_modes(signatures: Any, pages: Any, width: int) -> Any:
    """Give each page the mode of its keywords, and its sentences as its level (paper 001).

    Modes are learned from a sample of fixed size, which each task draws by a hash of the keywords.
    """
    words = mapped(pages.select("keywords"), partial(_sample, width=width), pa.schema([_WORDS.field("words")]))
    found = mapped(words.repartition(1), partial(_merge, width=width), pa.schema([_WORDS.field("words")]))
    sample = sample_keywords([_numbers(row["words"], width) for row in found.collect()])
    modes = fit_modes(sample, choose_modes(signatures.count()))
    schema = pa.schema([("row", pa.int64()), ("mode", pa.int64()), ("level", pa.int32())])
    given = pages.select("row", "keywords", "sentences")
    told = mapped(given, partial(_assign, modes=modes, width=width), schema)
    return signatures.drop("mode", "level").join(told, "row").select(*SIGNED.names)


def _numbers(raw: bytes, width: int) -> Any:
    return np.frombuffer(raw, np.uint64).reshape(-1, width)


def _sample(batches: Iterator[pa.RecordBatch], width: int) -> Iterator[pa.RecordBatch]:
    kept = sample_keywords(hash_keywords(batch["keywords"], width) for batch in batches)
    if kept.size:
        yield pa.RecordBatch.from_arrays([pa.array([kept.tobytes()], pa.binary())], names=["words"])


def _merge(batches: Iterator[pa.RecordBatch], width: int) -> Iterator[pa.RecordBatch]:
    kept = sample_keywords(_numbers(raw, width) for batch in batches for raw in batch["words"].to_pylist())
    if kept.size:
        yield pa.RecordBatch.from_arrays([pa.array([kept.tobytes()], pa.binary())], names=["words"])


def _assign(batches: Iterator[pa.RecordBatch], modes: Any, width: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        found = mode_groups(hash_keywords(batch["keywords"], width), modes) if len(modes) else np.zeros(len(batch))
        level = batch["sentences"].fill_null(0).cast(pa.int32())
        columns = [batch["row"], pa.array(found.astype(np.int64)), level]
        yield pa.RecordBatch.from_arrays(columns, names=["row", "mode", "level"])


def hamming_pairs(signatures: Any, near: Near) -> Any:
    """Find the pairs within the distance, of one mode and near levels. A pair may come several times, always alike.

    Pages that are the same in all are represented by the first of them.
    """
    from pyspark.sql import functions as sql

    same = ["low", "high", "mode", "level"]
    firsts = signatures.groupBy(*same).agg(sql.min("row").alias("first")).persist()
    doubles = signatures.join(firsts, same).where("row != first")
    stars = doubles.selectExpr("first as a", "row as b", "cast(1 as float) as similarity")
    different = firsts.selectExpr("first as row", *same)
    masks = block_masks(near.bits, near.distance, firsts.count())
    keyed = mapped(different, partial(key_rows, masks=masks, hot={}, size=near.hot_rows), KEYED)
    sizes = keyed.groupBy("table", "key").agg(sql.count("*").alias("size")).where(f"size > {near.hot_rows}").collect()
    if sizes:
        hot = {(row["table"], row["key"]): row["size"] for row in sizes}
        keyed = mapped(different, partial(key_rows, masks=masks, hot=hot, size=near.hot_rows), KEYED)
    step = partial(compare_buckets, near=near)
    return stars.union(gathered(keyed, ["table", "key", "part"], near.tasks, step, KEYED, PAIRS))


def key_rows(
    batches: Iterator[pa.RecordBatch], masks: list[int], hot: dict[tuple[int, int], int], size: int
) -> Iterator[pa.RecordBatch]:
    """Give each row the bucket that it is in by each mask, and its parts of those that are hot, by their sizes."""
    for each in batches:
        batch = from_wire(each, SIGNED)
        low, high, mode = (batch[name].to_numpy() for name in ("low", "high", "mode"))
        for table, mask in enumerate(masks):
            kept = _mixed(low & np.uint64(mask & 2**64 - 1), high & np.uint64(mask >> 64), mode)
            places, parts = _salted(table, kept, batch["row"].to_numpy(), hot, size)
            columns = [column.take(pa.array(places)) for column in batch.columns]
            added = [np.full(len(places), table, np.int32), kept[places], parts]
            yield to_wire(pa.RecordBatch.from_arrays([*columns, *map(pa.array, added)], schema=KEYED))


def _mixed(low: Any, high: Any, mode: Any) -> Any:
    """Hash what has to be equal; buckets that meet by chance cost time only."""
    value = low * np.uint64(0x9E3779B97F4A7C15) ^ (high + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
    value ^= mode.astype(np.uint64) * np.uint64(0x165667B19E3779F9)
    value ^= value >> np.uint64(29)
    return ((value * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(1)).astype(np.int64)


def _salted(table: int, keys: Any, rows: Any, hot: dict[tuple[int, int], int], size: int) -> tuple[Any, Any]:
    """Send each row to the part of its bucket; of a hot one to all pairs of parts in which its own is."""
    places, parts = [np.arange(len(keys))], [np.zeros(len(keys), np.int64)]
    known = np.array([key for at, key in hot if at == table], np.int64)
    is_hot = np.isin(keys, known)
    if not is_hot.any():
        return places[0], parts[0]
    places, parts = [places[0][~is_hot]], [parts[0][~is_hot]]
    for place in np.flatnonzero(is_hot).tolist():
        salts = -(-hot[table, int(keys[place])] // size)
        own = int(rows[place]) % salts
        for other in range(salts):
            places.append(np.array([place]))
            parts.append(np.array([1 + min(own, other) * salts + max(own, other)]))
    return np.concatenate(places), np.concatenate(parts)


def compare_buckets(table: pa.Table, near: Near) -> pa.Table:
    """Compare the pages of each bucket, all buckets of a task at once: the bucket is a part of the group."""
    ordered = table.sort_by([("table", "ascending"), ("key", "ascending"), ("part", "ascending"), ("row", "ascending")])
    columns = {name: ordered[name].to_numpy() for name in KEYED.names}
    changes = np.zeros(len(ordered), np.bool_)
    for name in ("table", "key", "part"):
        changes[1:] |= columns[name][1:] != columns[name][:-1]
    # Modes that share a bucket by chance are told apart by another number.
    both = np.stack([np.cumsum(changes), columns["mode"]], axis=1)
    groups = np.unique(both, axis=0, return_inverse=True)[1].ravel().astype(np.uint32)
    halves = [columns["low"], columns["high"]] if near.bits > 64 else [columns["low"]]
    packed, distances = near_rows(
        np.ascontiguousarray(np.stack(halves, axis=1)),
        bits=near.bits,
        distance=near.distance,
        groups=groups,
        levels=columns["level"],
        gap=near.gap,
        threads=1,
    )
    rows, similarities = columns["row"], (1.0 - distances / near.bits).astype(np.float32)
    one, other = (
        rows[(packed >> np.uint64(32)).astype(np.int64)],
        rows[(packed & np.uint64(2**32 - 1)).astype(np.int64)],
    )
    return pa.table(
        {"a": np.minimum(one, other), "b": np.maximum(one, other), "similarity": similarities}, schema=PAIRS
    )


CASCADE_GAP = MAX_SENTENCES
