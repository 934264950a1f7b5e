"""Near duplicates by min-hash, each pair verified exactly, out of fingerprints."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from undust.detect.captures import Captures, Fingerprints
from undust.detect.evidence import Compare, Evidence, Rows, Search
from undust.detect.fingerprints import from_column
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.pairs_minhash import minhash_batches
from undust.detect.shingles import ShingleSets
from undust.detect.shingles import from_column as shingles_from_column
from undust.detect.sketches import choose_bands, forget_mapped, gather_sketches

_COMPARED_AT_ONCE = 1 << 10  # around each set the system brings some pages of its file into memory


def find_minhash(
    fingerprints: Fingerprints, captures: Captures, parameters: SignatureParameters, search: Search
) -> Evidence:
    """Find the pairs whose shingles have a Jaccard similarity of at least `threshold`, counted exactly."""
    bands = choose_bands(search.threshold, values=parameters.minhash_values)

    def batches() -> Iterator[tuple[npt.NDArray[np.uint64], ShingleSets]]:
        for batch in fingerprints.batches(["minhash", "shingles"]):
            yield from_column(batch["minhash"], parameters.minhash_bytes), shingles_from_column(batch["shingles"])

    memory = search.memory_bytes // 2
    rows = captures.counting()
    sketches = gather_sketches(batches(), bands, memory_bytes=memory, folder=search.folder, rows=rows)
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
