"""The URLs of a site while rules are being learned: their values as the rules so far have left them, by the column."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.kernels.merges import add_hashes, number
from undust.learn.columns import MAX_SEGMENTS, REST, Codes, SiteUrls
from undust.learn.pairs.lexicon import Lexicon
from undust.rules.values import ANY, Absent, Drop, Ignore, Match, Operation, Pattern, Piece
from undust.urls.keys import Key

Mask = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]

IGNORED = np.int32(2**31 - 1)
"""The code of a value that does not matter."""
_IGNORED_PART = "\0"
"""What stands for a part of a value that does not matter. No URL has it."""
_GOLDEN = 0x9E3779B97F4A7C15

Context = Mapping[Key, Match]
Operations = Mapping[Key, Operation]


class Workspace:
    """Columns of codes by key, segments by their place from the start, and a hash of each URL's whole key.

    The hash is a sum over columns, so that the order of arguments is no part of it.
    """

    def __init__(self, site: SiteUrls, rows: Rows | None = None) -> None:
        chosen = np.arange(len(site)) if rows is None else rows
        self.rows = chosen
        """Rows of the site that these URLs are."""
        self.clusters = site.clusters[chosen]
        self.weights = np.ones(len(chosen))
        """How many URLs each stands for."""
        self.depth = site.depth[chosen]
        self.columns = {key: codes[chosen] for key, codes in site.columns.items()}
        self.lexicon = Lexicon(site.values)
        if rows is not None:
            self._compact(site.values)
        self.empty = np.int32(self.lexicon.code(""))
        self.hashes = self._hash(self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def _compact(self, values: pa.StringArray) -> None:
        """Leave only the values that occur in the dictionary."""
        used = np.unique(np.concatenate([[0], *self.columns.values()]))
        self.columns = {
            key: np.searchsorted(used, codes).astype(np.int32) for key, codes in self.columns.items() if codes.any()
        }
        self.lexicon = Lexicon(values.take(pa.array(used[1:] - 1)))

    def keep(self, rows: Rows) -> None:
        """Leave only some of the URLs."""
        self.rows, self.clusters, self.depth = self.rows[rows], self.clusters[rows], self.depth[rows]
        self.hashes, self.weights = self.hashes[rows], self.weights[rows]
        self.columns = {key: codes[rows] for key, codes in self.columns.items()}

    def sort(self) -> None:
        """Bring the URLs of each cluster together again; in it they stay in order."""
        self.keep(np.argsort(self.clusters, kind="stable"))

    @property
    def keys(self) -> list[Key]:
        """The keys that are no segments, in order."""
        return sorted((key for key in self.columns if key.part != "path" and key != REST), key=str)

    @property
    def segments(self) -> int:
        """How many segments have a column."""
        return 1 + max((int(key.name) for key in self.columns if key.part == "path"), default=-1)

    def column(self, key: Key) -> Codes:
        """Give the codes of a key as they are now; segments may be counted from the end."""
        if key.part == "path" and isinstance(key.name, int) and key.name < 0:
            found = np.zeros(len(self), np.int32)
            for place in range(self.segments):
                np.copyto(found, self.columns[Key("path", place)], where=self.depth + key.name == place)
            return found
        codes = self.columns.get(key)
        return np.zeros(len(self), np.int32) if codes is None else codes

    def holds(self, context: Context, rows: Mask | None = None) -> Mask:
        """Tell for which URLs a context holds, as they are now."""
        found = np.ones(len(self), np.bool_) if rows is None else rows.copy()
        for key, match in context.items():
            codes = self.column(key)
            if isinstance(match, Absent):
                found &= codes == 0
            elif match == ANY:
                found &= codes != 0
            else:
                known = np.where(codes == IGNORED, np.int32(0), codes)
                found &= self.lexicon.fits(match, known)
        return found

    def changed(self, context: Context, operations: Operations, rows: Rows) -> tuple[dict[Key, Codes], Codes, Mask]:
        """Give the columns, for some rows only, that operations change, the new depth, and where they can be done."""
        made: dict[Key, Codes] = {}
        possible = self.depth[rows] <= MAX_SEGMENTS
        path: dict[int, Codes] = {}
        slots: dict[Key, list[Codes]] = {}
        for key, operation in operations.items():
            codes, fits = self._operate(key, operation, context, rows, slots)
            possible &= fits
            if key.part == "path":
                path[int(key.name)] = codes
            else:
                made[key] = codes
        depth = self.depth[rows]
        if path:
            segments, depth, fits = self._path(path, rows)
            possible &= fits
            made |= segments
        return made, depth, possible

    def accept(self, made: dict[Key, Codes], depth: Codes, rows: Rows) -> None:
        """Change columns in some rows for good."""
        self.hashes = self.rehashed(made, rows)
        for key, codes in made.items():
            column = self.column(key).copy()
            column[rows] = codes
            self.columns[key] = column
        self.depth = self.depth.copy()
        self.depth[rows] = depth

    def rehashed(self, made: dict[Key, Codes], rows: Rows) -> Hashes:
        """Give the hashes of all URLs if columns were changed in some rows."""
        hashes = self.hashes.copy()
        before = self._hash({key: self.column(key)[rows] for key in made})
        hashes[rows] += self._hash(made) - before
        return hashes

    def _hash(self, columns: dict[Key, Codes]) -> Hashes:
        sums = np.zeros(len(next(iter(columns.values()))) if columns else 0, np.uint64)
        for key, codes in columns.items():
            add_hashes(np.ascontiguousarray(codes, np.int32), _seed(key), sums)
        return sums

    def _operate(
        self, key: Key, operation: Operation, context: Context, rows: Rows, slots: dict[Key, list[Codes]]
    ) -> tuple[Codes, Mask]:
        """Give the codes that an operation makes for a key, and where it can."""
        everywhere = np.ones(len(rows), np.bool_)
        if isinstance(operation, Drop):
            return np.zeros(len(rows), np.int32), everywhere
        if len(operation) == 1 and isinstance(operation[0], Ignore):
            code = np.int32(0) if key.part in ("query", "param") else IGNORED
            return np.full(len(rows), code, np.int32), everywhere
        if all(isinstance(piece, str) for piece in operation):
            return np.full(len(rows), self.lexicon.code("".join(map(str, operation))), np.int32), everywhere
        pieces = [self._piece(piece, context, rows, slots) for piece in operation]
        if len(pieces) == 1:
            return pieces[0], everywhere  # a copy of ⊥ is ⊥
        possible = np.logical_and.reduce([codes != 0 for codes in pieces])
        return self._join(pieces), possible

    def _piece(self, piece: Piece, context: Context, rows: Rows, slots: dict[Key, list[Codes]]) -> Codes:
        if isinstance(piece, str | Ignore):
            text = piece if isinstance(piece, str) else _IGNORED_PART
            return np.full(len(rows), self.lexicon.code(text), np.int32)
        codes = self.column(piece.source)[rows]
        match = context.get(piece.source)
        if isinstance(match, Pattern) and match.literal is None:
            if piece.source not in slots:
                slots[piece.source] = self.lexicon.slots(match, np.where(codes == IGNORED, np.int32(0), codes))[1]
            if piece.slot < len(slots[piece.source]):
                codes = slots[piece.source][piece.slot]
        return self.lexicon.converted(piece.through, codes) if piece.through else codes

    def _join(self, pieces: Sequence[Codes]) -> Codes:
        """Give the codes of texts that are put together from several; each combination is spelled out once."""
        distinct, at = np.unique(np.stack(pieces, axis=1), axis=0, return_inverse=True)
        known = np.where(distinct == IGNORED, np.int32(0), distinct)
        texts = pc.binary_join_element_wise(
            *(self.lexicon.texts(known[:, place].copy()) for place in range(known.shape[1])), ""
        )
        return self.lexicon.add(texts)[at.ravel()]

    def _path(self, changes: dict[int, Codes], rows: Rows) -> tuple[dict[Key, Codes], Codes, Mask]:
        """Set and take out segments; those after one that goes move up."""
        depth = self.depth[rows].astype(np.int64)
        width = self.segments + sum(place >= 0 for place in changes)
        segments = np.zeros((len(rows), width), np.int32)
        for place in range(self.segments):
            segments[:, place] = self.columns[Key("path", place)][rows]
        gone = np.zeros(segments.shape, np.bool_)
        possible = np.ones(len(rows), np.bool_)
        size = depth.copy()
        for place, codes in sorted(changes.items(), key=lambda change: (change[0] < 0, change[0])):
            at = np.full(len(rows), place) if place >= 0 else depth + place
            added = (at == size) & (place >= 0) & (codes != 0)
            size = size + added
            inside = (at >= 0) & (at < size)
            possible &= inside | (codes == 0)
            here = np.flatnonzero(inside)
            segments[here, at[here]] = codes[here]
            gone[here, at[here]] = codes[here] == 0
        size -= gone.sum(axis=1)
        if gone.any():
            segments = np.take_along_axis(segments, np.argsort(gone, axis=1, kind="stable"), axis=1)
            segments[np.arange(width) >= size[:, None]] = 0
        segments[size == 0, 0] = self.empty  # no path is written `/`
        size = np.maximum(size, 1)
        possible &= size <= MAX_SEGMENTS
        made = {Key("path", place): segments[:, place].copy() for place in range(width)}
        known = {key: codes for key, codes in made.items() if codes.any() or key in self.columns}
        return known, size.astype(np.int32), possible


def _seed(key: Key) -> np.uint64:
    """Give a number for a key that does not depend on which other keys there are."""
    value = 0xCBF29CE484222325
    for byte in str(key).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return np.uint64(value * _GOLDEN % 2**64)


def numbered(hashes: npt.NDArray[np.uint64]) -> tuple[Codes, Codes]:
    """Number equal hashes alike, in the order in which they come; give the numbers and the size of each group."""
    room = 1 << max(4, int(2 * len(hashes)).bit_length())
    numbers = np.empty(len(hashes), np.int32)
    sizes = np.zeros(len(hashes) + 1, np.int32)
    number(np.ascontiguousarray(hashes, np.uint64), np.full(room, -1, np.int64), numbers, sizes)
    return numbers, sizes[: int(numbers.max(initial=-1)) + 1]


def first_rows(numbers: Codes) -> Rows:
    """Give the first row of each group that `numbered` made."""
    first = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first
