"""What near duplicates are looked for with, and what is found: pairs, and a way to compare any two pages."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from undust.detect.pairs import MEMORY_BYTES
from undust.detect.pairs_hamming import DISTANCE
from undust.detect.pairs_store import PairStore
from undust.detect.sketches import THRESHOLD

Rows = npt.NDArray[np.uint32]
Compare = Callable[[Rows, Rows], npt.NDArray[np.float32]]
"""Similarity of each row of one array to that of the other."""


@dataclass(frozen=True, slots=True)
class Search:
    """What counts as near, and with how much memory to look for it."""

    threshold: float = THRESHOLD
    """Least Jaccard similarity of shingles, for minhash."""
    distance: int = DISTANCE
    """Most bits in which simhashes differ, for simhash and cascade."""
    memory_bytes: int = MEMORY_BYTES
    folder: Path | None = None
    """Where files go that memory has no room for."""
    threads: int | None = None

    def store(self) -> PairStore:
        """Make room for pairs, in its share of the memory."""
        return PairStore(self.memory_bytes // 8, self.folder)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Pairs of near duplicates among rows."""

    pairs: PairStore
    present: npt.NDArray[np.bool_]
    """Rows that have words, and could be compared."""
    compare: Compare
