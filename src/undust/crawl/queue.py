"""Which URL is fetched next: of the pattern that promises most, the shallowest; no host is asked too much at once."""

from collections import Counter, deque
from heapq import heappop, heappush

from undust.crawl.frontier import Frontier, Link
from undust.crawl.patterns import Pattern, Patterns

_BUFFER = 64
_RESCORE = 16
"""Results after which patterns are put in order anew."""


class Queue:
    """URLs to be fetched, of which only some of each pattern are in memory."""

    def __init__(self, frontier: Frontier, patterns: Patterns, per_host: int) -> None:
        self._frontier, self._patterns, self._per_host = frontier, patterns, per_host
        self._buffers: dict[int, deque[Link]] = {}
        self._order: list[Pattern] = []
        self._since = 0
        self._late: list[tuple[float, int]] = []
        self.flying: dict[int, Link] = {}
        self._hosts: Counter[str] = Counter()
        self.refresh()

    def refresh(self) -> None:
        """Count anew what waits, as after rules have changed."""
        for pattern in self._patterns.all:
            pattern.waiting = 0
        for number, count in self._frontier.counts_by_pattern():
            self._patterns.all[number].waiting = count
        for link in self.flying.values():
            self._patterns.all[link.pattern].waiting -= 1
        self._buffers.clear()
        self._order = []

    def added(self, pattern: Pattern) -> None:
        """Take note of a URL that was added to the frontier."""
        pattern.waiting += 1
        if pattern.waiting == 1:
            self._order = []

    @property
    def waiting(self) -> int:
        """URLs that are to be fetched and not on their way."""
        return sum(pattern.waiting for pattern in self._patterns.all)

    @property
    def delayed_until(self) -> float | None:
        """When the next URL that is tried again may be fetched."""
        return self._late[0][0] if self._late else None

    def delay(self, link: Link, until: float) -> None:
        """Put a URL back, to be tried again."""
        heappush(self._late, (until, link.id))

    def next(self, now: float) -> Link | None:
        """Give the next URL; it is on its way until `landed`. None if there is none, or all hosts are busy."""
        if self._late and self._late[0][0] <= now:
            return self.start(self._frontier.link(heappop(self._late)[1]))
        if not self._order or self._since >= _RESCORE:
            self._order = sorted(
                (pattern for pattern in self._patterns.all if pattern.waiting > 0),
                key=lambda pattern: (-self._patterns.score(pattern), pattern.number),
            )
            self._since = 0
        for pattern in self._order:
            if pattern.waiting > 0 and self._hosts[pattern.host] < self._per_host:
                link = self._take(pattern)
                if link is not None:
                    pattern.waiting -= 1
                    return self.start(link)
        return None

    def start(self, link: Link) -> Link:
        """Take note that a URL is on its way."""
        self.flying[link.id] = link
        self._hosts[self._patterns.all[link.pattern].host] += 1
        return link

    def landed(self, link: Link) -> None:
        """Take note that an answer has come, or none ever will."""
        self._since += 1
        if self.flying.pop(link.id, None) is not None:
            self._hosts[self._patterns.all[link.pattern].host] -= 1

    def _take(self, pattern: Pattern) -> Link | None:
        buffer = self._buffers.get(pattern.number)
        if not buffer:
            late = {number for _, number in self._late}
            found = self._frontier.waiting(pattern.number, _BUFFER + len(self.flying) + len(late))
            buffer = deque(link for link in found if link.id not in self.flying and link.id not in late)
            self._buffers[pattern.number] = buffer
        if not buffer:
            pattern.waiting = 0
            return None
        return buffer.popleft()
