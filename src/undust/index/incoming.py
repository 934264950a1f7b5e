"""Fingerprints as they come, made into the arrays that kernels compare and store."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust import settings
from undust.detect.exact import CONTENT_COLUMNS, batch_contents
from undust.detect.fingerprints import from_column
from undust.detect.kmodes import assign_modes
from undust.detect.near_hamming import hash_keywords
from undust.detect.shingles import from_column as shingles_from_column
from undust.detect.words import buffers
from undust.errors import InputError, UsageError
from undust.index.design import Design
from undust.kernels.banding import band_keys
from undust.kernels.index_pages import page_units
from undust.kernels.index_rows import HAS_BANDS, HAS_DIGEST, HAS_SIMHASH, UNIT, fold_signatures

CHUNK_PAGES = 8192
CHUNK_BYTES = 16 * 2**20
MAX_ROW_BYTES = 512 * 2**20
"""A page whose fingerprint takes more is refused; texts end long before."""

_U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Pages:
    """Some pages, ready for the kernels."""

    arrays: tuple[npt.NDArray[Any], ...]
    units: int  # that their rows take at most

    def __len__(self) -> int:
        return len(self.arrays[2])


def url_arrays(urls: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Give the bytes and offsets of URLs; `InputError` for a row without one, or with one that is too long."""
    if isinstance(urls, pa.ChunkedArray):
        urls = urls.combine_chunks()
    if not (pa.types.is_string(urls.type) or pa.types.is_large_string(urls.type)):
        urls = _cast(urls, pa.large_string(), "url")
    if urls.null_count:
        raise InputError("a row without a URL; give each page its own")
    data, offsets = buffers(urls)
    longest = int(np.diff(offsets).max(initial=0))
    if longest > settings.MAX_URL_BYTES:
        raise InputError(f"a URL of {longest:,} bytes; at most {settings.MAX_URL_BYTES:,} are taken: leave it out")
    # Copies: kernels write to none of it, but are made for arrays that could be written to.
    return data[offsets[0] : offsets[-1]].copy(), offsets - offsets[0]


def require_fingerprints(fingerprints: Any) -> pa.Schema:
    """Refuse what is no table of fingerprints; give its schema, which says how they were made."""
    if not isinstance(fingerprints, pa.Table | pa.RecordBatch):
        kind = type(fingerprints).__name__
        raise UsageError(f"a {kind} is no Arrow table of fingerprints; give what undust.fingerprint made")
    if "url" not in fingerprints.schema.names:
        raise InputError("no column url; give what undust.fingerprint made")
    return fingerprints.schema


def incoming(
    fingerprints: pa.Table | pa.RecordBatch,
    design: Design,
    modes: _U64,
    plan: npt.NDArray[np.int64],
    chunk_pages: int = CHUNK_PAGES,
) -> Iterator[Pages]:
    """Give the pages of a table of fingerprints, some at a time, in order."""
    table = pa.Table.from_batches([fingerprints]) if isinstance(fingerprints, pa.RecordBatch) else fingerprints
    _, offsets = url_arrays(table["url"])  # nothing is taken of a table that has a fault
    if not np.diff(offsets).all():
        raise InputError("a row whose URL is empty; give each page its own")
    for batch in table.to_batches(max_chunksize=chunk_pages):
        if not len(batch):
            continue
        pages, units = _pages(batch, design, modes, plan)
        sizes = np.cumsum(units) * UNIT
        start = 0
        while start < len(batch):
            before = int(sizes[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(sizes, before + CHUNK_BYTES, side="right")))
            taken = int(sizes[stop - 1]) - before
            if taken > MAX_ROW_BYTES:
                url = batch["url"][start].as_py()
                raise InputError(f"{url}: a fingerprint of {taken:,} bytes; at most {MAX_ROW_BYTES:,} are kept")
            whole = start == 0 and stop == len(batch)
            yield Pages(pages if whole else _slice(pages, start, stop), taken // UNIT)
            start = stop


def _slice(pages: tuple[npt.NDArray[Any], ...], start: int, stop: int) -> tuple[npt.NDArray[Any], ...]:
    """Take some of the pages; those arrays that go by offsets are shared."""
    by_offsets = (0, 8)
    with_end = (1, 9)
    return tuple(
        array if at in by_offsets else array[start : stop + 1] if at in with_end else array[start:stop]
        for at, array in enumerate(pages)
    )


def _pages(
    batch: pa.RecordBatch, design: Design, modes: _U64, plan: npt.NDArray[np.int64]
) -> tuple[tuple[npt.NDArray[Any], ...], npt.NDArray[np.int64]]:
    count = len(batch)
    flags = np.zeros(count, dtype=np.uint8)
    urls, url_offsets = url_arrays(batch["url"])
    digests = simhashes = np.zeros((count, 2), dtype=np.uint64)
    sentences, labels = np.zeros(count, dtype=np.int32), np.full(count, -1, dtype=np.int32)
    bands, evidence = np.zeros((count, 0), dtype=np.uint32), np.zeros(0, dtype=np.uint32)
    evidence_offsets = np.zeros(count + 1, dtype=np.int64)
    if "exact" in design.methods:
        digests, present = _digests(batch, design)
        flags[present] |= HAS_DIGEST
    if design.blocks:
        column = batch["simhash"]
        simhashes = _simhashes(column, design)
        flags[np.asarray(column.is_valid())] |= HAS_SIMHASH
    if "cascade" in design.methods and design.parameters is not None:
        sentences = _cast(batch["sentences"], pa.int32(), "sentences").fill_null(0).to_numpy().copy()
        if len(modes):
            labels = assign_modes(hash_keywords(batch["keywords"], design.parameters.keywords), modes)
    if design.bands is not None:
        bands, present, evidence, evidence_offsets = _min_hashes(batch, design)
        flags[present] |= HAS_BANDS
    pages = (urls, url_offsets, flags, digests, simhashes, sentences, labels, bands, evidence, evidence_offsets)
    units = np.empty(count, dtype=np.int64)
    page_units(plan, pages, units)
    return pages, units


def _digests(batch: pa.RecordBatch, design: Design) -> tuple[_U64, npt.NDArray[np.bool_]]:
    """Digests, and which pages have one: of the text, else of the body, else what an archive states (CDX, revisits)."""
    column = _own_digests(batch, design)
    digests, present = from_column(column, 8), np.array(column.is_valid())
    rest = ~present
    if rest.any() and set(CONTENT_COLUMNS) <= set(batch.schema.names):
        stated = batch_contents(batch.filter(pa.array(rest)))[1]
        digests = digests.copy()
        digests[rest], present[rest] = stated, stated.any(axis=1)
    return digests, present


def _own_digests(batch: pa.RecordBatch, design: Design) -> pa.Array:
    """Digest of each text; of the body where there are no words but a body. Empty bodies say nothing of each other."""
    names = batch.schema.names
    digests = _cast(batch[design.digest], pa.binary(16), design.digest or "")
    if "body_xxh3" not in names:
        return digests
    bodies = _cast(batch["body_xxh3"], pa.binary(16), "body_xxh3")
    if "length" in names:
        bodies = pc.if_else(pc.equal(batch["length"], 0).fill_null(False), pa.scalar(None, bodies.type), bodies)
    return bodies if design.digest == "body_xxh3" else pc.coalesce(digests, bodies)


def _simhashes(column: pa.Array, design: Design) -> _U64:
    assert design.parameters is not None  # noqa: S101 - the design is settled
    if design.parameters.simhash_bits > 64:
        return np.ascontiguousarray(from_column(_cast(column, pa.binary(16), "simhash"), 8))
    wide = np.zeros((len(column), 2), dtype=np.uint64)
    wide[:, 0] = _cast(column, pa.uint64(), "simhash").fill_null(0).to_numpy()
    return wide


def _min_hashes(
    batch: pa.RecordBatch, design: Design
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_], npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Keys of the bands, which pages have any, and the evidence that they are verified by."""
    made, layout = design.parameters, design.bands
    assert made is not None  # noqa: S101 - the design is settled
    assert layout is not None  # noqa: S101 - the same
    width = made.minhash_bytes
    column = _cast(batch["minhash"], pa.binary(made.minhash_values * width), "minhash")
    signatures = np.ascontiguousarray(from_column(column, width))
    keys = np.empty((layout.count, len(batch)), dtype=np.uint64)
    whole = np.empty(len(batch), dtype=np.uint64)
    band_keys(signatures, layout.rows, keys, 0, whole)
    bands = np.ascontiguousarray((keys >> np.uint64(32)).astype(np.uint32).T)
    present = whole != 0
    if design.verify == "exact":
        sets = shingles_from_column(batch["shingles"])
        if not sets.ordered.all():
            sets = shingles_from_column(sets.to_column())
        return bands, present, sets.hashes, sets.offsets
    folded = np.empty((len(batch), (made.minhash_values + 1) // 2), dtype=np.uint32)
    fold_signatures(signatures, folded)
    offsets = np.arange(len(batch) + 1, dtype=np.int64) * folded.shape[1]
    return bands, present, folded.reshape(-1), offsets


def _cast(column: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    if column.type == kind:
        return column
    try:
        return column.cast(kind)
    except pa.ArrowException as error:
        raise InputError(f"column {name} is {column.type}, not {kind}; fingerprint the pages again") from error
