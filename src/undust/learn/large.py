"""A site too large to be learned whole: a part of its clusters is drawn, and its rules are proofed on all of its URLs.

The draw is by hashes of names and sizes, not by the order of rows: wherever and in however many pieces the URLs are,
the same part comes out. A giant cluster gives a part of its URLs, so that it does not drown the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from undust.learn.columns import SiteUrls, encode_table
from undust.learn.coverage import covered
from undust.learn.methods import Method, Options
from undust.learn.proof import proofed
from undust.rules.check import sound
from undust.rules.rule import Rule, Statistics

MOST = 2_000_000
"""URLs of a site that are learned from; of a larger one, about so many: what one task can hold and do in its turn."""

SHARE_OF_CLUSTER = 20
"""One part in so many of these can be of one cluster."""

_WHOLE = 1 << 64


@dataclass(frozen=True, slots=True)
class Draw:
    """Which part of a site is drawn, of about `most` URLs."""

    most: int
    kept: int
    """URLs of the site, of each cluster at most `cap`."""

    @property
    def cap(self) -> int:
        """URLs of a cluster from which on a part of them is drawn."""
        return max(1, self.most // SHARE_OF_CLUSTER)

    def of_clusters(self) -> int:
        """Hashes of the names of clusters below this are drawn."""
        return min(_WHOLE, _WHOLE * self.most // max(self.kept, 1))

    def of_urls(self, size: int) -> int:
        """Hashes of the URLs of a drawn cluster of this size below this are drawn."""
        return min(_WHOLE, _WHOLE * self.cap // size)


def cap_of(most: int) -> int:
    """Give the URLs of a cluster from which on a part of them is drawn."""
    return Draw(most, 0).cap


def drawn(urls: pa.Array, clusters: pa.Array, draw: Draw, large: Callable[[str], int | None]) -> npt.NDArray[np.bool_]:
    """Tell which of some URLs are drawn. `large` gives the size of clusters of more than `cap` URLs."""
    coded = clusters.dictionary_encode()
    names = coded.dictionary.to_pylist()
    chosen = np.array([hash_of(name) < draw.of_clusters() for name in names], np.bool_)
    found = chosen[coded.indices.to_numpy()] if len(names) else np.zeros(0, np.bool_)
    for code, name in enumerate(names):
        size = large(name) if chosen[code] else None
        if size is not None:
            limit = draw.of_urls(size)
            for row in np.flatnonzero(coded.indices.to_numpy() == code).tolist():
                found[row] = hash_of(urls[row].as_py()) < limit
    return found


def hash_of(text: str) -> int:
    """Hash a name, the same everywhere."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def draw_site(urls: pa.Array, clusters: pa.Array, most: int) -> tuple[Draw, npt.NDArray[np.bool_]]:
    """Draw a part of a site that is all here, each URL once."""
    counted = clusters.value_counts()
    names, sizes = counted.field("values").to_pylist(), counted.field("counts").to_numpy()
    cap = cap_of(most)
    draw = Draw(most, int(np.minimum(sizes, cap).sum()))
    large = {names[at]: int(sizes[at]) for at in np.flatnonzero(sizes > cap).tolist()}
    return draw, drawn(urls, clusters, draw, large.get)


Proof = Callable[[Sequence[Rule]], list[Statistics]]
"""Gives rules their statistics on all URLs of a site."""


def confirmed(rules: Sequence[Rule], proof: Proof, max_fpr: float) -> list[Rule]:
    """Give rules with their statistics on all URLs; those that confuse too many there do nothing."""
    found = _told(rules, proof)
    while any(rule.operations and rule.statistics.fpr > max_fpr for rule in found):
        kept = [replace(rule, operations={}) if rule.statistics.fpr > max_fpr else rule for rule in found]
        found = _told(kept, proof)
    while found and not found[-1].operations and not found[-1].sort_query:
        found.pop()
    return found


def _told(rules: Sequence[Rule], proof: Proof) -> list[Rule]:
    return [replace(rule, statistics=found) for rule, found in zip(rules, proof(rules), strict=True)]


def proof_on(urls: pa.StringArray, clusters: npt.NDArray[Any], site: str, learner: str) -> Proof:
    """Give the proof of rules on URLs that are all here."""
    none = np.zeros(len(urls), np.int32)
    whole = SiteUrls(site, urls, clusters.astype(np.int32), {}, none, pa.array([], pa.string()))
    return lambda rules: [rule.statistics for rule in proofed(rules, whole, learner)]


def learn_table(learner: Method, name: str, rows: pa.Table, options: Options, most: int = MOST) -> list[Rule]:
    """Learn the rules of a site from its table (`columns.site_tables`); of a part of it where it is too large."""
    if len(rows) <= most:
        return sound(enough(learner, encode_table(name, rows), options))
    urls, clusters = rows["url"].chunk(0), rows["cluster"].chunk(0)
    _, chosen = draw_site(urls, clusters, most)
    rules = enough(learner, encode_table(name, rows.filter(pa.array(chosen)).combine_chunks()), options)
    if not rules:
        return []
    codes = clusters.dictionary_encode().indices.to_numpy()
    return sound(confirmed(rules, proof_on(urls, codes, name, rules[0].statistics.learner), options.max_fpr))


def enough(learner: Method, site: SiteUrls, options: Options) -> list[Rule]:
    """Learn a site, and leave out rules for fewer URLs than somebody asked for."""
    rules = learner.learn_site(site)
    return rules if options.min_coverage is None else covered(rules, site, options.min_coverage)
