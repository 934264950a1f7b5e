"""The forms of a site's URLs: what is left of them after the rules so far, each once in each of its clusters."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.kernels.evidence import index
from undust.kernels.merges import add_hashes
from undust.learn.columns import REST, Codes, SiteUrls
from undust.learn.state import IGNORED, first_rows, numbered
from undust.urls.keys import Key

Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

LAST = Key("path", -1)
"""The last segment: the one that is also looked at from the end of the path."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Distinct forms in the order of their clusters, their keys as codes (see `SiteUrls`).

    A form's hash is a sum over its keys. The order of arguments is no part of it. A form that occurs in several
    clusters is there once in each.
    """

    site: SiteUrls
    columns: Mapping[Key, Codes]
    depth: Codes
    clusters: Codes
    weights: npt.NDArray[np.int64]
    """URLs that have the form, in the cluster."""
    hashes: Hashes
    of_url: Codes
    """The form of each URL of the site."""
    index: Codes
    """The forms by their hashes, for looking them up (`kernels.evidence`)."""

    mixed: bool
    """Whether some form is there in several clusters."""

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def count(self) -> int:
        """Number of clusters."""
        return int(self.clusters.max(initial=-1)) + 1

    def codes(self, key: Key, rows: Rows | slice = slice(None)) -> Codes:
        """Give the codes of a key; of the last segment too."""
        if key == LAST:
            return last_segments(self.columns, self.depth, rows)
        found = self.columns.get(key)
        return np.zeros(len(self), np.int32)[rows] if found is None else found[rows]

    def changed(self, columns: Mapping[Key, Codes], depth: Codes) -> "Forms":
        """Give the forms with other columns; those that have become equal within a cluster are one."""
        return _distinct(self.site, columns, depth, self.clusters, self.weights, self.of_url)


def forms_of(site: SiteUrls) -> Forms:
    """Give the forms of a site before any rule: one for each URL, but for those that differ in order only."""
    of_url = np.arange(len(site), dtype=np.int32)
    return _distinct(site, site.columns, site.depth, site.clusters, np.ones(len(site), np.int64), of_url)


def last_segments(columns: Mapping[Key, Codes], depth: Codes, rows: Rows | slice = slice(None)) -> Codes:
    """Give the last segment of each path."""
    depths = depth[rows]
    found = np.zeros(len(depths), np.int32)
    for key, codes in columns.items():
        if key.part == "path":
            found = np.where(depths - 1 == key.name, codes[rows], found)
    return found


def contribution(key: Key, codes: Codes) -> Hashes:
    """Give what a key adds to the hashes of forms."""
    sums = np.zeros(len(codes), np.uint64)
    add_hashes(np.ascontiguousarray(codes), seed(key), sums)
    return sums


@functools.cache
def seed(key: Key) -> np.uint64:
    """Give the number that tells the values of a key from those of another. The same wherever it is computed."""
    text = f"{key.part} {key.name} {key.nth}".encode()
    found = 14695981039346656037  # FNV-1a
    for byte in text:
        found = (found ^ byte) * 1099511628211 % 2**64
    return np.uint64(found)


def ignored(key: Key, codes: Codes) -> Codes:
    """Give the codes of a key whose value does not matter.

    An argument or parameter goes. A host label, scheme or port may be there or not. A segment stays in its place.
    """
    if key.part in ("query", "param"):
        return np.zeros_like(codes)
    if key.part == "path":
        return np.where(codes == 0, codes, IGNORED)
    return np.full_like(codes, IGNORED)


def _distinct(
    site: SiteUrls,
    columns: Mapping[Key, Codes],
    depth: Codes,
    clusters: Codes,
    weights: npt.NDArray[np.int64],
    of_url: Codes,
) -> Forms:
    hashes = np.zeros(len(clusters), np.uint64)
    for key, codes in columns.items():
        add_hashes(np.ascontiguousarray(codes), seed(key), hashes)
    items, _ = numbered(hashes + (clusters.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93))
    first = first_rows(items)
    order = np.argsort(clusters[first], kind="stable")
    rows = first[order]
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    summed = np.bincount(place[items], weights=weights, minlength=len(rows)).astype(np.int64)
    kept = {key: codes[rows] for key, codes in columns.items() if key.part == "scheme" or key == REST or codes.any()}
    table = np.full(1 << max(4, int(2 * len(rows)).bit_length()), -1, np.int32)
    distinct = index(hashes[rows], table)
    mixed = distinct < len(rows)
    return Forms(site, kept, depth[rows], clusters[rows], summed, hashes[rows], place[items][of_url], table, mixed)
