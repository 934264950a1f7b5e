"""A dupe filter that outlives the crawl: which requests to leave out, because their page was asked for before."""

import logging
import time
from collections import Counter
from pathlib import Path
from typing import Any

from scrapy import Request, signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.request import referer_str

from undust.crawl.asked import Asked, ask, known
from undust.crawl.scrapy.fingerprinter import Fingerprinter
from undust.crawl.scrapy.firsts import COMMIT_SECONDS, COMMIT_TOGETHER
from undust.crawl.scrapy.session import session_of, takes_part
from undust.crawl.signatures import signature
from undust.crawl.store import SIGNATURE_BYTES
from undust.outputs import write_whole

_log = logging.getLogger(__name__)

WAITING = "undust.waiting"
"""In the job folder: signatures of requests that were queued when the crawl was stopped."""

MAX_RECENT = 100_000
"""Requests that are known to be seen without a look at rules and store: 10 to 20 MB."""

MAX_TOLD_RULES = 1000
_EXPLAINED_TOGETHER = 2000


class DupeFilter(BaseDupeFilter):
    """Leaves out requests whose page was asked for, in this crawl or in one before with the same store.

    Until a request has an answer it is known to this crawl only: what a crawl had in its queue when it was killed is
    new to the next. With `UNDUST_REMEMBER = "asked"` others know of it at once, so that each page is fetched by one.
    """

    def __init__(self, crawler: Any) -> None:
        self._session = session_of(crawler)
        self._store = self._session.store
        self._stats = crawler.stats
        self._fingerprinter = crawler.request_fingerprinter
        self._ours = isinstance(self._fingerprinter, Fingerprinter)
        # Of a request as it is, without rules: enough for one that is met again.
        self._fingerprint = (self._session.fallback if self._ours else self._fingerprinter).fingerprint
        self._at_once = self._session.options.remember == "asked"
        self._waiting: set[bytes] = set()  # asked for in this crawl, without an answer
        self._answered: list[bytes] = []  # not written yet; in `_waiting` until they are
        self._written = time.monotonic()
        self._counts: Counter[str] = Counter()  # told to the statistics now and then
        self._by_rule: Counter[int] = Counter()
        self._skipped: list[str] = []
        self._recent: dict[bytes, str | None] = {}  # asked for in this crawl: most links are met again and again
        folder = crawler.settings.get("JOBDIR")
        self._file = Path(folder, WAITING) if folder else None
        self._debug = crawler.settings.getbool("DUPEFILTER_DEBUG")
        self._tell = True
        crawler.signals.connect(self._answer, signals.response_downloaded)
        if crawler.settings.getbool("HTTPCACHE_ENABLED"):  # what comes from there is not downloaded
            crawler.signals.connect(self._answer, signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Any) -> "DupeFilter":
        """Make it for a crawl, as Scrapy does."""
        return cls(crawler)

    def open(self) -> None:
        """Take up what was waiting when the job was stopped; Scrapy has it in its queue."""
        if self._file is not None and self._file.exists():
            data = self._file.read_bytes()
            self._waiting = {data[at : at + SIGNATURE_BYTES] for at in range(0, len(data), SIGNATURE_BYTES)}
            self._file.unlink()  # a job that is killed loses its queue: then all of these are new again

    def request_seen(self, request: Request) -> bool:
        """Tell whether the page of a request was asked for before; if not, remember that it is now."""
        own = self._fingerprint(request)
        seen = own in self._recent
        if seen:
            skipped = self._recent[own]
        else:
            seen, skipped = self._look(request)
            if len(self._recent) >= MAX_RECENT:
                self._recent = {}
            self._recent[own] = skipped
        self._counts["skipped" if seen else "new"] += 1
        if not takes_part(request):
            self._counts["opted_out"] += 1
        if seen and skipped is not None:
            self._skipped.append(skipped)
            if len(self._skipped) >= _EXPLAINED_TOGETHER:
                self._count_rules()
        return seen

    def _look(self, request: Request) -> tuple[bool, str | None]:
        """Tell whether a request was seen, and the URL if it is one that a rule decides."""
        asked = self._asked(request)
        seen = not self._waiting.isdisjoint(asked.known)
        if not seen:
            seen = (ask if self._at_once else known)(self._store, [asked])[0]
        if not seen:
            self._waiting.update(asked.remembered)
        return seen, asked.standard if seen and asked.key != asked.standard else None

    def log(self, request: Request, spider: Any) -> None:
        """Say that a request was left out, as Scrapy's own filter does."""
        if self._debug or self._tell:
            more = "" if self._debug else " - no more duplicates will be shown (see DUPEFILTER_DEBUG to show all)"
            referer = f" (referer: {referer_str(request)})" if self._debug else ""
            _log.debug("Filtered duplicate request: %s%s%s", request, referer, more, extra={"spider": spider})
            self._tell = False
        self._stats.inc_value("dupefilter/filtered")

    def close(self, reason: str) -> None:
        """Write what was answered; keep what waits for the next run of the job, or let it go."""
        self._write()
        self._tell_rules()
        if self._file is not None:
            if self._waiting:
                write_whole(self._file, b"".join(sorted(self._waiting)))
        elif self._at_once:  # nobody has fetched these
            self._store.forget_urls(list(self._waiting))

    def _asked(self, request: Request) -> Asked:
        if self._ours:
            return self._session.asked(request)
        own = signature(self._fingerprint(request), self._session.salt)
        return Asked(request.url, request.url, (own,), (own,))

    def _answer(self, response: Any, request: Request) -> None:
        """Take note of an answer. That of a server in trouble is none: the next crawl should ask again."""
        if response.status >= 500 or response.status in (408, 429):
            return
        asked = self._asked(request)
        if self._waiting.isdisjoint(asked.remembered):  # nobody asked us: robots.txt, `dont_filter`, written before
            return
        if self._at_once:
            self._waiting.difference_update(asked.remembered)
            return
        self._answered += asked.remembered
        if len(self._answered) >= COMMIT_TOGETHER or time.monotonic() > self._written + COMMIT_SECONDS:
            self._write()

    def _write(self) -> None:
        self._session.firsts.write()  # before the URLs: a page that is not fetched again must be known
        if self._answered:
            self._store.add_urls(self._answered)
            self._waiting.difference_update(self._answered)
            self._answered = []
        self._written = time.monotonic()
        for name, count in self._counts.items():
            self._stats.set_value(f"undust/requests/{name}", count)

    def _count_rules(self) -> None:
        """Count by which rule requests were left out; together, as that is much cheaper."""
        if self._skipped:
            self._by_rule.update(self._session.rules.decide_many(self._skipped).rules.tolist())
            self._skipped = []

    def _tell_rules(self) -> None:
        """Put the counts into the statistics of the crawl, those of the busiest rules by name."""
        self._count_rules()
        busiest = self._by_rule.most_common(MAX_TOLD_RULES)
        wanted = {place for place, _ in busiest}
        lines = (
            {place: str(rule) for place, rule in enumerate(self._session.rules) if place in wanted} if wanted else {}
        )
        for place, count in busiest:
            self._stats.set_value(f"undust/skipped_by/{lines.get(place, 'no rule')}", count)
        if rest := self._by_rule.total() - sum(count for _, count in busiest):
            self._stats.set_value("undust/skipped_by/other rules", rest)
