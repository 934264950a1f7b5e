"""Sketches of many pages, gathered batch by batch: keys of their bands and evidence, on disk beyond a memory limit."""

import math
import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.fingerprints import shingle_signatures
from undust.detect.pairs import MEMORY_BYTES, require_rows
from undust.detect.shingles import ShingleSets, shingle_sets
from undust.detect.words import buffers, normalized, split
from undust.errors import UsageError
from undust.kernels.banding import NO_ROW, band_keys

CHUNK_ROWS = 1 << 16
THRESHOLD = 0.8
"""Share of common shingles from which on two pages are near duplicates."""

BAG_THRESHOLD = 0.9
"""The same for words as a bag: what differs in a tenth of its words says something else."""

RECALL = 0.999
"""Chance to find a pair that is exactly at the threshold; all above it have a better one."""

_PIECE_WRITTEN = 1 << 16
_PIECE_BYTES = 1 << 18  # words of so much text fit into the processor's second-level cache
_U32 = npt.NDArray[np.uint32]
_U64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Bands:
    """How signatures become candidates: pages that agree in all `rows` values of one of `count` bands are compared."""

    rows: int
    count: int

    def __post_init__(self) -> None:
        if self.rows < 1 or self.count < 1:
            raise UsageError(f"{self.count} bands of {self.rows} rows; use at least 1 of each")

    def chance(self, similarity: float) -> float:
        """Chance that two pages of a similarity become a candidate pair.

        >>> round(Bands(4, 32).chance(0.5), 3)
        0.873
        """
        return 1.0 - float((1.0 - similarity**self.rows) ** self.count)


def choose_bands(threshold: float = THRESHOLD, *, values: int = 128, recall: float = RECALL) -> Bands:
    """Give the bands that find a pair at the threshold with the chance of `recall`, and compare the fewest below it.

    The most rows that can do it, then the fewest bands: more rows, fewer candidates in vain; fewer bands, less work.

    >>> choose_bands(0.8), choose_bands(0.2, recall=0.9)
    (Bands(rows=5, count=18), Bands(rows=2, count=57))
    """
    if not 0.0 < threshold <= 1.0 or not 0.0 < recall < 1.0:
        raise UsageError(f"threshold {threshold:g} and recall {recall:g}; both are above 0 and at most 1, recall below")
    for rows in range(values, 0, -1):
        hit = threshold**rows
        count = 1 if hit >= 1.0 else math.ceil(math.log(1.0 - recall) / math.log1p(-hit)) if hit > 1e-12 else values + 1
        if count * rows <= values:
            return Bands(rows, count)
    raise UsageError(
        f"{values} values cannot find pairs of similarity {threshold:g} with a chance of {recall:g};"
        " use more values or ask for less"
    )


@dataclass(frozen=True, slots=True)
class Sketches:
    """What pairs are found from: keys of the bands of each page, and its shingles or its signature to verify by."""

    bands: Bands
    whole: _U64  # hash of the whole signature of each row, 0 for a page without words
    rows: _U32  # row of each page in the order they came in, NO_ROW for one that does not count
    rising: bool  # whether they came in the order of rows
    keys: list[_U64 | Path]  # chunks of CHUNK_ROWS pages as they came in, one line a band, in memory or in a file
    sets: ShingleSets | None  # of each row
    signatures: _U64 | None

    def __len__(self) -> int:
        return len(self.whole)

    def band(self, number: int) -> Iterator[tuple[_U32, _U64]]:
        """Give the rows and the keys of a band, a chunk at a time."""
        for at, chunk in enumerate(self.keys):
            rows = self.rows[at * CHUNK_ROWS :][:CHUNK_ROWS]
            if isinstance(chunk, Path):
                yield rows, np.fromfile(chunk, np.uint64, len(rows), offset=8 * number * CHUNK_ROWS)
            else:
                yield rows, chunk[number, : len(rows)]


def sketch_texts(
    texts: pa.Array, *, shingle_words: int = 5, values: int = 128, seed: int = 0
) -> Iterator[tuple[_U64, ShingleSets]]:
    """Give the signatures and shingles of texts (`string` or `large_string`), in batches and in order.

    >>> gathered = gather_sketches(sketch_texts(pa.array(["a b c", ""])), Bands(4, 32))
    >>> len(gathered), gathered.sets.counts.tolist()
    (2, [1, 0])
    """
    _, offsets = buffers(texts)
    start = 0
    while start < len(texts):
        stop = int(np.searchsorted(offsets, offsets[start] + _PIECE_BYTES, side="right")) - 1
        stop = min(max(stop, start + 1), len(texts), start + 4096)
        words = split(normalized(texts.slice(start, stop - start)))
        signatures = shingle_signatures(words, shingle_words=shingle_words, values=values, seed=seed)
        yield signatures, shingle_sets(words, shingle_words=shingle_words, seed=seed)
        start = stop


def gather_sketches(
    batches: Iterable[tuple[_U64, ShingleSets | None]],
    bands: Bands,
    *,
    verify: str = "exact",
    memory_bytes: int = MEMORY_BYTES,
    folder: Path | None = None,
    rows: _U32 | None = None,
) -> Sketches:
    """Take the signatures and shingles of batches of pages, in order of rows, or of the `rows` given (or NO_ROW).

    `verify` is `exact` (needs shingles), `signature` (keeps the signatures) or `none` (for components of candidates).
    What exceeds its share of `memory_bytes` goes to files in `folder`.
    """
    if verify not in ("exact", "signature", "none"):
        raise UsageError(f"unknown verification {verify!r}; one of exact, signature, none")
    keys = _Keys(bands, memory_bytes // 4, folder)
    hashes = _Growing(np.dtype(np.uint32), memory_bytes // 2, folder, "shingles")
    values = _Growing(np.dtype(np.uint64), memory_bytes // 2, folder, "signatures")
    counts, ordered, whole, width = [], [], [], 0
    for signatures, sets in batches:
        signatures = np.ascontiguousarray(signatures, dtype=np.uint64)
        if signatures.shape[1] < bands.rows * bands.count:
            raise UsageError(
                f"signatures of {signatures.shape[1]} values; {bands.count} bands of {bands.rows} rows need"
                f" {bands.rows * bands.count}"
            )
        width = signatures.shape[1]
        whole.append(keys.add(signatures))
        if verify == "signature":
            values.add(signatures.reshape(-1))
        elif verify == "exact":
            if sets is None or len(sets) != len(signatures):
                raise UsageError("exact verification needs the shingles of each page; give them, or verify=signature")
            hashes.add(sets.hashes)
            # Copies: sorting a set changes its count, and the batch is not ours.
            counts.append(np.stack([np.diff(sets.offsets), sets.counts.astype(np.int64)]))
            ordered.append(sets.ordered.copy())
    everything = np.concatenate([*whole, np.empty(0, np.uint64)])
    require_rows(len(everything))
    place = np.arange(len(everything), dtype=np.uint32) if rows is None else rows
    if len(place) != len(everything):
        raise UsageError(f"{len(place)} rows for {len(everything)} pages")
    sizes = np.concatenate([*counts, np.empty((2, 0), np.int64)], axis=1)
    exact = ShingleSets(
        hashes.finish(),
        np.append(_by_row(np.cumsum(sizes[0]) - sizes[0], place), sizes[0].sum()),
        _by_row(sizes[1].astype(np.uint32), place),
        _by_row(np.concatenate([*ordered, np.empty(0, np.bool_)]), place),
    )
    return Sketches(
        bands,
        _by_row(everything, place),
        place,
        rows is None or bool((np.diff(place[place != NO_ROW].astype(np.int64)) > 0).all()),
        keys.finish(),
        exact if verify == "exact" else None,
        _by_row(values.finish().reshape(len(everything), width), place) if verify == "signature" else None,
    )


def _by_row(values: npt.NDArray[Any], rows: _U32) -> npt.NDArray[Any]:
    """Bring values of pages as they came in into the order of their rows."""
    if not len(values) or (rows[0] == 0 and len(rows) == len(values) and bool((rows[1:] - rows[:-1] == 1).all())):
        return values
    used = rows != NO_ROW
    placed = np.zeros((int(rows[used].max(initial=0)) + 1, *values.shape[1:]), values.dtype)
    placed[rows[used]] = values[used]
    return placed


def forget_mapped(values: npt.NDArray[Any]) -> None:
    """Let the system have back the memory that it holds of a mapped file for us; it is read again when needed."""
    if (file := _mapped(values)) is not None and hasattr(mmap, "MADV_DONTNEED"):
        file.madvise(mmap.MADV_DONTNEED)


def is_mapped(values: npt.NDArray[Any]) -> bool:
    """Whether an array lies in a file."""
    return _mapped(values) is not None


def _mapped(values: npt.NDArray[Any]) -> mmap.mmap | None:
    base: Any = values
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def _spill_folder(folder: Path | None) -> Path:
    if folder is None:
        raise UsageError("sketches need more memory than they may use; give a folder for files, or more memory")
    return folder


class _Keys:
    """Band keys in chunks of a fixed number of rows; all in files as soon as they exceed the limit."""

    def __init__(self, bands: Bands, limit: int, folder: Path | None) -> None:
        self._bands = bands
        self._limit = limit
        self._folder = folder
        self._chunks: list[_U64 | Path] = []
        self._used = CHUNK_ROWS

    def add(self, signatures: _U64) -> _U64:
        whole = np.empty(len(signatures), dtype=np.uint64)
        done = 0
        while done < len(signatures):
            if self._used == CHUNK_ROWS:
                self._spill()
                self._chunks.append(np.zeros((self._bands.count, CHUNK_ROWS), dtype=np.uint64))
                self._used = 0
            more = min(len(signatures) - done, CHUNK_ROWS - self._used)
            part = slice(done, done + more)
            band_keys(signatures[part], self._bands.rows, self._chunks[-1], self._used, whole[part])
            self._used += more
            done += more
        return whole

    def _spill(self) -> None:
        """Write full chunks to files once one more would exceed the limit."""
        if 8 * self._bands.count * CHUNK_ROWS * (len(self._chunks) + 1) <= self._limit or not self._chunks:
            return
        folder = _spill_folder(self._folder)
        for at, chunk in enumerate(self._chunks):
            if isinstance(chunk, np.ndarray):
                file = folder / f"keys-{at}"
                chunk.tofile(file)
                self._chunks[at] = file

    def finish(self) -> list[_U64 | Path]:
        self._spill()
        return self._chunks


class _Growing:
    """An array that grows at its end; in a file as soon as it exceeds the limit."""

    def __init__(self, dtype: np.dtype[Any], limit: int, folder: Path | None, name: str) -> None:
        self._values = np.empty(0, dtype=dtype)
        self._used = 0
        self._limit = limit // dtype.itemsize
        self._folder = folder
        self._name = name
        self._file: Path | None = None

    def add(self, values: npt.NDArray[Any]) -> None:
        if self._file is None and self._used + len(values) > self._limit:
            self._file = _spill_folder(self._folder) / self._name
            self._write(self._file, self._values[: self._used])
            self._values = self._values[:0]
        if self._file is not None:
            self._write(self._file, values)
            return
        need = self._used + len(values)
        if need > len(self._values):
            # In place: the system moves pages of memory instead of copying what they hold.
            self._values.resize(min(max(need, 3 * len(self._values) // 2), self._limit), refcheck=False)
        self._values[self._used : need] = values
        self._used = need

    def _write(self, path: Path, values: npt.NDArray[Any]) -> None:
        """Append in small pieces: what is written at once, Linux maps at once, for one byte that is looked at."""
        data = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        with path.open("ab", buffering=0) as file:
            for start in range(0, len(data), _PIECE_WRITTEN):
                file.write(data[start : start + _PIECE_WRITTEN])

    def finish(self) -> npt.NDArray[Any]:
        if self._file is not None:
            # Mapped: the system keeps in memory what it has room for.
            return np.asarray(np.memmap(self._file, dtype=self._values.dtype, mode="r+"))
        self._values.resize(self._used, refcheck=False)
        return self._values
