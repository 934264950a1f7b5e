"""Topical clusters: the stages of paper 002's table, what is found of what is there, and how long an answer takes."""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import row
from undust import pipeline
from undust.corpus import Tally
from undust.detect.captures import TableFingerprints, find_captures
from undust.detect.clusters import Clusters
from undust.detect.related import RelatedIndex, pack_index
from undust.detect.topical import RelatedPages, Topical, cluster_bags, find_topics, topical_pairs
from undust.detect.topical_anchors import find_targets, gather_anchor_bags
from undust.detect.topical_bags import StoredBags, TermDocuments, collapse, count_documents
from undust.detect.topical_draws import choose_draws
from undust.detect.topical_pairs import BagSketches, bag_pairs, sketch_bags
from undust.related_pages import open_related

DATA = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data"))
PAGES = 200_000
BATCH = 4096


def run() -> list[dict[str, Any]]:
    """Measure everything."""
    return [*_stages(), *_real_pages()]


def _timed(function: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> tuple[Any, float]:
    """Give the result and the seconds of the processor, of all threads, whatever else the machine does."""
    start = clock()
    made = function()
    return made, clock() - start


def _made_bags(pages: int) -> Iterator[tuple[np.ndarray, StoredBags]]:
    """Bags of made pages: of about 150 words half are of one of 2,000 topics, half from anywhere, by Zipf's law."""
    chance = np.random.default_rng(0)
    for start in range(0, pages, BATCH):
        count = min(BATCH, pages - start)
        topic = chance.integers(0, 2000, count)
        size = chance.integers(50, 250, count)
        rows = np.repeat(np.arange(count), size)
        own = (topic[rows] * 1000 + chance.zipf(1.3, len(rows)) % 300).astype(np.uint32)
        other = (chance.zipf(1.2, len(rows)) % 2_000_000 + 10_000_000).astype(np.uint32)
        terms = np.where(chance.random(len(rows)) < 0.5, own, other) * np.uint32(2654435761)
        yield np.arange(start, start + count, dtype=np.uint32), collapse(rows, terms, count)


def _stages() -> Iterator[dict[str, Any]]:
    """Time of each stage for made pages, beside a limit of our own, in microseconds of the processor for a page."""
    batches = list(_made_bags(PAGES))
    terms = sum(len(bags.terms) for _, bags in batches)
    counted, seconds = _timed(lambda: count_documents(bags for _, bags in batches))
    yield _stage("documents of words", seconds, 10)
    sketches, seconds = _timed(lambda: _sketched(batches, counted, terms))
    yield _stage("weights and min-hash", seconds, 50)
    store, seconds = _timed(lambda: bag_pairs(sketches))
    draws = choose_draws(PAGES)
    yield _stage(f"pairs, {draws.count} bands of {draws.rows}, verified", seconds, 200)
    found, seconds = _timed(lambda: sum(len(a) for a, _, _ in store.chunks()))
    yield _stage(f"sorting {found / 1e6:.1f} M pairs", seconds, 10)
    urls = pa.array([f"http://x.test/{number}" for number in range(PAGES)], pa.large_string())
    related = RelatedPages(urls, sketches, store)
    clusters: Clusters
    clusters, seconds = _timed(lambda: cluster_bags(related))
    yield _stage("CENTER", seconds, 10)
    _, seconds = _timed(lambda: find_topics(sketches, clusters, Topical()))
    yield _stage(f"topics of {len(np.unique(clusters.rows)):,} clusters", seconds, 100)
    data, seconds = _timed(lambda: b"".join(pack_index(related, {})))
    yield _stage(f"index of {len(data) / 1e6:.0f} MB", seconds, 50)
    yield from _latency(RelatedIndex(data), urls)


def _sketched(batches: list[tuple[np.ndarray, StoredBags]], counted: TermDocuments, terms: int) -> BagSketches:
    return sketch_bags(((rows, counted.weigh(bags)) for rows, bags in batches), PAGES, terms)


def _stage(name: str, seconds: float, microseconds: float) -> dict[str, Any]:
    each = seconds / PAGES * 1e6
    job = f"{PAGES:,} pages, {name} : {microseconds:g} µs each"
    return row(job, f"{seconds:.2f} s, {each:.1f} µs", "", each / microseconds, 1, at_most=True)


def _latency(index: RelatedIndex, urls: pa.Array) -> Iterator[dict[str, Any]]:
    asked = [urls[int(place)].as_py() for place in np.random.default_rng(0).integers(0, len(urls), 2000)]
    times = []
    for url in asked:
        start = time.perf_counter()
        index.related(url, 10)
        times.append(time.perf_counter() - start)
    for name, share in (("median", 0.5), ("99 of 100", 0.99)):
        milliseconds = float(np.quantile(times, share)) * 1e3
        yield row(f"related pages, {name} : 1 ms", f"{milliseconds:.3f} ms", "", milliseconds, 1, at_most=True)


def _real_pages() -> Iterator[dict[str, Any]]:
    """Two real sites, each page once: what is found of the similar pairs, and whether they are of one folder."""
    table = pa.concat_tables([_distinct(site) for site in ("docs", "autoindex")])
    found = topical_pairs(table)
    known = {(int(a), int(b)) for chunk in found.pairs.chunks() for a, b in zip(chunk[0], chunk[1], strict=True)}
    recall = _recall(found.sketches, known)
    yield row("real pages, similar pairs found : brute force", f"{recall:.3f}", "1.000", recall, 0.97)
    for bags in ("content", "anchors"):
        share, by_chance = _folders(topical_pairs(table, Topical(bags=bags)))
        yield row(
            f"ten nearest in one folder, {bags} : chance", f"{share:.2f}", f"{by_chance:.2f}", share / by_chance, 4
        )
    yield from _anchors(table)
    yield from _command(table)


def _distinct(site: str) -> pa.Table:
    table = pipeline.fingerprint(DATA / "webapps" / f"{site}.warc.gz", links=True, tally=Tally())
    truth = (DATA / "webapps" / f"{site}.clusters.tsv").read_text().splitlines()[1:]
    clusters = dict(line.split("\t") for line in truth)
    first: dict[str, int] = {}
    for place, url in enumerate(table["url"].to_pylist()):
        first.setdefault(clusters.get(url, url), place)
    return table.take(pa.array(sorted(first.values())))


def _recall(sketches: BagSketches, known: set[tuple[int, int]]) -> float:
    first = sketches.first_of_equal()
    rows = np.flatnonzero(sketches.present & (first == np.arange(len(first))))
    hits: list[bool] = []
    for at in range(len(rows) - 1):
        rest = rows[at + 1 :]
        similar = rest[sketches.similarities(np.full(len(rest), rows[at]), rest) >= 0.2]
        hits += [(int(rows[at]), int(other)) in known for other in similar]
    return float(np.mean(hits))


def _folders(found: RelatedPages) -> tuple[float, float]:
    """Of each page's ten nearest, the share in its folder, three deep; and that of two pages taken at random."""
    parts = [url.replace("//www.", "//").replace("//mirror.", "//").split("/") for url in found.urls.to_pylist()]
    folders = ["/".join(names[2:-1][:3]) for names in parts]
    near: dict[int, list[int]] = {}
    for a, b, _ in found.pairs.chunks():
        for one, other in zip(a.tolist(), b.tolist(), strict=True):
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    shares = [np.mean([folders[other] == folders[page] for other in others[:10]]) for page, others in near.items()]
    by_chance = sum((size / len(folders)) ** 2 for size in Counter(folders).values())
    return float(np.mean(shares)), by_chance


def _anchors(table: pa.Table) -> Iterator[dict[str, Any]]:
    source = TableFingerprints(table)
    captures = find_captures(source)
    links = sum(len(batch["links"].flatten()) for batch in source.batches(["links"]))
    _, seconds = _timed(lambda: gather_anchor_bags(source, captures, find_targets(source, captures)))
    each = seconds / links * 1e6
    yield row(f"anchor bags of {links:,} links : 5 µs each", f"{each:.2f} µs", "", each / 5, 1, at_most=True)


def _command(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The whole command, from its start to the answer, once the index is there."""
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages.parquet"
        pq.write_table(table, pages)
        open_related(pages)
        command = [sys.executable, "-m", "undust", "related", str(pages), table["url"][0].as_py()]
        asked = partial(subprocess.run, command, check=True, capture_output=True)
        seconds = min(_timed(asked, time.perf_counter)[1] for _ in range(5))
    yield row("undust related, as a command : 0.3 s", f"{seconds:.2f} s", "", seconds / 0.3, 1, at_most=True)
