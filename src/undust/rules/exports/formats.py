"""The formats that rules are exported to, by name."""

from collections.abc import Iterable
from importlib import import_module

from undust.errors import UsageError
from undust.rules.exports.fates import Exported
from undust.rules.rule import Rule

FORMATS = {
    "dud": "duplicate-url-discarder for Scrapy (JSON)",
    "nutch": "Apache Nutch (regex-normalize.xml)",
    "stormcrawler": "Apache StormCrawler (JSON)",
    "heritrix": "Heritrix (a bean for crawler-beans.cxml)",
    "pywb": "pywb (rules.yaml)",
    "clearurls": "ClearURLs (JSON)",
    "adguard": "AdGuard and uBlock Origin ($removeparam)",
    "clean-param": "robots.txt (Clean-param)",
    "nginx": "nginx (map and redirect)",
    "apache": "Apache HTTP Server (mod_rewrite)",
    "regex": "pattern and replacement (CSV)",
    "sql": "a macro for DuckDB (SQL)",
}


def require_format(name: str) -> None:
    """Refuse a format that is not known."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; one of {', '.join(FORMATS)}")


def export_rules(rules: Iterable[Rule], to: str) -> Exported:
    """Write rules in the format of another program; what it cannot say is left out, and listed.

    >>> from undust.rules.line_reader import read_line
    >>> made = export_rules([read_line("h.com  //….h.com/…?sid={?}  →  //….h.com/…")], "clean-param")
    >>> print(made.text)
    # Site: h.com
    User-agent: *
    Clean-param: sid
    <BLANKLINE>
    """
    require_format(to)
    writer = import_module(f"undust.rules.exports.{to.replace('-', '_')}")
    written = writer.write(list(rules))
    return Exported(to, written.text, tuple(written.fates))
