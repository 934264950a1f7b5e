"""Pairs as they are found, given back in order: sorted in memory, or in files that are merged when read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from undust.detect.pairs import MEMORY_BYTES, sort_once, unpacked

Chunk = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float32]]
"""Some pairs: rows a, rows b, similarities."""

_PAIR_BYTES = 48  # in memory, with the room that sorting takes
_RECORD = np.dtype([("pair", np.uint64), ("similarity", np.float32)])
_MIN_BLOCK = 1 << 12

_U64 = npt.NDArray[np.uint64]
_F32 = npt.NDArray[np.float32]


class PairStore:
    """Takes pairs in any order, each maybe several times; gives them by falling similarity, then a, then b, each once.

    What exceeds `memory_bytes` goes to files in `folder`; without a folder all stays in memory.

    >>> store = PairStore()
    >>> store.add(np.array([1 << 32 | 2, 0 << 32 | 2], np.uint64), np.array([0.5, 1], np.float32))
    >>> [[column.tolist() for column in chunk] for chunk in store.chunks()]
    [[[0, 1], [2, 2], [1.0, 0.5]]]
    """

    def __init__(self, memory_bytes: int = MEMORY_BYTES, folder: Path | None = None) -> None:
        self._limit = max(memory_bytes // _PAIR_BYTES, _MIN_BLOCK)
        self._folder = folder
        self._pairs: list[_U64] = []
        self._similarities: list[_F32] = []
        self._held, self._sorted = 0, True
        self._runs: list[Path] = []

    def add(self, pairs: _U64, similarities: _F32) -> None:
        """Take rows packed as `a << 32 | b` and how similar they are."""
        if not len(pairs):
            return
        self._pairs.append(pairs)
        self._similarities.append(similarities)
        self._held, self._sorted = self._held + len(pairs), False
        if self._held > self._limit and self._folder is not None:
            self._sort()
            if self._held > self._limit // 2:  # many may have been there already
                self._write_run(self._folder)

    def chunks(self) -> Iterator[Chunk]:
        """Give all pairs in order, some at a time; can be asked for again."""
        self._sort()
        if not self._runs:
            for pairs, similarities in zip(self._pairs, self._similarities, strict=True):
                yield *unpacked(pairs), similarities
            return
        if self._held and self._folder is not None:
            self._write_run(self._folder)
        block = max(self._limit // len(self._runs) // 2, _MIN_BLOCK)
        yield from _merged([_Run(path, block) for path in self._runs])

    def _sort(self) -> None:
        if self._sorted:
            return
        pairs, similarities = np.concatenate(self._pairs), np.concatenate(self._similarities)
        self._pairs, self._similarities = [], []  # before there is need of room to sort
        pairs, similarities = sort_once(pairs, similarities)
        self._pairs, self._similarities, self._held, self._sorted = [pairs], [similarities], len(pairs), True

    def _write_run(self, folder: Path) -> None:
        records = np.empty(self._held, _RECORD)
        records["pair"], records["similarity"] = self._pairs[0], self._similarities[0]
        path = folder / f"pairs-{len(self._runs)}"
        records.tofile(path)
        self._runs.append(path)
        self._pairs, self._similarities, self._held, self._sorted = [], [], 0, True


@dataclass(slots=True)
class _Run:
    """A file of sorted pairs, of which a block is in memory."""

    path: Path
    block: int
    pairs: _U64 = field(default_factory=lambda: np.empty(0, np.uint64))
    similarities: _F32 = field(default_factory=lambda: np.empty(0, np.float32))
    _read: int = 0

    def fill(self) -> bool:
        """Have pairs in memory, if any are left."""
        if not len(self.pairs):
            records = np.fromfile(self.path, _RECORD, self.block, offset=self._read * _RECORD.itemsize)
            self._read += len(records)
            self.pairs, self.similarities = records["pair"].copy(), records["similarity"].copy()
        return len(self.pairs) > 0

    def last(self) -> tuple[float, int]:
        """Key of the last pair in memory."""
        return -float(self.similarities[-1]), int(self.pairs[-1])

    def take(self, key: tuple[float, int]) -> tuple[_U64, _F32]:
        """Hand out the pairs up to a key."""
        falling = -self.similarities
        start = int(np.searchsorted(falling, np.float32(key[0]), side="left"))
        stop = int(np.searchsorted(falling, np.float32(key[0]), side="right"))
        end = start + int(np.searchsorted(self.pairs[start:stop], np.uint64(key[1]), side="right"))
        taken = self.pairs[:end], self.similarities[:end]
        self.pairs, self.similarities = self.pairs[end:], self.similarities[end:]
        return taken


def _merged(runs: list[_Run]) -> Iterator[Chunk]:
    """Merge sorted runs: what is not after the last pair of any block in memory can be given out."""
    while runs := [run for run in runs if run.fill()]:
        key = min(run.last() for run in runs)
        taken = [run.take(key) for run in runs]
        pairs, similarities = sort_once(
            np.concatenate([pairs for pairs, _ in taken]), np.concatenate([found for _, found in taken])
        )
        yield *unpacked(pairs), similarities
