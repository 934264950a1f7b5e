"""How an index was set up: methods, limits, and how the fingerprints that it holds were made."""

import dataclasses
import functools
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.cascade import MAX_SENTENCES
from undust.detect.fingerprints_parameters import METADATA_KEY, SignatureParameters
from undust.detect.pairs_hamming import DISTANCE
from undust.detect.pairs_minhash import MAX_BUCKET, MAX_HUBS, MAX_TRIES
from undust.detect.sketches import THRESHOLD, Bands, choose_bands
from undust.errors import InputError, UsageError
from undust.kernels import index_rows as layout
from undust.kernels.index_search import CASCADE, EXACT, MINHASH, SIMHASH
from undust.kernels.index_tables import FIRST_OTHER

METHODS = {"exact": EXACT, "simhash": SIMHASH, "minhash": MINHASH, "cascade": CASCADE}
VERIFY = ("exact", "signature")
DEFAULT_METHODS = ("exact", "minhash")
MAX_DISTANCE = 31
"""More bits would need more tables than there are bits to tell them apart by."""

_COLUMNS = {"simhash": ("simhash",), "minhash": ("minhash",), "cascade": ("simhash", "sentences", "keywords")}


@dataclass(frozen=True, slots=True)
class Design:
    """What an index does, fixed when it is made; and from its first pages on, what fingerprints it takes."""

    methods: tuple[str, ...] = DEFAULT_METHODS
    threshold: float = THRESHOLD
    distance: int = DISTANCE
    max_sentences: int = MAX_SENTENCES
    verify: str | None = None  # as VERIFY; None until the first pages tell whether there are shingles
    digest: str | None = None  # the column that `exact` compares; None until the first pages
    parameters: SignatureParameters | None = None  # None until the first pages, or where only bodies are compared
    salt: int = dataclasses.field(default_factory=lambda: secrets.randbits(62))

    def __post_init__(self) -> None:
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise UsageError(f"methods {', '.join(self.methods) or 'none'}; give one or more, each once")
        if unknown := [name for name in self.methods if name not in METHODS]:
            raise UsageError(f"unknown method {unknown[0]!r}; one of {', '.join(METHODS)}")
        if {"simhash", "cascade"} <= set(self.methods):
            raise UsageError("simhash and cascade in one index; what cascade finds, simhash finds as well: choose one")
        if not 0.0 < self.threshold <= 1.0:
            raise UsageError(f"threshold {self.threshold:g}; choose above 0 and at most 1")
        if not 0 <= self.distance <= MAX_DISTANCE or self.max_sentences < 0:
            raise UsageError(
                f"a distance of {self.distance} bits and {self.max_sentences} sentences; choose 0 to {MAX_DISTANCE}"
                " bits and at least 0 sentences"
            )
        if self.verify not in (None, *VERIFY):
            raise UsageError(f"unknown verification {self.verify!r}; one of {', '.join(VERIFY)}")

    @property
    def is_settled(self) -> bool:
        """Whether the first pages have come."""
        return self.digest is not None

    @property
    def bands(self) -> Bands | None:
        """Bands of min-hash values, where they are used."""
        if "minhash" not in self.methods or self.parameters is None:
            return None
        return _bands(self.threshold, self.parameters.minhash_values)

    @property
    def blocks(self) -> int:
        """Blocks of a simhash: one more than bits may differ, so that one at least is equal."""
        return self.distance + 1 if {"simhash", "cascade"} & set(self.methods) else 0

    @property
    def tables(self) -> int:
        """How many tables of keys there are."""
        return FIRST_OTHER + self.blocks + (self.bands.count if self.bands else 0)

    def plan(self) -> npt.NDArray[np.int64]:
        """Give the numbers that kernels work by."""
        plan = np.zeros(layout.PLAN_SIZE, dtype=np.int64)
        plan[layout.SALT] = self.salt
        plan[layout.BLOCK_TABLE] = FIRST_OTHER
        plan[layout.BLOCKS] = self.blocks
        plan[layout.BAND_TABLE] = FIRST_OTHER + self.blocks
        plan[layout.BANDS] = self.bands.count if self.bands else 0
        plan[layout.BITS] = self.parameters.simhash_bits if self.parameters else 64
        plan[layout.DISTANCE] = self.distance
        plan[layout.MAX_SENTENCES] = self.max_sentences if "cascade" in self.methods else -1
        plan[layout.EVIDENCE] = layout.SHINGLES if self.verify == "exact" else layout.SIGNATURE
        plan[layout.VALUES] = self.parameters.minhash_values if self.parameters else 0
        plan[layout.MAX_BUCKET : layout.MAX_TRIES + 1] = MAX_BUCKET, MAX_HUBS, MAX_TRIES
        return plan

    def settled(self, schema: pa.Schema) -> "Design":
        """Take on how the first fingerprints were made; from then on, refuse those that were made differently."""
        names = schema.names
        for method in self.methods:
            for name in _COLUMNS.get(method, ()):
                if name not in names:
                    raise InputError(f"no column {name}, which {method} needs; fingerprint the pages in full")
        made = None
        if METADATA_KEY in (schema.metadata or {}) or set(self.methods) != {"exact"}:
            made = SignatureParameters.from_metadata(schema.metadata, "fingerprints")
        if self.is_settled:
            self._require_same(made, names)
            return self
        if made is not None and self.blocks and self.distance >= made.simhash_bits:
            raise UsageError(f"a distance of {self.distance} of {made.simhash_bits} bits; choose less")
        digest = next((name for name in ("text_xxh3", "body_xxh3") if name in names), None)
        if digest is None:
            raise InputError("no column text_xxh3 or body_xxh3; fingerprint the pages")
        verify = self.verify or ("exact" if "shingles" in names else "signature")
        if verify == "exact" and "minhash" in self.methods and "shingles" not in names:
            raise InputError("no column shingles, which exact verification needs; or make the index with signature")
        return dataclasses.replace(self, digest=digest, parameters=made, verify=verify)

    def _require_same(self, made: SignatureParameters | None, names: Sequence[str]) -> None:
        if self.parameters is not None and made is not None:
            self.parameters.require_same(made, "the index", "the fingerprints")
        needed = [self.digest or ""] if "exact" in self.methods else []
        needed += ["shingles"] if self.verify == "exact" and "minhash" in self.methods else []
        for name in needed:
            if name not in names:
                raise InputError(f"no column {name}, which this index compares; fingerprint the pages in full")

    def require(self, **wanted: Any) -> None:
        """Refuse what somebody asks of an index that was made otherwise; None is not asked for."""
        for name, value in wanted.items():
            if value is not None and value != getattr(self, name):
                raise UsageError(
                    f"the index was made with {name} {getattr(self, name)!r}, not {value!r}; open it without {name}"
                )

    def to_json(self) -> dict[str, Any]:
        """Give what the manifest keeps."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "Design":
        """Read it back."""
        made = kept["parameters"]
        parameters = None if made is None else SignatureParameters(**made)
        return cls(**{**kept, "methods": tuple(kept["methods"]), "parameters": parameters})


@functools.cache
def _bands(threshold: float, values: int) -> Bands:
    return choose_bands(threshold, values=values)
