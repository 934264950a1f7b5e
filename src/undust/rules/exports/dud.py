"""duplicate-url-discarder (Scrapy): JSON rules of the processor `queryRemoval`."""

import json
import re
from collections.abc import Sequence

from undust.rules.exports.fates import Fate, Written
from undust.rules.exports.removal import Removal, removals
from undust.rules.rule import Rule

UNIVERSAL = (
    "utm_campaign", "utm_channel", "utm_content", "utm_id", "utm_medium", "utm_product", "utm_source", "utm_term",
)  # fmt: skip
"""What the rules that come with duplicate-url-discarder drop everywhere. A rule for a site switches them off there, so
each rule says them again."""

_PATH = re.compile(r"[A-Za-z0-9\-_.~%]*+")


def write(rules: Sequence[Rule], universal: Sequence[str] = UNIVERSAL) -> Written:
    """Write rules for duplicate-url-discarder, with arguments that are dropped everywhere folded into each."""
    made, fates = removals(rules)
    refused = {id(removal.rule) for removal in made if not all(map(_PATH.fullmatch, removal.path))}
    asked = {(rule.site, str(key.name)) for rule in rules for key in rule.context if key.part == "query"}
    items = []
    for removal in made:
        if id(removal.rule) in refused:
            continue
        more = [name for name in universal if (removal.site, name) not in asked]
        items.append(
            {
                "order": 0,
                "urlPattern": {"include": _patterns(removal)},
                "processor": "queryRemoval",
                "args": sorted({*removal.names, *more}),
            }
        )
    fates = [_odd(fate) if id(fate.rule) in refused else fate for fate in fates]
    return Written(json.dumps(items, indent=1) + "\n", fates)


def _odd(fate: Fate) -> Fate:
    return Fate(fate.rule, "left out", "its path has characters that mean something in patterns")


def _patterns(removal: Removal) -> list[str]:
    """Give patterns of url-matcher; one without a path is for all hosts of the site, `|` ends a path."""
    hosts = [removal.site, *(f"{removal.site}:{port}" for port in removal.ports if ":" not in removal.site)]
    if not removal.path:
        return hosts
    path = "/".join(("", *removal.path))
    return [f"{host}{path}{end}" for host in hosts for end in (("|",) if removal.closed else ("|", "/*"))]
