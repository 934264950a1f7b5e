"""Fingerprints to clusters of near duplicates, by the method asked for."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from undust.detect.cascade import cascade_pairs
from undust.detect.clusters import cluster_pairs
from undust.detect.fingerprints import from_column
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.kmodes import fit_modes
from undust.detect.pairs import MEMORY_BYTES
from undust.detect.pairs_hamming import simhash_pairs
from undust.detect.pairs_minhash import minhash_pairs
from undust.detect.shingles import ShingleSets
from undust.detect.shingles import from_column as shingles_from_column
from undust.detect.sketches import choose_bands, gather_sketches
from undust.errors import InputError
from undust.tables import latest


def near_clusters(
    fingerprints: pa.Table,
    method: str,
    *,
    by: str = "center",
    threshold: float = 0.8,
    distance: int = 3,
    memory_bytes: int = MEMORY_BYTES,
    folder: Path | None = None,
) -> pa.Table:
    """Group the URLs of near duplicates: `url`, `cluster`, and `similarity` to the centre of the cluster.

    `method` is `simhash` (within `distance` bits), `minhash` (Jaccard similarity of shingles of at least `threshold`,
    counted exactly) or `cascade`. A cluster is named after the URL of its centre. Pages without words are alone.
    """
    parameters = SignatureParameters.from_metadata(fingerprints.schema.metadata, "fingerprints")
    _require_columns(fingerprints, method)
    pages = latest(fingerprints)
    if method == "minhash":
        pairs = _minhash(pages, parameters, threshold, memory_bytes, folder)
    elif method == "simhash":
        present, hashes = _simhashes(pages, parameters)
        pairs = simhash_pairs(
            hashes, bits=parameters.simhash_bits, distance=distance, present=present, memory_bytes=memory_bytes
        )
    else:
        pairs = _cascade(pages, parameters, distance, memory_bytes)
    found = cluster_pairs(pairs, len(pages), by=by)
    centers = pages["url"].take(pa.array(found.rows))
    return pa.table({"url": pages["url"], "cluster": centers, "similarity": pa.array(found.similarities)})


def _require_columns(fingerprints: pa.Table, method: str) -> None:
    needed = {
        "simhash": ["simhash"],
        "minhash": ["minhash", "shingles"],
        "cascade": ["keywords", "sentences", "simhash"],
    }
    for name in needed[method]:
        if name not in fingerprints.schema.names:
            raise InputError(f"no column {name}, which {method} needs; fingerprint the pages without --exact-only")


def _minhash(
    pages: pa.Table, parameters: SignatureParameters, threshold: float, memory_bytes: int, folder: Path | None
) -> pa.Table:
    bands = choose_bands(threshold, values=parameters.minhash_values)
    width = parameters.minhash_bytes

    def batches() -> Iterator[tuple[npt.NDArray[np.uint64], ShingleSets]]:
        for batch in pages.select(["minhash", "shingles"]).to_batches(max_chunksize=16_384):
            signatures = from_column(batch["minhash"].fill_null(bytes(batch["minhash"].type.byte_width)), width)
            yield signatures, shingles_from_column(batch["shingles"])

    sketches = gather_sketches(batches(), bands, memory_bytes=memory_bytes, folder=folder)
    return minhash_pairs(sketches, threshold=threshold, memory_bytes=memory_bytes)


def _simhashes(pages: pa.Table, parameters: SignatureParameters) -> tuple[np.ndarray, np.ndarray]:
    column = pages["simhash"].combine_chunks()
    present = column.is_valid().to_numpy(zero_copy_only=False)
    if parameters.simhash_bits <= 64:
        return present, column.fill_null(0).to_numpy().reshape(-1, 1)
    return present, from_column(column.fill_null(bytes(16)), 8)


def _cascade(pages: pa.Table, parameters: SignatureParameters, distance: int, memory_bytes: int) -> pa.Table:
    present, hashes = _simhashes(pages, parameters)
    keywords = np.zeros((len(pages), parameters.keywords), np.uint64)
    lists = pages["keywords"].combine_chunks()
    coded = lists.flatten().dictionary_encode()
    named = np.array([xxhash.xxh3_64_intdigest(word.encode()) for word in coded.dictionary.to_pylist()], np.uint64)
    rows = pc.list_parent_indices(lists).to_numpy()
    sizes = np.diff(lists.offsets.to_numpy())
    places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    if len(named):
        keywords[rows, places] = named[coded.indices.to_numpy()]
    sentences = pages["sentences"].combine_chunks().fill_null(0).to_numpy()
    return cascade_pairs(
        keywords,
        sentences,
        hashes,
        modes=fit_modes(keywords[present]) if present.any() else None,
        bits=parameters.simhash_bits,
        max_distance=distance,
        present=present,
        memory_bytes=memory_bytes,
    )
