"""Aligns the paths of two URLs from both ends: what is the same before, what is the same after, what differs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from undust.learn.columns import MAX_SEGMENTS, Codes
from undust.learn.pairs.choose import Pairs
from undust.learn.pairs.workspace import Workspace
from undust.urls.keys import Key

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alignment:
    """Of each pair: how many segments are the same from the start and from the end, and how many are between."""

    before: Ints
    after: Ints
    source: Ints
    """Segments of the source between those that are the same, …"""
    target: Ints
    """… and of the target."""
    usable: npt.NDArray[np.bool_]
    """Whether both paths are short enough to be known whole."""

    @property
    def differs(self) -> npt.NDArray[np.bool_]:
        """Tell which paths are not the same."""
        return np.asarray((self.source > 0) | (self.target > 0))


def align(work: Workspace, pairs: Pairs) -> Alignment:
    """Align the paths of pairs (`k(x,y)` of the paper: a place from the start and one from the end)."""
    from_start = np.zeros(len(pairs.sources), np.int64)
    from_end = np.zeros(len(pairs.sources), np.int64)
    for total, sign in ((from_start, 1), (from_end, -1)):
        still = np.ones(len(total), np.bool_)
        for place in range(work.segments):
            codes = work.column(Key("path", place if sign > 0 else -1 - place))
            source, target = codes[pairs.sources], codes[pairs.targets]
            still &= (source == target) & (source != 0)
            total += still
    depth, target_depth = work.depth[pairs.sources].astype(np.int64), work.depth[pairs.targets].astype(np.int64)
    shorter = np.minimum(depth, target_depth)
    from_end = np.minimum(from_end, shorter - np.minimum(from_start, shorter))
    return Alignment(
        from_start,
        from_end,
        depth - from_start - from_end,
        target_depth - from_start - from_end,
        (depth <= MAX_SEGMENTS) & (target_depth <= MAX_SEGMENTS),
    )


def segment(work: Workspace, rows: Ints, places: Ints) -> Codes:
    """Give the segments at places from the start, one for each row; ⊥ where there is none."""
    found = np.zeros(len(rows), np.int32)
    for place in range(work.segments):
        here = places == place
        found[here] = work.columns[Key("path", place)][rows[here]]
    return found
