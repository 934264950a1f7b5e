"""Split a URL into its seven parts and join them again, byte for byte."""

import re
from typing import NamedTuple

from undust.errors import UrlError
from undust.settings import MAX_URL_BYTES

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*+")


class Url(NamedTuple):
    """The parts of a URL as they are spelled, without the delimiters between them.

    `None` is a part that is absent, `""` one that is present and empty: `http://h/?` has the query `""`.
    """

    scheme: str
    userinfo: str | None
    host: str
    port: str | None
    path: str
    query: str | None
    fragment: str | None


def split(url: str) -> Url:
    """Split an absolute URL at its delimiters (RFC 3986 section 3) and change nothing.

    >>> split("http://me@h:80/a/b?c=d#e")
    Url(scheme='http', userinfo='me', host='h', port='80', path='/a/b', query='c=d', fragment='e')
    >>> join(split("http://h:?#"))
    'http://h:?#'
    """
    if len(url) > MAX_URL_BYTES:
        raise UrlError(f"{shown(url)}: longer than {MAX_URL_BYTES} characters")
    head, mark, rest = url.partition("://")
    if not mark or not _SCHEME.fullmatch(head):
        raise UrlError(f"{shown(url)}: not an absolute URL; it should begin like http://example.com/")
    rest, fragment = _cut(rest, "#")
    rest, query = _cut(rest, "?")
    authority, slash, path = rest.partition("/")
    # The last @ ends the user information, as in browsers: RFC 3986 allows none before it.
    userinfo, at, address = authority.rpartition("@")
    colon = address.rfind(":", address.rfind("]") + 1)  # a colon inside [::1] is part of the host
    host, port = (address, None) if colon < 0 else (address[:colon], address[colon + 1 :])
    return Url(head, userinfo if at else None, host, port, slash + path, query, fragment)


def join(url: Url) -> str:
    """Join the parts that `split` gave."""
    scheme, userinfo, host, port, path, query, fragment = url
    text = f"{scheme}://{host}" if userinfo is None else f"{scheme}://{userinfo}@{host}"
    if port is not None:
        text = f"{text}:{port}"
    text += path
    if query is not None:
        text = f"{text}?{query}"
    return text if fragment is None else f"{text}#{fragment}"


def shown(url: str, width: int = 80) -> str:
    """Give a URL as it can stand in a message: printable, and not longer than a line."""
    return repr(url if len(url) <= width else url[:width] + "…")


def _cut(text: str, mark: str) -> tuple[str, str | None]:
    head, found, tail = text.partition(mark)
    return head, tail if found else None
