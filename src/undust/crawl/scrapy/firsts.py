"""Which page had a content first: asked of the store at once, and written there together with others."""

import time

from undust.crawl.store import Store

COMMIT_SECONDS = 1.0
COMMIT_TOGETHER = 500
"""What was fetched is written together, after so long or so many: a transaction costs as much as ten signatures."""


class Firsts:
    """The contents of a crawl, in front of its store.

    With `at_once` each is written when it comes, so that several crawlers agree on who was first.
    """

    def __init__(self, store: Store, *, at_once: bool) -> None:
        self._store, self._at_once = store, at_once
        self._new: dict[bytes, str] = {}
        self._written = time.monotonic()

    def of(self, signature: bytes, url: str) -> str | None:
        """Give the URL of the first page with a content; if there was none but this, remember it, and give None."""
        if self._at_once:
            return self._store.add_page(signature, url)
        first = self._new.get(signature) or self._store.first_page(signature)
        if first is None:
            self._new[signature] = url
            if len(self._new) >= COMMIT_TOGETHER or time.monotonic() > self._written + COMMIT_SECONDS:
                self.write()
        return None if first == url else first

    def write(self) -> None:
        """Write what is new to the store."""
        if self._new:
            self._store.add_pages(list(self._new), list(self._new.values()))
            self._new = {}
        self._written = time.monotonic()
