"""Where a key tells pages apart: it differs between the clusters of a section, and within none of them.

An argument that does not matter on most of a site may be what a page is about on the rest (`f` beside the number of a
topic, and `f` of a list of topics). Where URLs of one section are never otherwise equal, nothing contradicts that it
goes there as well: the pages that would meet are not among those that were seen. But if it did not matter, it would
differ within clusters of that section, too, as it does elsewhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.learn.columns import Codes, SiteUrls
from undust.learn.scopes import Feature
from undust.learn.state import Mask
from undust.urls.keys import Key

MAX_PAIRS = 2
"""Pairs of URLs of one cluster that count, …"""
MOST_PAIRS = 100_000
"""… and of a site: those of more clusters would not say anything else."""
MAX_CHANCE = 0.001
"""How likely it may be that a key which does not matter stays the same in all clusters of a section by luck."""
MAX_SAME = 0.8
"""Share of the clusters of a section that may have the same value, for it to tell them apart."""
MIN_CLUSTERS = 5


@dataclass(frozen=True, slots=True)
class _Sections:
    """The sections of a site by one question."""

    feature: Feature
    common: npt.NDArray[np.int64]
    """The answers that are common, …"""
    of_pairs: npt.NDArray[np.int32]
    """… and the place, from 1, of the one that both URLs of a pair give."""


class Telling:
    """Pairs of URLs of the same cluster, and what each section of the site says of a key."""

    def __init__(self, site: SiteUrls, features: Sequence[Feature], least: float) -> None:
        self.site = site
        self._first, self._second = _pairs(site.clusters)
        self._sections = [
            section
            for feature in features
            if feature.test == "is" and (section := self._section(feature, least)) is not None
        ]
        self._known: dict[tuple[Key, int | None], Mask | None] = {}

    def where(self, key: Key, codes: Codes, value: int | None) -> Mask | None:
        """Tell in which URLs a key, or one value of it, tells pages apart; None if nowhere.

        `codes` are the values of the key in all URLs as they were given.
        """
        if (key, value) not in self._known:
            self._known[key, value] = self._find(key, codes, value)
        return self._known[key, value]

    def _section(self, feature: Feature, least: float) -> "_Sections | None":
        """Number the common answers of a question, and give each pair of URLs the one that both give; 0 for none."""
        common = np.flatnonzero(feature.counts >= least)
        common = common[common > 0]
        if not len(common):
            return None
        numbers = np.zeros(len(feature.counts), np.int32)
        numbers[common] = np.arange(1, len(common) + 1)
        one, other = numbers[feature.answers[self._first]], numbers[feature.answers[self._second]]
        return _Sections(feature, common, np.where(one == other, one, 0))

    def _find(self, key: Key, codes: Codes, value: int | None) -> Mask | None:
        one, other = codes[self._first], codes[self._second]
        # A key that no URL of the pair has says nothing about it.
        there = (one == value) | (other == value) if value is not None else (one != 0) | (other != 0)
        differs = there & (one != other)
        tries, changed = int(there.sum()), int(differs.sum())
        if not changed or changed == tries:
            return None
        found = np.zeros(len(self.site), np.bool_)
        for feature, answer, rows in self._silent(key, there, differs, tries, changed):
            _, counts = np.unique(one[rows], return_counts=True)
            if value is not None or counts.max() <= MAX_SAME * len(rows):
                found |= feature.answers == answer
        return found if found.any() else None

    def _silent(
        self, key: Key, there: Mask, differs: Mask, tries: int, changed: int
    ) -> Iterator[tuple[Feature, int, npt.NDArray[np.int64]]]:
        """Give the sections in which a key never differs, although it should by chance."""
        for sections in self._sections:
            if sections.feature.key == key:
                continue
            size = len(sections.common) + 1
            here = np.bincount(sections.of_pairs[there], minlength=size)
            differing = np.bincount(sections.of_pairs[differs], minlength=size)
            quiet = (here >= MIN_CLUSTERS) & (differing == 0)
            quiet[0] = False
            for number in np.flatnonzero(quiet).tolist():
                rows = np.flatnonzero(there & (sections.of_pairs == number))
                clusters = len(np.unique(self.site.clusters[self._first[rows]]))
                rate = changed / max(1, tries - len(rows))
                if clusters >= MIN_CLUSTERS and (1 - min(rate, 0.999)) ** clusters < MAX_CHANCE:
                    yield sections.feature, int(sections.common[number - 1]), rows


def _pairs(clusters: Codes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Give neighbours among the URLs of each cluster, at most `MAX_PAIRS` of one."""
    order = np.argsort(clusters, kind="stable")
    sorted_clusters = clusters[order]
    starts = np.flatnonzero(np.diff(sorted_clusters, prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    second = np.flatnonzero((place > 0) & (place <= MAX_PAIRS))
    second = second[:: len(second) // MOST_PAIRS + 1]
    return order[second - 1], order[second]
