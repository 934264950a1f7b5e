"""Takes answers in: the content signature, the archive, the page's row, its links into the frontier."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

import numpy as np
import numpy.typing as npt

from undust.crawl.archive import Archive, http_head, payload_digest
from undust.crawl.evidence import LINES, NO_LINES, PageContent, content_of, read_content, sitemap_links
from undust.crawl.frontier import DONE, PENDING, SKIPPED, Found, Frontier, Link, own_signature
from undust.crawl.novelty import Novelty
from undust.crawl.options import Options
from undust.crawl.patterns import Pattern, Patterns
from undust.crawl.queue import Queue
from undust.crawl.rulebook import MAX_DEAD, Rulebook
from undust.crawl.scope import MAX_REDIRECTS, Scope
from undust.crawl.signatures import signature
from undust.index.online import Index
from undust.urls.normalize import normalize

if TYPE_CHECKING:
    from undust.crawl.loop import Answer

MAX_LINKS = 20_000
"""Links of a page that are followed, from its start."""

MAX_STALE = 20
"""Pages in a row, each linked from the one before and of its kind, that say nothing new: a calendar ends here."""

STALE_SHARE = 0.3
"""A page with less new text than this share says nothing new."""

SMALL_SHARE = 0.05
"""A checked page with less new text than this is the page that stands for its key."""

SITEMAPS = ("/robots.txt", "/sitemap.xml")  # where sites tell of their pages

_RECENT = 100_000


class Taken(NamedTuple):
    """What became of a page."""

    unique: bool
    duplicate: bool


class Intake:
    """Where answers go."""

    def __init__(
        self,
        frontier: Frontier,
        archive: Archive,
        patterns: Patterns,
        rulebook: Rulebook,
        queue: Queue,
        scope: Scope,
        options: Options,
        salt: int,
        novelty: Novelty,
        index: Index | None = None,
    ) -> None:
        self._frontier, self._archive, self._patterns, self._rulebook = frontier, archive, patterns, rulebook
        self._queue, self._scope, self._options, self._salt, self._novelty = queue, scope, options, salt, novelty
        self._recent: OrderedDict[str, None] = OrderedDict()
        raw = frontier.execute("SELECT value FROM settings WHERE name = 'common'").fetchone()
        self._index = index
        self._common = np.frombuffer(bytes.fromhex(raw[0]) if raw else b"", np.uint64)

    def use_common(self, common: npt.NDArray[np.uint64]) -> None:
        """Use other lines as those of the site."""
        self._common = common
        self._frontier.set("common", common.tobytes().hex())

    def seed(self, url: str) -> None:
        """Put a start URL into the frontier."""
        own = own_signature(url, self._salt)
        ((key, _),) = self._rulebook.decide([url])
        pattern = self._patterns.of(url)
        self._frontier.add(Found(url, own, key, PENDING, pattern.number, None, 0, 0, 0, None, seed=True))
        self._queue.added(pattern)
        if self._options.sitemaps and not url.endswith(SITEMAPS):
            for more in SITEMAPS:
                beside = normalize(urljoin(url, more))
                if self._frontier.id_of(own_signature(beside, self._salt)) is None:
                    self.seed(beside)

    def close(self) -> None:
        """Give back files."""
        if self._index is not None:
            self._index.close()

    # ------------------------------------------------------------ pages

    def page(self, link: Link, answer: "Answer") -> Taken:
        """Take in an answer, whatever its status."""
        ok = answer.status == 200
        content = self._read(link.url, answer) if ok else PageContent((), None, None, NO_LINES)
        digest = signature(answer.body)
        cluster = self._cluster(content, digest) if ok else None
        before = self._before("cluster", cluster)
        new_chars, new_share = self._novelty.take(content.lines)
        unique, record = self._archived(link, answer, content, digest) if ok else (False, None)
        self._row(link, answer, content, digest, cluster, record)
        fresh = ok and before is None
        worth = 0.0 if not fresh else 1.0 if content.text is None else 0.3 + 0.7 * min(new_chars / 300, 1.0)
        pattern = self._patterns.all[link.pattern]
        self._patterns.learn(pattern, worth, fresh=fresh)
        self._follow(link, answer, content, stale=ok and new_share < STALE_SHARE and content.text is not None)
        checked = self._checked(link, answer, content, fresh=fresh)
        if not ok and not checked:
            self._another(link)
        return Taken(unique, ok and not unique)

    def failure(self, link: Link, why: str, state: int) -> None:
        """Take in that a URL could not be fetched."""
        self._frontier.execute("UPDATE urls SET state = ? WHERE id = ?", (state, link.id))
        self._frontier.execute(
            "INSERT OR REPLACE INTO pages (id, bytes, time, error) VALUES (?, 0, unixepoch(), ?)", (link.id, why)
        )
        self._patterns.learn(self._patterns.all[link.pattern], 0.0, fresh=False)
        self._another(link)

    def _read(self, url: str, answer: "Answer") -> PageContent:
        kind = answer.content_type.partition(";")[0].strip().lower()
        links: tuple[str, ...] = ()
        if self._options.sitemaps and ("xml" in kind or "gzip" in kind or url.endswith(SITEMAPS)):
            links = sitemap_links(answer.body)
        if kind and not (kind.startswith("text/") or kind.endswith(("html", "xml"))):
            return PageContent(links, None, None, NO_LINES)
        found = read_content(url, answer.body, answer.content_type)
        return found if "html" in kind or not kind else PageContent(links, None, found.text, found.lines)

    def _cluster(self, content: PageContent, digest: bytes) -> bytes:
        if content.text is None:
            return digest
        return content_of(content.lines, self._common)

    def _before(self, column: str, value: bytes | None) -> str | None:
        """Give the URL of a page that has a signature."""
        row = self._frontier.execute(
            f"SELECT u.url FROM pages p JOIN urls u ON u.id = p.id WHERE p.{column} = ? ORDER BY p.rowid LIMIT 1",  # noqa: S608 - a constant
            (value,),
        ).fetchone()
        return None if row is None else str(row[0])

    def _archived(self, link: Link, answer: "Answer", content: PageContent, digest: bytes) -> tuple[bool, str]:
        """Write a page to the archive: whole, or that it is one that is there already."""
        place = self._archive.place()
        head = http_head(answer.status, answer.headers, len(answer.body))
        payload = payload_digest(answer.body)
        first = self._before("digest", digest)
        same_body = first is not None
        if first is None and self._options.duplicates != "exact" and content.text is not None:
            first = self._before("content", content.text)
        if self._index is not None and content.text is not None:
            told = self._index.add(link.url, answer.body)
            first = first or told.duplicate_of
        if first is None:
            self._archive.response(link.url, answer.time, head, answer.body, digest=payload)
            return True, place
        self._archive.revisit(link.url, answer.time, head, digest=payload, first=first, same_body=same_body)
        return False, place

    def _row(
        self,
        link: Link,
        answer: "Answer",
        content: PageContent,
        digest: bytes,
        cluster: bytes | None,
        record: str | None,
    ) -> None:
        self._frontier.execute("UPDATE urls SET state = ? WHERE id = ?", (DONE, link.id))
        values = (
            link.id, answer.status, answer.content_type[:200], len(answer.body), digest if cluster else None,
            content.text, cluster, content.lines.astype(LINES).tobytes() if len(content.lines) else None,
            answer.location, content.canonical, record, int(answer.time.timestamp()), "cut" if answer.cut else None,
        )  # fmt: skip
        self._frontier.execute(
            "INSERT OR REPLACE INTO pages (id, status, mime, bytes, digest, content, cluster, lines, location,"
            " canonical, record, time, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )

    # ------------------------------------------------------------ links

    def _follow(self, link: Link, answer: "Answer", content: PageContent, *, stale: bool) -> None:
        links: Iterable[str] = content.links[:MAX_LINKS]
        if content.canonical is not None:
            links = dict.fromkeys((*links, content.canonical))
        count = link.stale + 1 if stale else 0
        if answer.location is not None and 300 <= answer.status < 400:
            self._add([answer.location], link, depth=link.depth, hops=link.hops + 1, stale=link.stale)
        self._add(links, link, depth=link.depth + 1, hops=0, stale=count)

    def _add(self, urls: Iterable[str], link: Link, *, depth: int, hops: int, stale: int) -> None:
        new = list(self._new(urls))
        if not new:
            return
        too_deep = self._options.max_depth and depth > self._options.max_depth
        if hops > MAX_REDIRECTS or too_deep:
            for _ in new:
                self._frontier.refuse("deeper than asked for" if too_deep else "trap: redirects without end")
            return
        decided = self._rulebook.decide([url for url, _ in new])
        for (url, own), (key, rule) in zip(new, decided, strict=True):
            pattern = self._patterns.of(url)
            follows = stale if stale and pattern.goes_on_from(self._patterns.all[link.pattern]) else 0
            if follows > MAX_STALE:
                self._frontier.refuse("trap: pages that say nothing new")
                continue
            state, by = self._state(key, rule, pattern)
            self._frontier.add(Found(url, own, key, state, pattern.number, by, depth, hops, follows, link.id))
            if state == PENDING:
                self._queue.added(pattern)

    def _new(self, urls: Iterable[str]) -> Iterable[tuple[str, bytes]]:
        """Give URLs that were never found before, with their signatures."""
        recent = self._recent
        for url in urls:
            if url in recent:
                recent.move_to_end(url)
                continue
            recent[url] = None
            if len(recent) > _RECENT:
                recent.popitem(last=False)
            refusal = self._scope.refusal(url)
            if refusal is not None:
                self._frontier.refuse(refusal)
                continue
            own = own_signature(url, self._salt)
            if self._frontier.id_of(own) is None:
                yield url, own

    def _state(self, key: bytes, rule: int | None, pattern: Pattern) -> tuple[int, int | None]:
        """Decide whether a new URL is to be fetched."""
        if len(self._rulebook.rules):
            holder = self._frontier.holder(key)
            if holder is not None:
                if rule is None:
                    ((_, rule),) = self._rulebook.decide([self._frontier.link(holder[0]).url])
                if rule is not None:
                    self._rulebook.skipped_by[rule, pattern.number] = (
                        self._rulebook.skipped_by.get((rule, pattern.number), 0) + 1
                    )
                return SKIPPED, rule
        return PENDING, None

    # ------------------------------------------------------------ rules and traps

    def _checked(self, link: Link, answer: "Answer", content: PageContent, *, fresh: bool) -> bool:
        """Take in the result, if the URL was fetched to check a rule: it may not lead to a page that nobody knows."""
        row = self._frontier.execute("SELECT checking FROM urls WHERE id = ?", (link.id,)).fetchone()
        if not row[0]:
            return False
        if answer.status == 200:
            missed = fresh and not self._like_its_key(link, content)
            if self._rulebook.record(row[0], missed=missed, busy=self._queue.flying):
                self._queue.refresh()
        return True

    def _like_its_key(self, link: Link, content: PageContent) -> bool:
        """Tell whether a page says hardly anything that the page which stands for its key does not.

        The name of who is replied to, or the time of day, is no page of its own.
        """
        row = self._frontier.execute(
            "SELECT p.lines FROM urls u JOIN pages p ON p.id = u.id WHERE u.key = ? AND u.id != ? AND p.status = 200"
            " ORDER BY u.checking, u.id LIMIT 1",
            (link.key, link.id),
        ).fetchone()
        if row is None or row[0] is None or not len(content.lines):
            return False
        known = np.union1d(np.frombuffer(row[0], LINES)["hash"], self._common)
        new = content.lines["chars"][~np.isin(content.lines["hash"], known)]
        return int(new.sum()) < SMALL_SHARE * int(content.lines["chars"].sum())

    def _another(self, link: Link) -> None:
        """Fetch another URL of a key whose URL failed: what is gone under one name may be there under another."""
        dead = self._frontier.execute(
            "SELECT count(*) FROM urls u JOIN pages p ON p.id = u.id"
            " WHERE u.key = ? AND coalesce(p.status, 999) >= 400",
            (link.key,),
        ).fetchone()[0]
        if dead >= MAX_DEAD or self._frontier.holder(link.key) is not None:
            return
        row = self._frontier.execute(
            "SELECT id, pattern, rule FROM urls WHERE key = ? AND state = 3 ORDER BY id LIMIT 1", (link.key,)
        ).fetchone()
        if row is not None:
            self._frontier.execute("UPDATE urls SET state = 0, rule = NULL WHERE id = ?", (row[0],))
            counts = self._rulebook.skipped_by
            if (row[2], row[1]) in counts:
                counts[row[2], row[1]] -= 1
            self._queue.added(self._patterns.all[row[1]])
