"""Learning on Spark: whole sites go to tasks of even size, where the learners of the embedded engine learn them.

    URLs ──> their sites ──> sites counted, packed into tasks ──> rules of each site ──> a set of rules

A site of more URLs than `learn.large.MOST` is learned from a part, and its rules are proofed on all (`large_sites`).
"""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from undust.learn.columns import encode_table, site_tables
from undust.learn.large import MOST, enough
from undust.learn.methods import Options
from undust.learn.methods import method as learning_method
from undust.rules.check import sound
from undust.rules.files import dump_rule, load_rule
from undust.rules.ruleset import RuleSet
from undust.spark.exchange import cores, described, mapped, packed, partitions_for, placed
from undust.spark.wire import from_wire, to_wire, together
from undust.urls.batch import normalize_many, split_many

RULES = pa.schema([("site", pa.string()), ("place", pa.int32()), ("rule", pa.binary())])


LEAST_ROWS = 20_000
"""URLs that are worth a task."""


class Learning(NamedTuple):
    """What is asked of learning."""

    method: str = "both"
    options: Options = Options()
    hosts: bool = False
    most: int = MOST
    """URLs of a site from which on it is learned from a part."""
    partition_rows: int = MOST // 4
    """URLs of a task. They are learned some thousand at a time, so this is not about memory: a site that is drawn from
    takes at most about four times as long as a usual task.
    """


def sited_schema(weights: tuple[str, ...]) -> pa.Schema:
    """Give the columns of URLs in standard form with their sites."""
    fields = [pa.field(name, pa.string()) for name in ("site", "url", "cluster")]
    return pa.schema([*fields, *(pa.field(name, pa.float64()) for name in weights)])


def learn(session: Any, clusters: Any, learning: Learning) -> RuleSet:
    """Learn the rules of all sites in a DataFrame of clusters: the rules of `undust.learn`, in its order."""
    from undust.spark.large_sites import confirm_sites, draw_parts

    learning_method(learning.method, learning.options)  # says at once what is wrong with them
    weights = tuple(name for name in ("importance", "inlinks") if name in clusters.columns)
    schema = sited_schema(weights)
    sited = mapped(clusters, partial(_with_sites, made=schema, hosts=learning.hosts), schema).persist()
    try:
        with described(session, "sites, counted"):
            sizes = _sizes(sited, min(learning.partition_rows // 4, learning.most))
        large = [site for site, size in sizes.items() if site is not None and size > learning.most]
        whole = sited
        if large:
            is_large = sited["site"].isin(large)
            once, parts = draw_parts(session, sited.where(is_large), schema, learning.most)
            whole = sited.where(~is_large).union(parts)
            sizes |= dict.fromkeys(large, learning.most)
        spread = evenly(session, whole, sizes, learning)
        step = partial(learn_sites, schema=schema, learning=learning)
        with described(session, "rules of sites, learned"):
            found = mapped(spread, step, RULES).collect()
        rows = [(row["site"], row["place"], bytes(row["rule"])) for row in found]
        if large:
            given = [row for row in rows if row[0] in large]
            rows = [row for row in rows if row[0] not in large]
            rows += confirm_sites(session, once, given, learning.options.max_fpr)
            once.unpersist()
    finally:
        sited.unpersist()
    return as_rules(rows)


def as_rules(rows: list[tuple[str, int, bytes]]) -> RuleSet:
    """Put the rules of sites into one set, in the order of sites."""
    ordered = sorted(rows, key=lambda row: (row[0].encode(), row[1]))
    loaded = [load_rule(rule, "spark", place + 1) for place, (_, _, rule) in enumerate(ordered)]
    return RuleSet(rule for _, site in groupby(loaded, key=lambda rule: rule.site) for rule in sound(list(site)))


def _with_sites(batches: Iterator[pa.RecordBatch], made: pa.Schema, hosts: bool) -> Iterator[pa.RecordBatch]:
    given = pa.schema([field for field in made if field.name != "site"])
    for each in batches:
        batch = from_wire(each, given)
        urls = normalize_many(batch["url"]).urls.combine_chunks()
        some = pa.compute.and_(urls.is_valid(), batch["cluster"].is_valid())
        urls, rest = urls.filter(some), batch.filter(some)
        split = split_many(urls)
        sites = split.sites(hosts=hosts)
        columns = [sites, urls, *(rest[name] for name in given.names[1:])]
        yield pa.RecordBatch.from_arrays(
            [column.cast(pa.string()) if at < 2 else column for at, column in enumerate(columns)], schema=made
        )


def _sizes(sited: Any, least: int) -> dict[str | None, int]:
    """Count the URLs of sites that are worth a place of their own, and, under None, of all others together."""
    from pyspark.sql import functions as sql

    counted = sited.groupBy("site").agg(sql.count("*").alias("size")).persist()
    sizes = {row["site"]: row["size"] for row in counted.where(f"size >= {least}").collect()}
    total = counted.agg(sql.sum("size")).first()[0] or 0
    counted.unpersist()
    return {**sizes, None: int(total) - sum(sizes.values())}


def evenly(session: Any, sited: Any, sizes: dict[str | None, int], learning: Learning) -> Any:
    """Bring whole sites to tasks of about the same size: large ones are packed, small ones spread by their name."""
    from pyspark.sql import functions as sql

    named = {site: size for site, size in sizes.items() if site is not None}
    at_once = cores(session)
    # Some tasks for each core, so that one that takes longer holds up nobody, but none that is hardly worth a start.
    rows = min(learning.partition_rows, max(LEAST_ROWS, sum(sizes.values()) // (4 * at_once)))
    bins = packed(named, 0, rows)
    first = max(bins.values(), default=-1) + 1
    small = partitions_for(sizes.get(None, 0), 1 if first else at_once, rows)
    table = session.createDataFrame([*bins.items()], "site string, bin int")
    spread = sql.pmod(sql.xxhash64("site"), sql.lit(small)) + first
    told = sited.join(sql.broadcast(table), "site", "left")
    told = told.withColumn("bin", sql.coalesce("bin", spread.cast("int")))
    return placed(session, told, "bin", first + small).sortWithinPartitions("site")


def learn_sites(batches: Iterator[pa.RecordBatch], schema: pa.Schema, learning: Learning) -> Iterator[pa.RecordBatch]:
    """Learn the sites of a task, which come one after the other: no more than some of them are in memory."""
    chosen = learning_method(learning.method, learning.options)
    for table in _whole_sites(batches, schema):
        rows = [
            (name, place, dump_rule(rule))
            for name, urls in site_tables(table, hosts=learning.hosts)
            for place, rule in enumerate(enough(chosen, encode_table(name, urls), learning.options))
        ]
        if rows:
            yield rule_rows(rows)


def rule_rows(rows: list[tuple[str, int, bytes]]) -> pa.RecordBatch:
    """Give rules as rows."""
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), RULES, strict=True)]
    return to_wire(pa.RecordBatch.from_arrays(columns, schema=RULES))


def _whole_sites(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Cut what comes sorted by site into tables of whole sites, as few as have some thousand URLs."""
    waiting: list[pa.RecordBatch] = []
    for each in batches:
        sites = each["site"]
        last = sites[-1].as_py()
        before = len(each) - 1
        while before >= 0 and sites[before].as_py() == last:
            before -= 1
        waiting.append(each.slice(0, before + 1))
        if before >= 0 and sum(map(len, waiting)) > 20_000:
            yield together(waiting, schema)
            waiting = []
        elif before < 0:
            waiting.pop()
        waiting.append(each.slice(before + 1))
    if waiting:
        yield together(waiting, schema)
