"""Learns the rules of each site from its clusters."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from undust.learn.columns import SiteUrls, by_site
from undust.learn.compile import Step, compile_rules, spell
from undust.learn.greedy import Accepted, Greedy
from undust.learn.proof import proofed
from undust.learn.scopes import Features
from undust.learn.state import IGNORED, State
from undust.rules.rule import Rule
from undust.urls.keys import Key


@dataclass(frozen=True, slots=True)
class Learner:
    """Learn rules that hold on pages that were not seen."""

    max_fpr: float = 0.01
    hosts: bool = False
    """Rules for each host instead of each registrable domain."""

    def learn(self, clusters: pa.Table) -> list[Rule]:
        """Give the rules of all sites in a table of clusters."""
        return [rule for site in by_site(clusters, hosts=self.hosts) for rule in self.learn_site(site)]

    def learn_site(self, site: SiteUrls) -> list[Rule]:
        """Give the rules of one site, in the order in which they are to be tried."""
        if len(site) < 2 or len(np.unique(site.clusters)) == len(site):
            return []
        state = State(site)
        accepted = Greedy(max_wrong=self.max_fpr / 10).learn(state)
        rules = compile_rules(site.site, list(_steps(site, accepted)), Features(site).ask)
        return proofed(rules, site, "edits")


def _steps(site: SiteUrls, accepted: list[Accepted]) -> Iterator[Step]:
    values: list[str | None] = [None, *site.values.to_pylist()]
    before = State(site)
    for each in accepted:
        usual = None
        if each.edit.token:
            usual = _commonest_tail(site, each.edit.key, each.edit.token)
        elif each.edit.to == IGNORED and each.edit.key.part not in ("query", "param"):
            usual = values[_commonest(before, each.edit.key)] or ""
            each = replace(each, edit=replace(each.edit, to=int(IGNORED)))
        edit = each.edit if each.edit.to != IGNORED else replace(each.edit, to=0)
        step = spell(edit, each.conditions, values, usual)
        yield replace(step, ignored=each.edit.to == IGNORED)


def _commonest(state: State, key: Key) -> int:
    counts = np.bincount(state.column(key))
    return int(counts.argmax())


def _commonest_tail(site: SiteUrls, key: Key, mark: str) -> str:
    counts = Counter[str]()
    for code, count in zip(*np.unique(site.columns[key], return_counts=True), strict=True):
        _, found, tail = (site.value(int(code)) or "").partition(mark)
        if found:
            counts[tail] += int(count)
    return min(counts, key=lambda tail: (-counts[tail], tail))
