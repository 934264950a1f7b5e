"""Operations (Lei et al., 2010, section 5.2.2): what has to become of the forms of one node to be forms of another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from undust.learn.columns import REST, Codes
from undust.learn.state import IGNORED
from undust.learn.tree.forms import LAST, Forms, Hashes, Rows, contribution
from undust.learn.tree.pattern_tree import PatternTree
from undust.learn.tree.transforms import DropSegment, NewPath, PathChange, SetLast, Sheet, Source, Transform
from undust.urls.keys import Key

MIN_COMMON = 0.5
"""The rate of common values from which on two keys are taken for one (σ)."""
MAX_SEGMENTS = 6
"""Paths longer than this are not put together anew."""

_CLUSTERS = 256  # of those that two nodes share, looked at to compare keys
_EACH = 3  # forms of a cluster and node


@dataclass(frozen=True, slots=True)
class Aligned:
    """Forms of two nodes side by side, by the clusters that both have: some of each cluster, in as many columns."""

    source: Sheet
    target: Sheet
    clusters: int
    keys: tuple[Key, ...]
    here: npt.NDArray[np.int32]
    """The codes of the source's forms, a line for each key, …"""
    there: npt.NDArray[np.int32]
    """… and of the target's."""

    def rates(self, here: npt.NDArray[Any], there: npt.NDArray[Any], *, absent: bool) -> npt.NDArray[np.float64]:
        """Give, line by line, the share of the target's values that their cluster has on the source's side too.

        This is the rate of common values, measured where it matters. Without `absent`, that both are absent is not
        something in common.
        """
        source = here.reshape(-1, self.clusters, _EACH, 1)
        equal = source == there.reshape(-1, self.clusters, 1, _EACH)
        if not absent:
            equal &= source != 0
        return np.asarray(equal.any(axis=2).mean(axis=(1, 2)))

    def rate(self, here: npt.NDArray[Any], there: npt.NDArray[Any]) -> float:
        """Give the rate of common values of two columns."""
        return float(self.rates(here[None], there[None], absent=True)[0])

    def best_source(self, key: Key) -> Key | None:
        """Find the key of the source that has most values in common with a key of the target (algorithm 3)."""
        place = self.keys.index(key)
        rates = self.rates(self.here, self.there[place][None], absent=False)
        rates[place] = 0.0
        best = int(np.argmax(rates))
        return self.keys[best] if rates[best] >= MIN_COMMON else None


def find_operations(tree: PatternTree, s: int, t: int) -> Transform | None:
    """Find the operations that make forms of node s such of node t; None where the two do not correspond.

    A key that has a value in common with its namesake stays as it is. Otherwise it is kept (the one value that node t
    has), replaced (by the key of s that has most values in common with it), or ignored.
    """
    forms, rows = tree.forms, tree.members(t)
    aligned = align(forms, tree.members(s), rows)
    if aligned is None:
        return None
    stay = aligned.rates(aligned.here, aligned.there, absent=True) >= MIN_COMMON
    path, skipped = _path(aligned, _depth(forms, rows))
    if skipped is None:
        return None
    values: list[tuple[Key, Source]] = []
    for key, stays, here, there in zip(aligned.keys, stay, aligned.here, aligned.there, strict=True):
        if stays or key.part == "path":
            continue
        if key.part in ("query", "param") and not here.any():
            return None  # a URL does not get cleaner by one argument more
        if (there == IGNORED).any():
            skipped.append(key)
        elif _is_constant(there) and _is_constant(forms.codes(key, rows)):
            # Many values that become one do not matter, and then the one would be as arbitrary as any.
            if there[0] and not _is_constant(here):
                return None
            values.append((key, int(there[0])))
        elif (source := aligned.best_source(key)) is not None:
            values.append((key, source))
        else:
            skipped.append(key)
    return Transform(tuple(values), path, frozenset(skipped))


def align(forms: Forms, here: Rows, there: Rows) -> Aligned | None:
    """Put forms of two nodes side by side."""
    found = [np.unique(forms.clusters[rows], return_index=True, return_counts=True) for rows in (here, there)]
    common, in_s, in_t = np.intersect1d(found[0][0], found[1][0], assume_unique=True, return_indices=True)
    if not len(common):
        return None
    chosen = np.unique(np.linspace(0, len(common) - 1, min(len(common), _CLUSTERS)).astype(np.int64))
    keys = tuple(key for key in sorted(forms.columns) if key != REST)
    sheets = []
    codes = []
    for rows, (_, first, count), at in ((here, found[0], in_s[chosen]), (there, found[1], in_t[chosen])):
        places = first[at, None] + np.arange(_EACH)[None, :] * count[at, None] // _EACH
        sheets.append(Sheet.of(forms, rows[places.ravel()]))
        codes.append(np.array([forms.columns[key][sheets[-1].rows] for key in keys]))
    return Aligned(sheets[0], sheets[1], len(chosen), keys, codes[0], codes[1])


def _path(aligned: Aligned, depth: int | None) -> tuple[PathChange, list[Key] | None]:
    """Find what becomes of the path, and which segments do not matter; None for those if nothing is found.

    `depth` is how many segments all paths of the target have, if that is the same for all.
    """
    there = _path_hash(aligned.target)
    if aligned.rate(_path_hash(aligned.source), there) >= MIN_COMMON:
        return None, []
    last = aligned.target.codes(LAST)
    # Only a word leaves the path. That one value of many may leave it says nothing about the others.
    words = [place for place in (-1, 0, 1, 2) if _is_constant(aligned.source.codes(Key("path", place)))]
    changes: list[PathChange] = [DropSegment(place) for place in words]
    if _is_constant(last) and last[0] and -1 in words:
        changes.insert(0, SetLast(int(last[0])))
    rates = [aligned.rate(_path_hash(aligned.source.transformed(Transform(path=each))), there) for each in changes]
    if max(rates, default=0.0) >= MIN_COMMON:
        return changes[int(np.argmax(rates))], []
    if depth is None or depth > MAX_SEGMENTS:
        return None, None
    return _new_path(aligned, depth)


def _new_path(aligned: Aligned, depth: int) -> tuple[PathChange, list[Key] | None]:
    """Put a path together anew, segment by segment."""
    segments: list[Source] = []
    skipped = []
    same = aligned.rates(aligned.here, aligned.there, absent=False) >= MIN_COMMON
    for place in range(depth):
        key = Key("path", place)
        at = aligned.keys.index(key)
        codes = aligned.there[at]
        source: Source | None = None
        if not (codes == IGNORED).any():
            source = int(codes[0]) if _is_constant(codes) else key if same[at] else aligned.best_source(key)
        if source is None:
            skipped.append(key)
        segments.append(source or key)
    return NewPath(tuple(segments)), skipped


def _path_hash(sheet: Sheet) -> Hashes:
    found = np.zeros(len(sheet.rows), np.uint64)
    for key in sheet.path_keys():
        found += contribution(key, sheet.codes(key))
    return found


def _depth(forms: Forms, rows: Rows) -> int | None:
    depths = forms.depth[rows]
    return int(depths[0]) if depths.min() == depths.max() else None


def _is_constant(codes: Codes) -> bool:
    return bool((codes == codes[0]).all())
