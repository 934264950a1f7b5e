"""Sets of shingles: each page's runs of words as hashes, the evidence that similarity is verified by."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.bags import signature_key
from undust.detect.words import Words
from undust.errors import InputError
from undust.kernels.shingles import shingle_hashes
from undust.kernels.verify import jaccards, sort_sets

_SETS_KEY = 5  # keeps these hashes apart from those of signatures, whatever the seed
_SORT_ROOM = 1024


@dataclass(frozen=True, slots=True)
class ShingleSets:
    """Hashes of the shingles of many pages: page i has `hashes[offsets[i]:][:counts[i]]`.

    A page's hashes are brought into rising order, each once, when it is first compared (`ordered`): most never are.
    """

    hashes: npt.NDArray[np.uint32]
    offsets: npt.NDArray[np.int64]
    counts: npt.NDArray[np.uint32]
    ordered: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.counts)

    def scratch(self) -> npt.NDArray[np.uint32]:
        """Make room for sorting the largest set; one for each thread."""
        return np.empty(_SORT_ROOM + int(self.counts.max(initial=0)), dtype=np.uint32)

    def similarities(self, a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Jaccard similarity of pairs of pages; 0 where one has no words.

        >>> from undust.detect.words import split
        >>> sets = shingle_sets(split(pa.array(["a b c", "b c d", ""])), shingle_words=1)
        >>> sets.similarities([0, 2], [1, 2]).tolist()
        [0.5, 0.0]
        """
        one, other = (np.ascontiguousarray(side, dtype=np.int64) for side in (a, b))
        found = np.empty(len(one), dtype=np.float64)
        jaccards(self.hashes, self.offsets, self.counts, self.ordered, self.scratch(), one, other, found)
        return found

    def to_column(self) -> pa.Array:
        """Give the sets, each in rising order, as a column of lists."""
        sort_sets(self.hashes, self.offsets, self.counts, self.ordered, self.scratch())
        ends = np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])
        places = np.repeat(self.offsets[:-1] - ends[:-1], self.counts) + np.arange(ends[-1])
        return pa.LargeListArray.from_arrays(pa.array(ends), pa.array(self.hashes[places]))


def from_column(column: pa.Array | pa.ChunkedArray) -> ShingleSets:
    """Read sets back from a column of lists; a null is an empty set. Lists need not be sorted."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise InputError(f"shingles are a column of lists of uint32, not of {column.type}; fingerprint the pages again")
    sizes = column.value_lengths().fill_null(0).to_numpy().astype(np.int64)
    hashes = column.flatten().to_numpy().astype(np.uint32)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    # As we write them, they are sorted: then nobody has to sort them again.
    ordered = np.ones(len(sizes), dtype=np.bool_)
    falls = np.flatnonzero(hashes[1:] <= hashes[:-1]) + 1
    lists = np.searchsorted(offsets, falls, side="right") - 1
    ordered[lists[offsets[lists] != falls]] = False
    return ShingleSets(hashes, offsets, sizes.astype(np.uint32), ordered)


def flattened_bags(terms: pa.Array | pa.ChunkedArray, counts: pa.Array | pa.ChunkedArray) -> ShingleSets:
    """Give bags of words as sets: a word that occurs n times is n elements (paper 002).

    >>> bags = flattened_bags(pa.array([[7], [7, 9], None]), pa.array([[3], [2, 1], None]))
    >>> bags.counts.tolist(), bags.similarities([0], [1]).tolist()
    ([3, 3, 0], [0.5])
    """
    sets = from_column(terms)
    times = from_column(counts).hashes.astype(np.int64)
    ends = np.cumsum(times)
    nth = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - times, times)
    sizes = np.diff(np.concatenate([[0], ends])[sets.offsets])
    # An odd factor: the first, second, … of a word are other elements, and as rarely those of another word.
    hashes = np.repeat(sets.hashes, times) + nth.astype(np.uint32) * np.uint32(0x9E3779B1)
    return ShingleSets(hashes, np.concatenate([[0], np.cumsum(sizes)]), sizes.astype(np.uint32), sizes < 0)


def shingle_sets(words: Words, *, shingle_words: int = 5, seed: int = 0) -> ShingleSets:
    """Hash the runs of `shingle_words` words of each text. A shorter text is one run: no two are alike by shortness."""
    shingles = np.empty(len(words.hashes), dtype=np.uint32)
    offsets = np.empty(len(words.rows), dtype=np.int64)
    shingle_hashes(words.hashes, words.rows, shingle_words, signature_key(seed, _SETS_KEY), shingles, offsets)
    counts = np.diff(offsets).astype(np.uint32)
    # A copy: the room was for every word, and the words of a whole batch should not stay for it.
    return ShingleSets(shingles[: offsets[-1]].copy(), offsets, counts, np.zeros(len(counts), dtype=np.bool_))


def concatenate(batches: Iterator[ShingleSets] | list[ShingleSets]) -> ShingleSets:
    """Put the sets of batches into one."""
    parts = list(batches)
    sizes = np.cumsum([0] + [len(part.hashes) for part in parts])
    offsets = [part.offsets[:-1] + start for part, start in zip(parts, sizes[:-1].tolist(), strict=True)]
    return ShingleSets(
        np.concatenate([part.hashes for part in parts] or [np.empty(0, np.uint32)]),
        np.concatenate([*offsets, sizes[-1:]]).astype(np.int64),
        np.concatenate([part.counts for part in parts] or [np.empty(0, np.uint32)]),
        np.concatenate([part.ordered for part in parts] or [np.empty(0, np.bool_)]),
    )
