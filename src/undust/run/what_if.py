"""Why no rule explains a difference: what would happen if the keys in which URLs differ did not matter."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.evaluate.coded import Coded
from undust.evaluate.unexplained import Difference
from undust.learn.columns import SiteUrls, encode
from undust.learn.tree.forms import contribution, ignored
from undust.urls.keys import Key

MAX_URLS = 300_000
"""Larger sites are not looked at."""


def try_ignoring(coded: Coded, differences: Sequence[Difference]) -> list[dict[str, Any]]:
    """Say for each difference what ignoring its keys, on its whole site, would save and get wrong; plain values."""
    of_site: dict[str, list[Difference]] = defaultdict(list)
    for each in differences:
        of_site[each.site].append(each)
    tried: dict[tuple[str, tuple[Key, ...]], tuple[int, int] | None] = {}
    for site, rows in coded.by_site():
        if site in of_site and len(rows) <= MAX_URLS:
            urls = _distinct_keys(coded, site, rows)
            for each in of_site[site]:
                tried[each.site, each.differ] = _ignoring(urls, each.differ)
    return [_told(each, tried.get((each.site, each.differ))) for each in differences]


def _distinct_keys(coded: Coded, site: str, rows: npt.NDArray[np.int64]) -> SiteUrls:
    """Give what the rules have left of a site: each key once in each of its clusters."""
    count = int(coded.keys.max(initial=0)) + 1
    cells = np.unique(coded.clusters[rows] * count + coded.keys[rows])
    clusters = np.unique(cells // count, return_inverse=True)[1]
    names: pa.StringArray = coded.fetched.take(pa.array(cells % count))
    return encode(site, names, clusters)


def _ignoring(urls: SiteUrls, differ: tuple[Key, ...]) -> tuple[int, int] | None:
    """Give the keys fewer and the clusters too many under one key, if some keys are ignored."""
    if not any(key in urls.columns for key in differ):
        return None
    hashes = np.zeros(len(urls), np.uint64)
    for key, codes in urls.columns.items():
        hashes += contribution(key, ignored(key, codes) if key in differ else codes)
    hashes += urls.depth.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    keys = np.unique(hashes, return_inverse=True)[1].astype(np.int64)
    before = _confused(_whole(urls), urls.clusters)
    clusters = int(urls.clusters.max(initial=0)) + 1
    cells = len(np.unique(keys * clusters + urls.clusters))
    return len(urls) - cells, max(_confused(keys, urls.clusters) - before, 0)


def _whole(urls: SiteUrls) -> npt.NDArray[np.int64]:
    return np.asarray(urls.urls.dictionary_encode().indices.to_numpy(), np.int64)


def _confused(keys: npt.NDArray[np.int64], clusters: npt.NDArray[Any]) -> int:
    """Count clusters too many under one key."""
    count = int(clusters.max(initial=0)) + 1
    return len(np.unique(keys * count + clusters)) - len(np.unique(keys))


def _told(each: Difference, tried: tuple[int, int] | None) -> dict[str, Any]:
    return {
        "site": each.site,
        "differ": [str(key) for key in each.differ],
        "clusters": each.clusters,
        "left": each.left,
        "examples": list(each.examples),
        "would_save": None if tried is None else tried[0],
        "would_lose": None if tried is None else tried[1],
    }
