"""Apache StormCrawler: a URL filter of class `RegexURLNormalizer` for `urlfilters.json`."""

import json
from collections.abc import Sequence

from undust.rules.exports.fates import Written
from undust.rules.exports.nutch import java_replacement
from undust.rules.exports.patterns import write_patterns
from undust.rules.exports.variants import Variant
from undust.rules.rule import Rule

FILTERS = "org.apache.stormcrawler.filtering.URLFilters"
CLASS = "org.apache.stormcrawler.filtering.regex.RegexURLNormalizer"


def write(rules: Sequence[Rule]) -> Written:
    """Write rules for StormCrawler; put the filter behind BasicURLNormalizer, which makes the standard form."""
    lines, fates = write_patterns(rules, _entry)
    entries = [json.loads(line) for line in lines]
    normalizer = {"class": CLASS, "name": "undust", "params": {"urlNormalizers": entries}}
    return Written(json.dumps({FILTERS: [normalizer]}, indent=1) + "\n", fates)


def _entry(rule: Rule, variant: Variant) -> str:
    return json.dumps({"pattern": variant.regex, "substitution": java_replacement(variant)})
