"""Keeps a crawl away from addresses that are not public: in URLs, after redirects, and when a name is resolved."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request
from twisted.internet.interfaces import IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer, provider  # type: ignore[import-untyped] # it has no stubs

from undust.crawl.scope import is_private_host, is_public

PRIVATE = "its address is not public; allow such with --allow-private"

_blocked: set[str] = set()
"""Names that were found to have no public address, so that the reason can be told."""


def was_blocked(host: str) -> bool:
    """Tell whether a host was refused for its addresses."""
    return host in _blocked or is_private_host(host)


@implementer(IHostnameResolver)
class GuardedResolver:
    """Resolves names, and passes on public addresses only: what is checked is what is connected to."""

    def __init__(self, reactor: Any, allow_private: bool) -> None:
        self._reactor, self._inner, self._allow = reactor, reactor.nameResolver, allow_private
        self._proxies = {urlsplit(proxy).hostname for proxy in getproxies().values()}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> "GuardedResolver":
        """Make one for a crawl."""
        return cls(reactor, crawler.settings.getbool("UNDUST_ALLOW_PRIVATE"))

    def install_on_reactor(self) -> None:
        """Be the one that is asked."""
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802 - the name that Twisted calls
        self,
        resolutionReceiver: IResolutionReceiver,  # noqa: N803 - the same
        hostName: str,  # noqa: N803 - the same
        portNumber: int = 0,  # noqa: N803 - the same
        addressTypes: Sequence[Any] | None = None,  # noqa: N803 - the same
        transportSemantics: str = "TCP",  # noqa: N803 - the same
    ) -> IHostResolution:
        """Resolve a name."""
        receiver: Any = resolutionReceiver
        if not self._allow and hostName not in self._proxies:
            receiver = _PublicOnly(resolutionReceiver, hostName)
        found: IHostResolution = self._inner.resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )
        return found


@provider(IResolutionReceiver)
class _PublicOnly:
    """Drops addresses that are not public."""

    def __init__(self, receiver: Any, host: str) -> None:
        self._receiver, self._host = receiver, host

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802 - the name that Twisted calls
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: Any) -> None:  # noqa: N802 - the same
        if is_public(address.host):
            self._receiver.addressResolved(address)
        else:
            _blocked.add(self._host)

    def resolutionComplete(self) -> None:  # noqa: N802 - the same
        self._receiver.resolutionComplete()


class Guard:
    """Refuses requests to addresses that are not public, wherever they come from: redirects of robots.txt, too."""

    def __init__(self, allow_private: bool) -> None:
        self._allow = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "Guard":
        """Make one for a crawl."""
        return cls(crawler.settings.getbool("UNDUST_ALLOW_PRIVATE"))

    def process_request(self, request: Request) -> None:
        """Look at the host of a request."""
        host = urlsplit(request.url).hostname or ""
        if not self._allow and is_private_host(f"[{host}]" if ":" in host else host):
            raise IgnoreRequest(PRIVATE)
