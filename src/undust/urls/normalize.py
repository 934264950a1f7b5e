"""Standard normalization: the visible list of steps that every crawler agrees on (RFC 3986 section 6)."""

import re
from collections.abc import Callable

from undust.errors import UrlError
from undust.settings import MAX_URL_BYTES
from undust.urls.host import normalize_host
from undust.urls.parse import Url, join, shown, split

Step = Callable[[Url], Url]

DEFAULT_PORTS = {"http": "80", "https": "443", "ftp": "21", "ws": "80", "wss": "443"}
"""The schemes undust knows; others (mailto, data, urn, …) name no page of a site."""

_UNRESERVED = r"A-Za-z0-9\-._~"
_SUB_DELIMS = r"!$&'()*+,;="
# What may stand as it is in each part (RFC 3986 section 3 and appendix A).
_IN_USERINFO = rf"{_UNRESERVED}{_SUB_DELIMS}:"
_IN_PATH = rf"{_UNRESERVED}{_SUB_DELIMS}:@/"
_IN_QUERY = rf"{_UNRESERVED}{_SUB_DELIMS}:@/?"


def _odd(allowed: str) -> re.Pattern[str]:
    """Find what needs a look: escapes, lone percent signs, and runs of characters that must be escaped."""
    return re.compile(rf"%(?:[0-9A-Fa-f]{{2}})?|[^%{allowed}]++")


_ODD_USERINFO, _ODD_PATH, _ODD_QUERY = map(_odd, (_IN_USERINFO, _IN_PATH, _IN_QUERY))
_UNRESERVED_BYTE = re.compile(f"[{_UNRESERVED}]")
_ESCAPES = {
    f"%{digits}": chr(byte) if _UNRESERVED_BYTE.fullmatch(chr(byte)) else f"%{byte:02X}"
    for byte in range(256)
    for digits in {first + last for first in f"{byte >> 4:x}{byte >> 4:X}" for last in f"{byte & 15:x}{byte & 15:X}"}
}

# A URL of this shape, without "/." in it, is normal already. Most are, and this is all that they cost.
_NORMAL_ESCAPE = "%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PORT = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_NORMAL = re.compile(
    rf"https?+://(?:(?:{_BYTE}\.){{3}}{_BYTE}(?=[:/])|(?:[a-z0-9_\-]++\.)*+[a-z_\-][a-z0-9_\-]*+)"
    rf"(?::(?!80/|443/){_PORT}(?=/))?+"
    rf"/(?:[{_IN_PATH}]++|{_NORMAL_ESCAPE})*+(?:\?(?:[{_IN_QUERY}]++|{_NORMAL_ESCAPE})*+)?+"
)
_EDGES = "".join(map(chr, range(0x21)))  # C0 controls and space, which browsers strip
_REMOVED = re.compile(r"[\t\n\r]++")  # browsers delete these wherever they stand
_BEFORE_QUERY = re.compile(r"[^?#]*+")


def lower_scheme(url: Url) -> Url:
    """`HTTP` → `http`; a scheme without pages is refused."""
    scheme = url.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise UrlError(f"no pages have the scheme {scheme[:40]!r}; one of {', '.join(DEFAULT_PORTS)}")
    return url if scheme == url.scheme else url._replace(scheme=scheme)


def tidy_userinfo(url: Url) -> Url:
    """`@h` → `h`, `me:@h` → `me@h`, and escapes as in a path."""
    if url.userinfo is None:
        return url
    name, colon, password = url.userinfo.partition(":")
    userinfo = f"{name}{colon}{password}" if password else name
    return url._replace(userinfo=_ODD_USERINFO.sub(_mend, userinfo) or None)


def ascii_host(url: Url) -> Url:
    """`ExAmple.COM` → `example.com`, `bücher.de` → `xn--bcher-kva.de`, `0x7f.1` → `127.0.0.1`."""
    host = normalize_host(url.host)
    return url if host == url.host else url._replace(host=host)


def drop_default_port(url: Url) -> Url:
    """`http://h:80` → `http://h`; leading zeros go as well."""
    if url.port is None:
        return url
    if url.port and not (url.port.isascii() and url.port.isdigit()):
        raise UrlError(f"the port {url.port[:40]!r} is not a number")
    port = url.port.lstrip("0") or url.port[:1]
    if len(port) > 5 or int(port or 0) > 65535:
        raise UrlError(f"the port {url.port[:40]} is above 65535")
    return url._replace(port=None if port in ("", DEFAULT_PORTS[url.scheme]) else port)


def escape_path(url: Url) -> Url:
    """Upper-case escapes, decode those of unreserved characters, encode what must be encoded."""
    return url._replace(path=_ODD_PATH.sub(_mend, url.path))


def escape_query(url: Url) -> Url:
    """Do the same to the query; order, blank values and `?` without a query stay."""
    return url if url.query is None else url._replace(query=_ODD_QUERY.sub(_mend, url.query))


def resolve_dots(url: Url) -> Url:
    """`/a/./b/../c` → `/a/c` (RFC 3986 section 5.2.4)."""
    path = url.path
    if "/." not in path:
        return url
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return url._replace(path="/" + "/".join(kept))


def root_path(url: Url) -> Url:
    """`http://h` → `http://h/`."""
    return url if url.path else url._replace(path="/")


def drop_fragment(url: Url) -> Url:
    """`#top` never reaches the server."""
    return url if url.fragment is None else url._replace(fragment=None)


def keep_hashbang(url: Url) -> Url:
    """Drop the fragment unless it is a `#!` route, which some applications serve pages by."""
    if url.fragment is None or not url.fragment.startswith("!"):
        return url._replace(fragment=None)
    return url._replace(fragment=_ODD_QUERY.sub(_mend, url.fragment))


def lower_path(url: Url) -> Url:
    """`/Index` → `/index`. Loses pages on sites whose paths are case-sensitive."""
    return url._replace(path=_ODD_PATH.sub(_mend, url.path.lower()))


def bare_folder(url: Url) -> Url:
    """`/a/index.html`, `/a/default.htm` and `/a/` → `/a`."""
    path = url.path
    while True:
        head, _, last = path.rpartition("/")
        if not head and not last:
            return url._replace(path="/")
        if last.lower() not in ("", "index.html", "index.htm", "default.html", "default.htm"):
            return url._replace(path=path)
        path = head or "/"


STANDARD: tuple[Step, ...] = (
    lower_scheme,
    tidy_userinfo,
    ascii_host,
    drop_default_port,
    escape_path,
    escape_query,
    resolve_dots,  # after the escapes: %2E%2E is a dot segment too
    root_path,
    drop_fragment,
)
HASHBANG: tuple[Step, ...] = (*STANDARD[:-1], keep_hashbang)
EXTENDED: tuple[Step, ...] = (*STANDARD, lower_path, bare_folder)
PRESETS = {"standard": STANDARD, "hashbang": HASHBANG, "extended": EXTENDED}


def normalize(url: str, steps: tuple[Step, ...] = STANDARD) -> str:
    """Write a URL in its standard form, or take other `steps`: `EXTENDED`, `HASHBANG`, your own.

    >>> normalize("http://Example.com:80/%7Ebob/../a%3aß?b=#c")
    'http://example.com/a%3A%C3%9F?b='
    >>> normalize("mailto:me@example.com")
    Traceback (most recent call last):
    undust.errors.UrlError: 'mailto:me@example.com': not an absolute URL; it should begin like http://example.com/
    """
    if steps is STANDARD and len(url) <= MAX_URL_BYTES:
        page = url.partition("#")[0]
        if _NORMAL.fullmatch(page) and "/." not in page:
            return page
    clean = _clean(url)
    parts = split(clean)
    try:
        for step in steps:
            parts = step(parts)
    except UrlError as error:
        raise UrlError(f"{shown(url)}: {error}") from None
    normal = join(parts)
    if len(normal) > MAX_URL_BYTES:
        raise UrlError(f"{shown(url)}: longer than {MAX_URL_BYTES} characters when escaped")
    return normal


def _clean(url: str) -> str:
    """Take away what browsers ignore, and turn backslashes before the query into slashes as they do."""
    if len(url) > MAX_URL_BYTES:
        raise UrlError(f"{shown(url)}: longer than {MAX_URL_BYTES} characters")
    url = _REMOVED.sub("", url.strip(_EDGES))
    if "\\" in url:
        url = _BEFORE_QUERY.sub(lambda head: head[0].replace("\\", "/"), url, count=1)
    return url


def _mend(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] == "%":
        return _ESCAPES.get(text, "%25")
    try:
        return "".join(f"%{byte:02X}" for byte in text.encode("utf-8"))
    except UnicodeEncodeError:
        raise UrlError("it has half of a surrogate pair, which no encoding can hold") from None
