"""Evaluates rules on clusters: over all URLs (micro), as the mean of sites (macro), and site by site."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from undust.evaluate.measures import Measures, measure
from undust.rules.ruleset import RuleSet
from undust.tables import one_row_each
from undust.urls.batch import normalize_many, split_many


@dataclass(frozen=True, slots=True)
class Report:
    """What rules do to URLs whose clusters are known."""

    micro: Measures
    macro: dict[str, float]
    sites: dict[str, Measures]
    rules: int
    unusable: int
    """URLs that cannot be parsed; they are left out."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: micro at the top, `macro` and `sites` inside."""
        return {
            **self.micro.to_dict(),
            "rules": self.rules,
            "unusable": self.unusable,
            "macro": self.macro,
            "sites": {site: measures.to_dict() for site, measures in self.sites.items()},
        }


def evaluate(rules: RuleSet, clusters: pa.Table) -> Report:
    """Measure what rules do to the URLs of a table of clusters (`url`, `cluster`). Repeated rows count once."""
    distinct = one_row_each(clusters)
    normal = normalize_many(distinct["url"])
    usable = normal.urls.is_valid()
    standard = normal.urls.filter(usable).combine_chunks()
    names = distinct["cluster"].filter(usable).combine_chunks()
    sites = split_many(standard).sites().dictionary_encode()
    site, key = sites.indices.to_numpy(), rules.key_many(standard).dictionary_encode().indices.to_numpy()
    cluster = names.dictionary_encode().indices.to_numpy()
    # A cluster that spans sites is a cluster of each: no rule of a site can bring them together.
    whole = site.astype(np.int64) * (int(cluster.max(initial=0)) + 1) + cluster
    order = np.argsort(site, kind="stable")
    ends = np.flatnonzero(np.diff(site[order], append=-1)) + 1
    starts = np.concatenate([[0], ends[:-1]])
    found: dict[str, Measures] = {}
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        rows = order[start:end]
        if len(rows):
            found[sites.dictionary[int(site[rows[0]])].as_py()] = measure(key[rows], whole[rows])
    return Report(measure(key, whole), _macro(found), dict(sorted(found.items())), len(rules), normal.unusable)


def _macro(sites: dict[str, Measures]) -> dict[str, float]:
    names = [field.name for field in fields(Measures) if field.type is float or field.type == "float"]
    return {
        name: float(np.mean([getattr(measures, name) for measures in sites.values()])) if sites else 0.0
        for name in names
    }
