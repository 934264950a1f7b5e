"""Which candidates to believe: what each makes one, rightly and wrongly, among all URLs that it holds for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from undust.learn.columns import Codes
from undust.learn.pairs.limits import Limits
from undust.learn.pairs.workspace import Hashes, Mask, Rows, Workspace, first_rows, numbered
from undust.rules.values import ANY, Absent, Match, Operation, Pattern
from undust.urls.keys import Key

RISK_WEIGHT = 10
"""What a wrong merge costs, in right ones: a page lost is worse than a page fetched twice."""
PRIOR_WEIGHT = 4
"""Clusters that what is known of a family of drafts counts for."""
GIANT_WEIGHT = 0.1
"""What a further key of a cluster counts for, as evidence, of what a further cluster does."""
MIN_EVIDENCE, MIN_EVIDENCE_SHARE = 50, 0.02
"""Keys that come together, and as a share of all, from which the share of wrong labels is estimated."""
LEAST_NOISE, MOST_NOISE = 0.02, 0.2
"""A smaller share of wrong labels is taken for none, a larger one for something else than wrong labels."""
ENOUGH = 80
"""Keys that come together without a wrong one, which would not happen if one label in ten was wrong."""
MAX_LONE, LONE_SHARE = 2, 0.2
"""URLs of a key that may be there by wrong labels of one cluster, and as a share of the largest cluster there."""
UNSEEN = 0.05
"""Share of wrong labels that do not look like ones."""
MAJORITY, MIN_VOTES = 0.6, 3
"""Share of the URLs of a key that must agree on its cluster for the others to be overruled, of at least so many."""
FEW = 64
"""Rows of a draft that are kept to see whether another holds for the same URLs."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule that may be: a context, and what becomes of the URLs for which it holds."""

    context: dict[Key, Match]
    operations: dict[Key, Operation]

    @property
    def family(self) -> str:
        """Name drafts of the same kind, which tend to be right or wrong together on a site."""
        kinds = {
            f"{key.part} {'one' if self.pins(key) else 'any'} {_kind(operation)}"
            for key, operation in self.operations.items()
        }
        return ", ".join(sorted(kinds))

    def pins(self, key: Key) -> bool:
        """Tell whether the context asks for one value of a key."""
        match = self.context.get(key)
        return isinstance(match, Pattern) and match.literal is not None

    @property
    def length(self) -> int:
        """Count what has to be said: a value or a pattern to fit, and twice for a key that must not be there."""
        asked = sum(isinstance(match, Pattern) and match != ANY for match in self.context.values())
        return len(self.operations) + asked + 2 * sum(isinstance(match, Absent) for match in self.context.values())

    @property
    def name(self) -> str:
        """Write the draft so that drafts can be put in order."""
        said = [f"{key}~{match}" for key, match in self.context.items()]
        return repr(sorted(said)) + repr(sorted((str(key), repr(made)) for key, made in self.operations.items()))


def _kind(operation: Operation) -> str:
    if not isinstance(operation, tuple):
        return "goes"
    return "+".join("becomes" if isinstance(piece, str) else type(piece).__name__ for piece in operation) or "empty"


@dataclass(frozen=True, slots=True)
class Merges:
    """What becomes one by a draft. Counted linearly: a cluster of a thousand URLs is not a million pairs."""

    rows: Rows = field(repr=False)
    """URLs that the draft holds for, …"""
    changed: Rows = field(repr=False)
    """… and those of them that get another key."""
    coverage: int
    """How many URLs the draft holds for, …"""
    confused: int
    """… and how many of them meet another page."""
    columns: dict[Key, Codes] = field(repr=False)
    depth: Codes = field(repr=False)
    gained: int
    """Keys fewer, within clusters."""
    wrong: int
    """Clusters that were apart and are no longer."""
    heavy: int
    """Those of them that bring more URLs than wrong labels would, …"""
    strange: int
    """… and those that have no URLs elsewhere, which clusters that URLs are wrongly put into have."""
    joined: int
    """Keys, counted in each cluster that has them, that come together with another."""
    clusters: int
    """Clusters in which keys become fewer."""
    right_rows: Mask = field(repr=False)
    """URLs that meet another key of their own cluster."""
    wrong_rows: Mask = field(repr=False)
    """URLs that meet another cluster."""

    def light(self) -> "Merges":
        """Keep the counts, and a few of the rows, for many drafts at once."""
        few = self.rows[np.linspace(0, len(self.rows) - 1, min(FEW, len(self.rows))).astype(np.int64)]
        none, no_codes = np.zeros(0, np.bool_), np.zeros(0, np.int32)
        return replace(self, rows=few, changed=few[:0], columns={}, depth=no_codes, right_rows=none, wrong_rows=none)


class Judge:
    """Measures drafts on the URLs of a workspace, each of which is another key of its cluster."""

    def __init__(self, work: Workspace, limits: Limits) -> None:
        self.work, self.limits = work, limits
        self.noise = 0.0
        """Share of wrong labels, as far as drafts that are surest to be right tell."""
        self.refresh()

    def refresh(self) -> None:
        """Take the workspace as it is now; of equal keys of a cluster the first is kept."""
        work = self.work
        if self.noise:
            self._vote()
        groups, _ = numbered(work.hashes)
        both, _ = numbered(_together(groups, work.clusters))
        first = first_rows(both)
        if len(first) < len(work):
            weights = np.bincount(both, weights=work.weights)
            work.keep(first)
            work.weights = weights.astype(np.float64)
        self._groups, sizes = numbered(work.hashes)
        self._mixed = sizes[self._groups]
        self._group_count = len(sizes)

    def _vote(self) -> None:
        """Give all URLs of a key the cluster that most of them have: the others are taken for wrong labels."""
        work = self.work
        groups, _ = numbered(work.hashes)
        both, _ = numbered(_together(groups, work.clusters))
        first = first_rows(both)
        votes = np.bincount(both, weights=work.weights)
        order = np.lexsort((work.clusters[first], -votes, groups[first]))
        total = np.bincount(groups, weights=work.weights)
        winners = order[np.unique(groups[first][order], return_index=True)[1]]
        clear = (votes[winners] >= MAJORITY * total) & (total >= MIN_VOTES)
        work.clusters = np.where(clear[groups], work.clusters[first][winners][groups], work.clusters)
        work.sort()

    def measure(self, draft: Draft) -> Merges | None:
        """Tell what a draft would make one; nothing if it changes no URL."""
        work = self.work
        rows = np.flatnonzero(work.holds(draft.context))
        if not len(rows):
            return None
        columns, depth, possible = work.changed(draft.context, draft.operations, rows)
        if not possible.all():
            rows, depth = rows[possible], depth[possible]
            columns = {key: codes[possible] for key, codes in columns.items()}
        hashes = work.rehashed(columns, rows)
        changed = rows[hashes[rows] != work.hashes[rows]]
        if not len(changed):
            return None
        return self._count(rows, changed, columns, depth, hashes)

    def _count(self, rows: Rows, changed: Rows, columns: dict[Key, Codes], depth: Codes, hashes: Hashes) -> Merges:
        work = self.work
        groups, sizes = numbered(hashes)
        both, both_sizes = numbered(_together(groups, work.clusters))
        first = first_rows(both)
        gained = len(work) - len(first)
        wrong = max(0, (len(first) - len(sizes)) - (len(work) - self._group_count))
        fewer = np.bincount(work.clusters) - np.bincount(work.clusters[first], minlength=int(work.clusters.max()) + 1)
        mixed = np.bincount(groups[first], minlength=len(sizes))[groups] > self._mixed
        joined = int((np.bincount(groups[first_rows(self._groups)], minlength=len(sizes)) > 1)[groups].sum())
        # Only what may be the work of wrong labels has to be looked at more closely.
        doubtful = wrong and (self.noise or (joined >= MIN_EVIDENCE and wrong <= 2 * MOST_NOISE * joined))
        substance = self._substance(groups, both, first, len(sizes)) if doubtful else (wrong, wrong)
        return Merges(
            rows,
            changed,
            len(rows),
            int(np.count_nonzero(mixed[changed])),
            columns,
            depth,
            gained,
            wrong,
            *substance,
            joined,
            int(np.count_nonzero(fewer)),
            both_sizes[both] > 1,
            mixed,
        )

    def _substance(self, groups: Codes, both: Codes, first: Rows, count: int) -> tuple[int, int]:
        """Count the clusters that come to a key besides its own and that wrong labels would not bring.

        Those with many URLs there, and those with none elsewhere: a wrong label puts a URL into some other cluster,
        which has its own.
        """
        work = self.work
        weights = np.bincount(both, weights=work.weights)
        cluster, group = work.clusters[first], groups[first]
        largest = np.zeros(count)
        np.maximum.at(largest, group, weights)
        before = np.ones(count)
        np.maximum.at(before, groups, self._mixed)
        heavy = weights > np.maximum(MAX_LONE, LONE_SHARE * largest[group])
        strange = np.bincount(work.clusters, weights=work.weights)[cluster] <= weights
        more = [np.maximum(np.bincount(group[which], minlength=count) - before, 0).sum() for which in (heavy, strange)]
        return int(more[0]), int(more[1])

    def value(self, draft: Draft, merges: Merges, prior: float) -> float:
        """Weigh what a draft gains against what it risks, and against its length; 0 if it is not to be believed."""
        limits = self.limits
        if not limits.sceptical:
            usable = merges.coverage >= limits.min_coverage and precision(merges) >= limits.min_precision
            return float(merges.gained) if usable else 0.0
        wrong = merges.wrong
        if self.noise:  # what wrong labels alone would make of a right draft, with room for chance
            blamed = self.noise * merges.joined
            unseen = UNSEEN * blamed
            wrong = max(
                merges.heavy,
                merges.strange - math.ceil(unseen + 2 * math.sqrt(unseen)),
                wrong - math.ceil(blamed + 2 * math.sqrt(blamed)),
            )
        if wrong > limits.max_wrong * merges.gained:
            return 0.0
        if merges.clusters < limits.min_clusters:
            scoped = any(isinstance(match, Pattern) and match.literal for match in draft.context.values())
            if not scoped or merges.gained < limits.min_giant or wrong:
                return 0.0
        if merges.coverage + merges.gained < limits.min_coverage:
            return 0.0
        # How often it is wrong, if it is as often wrong as its family is here until enough clusters say otherwise.
        seen = merges.clusters + GIANT_WEIGHT * (merges.gained - merges.clusters)
        rate = (wrong + PRIOR_WEIGHT * prior) / (seen + wrong + PRIOR_WEIGHT)
        general = merges.clusters / (merges.clusters + 1)
        return general * (merges.gained - RISK_WEIGHT * rate * merges.gained) / (1 + 0.1 * draft.length)

    def estimate_noise(self, found: Sequence[Merges]) -> None:
        """Estimate the share of wrong labels: what speaks against the draft that is surest to be right.

        Where labels are right, some draft with much evidence has nothing against it; where one in ten is wrong, none.
        """
        least = max(MIN_EVIDENCE, MIN_EVIDENCE_SHARE * len(self.work))
        shares = [
            (min(1.0, merges.wrong / merges.joined), merges.joined)
            for merges in found
            if merges.joined >= least and merges.strange <= UNSEEN * merges.wrong + 1 and not merges.heavy
        ]
        if not shares or any(share == 0 and count >= ENOUGH for share, count in shares):
            return
        most = min(_bound(*each, 3) for each in shares)
        # Of many drafts one is the luckiest. Of those as good but for luck, the one that joins most tells best.
        noise = max((each for each in shares if _bound(*each, -3) <= most), key=lambda each: (each[1], -each[0]))[0]
        self.noise = noise if LEAST_NOISE <= noise <= MOST_NOISE else 0.0


def _bound(share: float, count: int, deviations: float) -> float:
    """Give the upper or, for negative deviations, the lower end of what a share may be (Wilson's interval)."""
    square = deviations**2
    spread = deviations * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return (share + square / (2 * count) + spread) / (1 + square / count)


def precision(merges: Merges) -> float:
    """Give the share of a draft's URLs that do not meet another page: (coverage - f) / coverage."""
    return 1 - merges.confused / merges.coverage


def wrong_share(merges: Merges) -> float:
    """Give the share of what a draft makes one that it should not."""
    total = merges.gained + merges.wrong
    return merges.wrong / total if total else 0.0


def _together(groups: Codes, clusters: Codes) -> Hashes:
    return np.asarray((groups.astype(np.uint64) << np.uint64(32)) + clusters.astype(np.uint64))
