"""Writes the report of a run as text: what was read, what is duplicate, what rules save and lose, and the rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from undust.corpus import Tally
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.run.words import in_words

SHOWN_SITES = 50
SHOWN_RULES = 20
SHOWN_EXAMPLES = 2
SHOWN_INPUTS = 10


@dataclass(frozen=True, slots=True)
class Told:
    """What the steps of a run told."""

    inputs: list[str]
    read: dict[str, Any]
    """Counts of the read, as a tally gives them."""
    methods: dict[str, Any]
    """For each method: URLs, clusters, duplicates."""
    evaluation: dict[str, Any]


def write_report(told: Told, rules: RuleSet) -> str:
    """Write the report."""
    parts = [_read(told), _duplicates(told), _worth(told), _sites(told), _rules(rules)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _read(told: Told) -> list[str]:
    lines = ["What was read", *(f"  {name}" for name in told.inputs[:SHOWN_INPUTS])]
    if len(told.inputs) > SHOWN_INPUTS:
        lines.append(f"  and {len(told.inputs) - SHOWN_INPUTS:,} more")
    if "records" in told.read:
        lines += [f"  {line}" for line in Tally.from_dict(told.read).summary(20).splitlines()]
    elif "pages" in told.read:
        lines.append(f"  fingerprints of {told.read['pages']:,} pages")
    return lines


def _duplicates(told: Told) -> list[str]:
    return [
        "Duplicates",
        *(
            f"  {name:8}  {found['duplicates']:,} of {found['urls']:,} URLs ({found['duplicate_rate']:.1%});"
            f" {found['clusters']:,} different pages, the largest cluster {found['largest']:,}"
            for name, found in told.methods.items()
        ),
    ]


def _worth(told: Told) -> list[str]:
    """Say what rules are worth on pages that were not learned from."""
    found = told.evaluation
    rows = [
        (f"by cluster: {found['holdout']:.0%} of the pages were never seen", found["by_cluster"]),
        ("by sample: 70% of the URLs were never seen", found["by_sample"]),
        ("all that was learned from", found["learned_from"]),
    ]
    lines = ["What rules save and lose"]
    for name, one in rows:
        lines += [
            f"  {name}",
            f"    fetches saved {one['compression']:.1%} of {one['duplicate_rate']:.1%} possible"
            f" ({one['recall_of_possible']:.1%}), pages lost {one['pages_lost']:.2%}, false pairs {one['fpr']:.2%};"
            f" {one['rules']:,} rules",
        ]
        if len(one["sites"]) > 1:
            mean = one["macro"]
            lines.append(
                f"    mean of {len(one['sites']):,} sites: saved {mean['compression']:.1%}"
                f" ({mean['recall_of_possible']:.1%} of what is possible), lost {mean['pages_lost']:.2%},"
                f" false pairs {mean['fpr']:.2%}"
            )
    return lines


def _sites(told: Told) -> list[str]:
    """Give a table of sites, the largest first, from what was never seen."""
    sites: dict[str, Any] = told.evaluation["by_cluster"]["sites"]
    largest = sorted(sites.items(), key=lambda site: (-site[1]["urls"], site[0]))
    if not largest:
        return []
    wide = max(len(site) for site, _ in largest[:SHOWN_SITES])
    lines = [
        "Sites, on pages that were never seen",
        f"  {'site':{wide}}  {'URLs':>9}  possible     saved      lost  false pairs",
        *(
            f"  {site:{wide}}  {one['urls']:9,}  {one['duplicate_rate']:8.1%}  {one['compression']:8.1%}"
            f"  {one['pages_lost']:8.2%}  {one['fpr']:11.2%}"
            for site, one in largest[:SHOWN_SITES]
        ),
    ]
    if len(largest) > SHOWN_SITES:
        lines.append(f"  and {len(largest) - SHOWN_SITES:,} more sites; all of them are in evaluation.json")
    return lines


def _rules(rules: RuleSet) -> list[str]:
    if not len(rules):
        return ["Rules", "  none: no duplicates that URLs explain"]
    by_site: dict[str, list[Rule]] = {}
    for rule in rules:
        by_site.setdefault(rule.site, []).append(rule)
    lines = [f"Rules: {len(rules):,}, learned from all pages; the first that fits a URL decides"]
    order = sorted(by_site, key=lambda site: (-sum(rule.statistics.saves for rule in by_site[site]), site))
    for site in order[:SHOWN_SITES]:
        lines += ["", f"  {site}", *(line for rule in by_site[site][:SHOWN_RULES] for line in _rule(rule))]
        if len(by_site[site]) > SHOWN_RULES:
            lines.append(f"    and {len(by_site[site]) - SHOWN_RULES:,} more rules")
    if len(order) > SHOWN_SITES:
        lines += ["", f"  and {len(order) - SHOWN_SITES:,} more sites; all rules are in rules.json"]
    return lines


def _rule(rule: Rule) -> Iterator[str]:
    known = rule.statistics
    yield f"    {in_words(rule)}"
    yield f"      {str(rule).removeprefix(rule.site).strip()}"
    yield (
        f"      {known.coverage:,} URLs, {known.saves:,} fetches saved; {known.clusters:,} pages show it,"
        f" {known.fpr:.2%} false pairs"
    )
    yield from (f"      {one} = {other}" for one, other in known.examples[:SHOWN_EXAMPLES])
