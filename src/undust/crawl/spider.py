"""The loop on Scrapy: a scheduler that asks the loop what is next, a spider that hands it what came."""

import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.http import Request, Response
from twisted.internet.error import DNSLookupError
from twisted.python.failure import Failure

from undust.crawl.frontier import Link
from undust.crawl.guard import PRIVATE, was_blocked
from undust.crawl.learning import load
from undust.crawl.loop import STATE, Answer, Loop
from undust.errors import UndustError, UrlError
from undust.urls.normalize import normalize
from undust.urls.parse import split

TICK_SECONDS = 0.1
COMMIT_SECONDS = 0.5

Progress = Callable[[Loop], None]


class CrawlSpider(scrapy.Spider):
    """Hands answers to the loop. It finds no requests of its own: the scheduler does."""

    name = "undust"

    def __init__(self, loop: Loop, folder: Path, progress: Progress, **options: Any) -> None:
        super().__init__(**options)
        self.loop, self.folder = loop, folder
        self.problem: UndustError | None = None
        self.closing = self.stopped = False
        self._progress = progress
        self._before, self._began = loop.counts.seconds, time.monotonic()
        self._committed = 0.0
        self._learner: subprocess.Popen[bytes] | None = None

    async def start(self) -> AsyncIterator[Any]:
        """Begin the ticks; requests come from the scheduler."""
        self._tick()
        return
        yield

    def closed(self, reason: str) -> None:
        """Take note of a signal that ended the crawl, as Scrapy tells when it closes."""
        self.stopped = reason == "shutdown"

    # ------------------------------------------------------------ answers

    def answered(self, response: Response) -> None:
        """Take in an answer."""
        link: Link = response.meta["undust_link"]
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
        answer = Answer(
            response.status,
            [(name, value) for name, values in response.headers.items() for value in values],
            response.body,
            kind,
            datetime.now(UTC),
            "dataloss" in response.flags,
            _target(response),
        )
        self._safely(lambda: self.loop.fetched(link, answer, time.monotonic()))

    def unanswered(self, failure: Failure) -> None:
        """Take in that there was no answer."""
        request: Request = failure.request  # type: ignore[attr-defined] # Scrapy puts it there
        link: Link = request.meta["undust_link"]
        why, retry = _reason(failure, link.url)
        self._safely(lambda: self.loop.failed(link, why, time.monotonic(), retry=retry))

    def _safely(self, work: Callable[[], None]) -> None:
        """Do something with the loop; a full disk ends the crawl, whole as of the last transaction."""
        if self.problem is not None:
            return
        try:
            work()
        except UndustError as error:
            self.problem = error
            self.stop()

    def stop(self) -> None:
        """End the crawl when what is on its way has come."""
        if not self.closing and self.crawler.engine is not None:
            self.closing = True
            from scrapy.utils.defer import _schedule_coro

            _schedule_coro(self.crawler.engine.close_spider_async(reason="stopped"))

    # ------------------------------------------------------------ time

    def _tick(self) -> None:
        from twisted.internet import reactor

        if self.closing or self.crawler.engine is None or self.crawler.engine.spider is None:
            return
        now = time.monotonic()
        self.loop.counts.seconds = self._before + now - self._began
        self._safely(self._learn)
        if now - self._committed >= COMMIT_SECONDS:
            self._committed = now
            self._safely(self.loop.commit)
        self._progress(self.loop)
        late = self.loop.queue.delayed_until
        if self.loop.over_limit or (late is not None and late <= now):
            self.wake()
        later: Any = reactor.callLater  # its stub and Twisted's own differ
        later(TICK_SECONDS, self._tick)

    def wake(self) -> None:
        """Make Scrapy ask the scheduler again."""
        if self.crawler.engine is not None and self.crawler.engine.spider is not None and not self.closing:
            self.crawler.engine.crawl(Request("data:,", meta={"undust_wake": True}, dont_filter=True))

    # ------------------------------------------------------------ learning

    @property
    def learning(self) -> bool:
        """Whether rules are being learned."""
        return self._learner is not None

    def learn(self) -> None:
        """Begin to learn, in another process."""
        if self._learner is not None:
            return
        loop = self.loop
        loop.commit()
        loop.counts.learned_at = loop.counts.unique + loop.counts.duplicates
        command = [sys.executable, "-m", "undust.crawl.learning", str(self.folder / STATE), str(self._learned_path)]
        self._learner = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None if loop.options.verbose else subprocess.DEVNULL,
        )

    @property
    def _learned_path(self) -> Path:
        return self.folder / ".learned.json"

    def _learn(self) -> None:
        if self._learner is None:
            if self.loop.learning_due and not self.loop.over_limit:
                self.learn()
            return
        code = self._learner.poll()
        if code is None:
            return
        self._learner = None
        if code == 0:
            self.loop.learned(load(self._learned_path))
        else:
            self.loop.counts.failed_learnings += 1
        self.wake()

    def end_learning(self) -> None:
        """Stop to learn."""
        if self._learner is not None:
            self._learner.kill()
            self._learner.wait()
            self._learner = None
        with contextlib.suppress(OSError):
            self._learned_path.unlink()


class LoopScheduler:
    """Asks the loop what is next. What it holds is on its way, and in the frontier until it has come."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._stash: list[Link] = []

    @classmethod
    def from_crawler(cls, crawler: Any) -> "LoopScheduler":
        """Make one for a crawl."""
        return cls(crawler)

    def open(self, spider: CrawlSpider) -> None:
        """Begin."""
        self._spider = spider

    def close(self, reason: str) -> None:
        """End."""
        self._spider.closing = True

    def enqueue_request(self, request: Request) -> bool:
        """Take nothing: there are no requests but the loop's."""
        return bool(request.meta.get("undust_wake"))

    def next_request(self) -> Request | None:
        """Give the request for the next URL."""
        spider = self._spider
        link = self._stash.pop() if self._stash else None
        if link is None and not spider.closing:
            found: list[Link | None] = []
            spider._safely(lambda: found.append(spider.loop.next(time.monotonic())))
            link = found[0] if found else None
        if link is None:
            return None
        options = spider.loop.options
        return Request(
            link.url,
            callback=spider.answered,
            errback=spider.unanswered,
            dont_filter=True,
            meta={
                "undust_link": link,
                "dont_redirect": True,
                "handle_httpstatus_all": True,
                # A body shorter than it says is tried again; at last, what there is of it is better than nothing.
                "download_fail_on_dataloss": link.tries < options.retries,
            },
        )

    def has_pending_requests(self) -> bool:
        """Tell whether the crawl is not over yet. Called when nothing is on its way."""
        spider = self._spider
        if spider.closing or spider.loop.over_limit:
            return False
        if self._stash or spider.loop.has_more or spider.learning:
            return True
        begun: list[bool] = []
        spider._safely(lambda: begun.append(spider.loop.begin_exam()))
        if begun and begun[0]:
            spider._safely(spider.learn)
            return True
        found: list[Link | None] = []
        spider._safely(lambda: found.append(spider.loop.next(time.monotonic())))
        if found and found[0] is not None:
            self._stash.append(found[0])
            spider.wake()
            return True
        return False


def _target(response: Response) -> str | None:
    """Give the URL that a redirect leads to, in standard form."""
    raw = response.headers.get("Location")
    if raw is None or not 300 <= response.status < 400:
        return None
    try:
        return normalize(urljoin(response.url, raw.decode("utf-8", "replace").strip()))
    except (UrlError, ValueError):
        return None


def _reason(failure: Failure, url: str) -> tuple[str, bool]:
    """Say in a few words why there was no answer, and whether another try may help."""
    error = failure.value
    if isinstance(error, IgnoreRequest):
        text = str(error)
        return ("robots.txt" if "robots.txt" in text else text or "refused"), False
    if isinstance(error, DownloadCancelledError):
        return "longer than allowed", False
    if isinstance(error, DNSLookupError) or "Resolv" in type(error).__name__:
        if was_blocked(split(url).host):
            return PRIVATE, False
        return "its name is not known", True
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}", True
