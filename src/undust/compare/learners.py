"""Every learner on the same clusters, by both protocols: what its rules save and lose on what it has not seen."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from undust.errors import InputError, UsageError
from undust.evaluate.report import Report, evaluate
from undust.evaluate.split import by_cluster, by_sample
from undust.learn.columns import SiteUrls, by_site
from undust.learn.methods import Method, Options, method
from undust.learn.pairs.limits import Limits
from undust.learn.pairwise import Pairwise
from undust.learn.rewrite import Rewrite
from undust.rules.ruleset import RuleSet

PROTOCOLS = {"by_cluster": (by_cluster, 0.5), "by_sample": (by_sample, 0.3)}
"""How clusters are parted into what is learned from and what is tested on, and the share that is learned from."""

Tell = Callable[[str], None]
"""Is told what is done next."""


def variants(max_fpr: float = 0.01) -> dict[str, Method]:
    """Give the learners that are compared, by name."""
    return {
        "both": method("both", Options(max_fpr)),
        "tree": method("tree", Options(max_fpr)),
        "tree, naive": method("tree", Options(max_fpr, "naive")),
        "pairwise": method("pairwise", Options(max_fpr)),
        "pairwise, not deep": Pairwise(Limits(max_fpr=max_fpr, deep=False)),
        "rewrite, fan-out 5": Rewrite(fan_out=5),
        "rewrite, fan-out 10": Rewrite(fan_out=10),
        "rewrite, fan-out 30": Rewrite(fan_out=30),
        "dust": method("dust", Options(max_fpr)),
    }


@dataclass(frozen=True, slots=True)
class Fared:
    """How a learner fared by one protocol: means over the seeds, and the worst of them."""

    learner: str
    protocol: str
    rules: float
    seconds: float
    """Processor time, from URLs that are split into keys to rules."""
    compression: float
    macro_compression: float
    recall_of_possible: float
    macro_recall_of_possible: float
    recall_without_large: float
    dup_reduction: float
    macro_dup_reduction: float
    fpr: float
    macro_fpr: float
    pages_lost: float
    macro_pages_lost: float
    sites_over: float
    """Sites on which more than 1 % of the pairs are false, or more than 0.5 % of the pages are lost."""
    reduction_per_rule: float
    """Fetches saved, for each rule."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Parted:
    """What is learned from, site by site, and what is tested on."""

    protocol: str
    sites: tuple[SiteUrls, ...]
    unseen: pa.Table

    def test(self, rules: RuleSet) -> Report:
        """Measure rules on what was not learned from."""
        return evaluate(rules, self.unseen)


def parted(clusters: pa.Table, protocol: str, seed: int) -> Parted:
    """Part clusters by a protocol."""
    split, share = PROTOCOLS[protocol]
    seen, unseen = split(clusters, share, seed)
    return Parted(protocol, tuple(by_site(seen)), unseen)


def learned(learner: Method, sites: Sequence[SiteUrls]) -> tuple[RuleSet, float]:
    """Learn the rules of sites; give the processor time it took as well."""
    start = time.process_time()
    rules = RuleSet(rule for site in sites for rule in learner.learn_site(site))
    return rules, time.process_time() - start


def require_duplicates(clusters: pa.Table) -> None:
    """Refuse clusters on which all learners are alike."""
    if not clusters.num_rows:
        raise InputError("no rows with url and cluster; give a table of clusters")
    if len(clusters["cluster"].unique()) == clusters.num_rows:
        raise InputError("no cluster has two URLs, so nothing can be learned; give clusters with duplicates")


def compare_learners(
    clusters: pa.Table,
    *,
    seeds: Sequence[int] = (0,),
    max_fpr: float = 0.01,
    only: Sequence[str] = (),
    tell: Tell = lambda doing: None,
) -> list[Fared]:
    """Let learners learn from the same clusters (`url`, `cluster`), and measure their rules on the rest of them.

    `only` names those of `variants` that are wanted; none named: all. Figures are means over the seeds.
    """
    require_duplicates(clusters)
    chosen = variants(max_fpr)
    if unknown := sorted(set(only) - set(chosen)):
        raise UsageError(f"unknown learner {unknown[0]!r}; one of {', '.join(chosen)}")
    found = []
    for protocol in PROTOCOLS:
        parts = [parted(clusters, protocol, seed) for seed in seeds]
        for name, learner in chosen.items():
            if only and name not in only:
                continue
            tell(f"{protocol.replace('_', ' ')}: {name}")
            learner.learn_site(parts[0].sites[0])  # kernels are compiled, or read from disk
            found.append(_fared(name, learner, parts))
    return found


def _fared(name: str, learner: Method, parts: Sequence[Parted]) -> Fared:
    rows = []
    for part in parts:
        rules, seconds = learned(learner, part.sites)
        report = part.test(rules)
        saved = report.micro.urls - report.micro.keys
        over = sum(each.fpr > 0.01 or each.pages_lost > 0.005 for each in report.sites.values())
        row = {"rules": len(rules), "seconds": seconds, "sites_over": over, "reduction_per_rule": 0.0}
        row["reduction_per_rule"] = saved / len(rules) if len(rules) else 0.0
        for measure in ("compression", "recall_of_possible", "dup_reduction", "fpr", "pages_lost"):
            row[measure] = getattr(report.micro, measure)
            row[f"macro_{measure}"] = report.macro[measure]
        row["recall_without_large"] = report.micro.recall_without_large
        rows.append(row)
    means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    return Fared(name, parts[0].protocol, **means)
