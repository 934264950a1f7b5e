"""Puts together every number of a run, as one object: `report.json`, of which the page shows what people ask first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from undust.evaluate.coded import Coded, apply_to
from undust.evaluate.confusions import find_confusions
from undust.evaluate.rule_confidence import rule_confidences
from undust.evaluate.sizes import count_sizes
from undust.evaluate.unexplained import Unexplained, find_unexplained, left_by_site
from undust.learn.columns import by_site
from undust.learn.tree.forms import forms_of
from undust.learn.tree.outline import outline
from undust.learn.tree.pattern_tree import grow
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.run.report import Told
from undust.run.what_if import try_ignoring
from undust.run.words import in_words
from undust.urls.site import site_of

VERSION = 1
"""Of `report.json`. It changes when something that was there is gone or means something else."""

LISTED_INPUTS = 1_000
LISTED_CLUSTERS = 100
"""Split clusters, differences and confusions that are told one by one; all of them are counted."""
LISTED_TREES = 200
"""Sites whose pattern tree is drawn: those where most is saved or left."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the steps of a run found out, beside their outputs."""

    told: Told
    options: dict[str, Any]
    undust: str
    """The version of undust that made it."""
    made: str
    """When it was made, as ISO 8601."""
    tradeoff: dict[str, Any]
    similarity: dict[str, Any]
    """Around the threshold; nothing where no near duplicates were looked for."""
    stages: list[dict[str, Any]]


def find_all(known: Known, rules: RuleSet, clusters: pa.Table) -> dict[str, Any]:
    """Give every number of a run, but for the titles of pages, as plain values for JSON."""
    told = known.told
    coded = apply_to(rules, clusters)
    unexplained = find_unexplained(coded, most=LISTED_CLUSTERS)
    listed = list(rules)
    sites = _sites(coded, told.evaluation, listed)
    most = sorted(sites, key=lambda site: (-(site["saved"] + site["left"]), -site["urls"], site["site"]))
    return {
        "version": VERSION,
        "undust": known.undust,
        "made": known.made,
        "options": known.options,
        "inputs": {"count": len(told.inputs), "names": told.inputs[:LISTED_INPUTS]},
        "read": told.read,
        "methods": told.methods,
        "sizes": count_sizes(coded.spanning).to_dict(),
        "evaluation": {
            name: {key: value for key, value in part.items() if key != "sites"} if isinstance(part, dict) else part
            for name, part in told.evaluation.items()
        },
        "sites": most,
        "rules": _rules(coded, listed),
        "trees": list(_trees(coded, [site["site"] for site in most[:LISTED_TREES]])),
        "tradeoff": known.tradeoff,
        "unexplained": _unexplained(coded, unexplained),
        "confused": find_confusions(coded, most=LISTED_CLUSTERS).to_dict(),
        "similarity": {"around": known.similarity or None, "members": None},
        "titles": {},
        "stages": known.stages,
    }


def shown_urls(report: dict[str, Any]) -> Iterator[str]:
    """Give the URLs of a report whose pages should be named by their titles."""
    for each in report["unexplained"]["largest"]:
        yield from each["examples"]
    for each in report["confused"]["worst"]:
        yield from each["examples"]


def _sites(coded: Coded, evaluation: dict[str, Any], rules: Sequence[Rule]) -> list[dict[str, Any]]:
    left = left_by_site(coded)
    tested, learned = evaluation["by_cluster"]["sites"], evaluation["learned_from"]["sites"]
    of_site: dict[str, list[int]] = {}
    names = set(coded.site_names)
    for place, rule in enumerate(rules):
        of_site.setdefault(_domain(rule.site, names), []).append(place)
    return [
        {
            "site": name,
            "urls": learned[name]["urls"],
            "pages": learned[name]["clusters"],
            "saved": learned[name]["urls"] - learned[name]["keys"],
            "left": int(left[place]),
            "tested": tested.get(name),
            "learned_from": learned[name],
            "rules": of_site.get(name, []),
        }
        for place, name in enumerate(coded.site_names)
        if name in learned
    ]


def _domain(site: str, known: set[str]) -> str:
    """Give the site that a rule belongs to: with `--site host` its own is a host."""
    return site if site in known else site_of(site.partition(":")[0], None)


def _rules(coded: Coded, rules: Sequence[Rule]) -> list[dict[str, Any]]:
    names = set(coded.site_names)
    return [
        {
            "number": place + 1,
            "site": _domain(rule.site, names),
            "words": in_words(rule),
            "line": str(rule).removeprefix(rule.site).strip(),
            **measured.to_dict(),
            "learner": rule.statistics.learner,
            "support": rule.statistics.support,
            "false_positives": rule.statistics.false_positives,
            "examples": [list(pair) for pair in rule.statistics.examples],
        }
        for place, (rule, measured) in enumerate(zip(rules, rule_confidences(coded, len(rules)), strict=True))
    ]


def _trees(coded: Coded, sites: Sequence[str]) -> Iterator[dict[str, Any]]:
    wanted = np.isin(coded.sites, [place for place, name in enumerate(coded.site_names) if name in set(sites)])
    rows = np.flatnonzero(wanted)
    table = pa.table({"url": coded.urls.take(pa.array(rows)), "cluster": pa.array(coded.clusters[rows]).cast("string")})
    for site in by_site(table):
        nodes = outline(grow(forms_of(site)))
        yield {"site": site.site, "nodes": [node.to_dict() for node in nodes]}


def _unexplained(coded: Coded, found: Unexplained) -> dict[str, Any]:
    return {
        "clusters": found.clusters,
        "left": found.left,
        "across_sites": found.across_sites,
        "looked_at": found.looked_at,
        "largest": [each.to_dict() for each in found.largest],
        "differences": try_ignoring(coded, found.differences),
    }
