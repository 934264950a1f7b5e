"""Apache Nutch: `regex-normalize.xml`, replacements that are made one after the other on each URL."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from undust.rules.exports.fates import Written
from undust.rules.exports.patterns import write_patterns
from undust.rules.exports.variants import Variant
from undust.rules.rule import Rule

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by undust. For conf/regex-normalize.xml of Apache Nutch; run urlnormalizer-basic before this one.
     URLs that two rules could change are changed by the first: keep the order. -->
<regex-normalize>
"""


def write(rules: Sequence[Rule]) -> Written:
    """Write rules for Nutch."""
    lines, fates = write_patterns(rules, _entry)
    return Written(f"{HEAD}{''.join(lines)}</regex-normalize>\n", fates)


def java_replacement(variant: Variant) -> str:
    """Write what Java's `replaceAll` takes: `$1`, and a backslash before what would mean something."""
    return variant.substitution("${}", before_digit="${}\\", escape="\\$")


def _entry(rule: Rule, variant: Variant) -> str:
    return (
        f"<regex>\n  <pattern>{escape(variant.regex)}</pattern>\n"
        f"  <substitution>{escape(java_replacement(variant))}</substitution>\n</regex>\n"
    )
