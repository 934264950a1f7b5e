"""Giant sites on Spark: a part is drawn where the URLs are, one task among those of all sites learns from it, and all
tasks proof the rules.

The counts of the proof add up: of pairs by the sizes of keys, and of keys in clusters. The rules are those that
`undust.learn.large` gives where the whole site is on one machine.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from undust.learn.large import Draw, cap_of, confirmed, drawn
from undust.learn.proof import EXAMPLES
from undust.rules.files import dump_rule, load_rule
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet
from undust.spark.exchange import described, mapped
from undust.spark.wire import from_wire

RuleRow = tuple[str, int, bytes]
"""Site, place and rule, as it travels."""

_DECIDED = pa.schema([("url", pa.string()), ("cluster", pa.string()), ("key", pa.string()), ("place", pa.int32())])


def draw_parts(session: Any, sited: Any, schema: pa.Schema, most: int) -> tuple[Any, Any]:
    """Give the URLs of giant sites, each once, which are kept, and of each site the part that is learned from."""
    once = one_row_each(sited, schema).persist()
    with described(session, "giant sites, counted"):
        draws = _draws(once, most)
    return once, mapped(once, partial(_draw, schema=schema, draws=draws), schema)


def confirm_sites(session: Any, once: Any, rows: Iterable[RuleRow], max_fpr: float) -> list[RuleRow]:
    """Proof what was learned from parts of giant sites, of which there are few, on all of their URLs."""
    found: dict[str, list[tuple[int, bytes]]] = {}
    for site, place, rule in rows:
        found.setdefault(site, []).append((place, rule))
    told: list[RuleRow] = []
    for site, made in found.items():
        rules = [load_rule(rule, site, place) for place, rule in sorted(made)]
        urls = once.where(once["site"] == site)
        with described(session, "giant sites, rules proofed on all URLs"):
            kept = confirmed(rules, partial(_statistics, session, urls), max_fpr)
        told += [(site, place, dump_rule(rule)) for place, rule in enumerate(kept)]
    return told


def one_row_each(sited: Any, schema: pa.Schema) -> Any:
    """Give each URL once, in the cluster that names it most often, of equals the first by name; the largest weights."""
    from pyspark.sql import functions as sql

    weights = [name for name in schema.names if name not in ("site", "url", "cluster")]
    most = [sql.max(name).alias(name) for name in weights]
    counted = sited.groupBy("site", "url", "cluster").agg(sql.count("*").alias("count"), *most)
    best = sql.min(sql.struct((-sql.col("count")).alias("order"), "cluster")).alias("best")
    chosen = counted.groupBy("site", "url").agg(best, *most)
    known = [sql.coalesce(name, sql.lit(0.0)).alias(name) for name in weights]
    return chosen.select("site", "url", sql.col("best.cluster").alias("cluster"), *known)


Draws = dict[str, tuple[Draw, dict[str, int]]]


def _draws(once: Any, most: int) -> Draws:
    """Tell for each site which part is drawn, and the sizes of its giant clusters: at most some for each site."""
    from pyspark.sql import functions as sql

    cap = cap_of(most)
    sizes = once.groupBy("site", "cluster").agg(sql.count("*").alias("size")).persist()
    kept = sizes.groupBy("site").agg(sql.sum(sql.least("size", sql.lit(cap))).alias("kept")).collect()
    made: Draws = {row["site"]: (Draw(most, int(row["kept"])), {}) for row in kept}
    for row in sizes.where(f"size > {cap}").collect():
        made[row["site"]][1][row["cluster"]] = row["size"]
    sizes.unpersist()
    return made


def _draw(batches: Iterator[pa.RecordBatch], schema: pa.Schema, draws: Draws) -> Iterator[pa.RecordBatch]:
    for each in batches:
        batch = from_wire(each, schema)
        sites = batch["site"].dictionary_encode()
        for code, site in enumerate(sites.dictionary.to_pylist()):
            some = batch.filter(pa.compute.equal(sites.indices, code))
            draw, large = draws[site]
            yield some.filter(pa.array(drawn(some["url"], some["cluster"], draw, large.get)))


def _statistics(session: Any, urls: Any, rules: Sequence[Rule]) -> list[Statistics]:
    """Proof rules on all URLs of a site, as `undust.learn.proof` does."""
    from pyspark.sql import functions as sql

    decided = mapped(urls.select("url", "cluster"), partial(_decide, rules=list(rules)), _DECIDED).persist()
    cells = decided.groupBy("key", "cluster").agg(sql.count("*").alias("size"), sql.min("url").alias("first")).persist()
    keys = cells.groupBy("key").agg(sql.sum("size").alias("key_size"), sql.min("first").alias("key_first"))
    of_rule = decided.where("place >= 0").select("key", "place").distinct().persist()
    coverage = {row["place"]: row["count"] for row in decided.groupBy("place").count().collect()}
    counted = (
        of_rule.join(keys, "key")
        .groupBy("place")
        .agg(
            sql.sum("key_size").alias("urls"), sql.count("*").alias("keys"), sql.sum(_pairs("key_size")).alias("pairs")
        )
    )
    told = of_rule.join(cells, "key")
    right = told.groupBy("place").agg(
        sql.sum(_pairs("size")).alias("support"),
        sql.count_distinct(sql.when(sql.col("size") > 1, sql.col("cluster"))).alias("clusters"),
    )
    both = {row["place"]: row.asDict() for row in counted.join(right, "place").collect()}
    clusters = cells.groupBy("cluster").agg(sql.min("first").alias("cluster_first"))
    several = told.where("size > 1").join(keys, "key").join(clusters, "cluster")
    examples = _examples(session, decided, several)
    total = sum(coverage.values())
    for frame in (decided, cells, of_rule):
        frame.unpersist()
    return [
        _told(both.get(place, {}), coverage.get(place, 0), examples.get(place, []), rule.statistics.learner, total)
        for place, rule in enumerate(rules)
    ]


_SHOWN = pa.schema([(name, pa.string()) for name in ("key_first", "cluster_first", "key", "cluster")])


def _examples(session: Any, decided: Any, several: Any) -> dict[int, list[tuple[str, str]]]:
    """Give the first two URLs of the first cells of each rule that have several."""
    cells = _least(several, ["place"], [*_SHOWN.names], EXAMPLES)
    if not cells:
        return {}
    asked = session.createDataFrame([(row["key"], row["cluster"]) for row in cells], "key string, cluster string")
    found = decided.join(asked.distinct().hint("broadcast"), ["key", "cluster"])
    pairs: dict[tuple[str, str], list[str]] = {}
    for row in _least(found, ["key", "cluster"], ["url"], 2):
        pairs.setdefault((row["key"], row["cluster"]), []).append(row["url"])
    made: dict[int, list[tuple[str, str]]] = {}
    for row in cells:
        first, second = pairs[row["key"], row["cluster"]]
        made.setdefault(row["place"], []).append((first, second))
    return made


def _least(frame: Any, groups: list[str], order: list[str], count: int) -> list[dict[str, Any]]:
    """Give the first rows of each group: each task gives its own first, and the driver chooses among these."""
    from pyspark.sql.pandas.types import to_arrow_schema

    chosen = frame.select(*groups, *order)
    schema = to_arrow_schema(chosen.schema)
    found = mapped(chosen, partial(_least_here, schema=schema, groups=groups, order=order, count=count), schema)
    table = pa.table({name: [row[name] for row in rows] for rows in [found.collect()] for name in schema.names})
    first: list[dict[str, Any]] = _head(table.cast(schema), groups, order, count).to_pylist()
    return first


def _least_here(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, groups: list[str], order: list[str], count: int
) -> Iterator[pa.RecordBatch]:
    kept = schema.empty_table()
    for batch in batches:
        kept = _head(pa.concat_tables([kept, pa.Table.from_batches([batch]).cast(schema)]), groups, order, count)
    yield from kept.to_batches()


def _head(table: pa.Table, groups: list[str], order: list[str], count: int) -> pa.Table:
    """Give the first rows of each group of a table."""
    ordered = table.sort_by([(name, "ascending") for name in [*groups, *order]])
    if not len(ordered):
        return ordered
    changes = np.zeros(len(ordered), np.bool_)
    changes[0] = True
    for name in groups:
        column = ordered[name].combine_chunks()
        changes[1:] |= np.asarray(pa.compute.not_equal(column[1:], column[:-1]))
    starts = np.flatnonzero(changes)
    place = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    return ordered.filter(pa.array(place < count))


def _pairs(size: str) -> Any:
    from pyspark.sql import functions as sql

    return sql.expr(f"cast({size} as decimal(20, 0)) * ({size} - 1) / 2")


def _told(found: dict[str, Any], coverage: int, examples: list[Any], learner: str, total: int) -> Statistics:
    support = int(found.get("support", 0))
    return Statistics(
        coverage=coverage,
        support=support,
        false_positives=int(found.get("pairs", 0)) - support,
        clusters=int(found.get("clusters", 0)),
        merged=int(found.get("urls", 0)) - int(found.get("keys", 0)),
        examples=tuple(examples),
        learner=learner,
        trained_on=total,
    )


def _decide(batches: Iterator[pa.RecordBatch], rules: list[Rule]) -> Iterator[pa.RecordBatch]:
    rule_set = RuleSet(rules)
    for batch in batches:
        made = rule_set.decide_many(batch["url"])
        keys = pa.array(made.keys) if not isinstance(made.keys, pa.ChunkedArray) else made.keys.combine_chunks()
        places = pa.array(np.asarray(made.rules, np.int32))
        yield pa.RecordBatch.from_arrays(
            [batch["url"], batch["cluster"], keys.cast(pa.string()), places], schema=_DECIDED
        )
