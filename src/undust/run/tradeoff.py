"""What rules save against what they may get wrong: learned and tested again for several limits of false pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust import pipeline
from undust.evaluate.split import by_cluster
from undust.pipeline import Moved
from undust.rules.ruleset import RuleSet
from undust.urls.batch import normalize_many, split_many

LIMITS = (0.0, 0.001, 0.01, 0.05, 0.2)
"""Values of `max_fpr` that are tried, besides the one of the run."""
MAX_URLS = 20_000
"""URLs that it is tried on: of larger inputs whole sites, chosen by their names."""

_TOLD = ("compression", "recall_of_possible", "fpr", "pages_lost", "rules", "intervals")


def find_tradeoff(
    clusters: pa.Table,
    learn: Callable[[pa.Table, float], RuleSet],
    *,
    max_fpr: float,
    holdout: float,
    seed: int,
    moved: Moved = lambda done, of: None,
) -> dict[str, Any]:
    """Learn from one part of the clusters, for each limit, and measure on the other; plain values for JSON."""
    some = some_sites(clusters, MAX_URLS)
    seen, unseen = by_cluster(some, 1 - holdout, seed)
    points = []
    limits = sorted({*LIMITS, max_fpr})
    for place, limit in enumerate(limits):
        found = pipeline.evaluate(learn(seen, limit), unseen).to_dict()
        points.append({"max_fpr": limit, **{name: found[name] for name in _TOLD}})
        moved((place + 1) * seen.num_rows, len(limits) * seen.num_rows)
    return {
        "urls": some.num_rows,
        "of": clusters.num_rows,
        "max_fpr": max_fpr,
        "duplicate_rate": found["duplicate_rate"],
        "points": points,
    }


def some_sites(clusters: pa.Table, most: int) -> pa.Table:
    """Give clusters of some sites with `most` URLs in all: whole sites, as rules of a site are learned from all of it.

    Which ones, a hash of their names says. Where no site is small enough, some clusters of all.
    """
    if clusters.num_rows <= most:
        return clusters
    sites = site_column(clusters["url"])
    counted = {each["values"]: each["counts"] for each in pc.value_counts(sites).to_pylist() if each["values"]}
    chosen, left = [], most
    for site in sorted(counted, key=lambda name: (xxhash.xxh3_64_intdigest(name.encode()), name)):
        if counted[site] <= left:
            chosen.append(site)
            left -= counted[site]
    if left > most // 2:
        return by_cluster(clusters, most / clusters.num_rows, 0)[0]
    return clusters.filter(pc.is_in(sites, value_set=pa.array(chosen)))


def site_column(urls: pa.ChunkedArray) -> pa.Array:
    """Give the site of each URL; null where it cannot be parsed."""
    normal = normalize_many(urls).urls.combine_chunks()
    there = np.asarray(normal.is_valid())
    sites = split_many(normal.filter(pa.array(there))).sites().dictionary_encode()
    places = np.zeros(len(there), np.int64)
    places[there] = sites.indices.to_numpy()
    return sites.dictionary.take(pa.array(places, mask=~there))
