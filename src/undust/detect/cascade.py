"""The cascade of paper 001: pages of one K-modes cluster, with about as many sentences, and simhashes within some bits.

Section 4.2 of the paper calls pages near duplicates whose simhashes differ in *more* than T_B bits; sections 3.3 and 5
say at most, and so do we. The sentence filter is |S_a - S_b| ≤ T_S, as in section 5 (section 3.2 has <).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.kmodes import ModeIndex, assign_modes
from undust.detect.pairs import MEMORY_BYTES, to_table
from undust.detect.pairs_hamming import DISTANCE, near_rows
from undust.errors import UsageError

MAX_SENTENCES = 2
"""T_S: near duplicates differ in at most so many sentences. A changed date or counter rarely adds more."""

_U64 = npt.NDArray[np.uint64]


def cascade_pairs(
    keywords: _U64,
    sentences: npt.NDArray[np.int32],
    simhashes: _U64,
    *,
    modes: _U64 | None,
    bits: int = 64,
    max_sentences: int = MAX_SENTENCES,
    max_distance: int = DISTANCE,
    present: npt.NDArray[np.bool_] | None = None,
    memory_bytes: int = MEMORY_BYTES,
    threads: int | None = None,
) -> pa.Table:
    """Find the pairs that pass the cascade (`undust.tables.PAIRS`); the similarity is that of the simhashes.

    `keywords` has a row of hashes a page, `modes` are those of `kmodes.fit_modes`, or None to do without clusters.
    All pairs that pass are found, by tables of blocks within each cluster, never by comparing all with all. Of pages
    with the same mode, sentences and simhash the first stands for all, as in `simhash_pairs`.
    """
    groups = None if modes is None else mode_groups(keywords, modes)
    if len(sentences) != len(simhashes) or len(keywords) != len(simhashes):
        raise UsageError(f"{len(simhashes)} simhashes, {len(sentences)} sentence counts, {len(keywords)} keyword rows")
    packed, distances = near_rows(
        simhashes,
        bits=bits,
        distance=max_distance,
        present=present,
        groups=groups,
        levels=sentences,
        gap=max_sentences,
        memory_bytes=memory_bytes,
        threads=threads,
    )
    return to_table(packed, (1.0 - distances / bits).astype(np.float32))


def mode_groups(keywords: _U64, modes: _U64) -> npt.NDArray[np.uint32]:
    """Number the cluster of each page, from 0 for pages that share no keyword with any mode."""
    return (assign_modes(keywords, modes) + 1).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class CascadeState:
    """What the online cascade knows: the pages that were new, in order, and the modes they were assigned by."""

    modes: _U64
    numbers: list[int] = field(default_factory=list)  # as given to `add`
    labels: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    simhashes: list[int] = field(default_factory=list)


class Cascade:
    """Tells of each page as it comes whether it is a near duplicate of an earlier one (paper 001, sections 3.3, 4.2).

    As in the paper, near duplicates are not kept, and modes stay as they are: learn them from pages so far
    (`kmodes.fit_modes`), or begin with none. `state` is all it knows; a cascade can go on from it.

    >>> cascade = Cascade(CascadeState(np.zeros((0, 1), np.uint64)))
    >>> cascade.add(10, [1, 2], 7, 0b0000), cascade.add(11, [1, 2], 9, 0b0111), cascade.add(12, [1, 2], 7, 0b1111)
    (None, 10, None)
    """

    def __init__(
        self,
        state: CascadeState,
        *,
        bits: int = 64,
        max_sentences: int = MAX_SENTENCES,
        max_distance: int = DISTANCE,
    ) -> None:
        if not 0 <= max_distance < bits <= 128 or max_sentences < 0:
            raise UsageError(f"{max_distance} of {bits} bits and {max_sentences} sentences; see the documentation")
        self.state = state
        self.max_sentences = max_sentences
        self.max_distance = max_distance
        blocks = max_distance + 1  # one of them at least is equal in two simhashes within the distance
        edges = [bits * i // blocks for i in range(blocks + 1)]
        self._cuts = [(edges[i], (1 << edges[i + 1] - edges[i]) - 1) for i in range(blocks)]
        self._buckets: dict[tuple[int, int, int], list[int]] = {}
        self._modes = ModeIndex(state.modes)
        for at in range(len(state.numbers)):
            self._index(at)

    def add(self, number: int, keywords: Sequence[int], sentences: int, simhash: int) -> int | None:
        """Give the number of the earlier page that this is a near duplicate of, the nearest, of equals the earliest.

        None if it is new; it is then remembered by its number.
        """
        state = self.state
        words = np.array([list(keywords)], dtype=np.uint64).reshape(1, -1)
        label = int(self._modes.assign(words)[0])
        best, nearest = None, self.max_distance + 1
        for key in self._keys(label, simhash):
            for at in self._buckets.get(key, ()):
                if abs(state.sentences[at] - sentences) > self.max_sentences:
                    continue
                distance = (state.simhashes[at] ^ simhash).bit_count()
                if distance < nearest or (distance == nearest and best is not None and at < best):
                    best, nearest = at, distance
        if best is not None:
            return state.numbers[best]
        state.numbers.append(number)
        state.labels.append(label)
        state.sentences.append(sentences)
        state.simhashes.append(simhash)
        self._index(len(state.numbers) - 1)
        return None

    def _keys(self, label: int, simhash: int) -> list[tuple[int, int, int]]:
        return [(label, block, simhash >> shift & mask) for block, (shift, mask) in enumerate(self._cuts)]

    def _index(self, at: int) -> None:
        for key in self._keys(self.state.labels[at], self.state.simhashes[at]):
            self._buckets.setdefault(key, []).append(at)
