"""What the parts of the add-on share in one crawl: rules, store, signatures."""

import gc
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.utils.misc import build_from_crawler, load_object

from undust.crawl.asked import Asked, UrlSigner
from undust.crawl.contents import content_signer
from undust.crawl.scrapy.firsts import Firsts
from undust.crawl.scrapy.options import read_options
from undust.crawl.signatures import salt_of, signature
from undust.crawl.store import open_store
from undust.errors import UrlError, UsageError
from undust.rules.ruleset import COLD, RuleSet

_DEFAULT = "scrapy.utils.request.RequestFingerprinter"


class Session:
    """Rules and store of one crawl."""

    def __init__(self, crawler: Any) -> None:
        self.options = read_options(crawler.settings)
        self.rules = _load(self.options.rules)
        self.store = open_store(self.options.store)
        try:
            kept = self.store.settle("content", self.options.content)
            if kept != self.options.content:
                raise UsageError(f"UNDUST_CONTENT: the store compares by {kept!r}, not by {self.options.content!r}")
            self.salt = salt_of(self.store)
        except BaseException:
            self.store.close()
            raise
        self.content = content_signer(self.options.content, self.salt)
        self.firsts = Firsts(self.store, at_once=self.options.remember == "asked")
        self._signer = UrlSigner(self.rules, self.salt)
        fallback = crawler.settings.get("UNDUST_FALLBACK_REQUEST_FINGERPRINTER_CLASS") or _DEFAULT
        self.fallback = build_from_crawler(load_object(fallback), crawler)
        crawler.signals.connect(self.store.close, signals.engine_stopped)
        _set_aside(self.rules)

    def key(self, request: Request) -> str | None:
        """Give the key of a request's URL under the rules; None where they are not asked, or it cannot be parsed."""
        if not takes_part(request):
            return None
        try:
            return self.rules.key(request.url)
        except UrlError:
            return None

    def asked(self, request: Request) -> Asked:
        """Give the signatures of a request: of what the fallback says of it, under each spelling of its URL."""

        def sign(url: str, salt: int) -> bytes:
            spelled = request if url == request.url else request.replace(url=url)
            return signature(self.fallback.fingerprint(spelled), salt)

        if takes_part(request):
            try:
                return self._signer.of(request.url, sign)
            except UrlError:
                pass
        own = sign(request.url, self.salt)
        return Asked(request.url, request.url, (own,), (own,))


_sessions: WeakKeyDictionary[Any, Session] = WeakKeyDictionary()


def session_of(crawler: Any) -> Session:
    """Give the session of a crawler, made when the first part asks for it."""
    found = _sessions.get(crawler)
    if found is None:
        found = _sessions[crawler] = Session(crawler)
    return found


def takes_part(request: Request) -> bool:
    """Tell whether rules are for a request: not if it says `meta={"undust": False}`, or wants its URL as it is."""
    return bool(request.meta.get("undust", True)) and not request.meta.get("verbatim_url")


def _load(path: str | None) -> RuleSet:
    if path is None:
        return RuleSet()
    from undust.rule_files import load_rules

    return load_rules(path)


def _set_aside(rules: RuleSet) -> None:
    """Load what rules need now, and keep the collector from looking at it again and again while the crawl runs.

    Kernels bring 150,000 objects that stay until the end. Measured, they made collections three times as long.
    """
    if len(rules):
        for _ in range(COLD + 1):
            rules.key("http://a.test/")
        gc.collect()
        gc.freeze()
