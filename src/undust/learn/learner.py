"""Learns the rules of each site from its clusters."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from undust.learn.columns import Codes, SiteUrls, by_site
from undust.learn.compile import compile_rules
from undust.learn.coverage import least_coverage
from undust.learn.exchanges import Exchange
from undust.learn.greedy import RISK_WEIGHT, Greedy
from undust.learn.maps import Change
from undust.learn.moves import Move
from undust.learn.proof import proofed
from undust.learn.scopes import Features
from undust.learn.search import MIN_CLUSTERS, Accepted
from undust.learn.state import IGNORED, State, first_rows, numbered
from undust.learn.steps import AnyStep, spell, spell_exchange, spell_move
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.urls.keys import Key


@dataclass(frozen=True, slots=True)
class Learner:
    """Learn rules that hold on pages that were not seen."""

    max_fpr: float = 0.01
    hosts: bool = False
    """Rules for each host instead of each registrable domain."""
    min_coverage: int | None = None
    """URLs that a change has to hold for; None: what `least_coverage` says."""

    def learn(self, clusters: pa.Table) -> list[Rule]:
        """Give the rules of all sites in a table of clusters."""
        return [rule for site in by_site(clusters, hosts=self.hosts) for rule in self.learn_site(site)]

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, in the order in which they are to be tried."""
        if len(site) < 2 or len(np.unique(site.clusters)) == len(site):
            return []
        state = State(site)
        least = least_coverage(self.min_coverage, len(site))
        accepted = Greedy(max_wrong=self.max_fpr / 10, min_coverage=least).learn(state)
        steps, ask = list(_steps(site, accepted)), Features(site).ask
        rules = compile_rules(site.site, steps, ask)
        keys = keys_of(rules, site)
        if len(np.unique(keys)) > len(state):  # which knows no order of arguments
            ordered = compile_rules(site.site, steps, ask, sort_query=True)
            after = keys_of(ordered, site)
            if order_is_free(site, keys, after):
                rules, keys = ordered, after
        return proofed(rules, site, "edits")


def keys_of(rules: list[Rule], site: SiteUrls) -> Codes:
    """Number the keys that rules give to the URLs of a site."""
    found = pa.array(RuleSet(rules).key_many(site.urls)).dictionary_encode().indices
    return np.asarray(found, np.int32)


def order_is_free(site: SiteUrls, before: Codes, after: Codes) -> bool:
    """Tell whether what becomes one when arguments are put in order is the same page."""
    width = np.uint64(int(site.clusters.max(initial=0)) + 1)
    cells = [numbered(keys.astype(np.uint64) * width + site.clusters.astype(np.uint64)) for keys in (before, after)]
    # Cells are keys in clusters: those of a cluster become fewer rightly, keys that get more clusters wrongly.
    gained = len(cells[0][1]) - len(cells[1][1])
    wrong = gained - (len(np.unique(before)) - len(np.unique(after)))
    rows = first_rows(cells[0][0])
    several = np.bincount(cells[1][0][rows])[cells[1][0]] > 1
    clusters = len(np.unique(site.clusters[several]))
    return clusters >= MIN_CLUSTERS and gained > RISK_WEIGHT * abs(wrong)


def _steps(site: SiteUrls, accepted: list[Accepted]) -> Iterator[AnyStep]:
    values: list[str | None] = [None, *site.values.to_pylist()]
    before = State(site)
    for each in accepted:
        edit = each.edit
        if isinstance(edit, Move):
            yield spell_move(edit, each.conditions, values)
            continue
        if isinstance(edit, Exchange):
            yield spell_exchange(edit, each.conditions, values)
            continue
        usual = None
        if edit.change:
            usual = _commonest_part(before.column(edit.key), edit.change, values)
        elif edit.to == IGNORED and edit.key.part not in ("query", "param"):
            usual = values[_commonest(before, edit.key)] or ""
        yield spell(edit, each.conditions, values, usual)


def _commonest(state: State, key: Key) -> int:
    counts = np.bincount(state.column(key), weights=state.weights)
    return int(counts.argmax())


def _commonest_part(codes: Codes, change: Change, values: list[str | None]) -> str | None:
    """Give what most URLs have where a part of a value does not matter."""
    counts = Counter[str]()
    for code, count in zip(*np.unique(codes, return_counts=True), strict=True):
        part = change.ignored(values[code] or "")
        if part is not None:
            counts[part] += int(count)
    return min(counts, key=lambda part: (-counts[part], part), default=None)
