"""Proofs rules on the URLs they were learned from: what each covers, merges and confuses."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from undust.learn.columns import SiteUrls
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet

EXAMPLES = 3


def proofed(rules: Sequence[Rule], site: SiteUrls, learner: str) -> list[Rule]:
    """Give rules with their statistics. Pairs are counted by the sizes of groups, never one by one."""
    decided = RuleSet(rules).decide_many(site.urls)
    key = pa.array(decided.keys).dictionary_encode().indices.to_numpy()
    made = []
    for place, rule in enumerate(rules):
        rows = np.flatnonzero(decided.rules == place)
        made.append(replace(rule, statistics=_statistics(rows, key, site, learner)))
    return made


def _statistics(rows: np.ndarray, key: np.ndarray, site: SiteUrls, learner: str) -> Statistics:
    # Every URL of a key that the rule decides counts, whoever decides it: they become one page by it.
    mine = np.isin(key, key[rows])
    keys, clusters = key[mine], site.clusters[mine]
    cells, sizes = np.unique(np.stack([keys, clusters], axis=1), axis=0, return_counts=True)
    _, key_sizes = np.unique(keys, return_counts=True)
    pairs, support = _pairs(key_sizes), _pairs(sizes)
    several = cells[sizes > 1]
    return Statistics(
        coverage=len(rows),
        support=support,
        false_positives=pairs - support,
        clusters=len(np.unique(several[:, 1])) if len(several) else 0,
        merged=len(keys) - len(key_sizes),
        examples=_examples(rows, several, key, site),
        learner=learner,
        trained_on=len(site),
    )


def _pairs(sizes: np.ndarray) -> int:
    return sum(size * (size - 1) // 2 for size in sizes.tolist())


def _examples(rows: np.ndarray, several: np.ndarray, key: np.ndarray, site: SiteUrls) -> tuple[tuple[str, str], ...]:
    """Show pairs of which the rule decides one at least: others of the same key may be decided by other rules."""
    count = int(site.clusters.max(initial=0)) + 1
    of_rows = key[rows].astype(np.int64) * count + site.clusters[rows]
    cells = several[:, 0].astype(np.int64) * count + several[:, 1]
    found = []
    for cell in cells[np.isin(cells, of_rows)][:EXAMPLES].tolist():
        decided = rows[of_rows == cell][0]
        same = np.flatnonzero((key == cell // count) & (site.clusters == cell % count))
        first, second = sorted((int(decided), int(same[same != decided][0])))
        found.append((str(site.urls[first]), str(site.urls[second])))
    return tuple(found)
