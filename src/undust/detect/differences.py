"""What two pages have in common and what not: words, sentences, and each signature."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from undust.detect.cascade import MAX_SENTENCES
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.pairs_hamming import DISTANCE
from undust.detect.sentences import sentence_ends
from undust.detect.sketches import BAG_THRESHOLD, THRESHOLD
from undust.detect.words import normalized, split


@dataclass(frozen=True, slots=True)
class Difference:
    """How many items two pages have and share, which in both, and which only one of them has or has more of."""

    first: int
    second: int
    shared: int
    both: list[tuple[str, int]]
    only_first: list[tuple[str, int]]
    only_second: list[tuple[str, int]]

    def to_dict(self, most: int) -> dict[str, Any]:
        """Give the counts, and `most` of each kind of items at most."""
        listed = {"both": self.both, "only_first": self.only_first, "only_second": self.only_second}
        return {
            "first": self.first,
            "second": self.second,
            "shared": self.shared,
            **{
                name: [{"text": text, "count": count} for text, count in items[:most]] for name, items in listed.items()
            },
            "left_out": {name: max(len(items) - most, 0) for name, items in listed.items()},
        }


def difference(first: Iterable[str], second: Iterable[str], *, by_count: bool = True) -> Difference:
    """Compare two bags of items. Items come by how often one page has them more, or as they stand on the page.

    >>> difference("a b b c".split(), "b c d".split()).only_first
    [('a', 1), ('b', 1)]
    """
    one, other = Counter(first), Counter(second)
    both, more, less = (list(bag.items()) for bag in (one & other, one - other, other - one))
    if by_count:
        both, more, less = (sorted(items, key=lambda item: (-item[1], item[0])) for items in (both, more, less))
    shared = sum(count for _, count in both)
    return Difference(sum(one.values()), sum(other.values()), shared, both, more, less)


def words_of(text: str) -> list[str]:
    """Give the words of a text, folded, in order."""
    words = split(normalized(pa.array([text])))
    return words.strings(np.arange(len(words.hashes)))


def sentences_of(text: str, language: str | None) -> list[str]:
    """Give the sentences of a text as their words, folded: what undust compares, without marks and capitals.

    >>> sentences_of("He paid. Why? Nobody knew", "en")
    ['he paid', 'why', 'nobody knew']
    """
    words = split(normalized(pa.array([text])))
    strings = words.strings(np.arange(len(words.hashes)))
    ends = sentence_ends(words, pa.array([language], pa.string())).tolist()
    return [" ".join(strings[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=False)]


def compare_signatures(
    first: Mapping[str, Any], second: Mapping[str, Any], parameters: SignatureParameters | None
) -> dict[str, Any]:
    """Compare two rows of fingerprints: what is equal, how far apart, and what each method says of it.

    A signature that one of the rows has not is left out.
    """
    found: dict[str, Any] = {}
    for name, column in (("body", "body_xxh3"), ("digest", "digest"), ("text", "text_xxh3"), ("title", "title"),
                         ("language", "language"), ("canonical", "canonical")):  # fmt: skip
        values = first.get(column), second.get(column)
        if None not in values:
            found[f"same_{name}"] = values[0] == values[1]
    for name in ("length", "words", "sentences"):
        values = first.get(name), second.get(name)
        if None not in values:
            found[name] = list(values)
    if parameters is not None:
        found |= _similarities(first, second, parameters)
    found["duplicates"] = _verdicts(found)
    return found


def _similarities(first: Mapping[str, Any], second: Mapping[str, Any], p: SignatureParameters) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def both(name: str) -> tuple[Any, Any] | None:
        values = first.get(name), second.get(name)
        return None if None in values else values

    if simhashes := both("simhash"):
        one, other = (int.from_bytes(value, "little") if isinstance(value, bytes) else value for value in simhashes)
        found["simhash_bits"], found["simhash_distance"] = p.simhash_bits, (one ^ other).bit_count()
    for name in ("minhash", "bag_minhash"):
        if values := both(name):
            parts = [
                [value[i : i + p.minhash_bytes] for i in range(0, len(value), p.minhash_bytes)] for value in values
            ]
            found[f"{name}_agreement"] = sum(a == b for a, b in zip(*parts, strict=True)) / len(parts[0])
    if (sets := both("shingles")) and sets[0] and sets[1]:
        one, other = set(sets[0]), set(sets[1])
        found["shingle_similarity"] = len(one & other) / len(one | other)
    if (terms := both("bag")) and (counts := both("bag_counts")):
        bags = [Counter(dict(zip(words, often, strict=True))) for words, often in zip(terms, counts, strict=True)]
        found["bag_similarity"] = sum((bags[0] & bags[1]).values()) / max(sum((bags[0] | bags[1]).values()), 1)
    if keywords := both("keywords"):
        found["keywords"] = {
            "shared": [word for word in keywords[0] if word in keywords[1]],
            "only_first": [word for word in keywords[0] if word not in keywords[1]],
            "only_second": [word for word in keywords[1] if word not in keywords[0]],
        }
    return found


def _verdicts(found: Mapping[str, Any]) -> dict[str, bool]:
    """Say by which methods, at their defaults, the two are duplicates. The cascade's K-modes are left aside."""
    said: dict[str, bool] = {}
    if "same_body" in found or "same_digest" in found:
        some = found.get("length", [1, 1]) != [0, 0]  # empty pages say nothing about each other
        said["exact"] = some and bool(found.get("same_body", found.get("same_digest")))
    if "simhash_distance" in found:
        said["simhash"] = found["simhash_distance"] <= DISTANCE
        if "sentences" in found:
            close = abs(found["sentences"][0] - found["sentences"][1]) <= MAX_SENTENCES
            said["cascade"] = close and said["simhash"]
    if "shingle_similarity" in found:
        said["minhash"] = found["shingle_similarity"] >= THRESHOLD
    if "bag_similarity" in found:
        said["bag"] = found["bag_similarity"] >= BAG_THRESHOLD
    return said
