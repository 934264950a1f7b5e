"""How texts and sites in rules are spelled: as in URLs in standard form, or no URL would ever fit them."""

import re
from functools import lru_cache

from undust.errors import UrlError
from undust.urls.normalize import normalize
from undust.urls.parse import split
from undust.urls.site import places_of

_OTHER = re.compile(r"[^A-Za-z0-9!$%&'()*+,\-./:;=?@_~]")  # what the standard form escapes, wherever it stands
_NAME = re.compile(r"(?:[a-z0-9\-_]++\.)++[a-z][a-z0-9\-]*+")


def unescaped(text: str) -> str | None:
    """Give the first letter that no part of a URL in standard form has as it is, or nothing.

    >>> unescaped("a[]"), unescaped("a%5B%5D")
    ('[', None)
    """
    found = _OTHER.search(text)
    return found[0] if found else None


@lru_cache(maxsize=4096)
def site_fault(site: str) -> str | None:
    """Say why no URL is of a site, or host, of this name; nothing if there are some.

    >>> site_fault("h.com"), site_fault("localhost:8080"), site_fault("H.com")
    (None, None, "in standard form it is 'h.com'")
    """
    if _NAME.fullmatch(site):
        return None
    known: tuple[str, ...] = ()
    for scheme in ("http", "https"):  # a port is named unless it is the usual one
        try:
            parts = split(normalize(f"{scheme}://{site}/"))
        except UrlError:
            continue
        if parts.path == "/" and parts.query is None and parts.userinfo is None:
            known = places_of(parts.host, parts.port)
        if site in known:
            return None
    return f"in standard form it is {known[-1]!r}" if known else "give a host such as example.com or localhost:8080"
