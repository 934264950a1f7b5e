"""A part of a large site that is looked at first: an edit that joins nothing there is not worth the whole."""

import numpy as np

from undust.learn.alterations import Alteration
from undust.learn.columns import SiteUrls
from undust.learn.scopes import Condition, Features
from undust.learn.state import Rows, State

LARGE = 40_000
"""URLs of a site from which on a part is looked at first, …"""
SAMPLE = 20_000
"""… and how many it has, …"""
MOST_OF_CLUSTER = 30
"""… of which so many can be of one cluster."""


class Sample:
    """Clusters of several URLs, whatever the order of the URLs, and where learning stands with them."""

    def __init__(self, site: SiteUrls) -> None:
        part = site.take(_rows(site))
        self.state = State(part)
        self._features = Features(part)

    def gains(self, edit: Alteration) -> bool:
        """Tell whether an edit makes anything one here."""
        rows = self._rows(edit, ())
        if not len(rows):
            return False
        changes, _ = edit.changes(self.state, rows)
        return self.state.merges(self.state.changed_hashes(changes, rows), rows).gained > 0

    def accept(self, edit: Alteration, conditions: tuple[Condition, ...]) -> None:
        """Make an edit here as well."""
        rows = self._rows(edit, conditions)
        changes, depth = edit.changes(self.state, rows)
        self.state.accept(changes, rows, depth)

    def _rows(self, edit: Alteration, conditions: tuple[Condition, ...]) -> Rows:
        where = self._features.where(edit.conditions + conditions)[self.state.rows]
        return np.flatnonzero(edit.rows(self.state) & where)


def _rows(site: SiteUrls) -> Rows:
    """Choose URLs: the first of each cluster that has several, of clusters in an order that is mixed but fixed."""
    sizes = np.bincount(site.clusters)
    order = np.argsort(site.clusters, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    place = np.arange(len(order)) - starts[site.clusters[order]]
    rows = order[(place < MOST_OF_CLUSTER) & (sizes[site.clusters[order]] > 1)]
    mixed = (site.clusters[rows].astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    chosen = rows[np.argsort(mixed, kind="stable")][:SAMPLE]
    return np.sort(chosen)
