"""Regular expressions for any program: CSV with the columns `pattern` and `replacement`, to be done in their order."""

import csv
import io
from collections.abc import Sequence

from undust.rules.exports.fates import Written
from undust.rules.exports.patterns import write_patterns
from undust.rules.exports.variants import Variant
from undust.rules.rule import Rule


def write(rules: Sequence[Rule]) -> Written:
    """Write rules as pairs for Python's `re.sub`; patterns are in a syntax that Java, PCRE and others read alike."""
    lines, fates = write_patterns(rules, _row)
    return Written("pattern,replacement\n" + "".join(lines), fates)


def _row(rule: Rule, variant: Variant) -> str:
    made = io.StringIO()
    replacement = variant.substitution("\\{}", before_digit="\\g<{}>", escape="\\")
    csv.writer(made, lineterminator="\n").writerow([variant.regex, replacement])
    return made.getvalue()
