"""Fingerprints of requests under the rules in force: requests for one page have one fingerprint."""

from typing import Any

from scrapy import Request

from undust.crawl.scrapy.session import session_of, takes_part


class Fingerprinter:
    """Hands requests to the fingerprinter that the project had, with the key in the place of the URL.

    So method, body, and whatever else that one looks at still count. What takes the fingerprint for the name of a page,
    such as the HTTP cache, has one entry for the spellings of a page.
    """

    def __init__(self, crawler: Any) -> None:
        self._stats = crawler.stats
        self._session = session_of(crawler)
        self._fingerprint = self._session.fallback.fingerprint

    @classmethod
    def from_crawler(cls, crawler: Any) -> "Fingerprinter":
        """Make it for a crawl, as Scrapy does."""
        return cls(crawler)

    def fingerprint(self, request: Request) -> bytes:
        """Give the fingerprint of a request."""
        key = self._session.key(request)
        if key is None:
            if takes_part(request):
                self._stats.inc_value("undust/requests/unparsable")
            return bytes(self._fingerprint(request))
        return bytes(self._fingerprint(request if key == request.url else request.replace(url=key)))
