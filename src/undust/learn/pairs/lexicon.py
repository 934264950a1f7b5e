"""A growing dictionary of values: every text has one code, whichever key it belongs to and however it was made."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.kernels import spans
from undust.kernels.deep import ANY, DIGITS, HEX, LITERAL, fit_column
from undust.kernels.lexicon import give_codes, hash_texts
from undust.rules.values import Copy, Pattern, Slot, Through
from undust.urls.keys import Key

Codes = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_KINDS = {"any": ANY, "digits": DIGITS, "hex": HEX}


class Lexicon:
    """Texts by code. Code 0 is ⊥; code n is the text n - 1 of those that it was made of, then of those that came."""

    def __init__(self, values: pa.StringArray) -> None:
        self._values = values
        self._later: list[pa.StringArray] = []
        self._count = 1
        self._known = np.zeros(1, np.uint64)
        self._table = np.zeros(0, np.int32)
        self._words: dict[str, int] = {}
        self._converted: dict[Through, Codes] = {}
        self._code(values)

    def __len__(self) -> int:
        """Count the codes, with that of ⊥."""
        return self._count

    def text(self, code: int) -> str | None:
        """Spell a code out; None for ⊥, and for a value that does not matter."""
        return str(self._all()[code - 1].as_py()) if 0 < code < self._count else None

    def code(self, text: str) -> int:
        """Give the code of a text, which gets one if it has none."""
        if text not in self._words:
            self._words[text] = int(self.add(pa.array([text], pa.string()))[0])
        return self._words[text]

    def texts(self, codes: Codes) -> pa.StringArray:
        """Spell codes out, null for ⊥."""
        return self._all().take(pa.array(codes - 1, pa.int32(), mask=codes == 0))

    def add(self, texts: pa.StringArray) -> Codes:
        """Give the codes of texts, new ones where they have none; ⊥ for null."""
        distinct = texts.dictionary_encode()
        before = self._count
        codes = self._code(distinct.dictionary)
        new = np.flatnonzero(codes >= before)
        if len(new):
            self._later.append(distinct.dictionary.take(pa.array(new)))
        at = distinct.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return np.where(at < 0, np.int32(0), np.append(codes, np.int32(0))[at])

    def converted(self, through: Through, codes: Codes) -> Codes:
        """Send the texts of codes through a conversion; what does not matter has no text, and stays as it is."""
        known = self._converted.get(through, np.zeros(0, np.int32))
        if len(known) < self._count:
            known = np.concatenate([known, np.full(self._count - len(known), -1, np.int32)])
        spelled = np.where(codes < self._count, codes, 0)
        missing = np.unique(spelled[known[spelled] < 0])
        if len(missing):
            convert = Copy(Key("path", 0), 0, through).convert
            texts = [None if text is None else convert(text) for text in self.texts(missing).to_pylist()]
            known[missing] = self.add(pa.array(texts, pa.string()))
        self._converted[through] = known
        return np.where(codes < len(known), known[spelled], codes)

    def slots(self, pattern: Pattern, codes: Codes) -> tuple[Mask, list[Codes]]:
        """Fit a pattern to the texts of codes: which fit, and the codes of what each slot takes."""
        distinct, at = np.unique(codes, return_inverse=True)
        at = at.ravel()
        fits, taken = self._fit(pattern, distinct)
        made = []
        for starts, ends, data in taken:
            made.append(self.add(_gather(data, np.where(fits, starts, spans.ABSENT), ends))[at])
        return fits[at], made

    def fits(self, pattern: Pattern, codes: Codes) -> Mask:
        """Tell the texts of which codes fit a pattern; ⊥ fits none."""
        literal = pattern.literal
        if literal is not None:
            return np.asarray(codes == self.code(literal))
        if pattern.parts == (Slot(),):
            return np.asarray(codes != 0)
        distinct, at = np.unique(codes, return_inverse=True)
        return self._fit(pattern, distinct)[0][at.ravel()]

    def _all(self) -> pa.StringArray:
        if self._later:
            self._values = pa.concat_arrays([self._values, *self._later])
            self._later = []
        return self._values

    def _code(self, texts: pa.StringArray) -> Codes:
        """Give the codes of distinct texts."""
        data, offsets = _buffers(texts)
        hashes = np.empty(len(texts), np.uint64)
        hash_texts(data, offsets, hashes)
        room = self._count + len(texts)
        if room > len(self._known):
            self._known = np.concatenate([self._known, np.zeros(room, np.uint64)])
        if 3 * room > len(self._table):
            self._table = np.zeros(1 << max(10, (4 * room).bit_length()), np.int32)
            give_codes(self._known[1 : self._count].copy(), self._table, self._known, 1, np.empty(room, np.int32))
        codes = np.empty(len(texts), np.int32)
        self._count = int(give_codes(hashes, self._table, self._known, self._count, codes))
        return codes

    def _fit(self, pattern: Pattern, codes: Codes) -> tuple[Mask, list[tuple[Codes, Codes, npt.NDArray[np.uint8]]]]:
        data, offsets = _buffers(self.texts(codes))
        kinds = [LITERAL if isinstance(part, str) else _KINDS[part.kind] for part in pattern.parts]
        literals = [part.encode() if isinstance(part, str) else b"" for part in pattern.parts]
        starts = np.concatenate([[0], np.cumsum([len(text) for text in literals])]).astype(np.int32)
        count = sum(kind != LITERAL for kind in kinds)
        found = np.empty((len(codes), 2 * max(count, 1)), np.int32)
        joined = np.frombuffer(b"".join(literals), np.uint8)
        fit_column(data, offsets, np.array(kinds, np.uint8), joined, starts, found)
        fits = (found[:, 0] >= 0) & (codes != 0)
        return fits, [(found[:, 2 * place].copy(), found[:, 2 * place + 1].copy(), data) for place in range(count)]


def _buffers(texts: pa.StringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1] if offsets else _NO_OFFSETS
    return np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8), places


_NO_OFFSETS: Any = np.zeros(1, np.int32)


def _gather(data: npt.NDArray[np.uint8], starts: Codes, ends: Codes) -> pa.StringArray:
    present = starts != spans.ABSENT
    out = np.empty(int((ends - starts)[present].sum(dtype=np.int64)), np.uint8)
    offsets = np.empty(len(starts) + 1, np.int32)
    spans.gather(data, starts.astype(np.int32), ends.astype(np.int32), out, offsets)
    valid = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.StringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(out), valid)
