"""Near duplicates by min-hash, of shingles or of bags of words, each pair verified exactly, out of fingerprints."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from undust.detect.captures import Captures, Fingerprints
from undust.detect.evidence import Compare, Evidence, Rows, Search
from undust.detect.fingerprints import from_column
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.pairs_minhash import minhash_batches
from undust.detect.shingles import ShingleSets, flattened_bags
from undust.detect.shingles import from_column as shingles_from_column
from undust.detect.sketches import choose_bands, forget_mapped, gather_sketches

_COMPARED_AT_ONCE = 1 << 10  # around each set the system brings some pages of its file into memory


Signed = Iterator[tuple[npt.NDArray[np.uint64], ShingleSets]]


def find_minhash(
    fingerprints: Fingerprints, captures: Captures, parameters: SignatureParameters, search: Search
) -> Evidence:
    """Find the pairs whose shingles have a Jaccard similarity of at least `threshold`, counted exactly."""

    def signed() -> Signed:
        for batch in fingerprints.batches(["minhash", "shingles"]):
            yield from_column(batch["minhash"], parameters.minhash_bytes), shingles_from_column(batch["shingles"])

    return _find(signed(), captures, parameters, search)


def find_bag(
    fingerprints: Fingerprints, captures: Captures, parameters: SignatureParameters, search: Search
) -> Evidence:
    """Find the pairs whose bags of words have a Jaccard similarity of at least `threshold`, counted exactly.

    The order of words does not matter: a list that is sorted in another way is the same page.
    """

    def signed() -> Signed:
        for batch in fingerprints.batches(["bag_minhash", "bag", "bag_counts"]):
            sets = flattened_bags(batch["bag"], batch["bag_counts"])
            yield from_column(batch["bag_minhash"], parameters.minhash_bytes), sets

    return _find(signed(), captures, parameters, search)


def _find(signed: Signed, captures: Captures, parameters: SignatureParameters, search: Search) -> Evidence:
    bands = choose_bands(search.threshold, values=parameters.minhash_values)
    memory = search.memory_bytes // 2
    rows = captures.counting()
    sketches = gather_sketches(signed, bands, memory_bytes=memory, folder=search.folder, rows=rows)
    store = search.store()
    for pairs, similarities in minhash_batches(
        sketches, threshold=search.threshold, memory_bytes=memory, threads=search.threads
    ):
        store.add(pairs, similarities)
    return Evidence(store, sketches.whole != 0, compare_sets(sketches.sets))


def compare_sets(sets: ShingleSets | None) -> Compare:
    """Give the function that compares rows by their shingles."""

    def compare(a: Rows, b: Rows) -> npt.NDArray[np.float32]:
        found = np.empty(len(a), dtype=np.float32)
        for start in range(0, len(a) if sets is not None else 0, _COMPARED_AT_ONCE):
            piece = slice(start, start + _COMPARED_AT_ONCE)
            found[piece] = sets.similarities(a[piece], b[piece])  # type: ignore[union-attr] # the loop is empty then
            forget_mapped(sets.hashes)  # type: ignore[union-attr]
        return found

    return compare
