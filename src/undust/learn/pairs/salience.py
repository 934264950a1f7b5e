"""Which values are words of a site, and may stand in a rule: ids may not, the next page has another."""

import re

import numpy as np

from undust.learn.pairs.limits import Limits
from undust.learn.pairs.workspace import IGNORED, Mask, Workspace, first_rows, numbered
from undust.urls.keys import Key

MIN_SHARE = 0.001
"""Share of the clusters, or of the URLs, that a word must have."""
_ID = re.compile("[0-9]{5}")
_INDEX = re.compile(r"(?:index|default|home|main|start|welcome)?(?:\.[a-z0-9]{1,5})?", re.IGNORECASE)


def is_index(text: str) -> bool:
    """Tell whether a segment is the name of an index file, or empty, as after a trailing slash."""
    return _INDEX.fullmatch(text) is not None


def is_id(text: str) -> bool:
    """Tell whether a text looks like an id or a time: the next page has another, however common this one is."""
    return _ID.search(text) is not None


class Salience:
    """The words of a site, by key; for results segments of all places are taken together."""

    def __init__(self, work: Workspace, limits: Limits) -> None:
        self._work = work
        self._known: dict[Key, Mask] = {}
        self._common: dict[Key, Mask] = {}
        self.least = limits.min_clusters
        """Right merges that a condition has to leave."""
        self._clusters = max(limits.min_clusters, MIN_SHARE * len(np.unique(work.clusters)))
        self._rows = max(limits.min_clusters, 2 * MIN_SHARE * len(work))

    def of(self, key: Key) -> Mask:
        """Tell for each code whether values may become it: several clusters have it as the value of a key."""
        name = Key("path", 0) if key.part == "path" else key
        if name not in self._known:
            keys = [each for each in self._work.columns if each.part == "path"] if key.part == "path" else [key]
            self._known[name] = self._words(keys)
        return self._known[name]

    def common(self, key: Key) -> Mask:
        """Tell for each code whether a context may ask for it: many URLs have it, if only of one cluster."""
        if key not in self._common:
            codes = self._work.column(key)
            codes = codes[codes != IGNORED]
            self._common[key] = self._named(np.bincount(codes, minlength=len(self._work.lexicon)) >= self._rows)
        return self._common[key]

    def _words(self, keys: list[Key]) -> Mask:
        work = self._work
        codes = np.concatenate([work.columns[key] for key in keys]) if keys else np.zeros(0, np.int32)
        clusters = np.tile(work.clusters, len(keys))
        there = (codes != 0) & (codes != IGNORED)
        codes, clusters = codes[there], clusters[there]
        both, _ = numbered((codes.astype(np.uint64) << np.uint64(32)) + clusters.astype(np.uint64))
        counts = np.bincount(codes[first_rows(both)], minlength=len(work.lexicon))
        return self._named(counts >= self._clusters)

    def _named(self, found: Mask) -> Mask:
        found[0] = False
        for code in np.flatnonzero(found).tolist():
            found[code] = not is_id(self._work.lexicon.text(code) or "")
        return found
