"""URLs whose clusters are known, after rules: the site, key, cluster and rule of each, as codes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.rules.ruleset import RuleSet
from undust.tables import one_row_each
from undust.urls.batch import normalize_many, split_many

Codes = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Coded:
    """Distinct URLs in standard form, sorted by their spelling in the input, and what is known of each."""

    urls: pa.StringArray
    sites: Codes
    site_names: list[str]
    keys: Codes
    key_names: pa.Array
    fetched: pa.Array
    """The URL to fetch for each key."""
    clusters: Codes
    """Of each site for itself: a cluster that spans sites is one of each; no rule of a site can bring them together."""
    spanning: Codes
    """The same as they were given."""
    rules: npt.NDArray[np.int32]
    """Place of the rule that decided each, -1 for none."""
    unusable: int
    """URLs that cannot be parsed; they are left out."""

    def by_site(self) -> Iterator[tuple[str, Rows]]:
        """Give the rows of each site."""
        order = np.argsort(self.sites, kind="stable")
        ends = np.flatnonzero(np.diff(self.sites[order], append=-1)) + 1
        for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
            rows = order[start:end]
            yield self.site_names[int(self.sites[rows[0]])], rows


def apply_to(rules: RuleSet, clusters: pa.Table) -> Coded:
    """Apply rules to the URLs of a table of clusters (`url`, `cluster`). Repeated rows count once."""
    distinct = one_row_each(clusters)
    normal = normalize_many(distinct["url"])
    usable = normal.urls.is_valid()
    standard = normal.urls.filter(usable).combine_chunks()
    sites = split_many(standard).sites().dictionary_encode()
    decided = rules.decide_many(standard)
    keys = decided.keys.dictionary_encode()
    site, cluster = _codes(sites), _codes(distinct["cluster"].filter(usable).combine_chunks().dictionary_encode())
    first = np.unique(_codes(keys), return_index=True)[1]
    fetched = rules.normalize_many(standard.take(pa.array(first)))
    whole = site * (int(cluster.max(initial=0)) + 1) + cluster
    return Coded(
        standard,
        site,
        sites.dictionary.to_pylist(),
        _codes(keys),
        keys.dictionary,
        fetched,
        whole,
        cluster,
        decided.rules,
        normal.unusable,
    )


def _codes(encoded: Any) -> Codes:
    return encoded.indices.to_numpy().astype(np.int64)  # type: ignore[no-any-return] # Arrow has no types
