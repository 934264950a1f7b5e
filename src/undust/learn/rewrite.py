"""The baseline of rewrite rules: contexts with wildcards where a key has many values (Dasgupta et al., 2008).

All pairs of a cluster make rules: a context, which is the source, and a transformation, which gives each key of the
target as a reference to a key of the source, a literal, or nothing. Rules with the same transformation are generalized
by the fan-out of a key: where it takes at least so many values, it becomes a wildcard. Segments are counted from the
start only, and values are taken whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.learn.columns import SiteUrls
from undust.learn.pairs.belief import Draft, Judge, precision
from undust.learn.pairs.chains import compile_drafts
from undust.learn.pairs.choose import Pairs, sampled
from undust.learn.pairs.finish import finished
from undust.learn.pairs.limits import Limits
from undust.learn.pairs.order import order_is_free
from undust.learn.pairs.select import select, together
from undust.learn.pairs.workspace import Rows, Workspace, numbered
from undust.rules.rule import Rule
from undust.rules.values import ABSENT, ANY, DROP, Copy, Ignore, Match, Operation, Pattern
from undust.urls.keys import Key

MAX_ROWS = 50_000
"""URLs that pairs are taken from. All pairs of a cluster are too many for more."""
MAX_PARTNERS = 10
"""Better URLs of its cluster that each is paired with; all of them, in clusters that are not larger."""
MAX_CLASSES, MAX_CONTEXTS = 400, 40

_GOES, _BECOMES, _REFERS, _MATTERS_NOT = (np.int64(kind) << 40 for kind in range(1, 5))
_KIND = np.int64(0x7F) << 40

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Learn rewrite rules with the fan-out strategy."""

    fan_out: int = 10
    """Values of a key that make it a wildcard; the authors try 5, 10 and 30."""
    min_precision: float = 0.95
    min_coverage: int = 10
    name: str = "rewrite"

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, in the order in which they are to be tried."""
        if len(site) < 2 or len(np.unique(site.clusters)) == len(site):
            return []
        rows = sampled(site, MAX_ROWS)
        work = Workspace(site, rows)
        drafts = together(list(_Rules(work, _all_pairs(work), self.fan_out).drafts()))
        accepted = select(Judge(work, Limits()), drafts, self.min_precision, self.min_coverage)
        given = Workspace(site, rows)
        rules = compile_drafts(site.site, accepted, given, sort_query=order_is_free(site, Limits()))
        return finished(rules, site, self.name)


def count_candidates(site: SiteUrls, fan_out: int) -> list[float]:
    """Give for each candidate rule the share of the URLs it is for that it confuses with another page."""
    if len(site) < 2 or len(np.unique(site.clusters)) == len(site):
        return []
    work = Workspace(site, sampled(site, MAX_ROWS))
    judge = Judge(work, Limits())
    found = (judge.measure(draft) for draft in together(list(_Rules(work, _all_pairs(work), fan_out).drafts())))
    return [1 - precision(merges) for merges in found if merges is not None]


def _all_pairs(work: Workspace) -> Pairs:
    """Pair each URL with those of its cluster that are ranked before it, or an even choice of them."""
    starts = np.flatnonzero(np.diff(work.clusters, prepend=-1))
    first = np.repeat(starts, np.diff(np.append(starts, len(work))))
    place = np.arange(len(work)) - first
    count = np.minimum(place, MAX_PARTNERS)
    sources = np.repeat(np.arange(len(work)), count)
    nth = np.arange(len(sources)) - np.repeat(np.cumsum(count) - count, count)
    targets = first[sources] + nth * place[sources] // np.maximum(count[sources], 1)
    return Pairs(sources, targets)


class _Rules:
    """Rules of pairs, by the column: for each key what becomes of it, as a number."""

    def __init__(self, work: Workspace, pairs: Pairs, fan_out: int) -> None:
        self.work, self.pairs, self.fan_out = work, pairs, fan_out
        self.keys = [*work.keys, *(Key("path", place) for place in range(work.segments))]
        self.values = {key: work.columns[key][pairs.sources].astype(np.int64) for key in self.keys}
        self.results = {key: self._results(key) for key in self.keys}

    def _results(self, key: Key) -> Ints:
        """Write a key of the targets as a reference, a literal or nothing; 0 where it is as in the source."""
        told = self.work.columns[key][self.pairs.targets].astype(np.int64)
        differs = told != self.values[key]
        made = np.where(differs, np.where(told == 0, _GOES, _BECOMES | told), np.int64(0))
        rows = np.flatnonzero(differs & (told != 0))
        for place, other in enumerate(self.keys):
            if other != key and other.part not in ("scheme", "port") and len(rows):
                refers = rows[self.values[other][rows] == told[rows]]
                made[refers] = _REFERS | np.int64(place)
                rows = np.setdiff1d(rows, refers, assume_unique=True)
        return made

    def drafts(self) -> Iterator[Draft]:
        """Give generalized rules."""
        for members in self._classes():
            for context, strict in self._contexts(members):
                operations = self._operations(int(members[0]))
                if operations:
                    yield Draft(_with_segments(context, operations), operations)
                    yield Draft(_with_segments(strict, operations), operations)

    def _classes(self) -> list[Rows]:
        """Group pairs by transformation, after literals that vary with nothing else are made irrelevant."""
        if not len(self.pairs.sources):
            return []
        for key in self.keys:
            made = self.results[key]
            literal = ((made & _KIND) == _BECOMES) & (self.values[key] != 0)
            if not literal.any():
                continue
            rest, _ = numbered(self._sums(leaving=key))
            both = np.unique(np.stack([rest[literal].astype(np.int64), made[literal]]), axis=1)
            values = np.bincount(both[0], minlength=int(rest.max()) + 1)
            self.results[key] = np.where(literal & (values[rest] >= self.fan_out), _MATTERS_NOT, made)
        groups, sizes = numbered(self._sums())
        best = np.argsort(-sizes, kind="stable")[:MAX_CLASSES]
        order = np.argsort(groups, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return [order[starts[group] : starts[group + 1]] for group in best.tolist()]

    def _sums(self, leaving: Key | None = None) -> npt.NDArray[np.uint64]:
        sums = np.zeros(len(self.pairs.sources), np.uint64)
        for place, key in enumerate(self.keys, 1):
            if key != leaving:
                mixed = (self.results[key].astype(np.uint64) + np.uint64(place)) * np.uint64(
                    0x9E3779B97F4A7C15 * (2 * place + 1) % 2**64
                )
                sums += np.where(self.results[key] != 0, mixed ^ (mixed >> np.uint64(29)), np.uint64(0))
        return sums

    def _contexts(self, members: Rows) -> Iterator[tuple[dict[Key, Match], dict[Key, Match]]]:
        """Give the contexts of a transformation: free in keys that sources do not have, and without those keys."""
        columns = []
        for key in self.keys:
            codes = self.values[key][members]
            wild = len(np.unique(codes)) >= self.fan_out
            columns.append(np.full(len(members), -1, np.int64) if wild else codes)
        found, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
        for place in np.argsort(-counts, kind="stable")[:MAX_CONTEXTS].tolist():
            context: dict[Key, Match] = {}
            absent: dict[Key, Match] = {}
            for key, code in zip(self.keys, found[place].tolist(), strict=True):
                if code > 0:
                    text = self.work.lexicon.text(code)
                    context[key] = Pattern((text,) if text else ())
                elif code == 0:
                    absent[key] = ABSENT
            yield context, {**context, **absent}

    def _operations(self, row: int) -> dict[Key, Operation]:
        made: dict[Key, Operation] = {}
        for key in self.keys:
            code = int(self.results[key][row])
            kind, detail = code & int(_KIND), code & 0xFFFFFFFF
            if kind == _GOES:
                made[key] = DROP
            elif kind == _BECOMES:
                text = self.work.lexicon.text(detail)
                made[key] = (text,) if text else ()
            elif kind == _REFERS:
                made[key] = (Copy(self.keys[detail]),)
            elif kind == _MATTERS_NOT:
                usual = self.work.lexicon.text(int(self.work.columns[key][self.pairs.targets[row]]))
                made[key] = DROP if key.part in ("query", "param") else (Ignore(usual),)
        return made


def _with_segments(context: dict[Key, Match], operations: dict[Key, Operation]) -> dict[Key, Match]:
    """Ask for the segments that operations work on, and for what they copy."""
    made = dict(context)
    for key, operation in operations.items():
        if key.part == "path" and operation == DROP:
            made.setdefault(key, ANY)
        if isinstance(operation, tuple):
            for piece in operation:
                if isinstance(piece, Copy) and not isinstance(made.get(piece.source), Pattern):
                    made[piece.source] = ANY
    return made
