"""How signatures were made: recorded with them, and checked before they are compared."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass

from undust.detect.bags import BAG_SUM, MAX_SUM
from undust.detect.stopwords import VERSION as STOP_WORDS
from undust.detect.words import UNICODE, WORD_MODEL
from undust.detect.words_lexicon import STEMMER
from undust.errors import InputError, UsageError

METADATA_KEY = b"undust.signatures"
NONE = "none"


@dataclass(frozen=True, slots=True)
class SignatureParameters:
    """Everything that a signature depends on, other than the text and its language.

    The last six name versions. Leave them alone, but for `stop_words` and `stemmer`, which may be `"none"`, and
    `text_model`, which who makes texts of pages sets to how.
    """

    seed: int = 0
    simhash_bits: int = 64
    shingle_words: int = 5  # paper-length shingles of Broder et al. are 10; 5 notices a change in a short page
    minhash_values: int = 128  # standard error of a similarity at most 0.044
    minhash_bytes: int = 8  # of each value; 3 as in paper 002, at the price of 1 false agreement in 16 million
    bag_sum: float = BAG_SUM
    keywords: int = 10  # the most frequent ones of each page, for the K-modes of paper 001
    text_model: str = "given"
    stop_words: str = STOP_WORDS
    stemmer: str = STEMMER
    sketch: str = "fast similarity sketching 1"
    word_model: str = WORD_MODEL
    unicode: str = UNICODE

    def __post_init__(self) -> None:
        limits = {
            "seed": (0, 2**60),
            "simhash_bits": (1, 128),
            "shingle_words": (1, 1000),
            "minhash_values": (1, 65_536),
            "bag_sum": (1, MAX_SUM),
            "keywords": (0, 1000),
        }
        for name, (least, most) in limits.items():
            if not least <= getattr(self, name) <= most:
                raise UsageError(f"{name} is {getattr(self, name)}; choose from {least} to {most}")
        if self.minhash_bytes not in (3, 8):
            raise UsageError(f"minhash_bytes is {self.minhash_bytes}; choose 3 or 8")

    def to_metadata(self) -> dict[bytes, bytes]:
        """Return what to put into the metadata of a schema.

        >>> parameters = SignatureParameters(seed=7)
        >>> SignatureParameters.from_metadata(parameters.to_metadata()) == parameters
        True
        """
        return {METADATA_KEY: json.dumps(dataclasses.asdict(self), sort_keys=True).encode()}

    @classmethod
    def from_metadata(cls, metadata: Mapping[bytes, bytes] | None, source: str = "metadata") -> "SignatureParameters":
        """Read them back from the metadata of a schema; `source` names the file in errors."""
        text = (metadata or {}).get(METADATA_KEY)
        if text is None:
            raise InputError(f"{source}: no signature parameters; make the file with `undust fingerprint`")
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError, UsageError) as error:
            raise InputError(
                f"{source}: unreadable signature parameters ({error}); fingerprint the pages again"
            ) from error

    def require_same(self, other: "SignatureParameters", mine: str = "these", theirs: str = "those") -> None:
        """Raise an error that names every difference, unless signatures made either way can be compared.

        >>> SignatureParameters().require_same(SignatureParameters(seed=1), "a.parquet", "b.parquet")
        Traceback (most recent call last):
        undust.errors.UsageError: a.parquet and b.parquet: signatures were made differently (seed 0 and 1); \
fingerprint one of them again with the parameters of the other
        """
        fields = [field.name for field in dataclasses.fields(self)]
        different = [
            f"{name} {getattr(self, name)!r} and {getattr(other, name)!r}"
            for name in fields
            if getattr(self, name) != getattr(other, name)
        ]
        if different:
            raise UsageError(
                f"{mine} and {theirs}: signatures were made differently ({'; '.join(different)});"
                " fingerprint one of them again with the parameters of the other"
            )
