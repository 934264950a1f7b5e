"""Evidence for and against a rule, counted on the forms it was learned from; and what makes it believed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from undust.kernels import evidence as kernel
from undust.learn.columns import Codes
from undust.learn.state import numbered
from undust.learn.tree.forms import Forms, Hashes, Rows
from undust.learn.tree.transforms import Sheet

MAX_OF_CLUSTER = 8
"""Merges of one cluster that count as evidence. A login page has thousands of URLs, and is one page."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What becomes one by a rule. Merges are counted linearly: a cluster of a thousand URLs is not a million pairs."""

    forms: int
    """Forms that the rule is about."""
    gained: int
    """Forms fewer, within clusters."""
    capped: int
    """The same, of each cluster at most `MAX_OF_CLUSTER`."""
    clusters: int
    """Clusters in which forms become fewer."""
    wrong: int
    """Clusters that were apart and are no longer."""
    left: int
    """Distinct forms that are left."""
    contexts: int
    """Those of them in which something was gained."""
    support: int = 0
    """Pairs of URLs that are one afterwards, and duplicates."""
    false_positives: int = 0
    """Pairs of URLs that are one afterwards, and are not."""
    lost: int = 0
    """Clusters of which no URL would be fetched any more."""

    @property
    def fpr(self) -> float:
        """Share of the false ones among the pairs that become one."""
        pairs = self.support + self.false_positives
        return self.false_positives / pairs if pairs else 0.0


@dataclass(frozen=True, slots=True)
class Belief:
    """What is asked of a rule before it is believed. The defaults are for pages that nobody has seen yet.

    `PAPER` asks what the paper asks: a low share of false pairs among the URLs that were learned from.
    """

    max_fpr: float = 0.01
    max_wrong: float = 0.001
    """Wrong merges for each right one."""
    max_lost: float = 0.005
    """Share of a rule's clusters that may be lost."""
    min_clusters: int = 3
    """Clusters that show a rule: two may be alike by chance."""
    min_gained: int = 5
    """Forms that it saves. Fewer are not worth a rule."""
    min_giant: int = 30
    """Forms of fewer clusters that show a rule as well, where nothing contradicts it."""
    min_others: int = 10
    """Clusters that there have to be besides, for such a rule."""
    min_right: float = 0.5
    """Share of the pages that are right at the least, nineteen times in twenty."""
    max_chance: float = 0.05
    """How likely it may be that a rule which fails elsewhere does not fail here by luck, for all nodes tried."""

    def holds(self, found: Evidence, *, asks_value: bool, changes: int = 1, among: int = 0) -> bool:
        """Tell whether a rule is believed. One that changes several keys needs as many times the clusters.

        `among` is how many clusters there are in all.
        """
        if found.gained < self.min_gained or found.fpr > self.max_fpr or found.wrong > self.max_wrong * found.gained:
            return False
        if found.lost > self.max_lost * found.forms:
            return False
        if found.clusters < self.min_clusters * changes:
            # A page of many URLs shows a rule if it is the only page there is, or shows it in several contexts.
            # Where there are hardly any others, nothing is there that could contradict it.
            general = found.contexts >= self.min_clusters * changes or (asks_value and found.left == 1)
            enough = found.gained >= self.min_giant and among - found.clusters >= self.min_others
            return general and enough and found.false_positives == 0
        return lower_bound(found.clusters, found.wrong) >= self.min_right

    def significant(self, found: Evidence, elsewhere: Evidence, tried: int) -> bool:
        """Tell whether a rule goes wrong less often here than where less is asked of a form, and not by luck.

        `tried` is among how many nodes this one was found.
        """
        rate = elsewhere.wrong / max(1, elsewhere.wrong + elsewhere.capped)
        if rate <= self.max_wrong:
            return True
        return at_most(found.wrong, found.capped + found.wrong, rate) * tried <= self.max_chance


PAPER = Belief(
    max_wrong=1.0, max_lost=1.0, min_clusters=0, min_gained=1, min_giant=1, min_right=0.0, max_chance=math.inf
)


def lower_bound(right: int, wrong: int, deviations: float = 1.645) -> float:
    """Give the least that a share may be, given how often it was seen (Wilson's interval).

    >>> round(lower_bound(3, 0), 2), round(lower_bound(30, 0), 2), round(lower_bound(30, 10), 2)
    (0.53, 0.92, 0.62)
    """
    count = right + wrong
    if not count:
        return 0.0
    share, square = right / count, deviations**2
    spread = deviations * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return max(0.0, (share + square / (2 * count) - spread) / (1 + square / count))  # rounding may go below none


def at_most(count: int, tries: int, rate: float) -> float:
    """Give the probability that something that happens at a rate happens at most so often.

    >>> round(at_most(1, 4, 0.5), 4)  # none of four, or one of four
    0.3125
    """
    if rate >= 1:
        return float(count >= tries)
    term = (1 - rate) ** tries
    total = term
    for number in range(1, count + 1):
        term *= (tries - number + 1) / number * rate / (1 - rate)
        total += term
    return min(1.0, total)


def proof(sheets: Sequence[Sheet]) -> Evidence:
    """Count the evidence for a change of forms, with the forms outside that it makes some equal to."""
    forms = sheets[0].forms
    rows = np.concatenate([sheet.rows for sheet in sheets])
    hashes = np.concatenate([sheet.hashes() for sheet in sheets])
    met = _met(forms, rows, hashes)
    rows, hashes = np.concatenate([rows, met]), np.concatenate([hashes, forms.hashes[met]])
    order = np.argsort(rows, kind="stable")
    rows, hashes = rows[order], hashes[order]
    clusters = forms.clusters[rows]
    before = merges(forms.hashes[rows], clusters).wrong if forms.mixed else 0
    after = merges(hashes, clusters)
    pairs = _pairs(hashes, clusters, forms.weights[rows])
    return Evidence(
        forms=len(rows),
        gained=after.gained,
        capped=after.capped,
        clusters=after.clusters,
        wrong=max(0, after.wrong - before),
        left=after.left,
        contexts=after.contexts,
        support=pairs[kernel.RIGHT_PAIRS],
        false_positives=pairs[kernel.PAIRS] - pairs[kernel.RIGHT_PAIRS],
        lost=pairs[kernel.LOST],
    )


def merges(hashes: Hashes, clusters: Codes) -> Evidence:
    """Count the merges alone, for forms in the order of their clusters."""
    room = 1 << max(4, int(2 * len(hashes)).bit_length())
    counts = np.zeros(kernel.COUNTS, np.int64)
    kernel.count_merges(
        hashes,
        clusters,
        np.empty(room, np.uint64),
        np.full(room, -1, np.int32),
        np.zeros(room, np.uint8),
        MAX_OF_CLUSTER,
        counts,
    )
    gained, capped, gaining, wrong, left, contexts = (int(count) for count in counts[:6])
    return Evidence(len(hashes), gained, capped, gaining, wrong, left, contexts)


def _met(forms: Forms, rows: Rows, hashes: Hashes) -> Rows:
    """Give the forms outside of some rows that are equal to what the rows become."""
    found = np.zeros(len(forms), np.uint8)
    kernel.look_up(hashes, forms.hashes, forms.index, found)
    found[rows] = 0
    return np.flatnonzero(found)


def _pairs(hashes: Hashes, clusters: Codes, weights: np.ndarray) -> list[int]:
    groups, sizes = numbered(hashes)
    lines = np.zeros((len(sizes), 5), np.int64)
    lines[:, 1] = -1
    counts = np.zeros(kernel.COUNTS, np.int64)
    kept = np.zeros(int(clusters.max(initial=0)) + 1, np.uint8)
    kernel.count_pairs(groups, clusters, weights, lines, kept, counts)
    return [int(count) for count in counts]
