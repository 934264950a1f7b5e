"""The site of a URL: its registrable domain by the bundled public suffix list, or its address and port."""

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import idna

from undust.urls.host import is_address
from undust.urls.normalize import normalize
from undust.urls.parse import split

_MAX_DEPTH = 10  # labels; the longest rules have five


@dataclass(frozen=True, slots=True)
class SuffixList:
    """The rules of a public suffix list, private ones (`github.io`) included: their owners are strangers."""

    suffixes: frozenset[str]
    wildcards: frozenset[str]  # `*.ck` is kept as `ck`
    exceptions: frozenset[str]  # `!www.ck` is kept as `www.ck`

    def registrable(self, host: str) -> str:
        """Give the public suffix of a host and one label more, or the host itself where there is none more.

        >>> [bundled().registrable(host) for host in ("a.b.co.uk", "me.github.io", "com")]
        ['b.co.uk', 'me.github.io', 'com']
        """
        rest = ".".join(host.rsplit(".", _MAX_DEPTH)[-_MAX_DEPTH:])  # a host of 10,000 labels costs no more
        below = ""  # what was looked at before: `rest` and one label more
        while rest not in self.exceptions:
            _, dot, parent = rest.partition(".")
            # Where no rule fits, the last label is the suffix: the list's implicit `*`.
            if rest in self.suffixes or parent in self.wildcards or not dot:
                return below or rest
            below, rest = rest, parent
        return rest


def parse_suffix_list(text: str) -> SuffixList:
    """Read the format of publicsuffix.org: one rule a line, `//` comments, `*.` wildcards, `!` exceptions."""
    suffixes, wildcards, exceptions = set(), set(), set()
    for line in text.splitlines():
        rule = line.split(maxsplit=1)[0] if line.strip() else ""
        if not rule or rule.startswith("//"):
            continue
        if not rule.isascii():
            mark = "!" if rule.startswith("!") else "*." if rule.startswith("*.") else ""
            rule = mark + idna.encode(rule.removeprefix(mark), uts46=True).decode("ascii")
        if rule.startswith("!"):
            exceptions.add(rule[1:])
        elif rule.startswith("*."):
            wildcards.add(rule[2:])
        else:
            suffixes.add(rule)
    return SuffixList(frozenset(suffixes), frozenset(wildcards), frozenset(exceptions))


@cache
def bundled() -> SuffixList:
    """Give the list that the `publicsuffixlist` package brings. Never the network."""
    from publicsuffixlist import PSLFILE

    return parse_suffix_list(Path(PSLFILE).read_text("utf-8"))


def site(url: str) -> str:
    """Give the site of a URL.

    >>> site("https://www.bbc.co.uk/news"), site("http://127.0.0.1:8080/"), site("http://localhost:80/")
    ('bbc.co.uk', '127.0.0.1:8080', 'localhost')
    """
    parts = split(normalize(url))
    return site_of(parts.host, parts.port)


@lru_cache(maxsize=65_536)
def site_of(host: str, port: str | None) -> str:
    """Give the site of a normalized host and port."""
    name = host.removesuffix(".")
    if "." in name and not is_address(host):
        return bundled().registrable(name)
    return host if port is None else f"{host}:{port}"


def places_of(host: str, port: str | None) -> tuple[str, ...]:
    """Give the names under which rules for a normalized host are kept: the host itself, then its site.

    An address or a bare name is a site with its port, and nothing else: on another port is another server.

    >>> places_of("www.h.com", "81"), places_of("h.com", None), places_of("localhost", "81")
    (('www.h.com', 'h.com'), ('h.com',), ('localhost:81',))
    """
    site = site_of(host, port)
    return (site,) if site in (host, f"{host}:{port}") else (host, site)


def is_server(site: str) -> bool:
    """Tell whether a site is an address or a bare name, which stands for one port of one server.

    >>> [is_server(site) for site in ("h.com", "localhost", "1.2.3.4:81", "[::1]")]
    [False, True, True, True]
    """
    return ":" in site or "." not in site.removesuffix(".") or is_address(site)


def labels(host: str) -> list[str]:
    """Give the labels left of the registrable domain, nearest first: `a.b.example.com` → `b`, `a`."""
    name = host.removesuffix(".")
    if "." not in name or is_address(host):
        return []
    rest = name[: -len(bundled().registrable(name))].rstrip(".")
    return rest.split(".")[::-1] if rest else []
