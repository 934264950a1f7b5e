"""The loop of a crawl: what to fetch next, and what an answer changes. It knows no network and no clock.

next ──> fetched ──> page, links ──> frontier ──> next
            │                           ↑
            └── evidence ──> rules ── skip, check
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import orjson

from undust.crawl.archive import Archive, Headers
from undust.crawl.frontier import FAILED, Frontier, Link, own_signature
from undust.crawl.intake import Intake
from undust.crawl.learning import Learned
from undust.crawl.novelty import Novelty
from undust.crawl.options import Options
from undust.crawl.patterns import Patterns
from undust.crawl.queue import Queue
from undust.crawl.rulebook import Rulebook
from undust.crawl.scope import scope_of
from undust.errors import InputError, UrlError
from undust.index.online import Index
from undust.rules.ruleset import RuleSet
from undust.urls.normalize import normalize

STATE = "state.sqlite"
ARCHIVE = "archive"

RETRIED = frozenset({408, 429, 500, 502, 503, 504, 522, 524})

FIRST_LEARNING = 40
"""Pages after which rules are learned for the first time …"""

LEARNING_GROWTH = 1.3
"""… and by how many times more it must be before they are learned again: the cost stays a share of the crawl."""

COMMIT_PAGES = 64

REMEMBERED = 20_000
"""URLs of an earlier run that are looked at again for the values that tell patterns apart; the first decide."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Headers
    body: bytes
    content_type: str
    time: datetime
    cut: bool = False
    location: str | None = None


@dataclass(slots=True)
class Counts:
    """What is counted as it happens, and kept with the frontier."""

    requests: int = 0
    bytes: int = 0
    unique: int = 0
    duplicates: int = 0
    failed: int = 0
    checks: int = 0
    seconds: float = 0.0
    learned_at: int = 0
    learnings: int = 0
    failed_learnings: int = 0


class Loop:
    """A crawl in a folder, new or to be continued."""

    def __init__(self, folder: Path, options: Options, seeds: Iterable[str], rules: RuleSet | None = None) -> None:
        self.options = options
        self.frontier = Frontier(folder / STATE)
        frontier = self.frontier
        salt = int(frontier.get("salt") or 0)
        if not salt:
            import secrets

            salt = secrets.randbits(63) | 1
            frontier.set("salt", str(salt))
        if rules is not None and frontier.get("rules") is None:
            from undust.rules.files import dumps

            frontier.set("rules", dumps(rules))
        known: dict[str, float] = orjson.loads(frontier.get("counts") or "{}")
        self.counts = Counts(**known)  # type: ignore[arg-type] # the values of JSON
        number, length = (int(part) for part in (frontier.get("archive") or "0:0").split(":"))
        self.archive = Archive(folder / ARCHIVE, number, length)
        self.patterns = _patterns(frontier)
        self.rulebook = Rulebook(frontier, salt, rules or RuleSet())
        urls = _starts(seeds, frontier)
        scope = scope_of(
            urls,
            hosts_only=options.scope == "host",
            extra_hosts=options.extra_hosts,
            max_url_bytes=options.max_url_bytes,
        )
        self.queue = Queue(frontier, self.patterns, options.per_host)
        self.intake = Intake(
            frontier, self.archive, self.patterns, self.rulebook, self.queue, scope, options, salt, Novelty(frontier),
            _near(folder, options),
        )  # fmt: skip
        self._uncommitted = 0
        self._exam = False
        for url in urls:
            if frontier.id_of(own_signature(url, salt)) is None:
                self.intake.seed(url)
        self.commit()

    # ------------------------------------------------------------ what is next

    @property
    def busy(self) -> bool:
        """Whether an answer is waited for."""
        return bool(self.queue.flying)

    @property
    def over_limit(self) -> bool:
        """Whether as many requests were made, or as much time has passed, as may be."""
        options, counts = self.options, self.counts
        return bool(
            (options.max_pages and counts.requests >= options.max_pages)
            or (options.max_seconds and counts.seconds >= options.max_seconds)
        )

    def next(self, now: float) -> Link | None:
        """Give the next URL to fetch; None if there is none at the moment."""
        if self.over_limit:
            return None
        link = self._check(last=False) or self.queue.next(now)
        if link is None and not self.busy and self.queue.delayed_until is None and self._exam:
            link = self._check(last=True)
        if link is not None:
            self.counts.requests += 1
        return link

    def _check(self, *, last: bool) -> Link | None:
        if not self.options.learn or (
            not last and self.counts.checks > 5 + 2 * self.options.explore * self.counts.requests
        ):
            return None
        link = self.rulebook.next_check(self.options.explore, last=last)
        if link is None:
            return None
        self.counts.checks += 1
        return self.queue.start(link)

    @property
    def has_more(self) -> bool:
        """Whether there is anything left to fetch or to wait for."""
        return bool(self.busy or self.queue.waiting or self.queue.delayed_until is not None)

    @property
    def learning_due(self) -> bool:
        """Whether there is so much new evidence that rules should be learned."""
        if not self.options.learn:
            return False
        pages = self.counts.unique + self.counts.duplicates
        return pages >= max(FIRST_LEARNING, LEARNING_GROWTH * self.counts.learned_at)

    def begin_exam(self) -> bool:
        """When nothing is left: learn once more if there is new evidence (True), else begin the last checks."""
        pages = self.counts.unique + self.counts.duplicates
        if self.options.learn and pages >= FIRST_LEARNING and pages > 1.02 * self.counts.learned_at:
            return True
        self._exam = True
        return False

    # ------------------------------------------------------------ what has come

    def fetched(self, link: Link, answer: Answer, now: float) -> None:
        """Take in an answer."""
        self.counts.bytes += len(answer.body)
        if answer.status in RETRIED and self._again(link, now):
            return
        self.queue.landed(link)
        result = self.intake.page(link, answer)
        self.counts.unique += result.unique
        self.counts.duplicates += result.duplicate
        if answer.status in RETRIED:
            self.counts.failed += 1
        self._changed()

    def failed(self, link: Link, why: str, now: float, *, retry: bool = True) -> None:
        """Take in that no answer came."""
        if retry and self._again(link, now):
            return
        self.queue.landed(link)
        self.intake.failure(link, why, FAILED)
        self.counts.failed += 1
        self._changed()

    def _again(self, link: Link, now: float) -> bool:
        """Put a URL back to be tried again, later each time; False if it was tried often enough."""
        if link.tries >= self.options.retries:
            return False
        self.queue.landed(link)
        self.frontier.execute("UPDATE urls SET tries = tries + 1 WHERE id = ?", (link.id,))
        self.queue.delay(link, now + min(0.5 * 4**link.tries, 60.0))
        self._changed()
        return True

    def learned(self, learned: Learned) -> None:
        """Put what was learned to use."""
        self.frontier.execute_many(
            "UPDATE pages SET cluster = ? WHERE id = ?", zip(learned.clusters, learned.pages, strict=True)
        )
        self.intake.use_common(learned.common)
        self.rulebook.replace(learned.rules, self.queue.flying)
        self.counts.learnings += 1
        self.queue.refresh()
        self.commit()

    def _changed(self) -> None:
        self._uncommitted += 1
        if self._uncommitted >= COMMIT_PAGES:
            self.commit()

    def commit(self) -> None:
        """Make durable what has happened: archive first, then the state that knows how long it is."""
        self.archive.flush()
        frontier = self.frontier
        frontier.set("archive", f"{self.archive.number}:{self.archive.length}")
        frontier.set("counts", orjson.dumps(self.counts).decode())
        frontier.execute_many(
            "INSERT OR REPLACE INTO patterns VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (one.number, one.name, one.host, "\n".join(one.features), one.fetched, one.fresh, one.worth, one.dry)
                for one in self.patterns.changed()
            ],
        )
        frontier.commit()
        self._uncommitted = 0

    def close(self) -> None:
        """Commit, and give back files."""
        self.commit()
        self.intake.close()
        self.archive.close()
        self.frontier.close()


def _starts(seeds: Iterable[str], frontier: Frontier) -> list[str]:
    """Give the start URLs in standard form: those given, or those that the crawl began with."""
    before = orjson.loads(frontier.get("seeds") or "[]")
    urls = list(dict.fromkeys([*before, *start_urls(seeds)]))
    frontier.set("seeds", orjson.dumps(urls).decode())
    return urls


def start_urls(given: Iterable[str]) -> list[str]:
    """Give URLs that people wrote in standard form; `InputError` for one that is none of the web."""
    urls = []
    for url in given:
        try:
            normal = normalize(url if "://" in url else f"https://{url}")
        except UrlError as error:
            raise InputError(f"{url}: {error}; give a URL like https://example.com/") from error
        if not normal.startswith(("http://", "https://")):
            raise InputError(f"{url}: no URL of the web; give one like https://example.com/")
        urls.append(normal)
    return urls


def _near(folder: Path, options: Options) -> Index | None:
    """Give the index of pages that are alike, if such count as duplicates."""
    if options.duplicates != "near":
        return None
    return Index(folder / "near", methods=("minhash",), threshold=options.threshold, content="main", sync=False)


def _patterns(frontier: Frontier) -> Patterns:
    """Bring back the patterns of an earlier run."""
    patterns = Patterns()
    rows = frontier.execute("SELECT name, host, features, fetched, fresh, worth, dry FROM patterns ORDER BY number")
    for name, host, features, fetched, fresh, worth, dry in rows:
        one = patterns.add(name, host, tuple(features.split("\n")))
        one.fetched, one.fresh, one.worth, one.dry = fetched, fresh, worth, dry
    patterns.relearn()
    for (url,) in frontier.execute("SELECT url FROM urls ORDER BY id LIMIT ?", (REMEMBERED,)):
        patterns.remember(url)
    patterns.changed()
    return patterns
