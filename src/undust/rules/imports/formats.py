"""The formats that rules are imported from, by name."""

from collections.abc import Iterable
from importlib import import_module

from undust.errors import InputError, UsageError
from undust.rules.imports.entries import Imported, build, sites_of
from undust.rules.imports.lists import MAX_BYTES

FORMATS = {
    "dud": "duplicate-url-discarder for Scrapy (JSON)",
    "clearurls": "ClearURLs (data.min.json)",
    "adguard": "AdGuard and uBlock Origin ($removeparam)",
    "brave": "Brave (clean-urls.json)",
    "clean-param": "robots.txt (Clean-param)",
    "nutch": "Apache Nutch (regex-normalize.xml)",
}


def require_format(name: str) -> None:
    """Refuse a format that is not known."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}; one of {', '.join(FORMATS)}")


def import_text(text: str, from_: str, source: str = "list", urls: Iterable[str] = ()) -> Imported:
    r"""Turn a hand-made list into rules; what cannot be taken over is listed with the reason.

    `urls` are of the sites that entries for every site are used for; they also show which names regular expressions
    stand for.

    >>> made = import_text("||h.com^$removeparam=sid\n", "adguard")
    >>> print(made.rules[0], made.rules[0].statistics.learner)
    h.com  //….h.com/…?sid={?}  →  //….h.com/… adguard
    """
    require_format(from_)
    if len(text) > MAX_BYTES:
        raise InputError(f"{source}: longer than {MAX_BYTES:,} characters; no list is")
    reader = import_module(f"undust.rules.imports.{from_.replace('-', '_')}")
    read = reader.read(text, source)
    rules, skipped = build(read, sites_of(urls), from_)
    return Imported(from_, tuple(rules), tuple(skipped), len(read.entries))
