"""Near duplicates by simhash, and by the cascade of paper 001, out of fingerprints."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust.detect.captures import Captures, Fingerprints
from undust.detect.cascade import MAX_SENTENCES, mode_groups
from undust.detect.evidence import Compare, Evidence, Rows, Search
from undust.detect.fingerprints import from_column
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.kmodes import choose_modes, fit_modes, sample_keywords
from undust.detect.pairs_hamming import near_batches

_U64 = npt.NDArray[np.uint64]


def find_simhash(
    fingerprints: Fingerprints, captures: Captures, parameters: SignatureParameters, search: Search
) -> Evidence:
    """Find the pairs whose simhashes are within `distance` bits."""
    present, simhashes = read_simhashes(fingerprints, captures, parameters.simhash_bits)
    store, bits = search.store(), parameters.simhash_bits
    for pairs, distances in near_batches(
        simhashes,
        bits=bits,
        distance=search.distance,
        present=present,
        memory_bytes=search.memory_bytes // 2,
        threads=search.threads,
    ):
        store.add(pairs, (1.0 - distances / bits).astype(np.float32))
    return Evidence(store, present, compare_simhashes(simhashes, bits))


def find_cascade(
    fingerprints: Fingerprints, captures: Captures, parameters: SignatureParameters, search: Search
) -> Evidence:
    """Find the pairs of one K-modes cluster, with about as many sentences, whose simhashes are within `distance` bits.

    Modes are learned from a sample, so that keywords need not be in memory.
    """
    present, simhashes = read_simhashes(fingerprints, captures, parameters.simhash_bits)
    store, bits = search.store(), parameters.simhash_bits
    width = parameters.keywords
    words = (hash_keywords(batch["keywords"], width) for _, batch in captures.batches(fingerprints, ["keywords"]))
    modes = fit_modes(sample_keywords(words), choose_modes(int(present.sum())))
    groups, sentences = np.zeros(len(captures), np.uint32), np.zeros(len(captures), np.int32)
    for rows, batch in captures.batches(fingerprints, ["keywords", "sentences"]):
        groups[rows] = mode_groups(hash_keywords(batch["keywords"], width), modes) if len(modes) else 0
        sentences[rows] = batch["sentences"].fill_null(0).to_numpy()
    for pairs, distances in near_batches(
        simhashes,
        bits=bits,
        distance=search.distance,
        present=present,
        groups=groups,
        levels=sentences,
        gap=MAX_SENTENCES,
        memory_bytes=search.memory_bytes // 2,
        threads=search.threads,
    ):
        store.add(pairs, (1.0 - distances / bits).astype(np.float32))
    return Evidence(store, present, compare_simhashes(simhashes, bits))


def read_simhashes(fingerprints: Fingerprints, captures: Captures, bits: int) -> tuple[npt.NDArray[np.bool_], _U64]:
    """Give which rows have a simhash, and it: one number a row, or two, low half first, for more than 64 bits."""
    present = np.zeros(len(captures), dtype=np.bool_)
    simhashes = np.zeros((len(captures), 1 if bits <= 64 else 2), dtype=np.uint64)
    for rows, batch in captures.batches(fingerprints, ["simhash"]):
        column = batch["simhash"]
        present[rows] = np.asarray(column.is_valid())
        simhashes[rows] = from_column(column, 8) if bits > 64 else column.fill_null(0).to_numpy().reshape(-1, 1)
    return present, simhashes


def compare_simhashes(simhashes: _U64, bits: int) -> Compare:
    """Give the function that compares rows by their simhashes."""

    def compare(a: Rows, b: Rows) -> npt.NDArray[np.float32]:
        different = np.bitwise_count(simhashes[a] ^ simhashes[b]).sum(axis=1)
        return np.asarray(1.0 - different / bits, dtype=np.float32)

    return compare


def hash_keywords(lists: pa.ListArray, width: int) -> _U64:
    """Hash the words of each list into a row of `width` numbers, filled up with zeros.

    >>> (hash_keywords(pa.array([["a", "b"], None, ["b"]]), 2) != 0).tolist()
    [[True, True], [False, False], [True, False]]
    """
    keywords = np.zeros((len(lists), width), np.uint64)
    coded = lists.flatten().dictionary_encode()
    named = np.array([xxhash.xxh3_64_intdigest(word.encode()) for word in coded.dictionary.to_pylist()], np.uint64)
    if len(named):
        sizes = lists.value_lengths().fill_null(0).to_numpy()
        places = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        keywords[pc.list_parent_indices(lists).to_numpy(), places] = named[coded.indices.to_numpy()]
    return keywords
