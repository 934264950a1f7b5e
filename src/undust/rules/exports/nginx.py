"""nginx: a `map` from the URL of a request to the one URL of its page, and a redirect."""

from collections.abc import Sequence

from undust.rules.exports.conditions import InexpressibleError
from undust.rules.exports.fates import Written
from undust.rules.exports.patterns import write_patterns
from undust.rules.exports.variants import Variant
from undust.rules.rule import Rule

HEAD = """# Written by undust. Include this in http { }, and put into each server { } it is meant for:
#     if ($undust_url) { return 301 $undust_url; }
map_hash_bucket_size 256;
map "$scheme://$http_host$request_uri" $undust_url {
    default "";
"""


def write(rules: Sequence[Rule]) -> Written:
    """Write rules for nginx. The first regular expression that fits decides; none fits a URL that stays as it is."""
    lines, fates = write_patterns(rules, _entry, guarded=True)
    return Written(HEAD + "".join(lines) + "}\n", fates)


def _entry(rule: Rule, variant: Variant) -> str:
    if any("$" in text for text in variant.result if isinstance(text, str)):
        raise InexpressibleError("it writes a dollar sign, which nginx takes for a variable")
    return f'    "~{variant.regex}" "{variant.substitution("${}", before_digit="${}")}";\n'
