"""The tables and figures of two papers, measured on other clusters: Koppula et al. (2010) and Lei et al. (2010)."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from undust.compare.learners import Parted, Tell, learned, parted
from undust.learn.columns import SiteUrls
from undust.learn.coverage import covered
from undust.learn.methods import Method
from undust.learn.pairs.limits import of_paper
from undust.learn.pairwise import Pairwise
from undust.learn.rewrite import Rewrite, count_candidates
from undust.learn.tree.candidates import all_candidates
from undust.learn.tree.forms import forms_of
from undust.learn.tree.pattern_tree import grow
from undust.learn.tree_learner import TreeLearner
from undust.rules.ruleset import RuleSet

PRECISIONS = (1.0, 0.95, 0.9, 0.8, 0.0)
"""Levels of Koppula et al.; the last one is all rules."""
COVERAGES = (10, 100, 1000)
MAX_FPRS = (0.0, 0.01, 0.02, 0.05, 0.1)
QUALIFIED = (0.0, 0.01, 0.05, 0.1, 0.3, 0.5)
FAN_OUTS = (5, 10)
POINTS = 40
"""Points of a curve that are told."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Papers:
    """The tables, by the name that each paper gives them, as rows of named values."""

    koppula: dict[str, list[Row]]
    lei: dict[str, list[Row]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"koppula_2010": self.koppula, "lei_2010": self.lei}


def compare_as_papers(clusters: pa.Table, *, seed: int = 0, tell: Tell = lambda doing: None) -> Papers:
    """Measure what the two papers measure: rules are learned from half of the clusters, and tested on the others."""
    part = parted(clusters, "by_cluster", seed)
    tell("tables of Koppula et al.")
    koppula = {"table 1": [_data(clusters)], **_koppula(part)}
    tell("tables of Lei et al.")
    return Papers(koppula, _lei(part))


def _data(clusters: pa.Table) -> Row:
    sizes = clusters["cluster"].value_counts()
    several = [each for each in sizes.field("counts").to_pylist() if each > 1]
    return {"urls": clusters.num_rows, "clusters": len(sizes), "duplicate_clusters": len(several)}


def _koppula(part: Parted) -> dict[str, list[Row]]:
    stages: Row = {"pairwise": 0, "generalized": 0, "filtered": 0}
    for site in part.sites:
        found = Pairwise(of_paper(0.0)).stages(site)
        stages["pairwise"] += found.pairwise
        stages["generalized"] += found.generalized
        stages["filtered"] += found.believed
    levels: list[Row] = []
    coverages: list[Row] = []
    for precision in PRECISIONS:
        per_site = [(site, Pairwise(of_paper(precision)).learn_site(site)) for site in part.sites]
        ours = RuleSet(rule for _, rules in per_site for rule in rules)
        theirs, _ = learned(Rewrite(fan_out=30, min_precision=precision), part.sites)
        levels.append({"precision": precision, **_reduced(part, ours, "pairwise"), **_reduced(part, theirs, "rewrite")})
        for least in COVERAGES:
            kept = RuleSet(rule for site, rules in per_site for rule in covered(rules, site, least))
            coverages.append({"precision": precision, "min_coverage": least, **_reduced(part, kept, "pairwise")})
    for prefix in ("pairwise", "rewrite"):
        most = max(1, levels[-1][f"{prefix}_rules"])
        for row in levels:
            row[f"{prefix}_share_of_rules"] = row[f"{prefix}_rules"] / most
    return {
        "table 2": [stages],
        "tables 3 and 5": levels,
        "tables 4 and 6": coverages,
        "figure 3": [
            *_coverage_curve(part, "all generalized rules", 1),
            *_coverage_curve(part, "filtered generalized rules", 10),
        ],
    }


def _reduced(part: Parted, rules: RuleSet, prefix: str) -> Row:
    found = part.test(rules).micro
    per_rule = (found.urls - found.keys) / len(rules) if len(rules) else 0.0
    return {
        f"{prefix}_rules": len(rules),
        f"{prefix}_reduction": found.compression,
        f"{prefix}_reduction_per_rule": per_rule,
        f"{prefix}_fpr": found.fpr,
        f"{prefix}_pages_lost": found.pages_lost,
    }


def _coverage_curve(part: Parted, name: str, least: int) -> Iterator[Row]:
    """Add up the coverage of rules, the largest first (figure 3)."""
    rules, _ = learned(Pairwise(of_paper(0.0, min_coverage=least)), part.sites)
    covers = np.cumsum(sorted((rule.statistics.coverage for rule in rules), reverse=True)).tolist()
    for place in _places(len(covers)):
        yield {"rules": name, "number": place + 1, "cumulative_coverage": covers[place]}


def _places(count: int) -> list[int]:
    """Choose places of a curve, the first and the last among them.

    >>> _places(3), len(_places(1000)) <= POINTS
    ([0, 1, 2], True)
    """
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, POINTS)).tolist()}) if count else []


def _lei(part: Parted) -> dict[str, list[Row]]:
    trees, errors, seconds = _candidates(part.sites)
    combinations: dict[str, Method] = {
        "rewrite 5, naive": Rewrite(fan_out=5),
        "rewrite 10, naive": Rewrite(fan_out=10),
        "tree, naive": TreeLearner(naive=True),
        "tree, graph": TreeLearner(),
    }
    deployed: list[Row] = []
    for name, learner in combinations.items():
        rules, _ = learned(learner, part.sites)
        found = part.test(rules).micro
        candidates = sum(share <= 0.05 for share in errors[name.partition(",")[0]])
        deployed.append(
            {"rules": name, "candidates": candidates, "deployable": len(rules), "compression": found.compression}
        )
    qualified = [
        {"candidates": name, "max_fpr": limit, "rate": float(np.mean(np.array(shares) <= limit)) if shares else 0.0}
        for name, shares in errors.items()
        for limit in QUALIFIED
    ]
    raw = [
        {
            "candidates": name,
            "raw": len(shares),
            "qualified": sum(share <= 0.05 for share in shares),
            "rate": float(np.mean(np.array(shares) <= 0.05)) if shares else 0.0,
        }
        for name, shares in errors.items()
    ]
    return {
        "table 2": trees,
        "figure 9": [{"candidates": name, "seconds_a_site": float(np.mean(found))} for name, found in seconds.items()],
        "table 3": raw,
        "figure 10": qualified,
        "table 4": deployed,
        "figures 11 and 12": list(_by_fpr(part)),
    }


def _candidates(sites: Sequence[SiteUrls]) -> tuple[list[Row], dict[str, list[float]], dict[str, list[float]]]:
    """Make the candidates of each method: what is wrong about each, and the processor time for each site."""
    names = [*(f"rewrite {fan_out}" for fan_out in FAN_OUTS), "tree"]
    errors: dict[str, list[float]] = {name: [] for name in names}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    nodes, heights, growing = [], [], []
    for site in sites:
        for fan_out, name in zip(FAN_OUTS, names[:-1], strict=True):
            start = time.process_time()
            errors[name] += count_candidates(site, fan_out)
            seconds[name].append(time.process_time() - start)
        start = time.process_time()
        tree = grow(forms_of(site))
        growing.append(time.process_time() - start)
        errors["tree"] += [each.evidence.fpr for each in all_candidates(tree)]
        seconds["tree"].append(time.process_time() - start)
        nodes.append(len(tree))
        heights.append(tree.height)
    told = [
        {"what": name, "min": min(found), "max": max(found), "average": float(np.mean(found))}
        for name, found in (("nodes", nodes), ("height", heights), ("seconds", growing))
        if found
    ]
    return told, errors, seconds


def _by_fpr(part: Parted) -> Iterator[Row]:
    for max_fpr in MAX_FPRS:
        precision = 1 - max_fpr
        combinations: dict[str, Method] = {
            "rewrite 5, naive": Rewrite(fan_out=5, min_precision=precision),
            "rewrite 10, naive": Rewrite(fan_out=10, min_precision=precision),
            "tree, naive": TreeLearner(max_fpr=max_fpr, naive=True),
            "tree, graph": TreeLearner(max_fpr=max_fpr),
        }
        for name, learner in combinations.items():
            rules, _ = learned(learner, part.sites)
            report = part.test(rules)
            yield {
                "rules": name,
                "max_fpr": max_fpr,
                "micro_compression": report.micro.compression,
                "macro_compression": report.macro["compression"],
                "micro_dup_reduction": report.micro.dup_reduction,
                "macro_dup_reduction": report.macro["dup_reduction"],
            }
