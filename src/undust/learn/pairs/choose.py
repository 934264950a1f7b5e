"""Chooses the pairs of duplicate URLs to learn from: few good targets for each cluster, and a sample of its sources."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from undust.learn.columns import SiteUrls
from undust.learn.pairs.workspace import Rows, Workspace
from undust.urls.keys import Key

TARGETS = 3
"""Best URLs of each cluster, which the others are compared with."""
NEAREST = 2
"""Of these, how many each source is paired with: those that differ from it in the fewest keys."""
MAX_SOURCES = 64
"""Sources of one cluster. More say the same again, and a giant cluster must not drown the others."""
MAX_ROWS = 50_000
"""URLs that pairs and candidates are taken from; rules are proofed on all."""


class Pairs(NamedTuple):
    """Rows of a workspace: URLs, and duplicates of them that are closer to a normal form."""

    sources: Rows
    targets: Rows


def ranked(site: SiteUrls) -> Rows:
    """Order the rows of a site by cluster, and in it by how good a target they are.

    Static before dynamic, shorter, fewer segments, more links to it, then by name.
    """
    dynamic = pc.match_substring(site.urls, "?").to_numpy(zero_copy_only=False)
    length = pc.binary_length(site.urls).to_numpy()
    links = np.zeros(len(site)) if site.inlinks is None else -site.inlinks
    return np.lexsort([links, site.depth, length, dynamic, site.clusters])


def sampled(site: SiteUrls, most: int = MAX_ROWS) -> Rows:
    """Give rows in the order of `ranked`: all, or those of as many clusters as have about `most` URLs.

    Which clusters does not depend on the order of the input. Of a cluster that is itself larger than a tenth of that,
    evenly spread rows are taken.
    """
    order = ranked(site)
    if len(site) <= most:
        return order
    starts = np.flatnonzero(np.diff(site.clusters[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(order)))
    kept = np.minimum(sizes, max(1, most // 10))
    # Rows of a site are in the order of their URLs, so the row of the best URL does not depend on the input's order.
    by_chance = np.argsort(order[starts].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15), kind="stable")
    chosen = by_chance[: max(1, int(np.searchsorted(np.cumsum(kept[by_chance]), most)))]
    taken = np.zeros(len(starts), np.bool_)
    taken[chosen] = True
    of_row = np.repeat(np.arange(len(starts)), sizes)
    place = np.arange(len(order)) - starts[of_row]
    # Of a cluster of n rows, of which m are wanted, those where the count of wanted ones goes up.
    wanted = (place + 1) * kept[of_row] // sizes[of_row] > place * kept[of_row] // sizes[of_row]
    return np.asarray(order[taken[of_row] & (wanted | (place < TARGETS))])


def choose_pairs(work: Workspace, importance: npt.NDArray[np.float64] | None = None) -> Pairs:
    """Pair sources with the nearest of the best URLs of their clusters.

    The rows of a workspace are ordered by `ranked`. The number of pairs is at most `NEAREST` times that of URLs.
    """
    count = len(work)
    starts = np.flatnonzero(np.diff(work.clusters, prepend=-1))
    sizes = np.diff(np.append(starts, count))
    first = np.repeat(starts, sizes)
    place = np.arange(count) - first
    chosen = place > 0
    tokens = _tokens(work)
    for cluster in np.flatnonzero(sizes > MAX_SOURCES + TARGETS).tolist():
        start, size = int(starts[cluster]), int(sizes[cluster])
        rows = np.arange(start + TARGETS, start + size)
        weights = np.ones(len(rows)) if importance is None else importance[work.rows[rows]]
        order = np.lexsort([rows, tokens[rows] if importance is None else weights])
        chosen[rows] = False
        chosen[rows[order][_evenly(weights[order], MAX_SOURCES)]] = True
    sources = np.flatnonzero(chosen)
    return _nearest(work, sources, first[sources], place[sources])


def _tokens(work: Workspace) -> npt.NDArray[np.int64]:
    """Count the keys that each URL has: what sources are stratified by where nothing is known of their importance."""
    found = work.depth.astype(np.int64)
    for key in work.keys:
        found = found + (work.columns[key] != 0)
    return found


def _evenly(weights: npt.NDArray[np.float64], count: int) -> Rows:
    """Pick places so that each stretch gives as many as its share of the weight."""
    total = np.cumsum(np.maximum(weights, 0) + 1e-12)
    wanted = (np.arange(count) + 0.5) / count * total[-1]
    return np.unique(np.searchsorted(total, wanted))


def _nearest(work: Workspace, sources: Rows, first: Rows, place: Rows) -> Pairs:
    distances = np.full((len(sources), TARGETS), 10**6, np.int64)
    for nth in range(TARGETS):
        some = np.flatnonzero(place > nth)
        distances[some, nth] = _distance(work, sources[some], first[some] + nth)
    order = np.argsort(distances, axis=1, kind="stable")[:, :NEAREST]
    known = np.take_along_axis(distances, order, axis=1) < 10**6
    return Pairs(np.repeat(sources, order.shape[1])[known.ravel()], (first[:, None] + order)[known])


def _distance(work: Workspace, sources: Rows, targets: Rows) -> npt.NDArray[np.int64]:
    """Count the keys that differ; segments that were put in or left out count once."""
    found = np.zeros(len(sources), np.int64)
    for key in work.keys:
        codes = work.columns[key]
        found += codes[sources] != codes[targets]
    from_start, from_end = (np.zeros(len(sources), np.int64) for _ in range(2))
    for place in range(work.segments):
        for total, key in ((from_start, Key("path", place)), (from_end, Key("path", -1 - place))):
            codes = work.column(key)
            total += codes[sources] != codes[targets]
    return found + np.minimum(from_start, from_end)
