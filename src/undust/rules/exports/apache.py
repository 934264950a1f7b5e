"""Apache HTTP Server: mod_rewrite rules that redirect to the one URL of a page."""

from collections.abc import Sequence

from undust.rules.exports.fates import Written
from undust.rules.exports.patterns import write_patterns
from undust.rules.exports.variants import Variant
from undust.rules.rule import Rule

HEAD = r"""# Written by undust. For a server or virtual host of the Apache HTTP Server; needs mod_rewrite.
RewriteEngine On
RewriteCond "%{THE_REQUEST}" "!%3[Ff]"
RewriteCond "%{THE_REQUEST}" "^[A-Z]+ (/\S*)"
RewriteRule "^" "-" [E=UNDUST_URL:%{REQUEST_SCHEME}://%{HTTP_HOST}%1]
"""


def write(rules: Sequence[Rule]) -> Written:
    """Write rules for Apache. The first that fits redirects; none fits a URL that stays as it is."""
    lines, fates = write_patterns(rules, _entry, guarded=True, marked=True)
    return Written(HEAD + "".join(lines), fates)


def _entry(rule: Rule, variant: Variant) -> str:
    # Apache refuses question marks that come out of groups, lest an escaped one becomes a real one: it is written anew.
    # A backslash in a pattern must survive the quotes of the file, too: only \" and \\ mean something there.
    target = variant.substitution("%{}", before_digit="%{}", escape="\\%$")
    return f'RewriteCond "%{{ENV:UNDUST_URL}}" "{variant.regex}"\nRewriteRule "^" "{target}" [R=301,L,NE,QSD]\n'
