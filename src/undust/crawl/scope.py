"""Which URLs belong to a crawl, and which are traps by their look alone."""

import ipaddress
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from undust.settings import MAX_ARGUMENTS
from undust.urls.host import is_address
from undust.urls.parse import split
from undust.urls.site import site_of

MAX_REPEATED = 3
"""How often a path may have the same segment before its neighbours make it a circle: /a/b/a/b/a/b is one."""

MAX_SEGMENTS = 40

MAX_REDIRECTS = 10
"""Redirects in a row. Browsers stop at 20; one that leads to ever new URLs ends here."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the web that a crawl keeps to."""

    sites: frozenset[str]
    hosts: frozenset[str]
    max_url_bytes: int = 2000

    def refusal(self, url: str) -> str | None:
        """Say why a URL in standard form is not fetched; None if it may be.

        >>> scope = Scope(frozenset({"a.test"}), frozenset())
        >>> scope.refusal("http://www.a.test/x"), scope.refusal("http://b.test/"), scope.refusal("mailto:x@a.test")
        (None, 'other site', 'no web page')
        """
        if not url.startswith(("http://", "https://")):
            return "no web page"
        parts = split(url)
        if parts.host not in self.hosts and site_of(parts.host, parts.port) not in self.sites:
            return "other site"
        if len(url) > self.max_url_bytes:
            return "trap: long URL"
        return _trap(parts.path, parts.query)


def scope_of(urls: Iterable[str], *, hosts_only: bool, extra_hosts: Iterable[str], max_url_bytes: int) -> Scope:
    """Give the scope of start URLs in standard form."""
    parts = [split(url) for url in urls]
    hosts = {*extra_hosts, *(part.host for part in parts if hosts_only)}
    sites = set() if hosts_only else {site_of(part.host, part.port) for part in parts}
    return Scope(frozenset(sites), frozenset(hosts), max_url_bytes)


def _trap(path: str, query: str | None) -> str | None:
    segments = path.split("/")[1:]
    if len(segments) > MAX_SEGMENTS:
        return "trap: deep path"
    if len(segments) > 2 * MAX_REPEATED:
        counts = Counter(segment for segment in segments if segment)
        if sum(count for count in counts.values() if count > MAX_REPEATED) * 2 > len(segments):
            return "trap: path that repeats itself"
    if query is not None:
        pieces = query.replace(";", "&").split("&")
        if len(pieces) > MAX_ARGUMENTS or max(Counter(pieces).values()) > MAX_REPEATED:
            return "trap: arguments that repeat themselves"
    return None


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the public internet.

    >>> [is_public(one) for one in ("93.184.216.34", "127.0.0.1", "::1", "::ffff:10.0.0.1", "169.254.169.254")]
    [True, False, False, False, False]
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inside = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inside is None and found in _NAT64:
            inside = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inside is not None:
            found = inside
    return found.is_global and not found.is_multicast


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_private_host(host: str) -> bool:
    """Tell whether a host of a URL is written as an address that is not public; names are for the resolver.

    >>> is_private_host("127.0.0.1"), is_private_host("[::1]"), is_private_host("localhost")
    (True, True, False)
    """
    return is_address(host) and not is_public(host.strip("[]"))
