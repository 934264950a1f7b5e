"""`Seen(path)`: the two checks of a crawler, by URL before it fetches and by content after it; for any crawler."""

import os
from collections.abc import Iterable
from types import TracebackType

from undust.crawl.asked import Asked, UrlSigner, ask, known
from undust.crawl.contents import content_signer
from undust.crawl.signatures import salt_of
from undust.crawl.store import open_store
from undust.errors import UrlError, UsageError
from undust.rules.ruleset import RuleSet


class Seen:
    """What a crawler has asked for, and what it has found there, in a store that outlives it.

    `path` is a file, or `redis://…` or `postgresql://…` for crawlers on several machines. `rules` are those in force: a
    rule set or the path of a rule file. They may be others each time; docs/seen.md says what that means. Threads may
    share it. What a call has returned is safe from `kill -9`; with `sync`, also from a crash of the machine.

    >>> with Seen(":memory:") as seen:
    ...     seen.seen_url("http://a.test/"), seen.seen_url("HTTP://A.test:80/#top")
    ...     seen.seen_page("http://a.test/", b"<p>One"), seen.seen_page("http://a.test/b", b"<p>One")
    (False, True)
    (None, 'http://a.test/')
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        rules: RuleSet | str | os.PathLike[str] | None = None,
        *,
        content: str = "body",
        sync: bool = False,
    ) -> None:
        content_signer(content, 0)  # a wrong word should not make a file
        if not isinstance(rules, RuleSet | None):
            from undust.rule_files import load_rules

            rules = load_rules(rules)
        self._store = open_store(path, sync=sync)
        try:
            kept = self._store.settle("content", content)
            if kept != content:
                raise UsageError(
                    f"{path}: contents are compared by {kept} here, not by {content}; say content={kept!r}"
                )
            salt = salt_of(self._store)
        except BaseException:
            self._store.close()
            raise
        self._signer = UrlSigner(rules, salt)
        self._content = content_signer(content, salt)

    def seen_url(self, url: str) -> bool:
        """Tell whether the page of a URL was asked for before; if not, remember it. `UrlError` if it is no URL."""
        return ask(self._store, [self._signer.of(url)])[0]

    def seen_urls(self, urls: Iterable[str]) -> list[bool | None]:
        """Tell the same of many, one after the other; None where a URL cannot be parsed."""
        asked = self._signed(urls)
        answers = iter(ask(self._store, [one for one in asked if one is not None]))
        return [None if one is None else next(answers) for one in asked]

    def known_url(self, url: str) -> bool:
        """Tell what `seen_url` would, and remember nothing."""
        return known(self._store, [self._signer.of(url)])[0]

    def known_urls(self, urls: Iterable[str]) -> list[bool | None]:
        """Tell the same of many, of each alone; None where a URL cannot be parsed."""
        asked = self._signed(urls)
        answers = iter(known(self._store, [one for one in asked if one is not None]))
        return [None if one is None else next(answers) for one in asked]

    def forget_url(self, url: str) -> bool:
        """Forget that a URL was asked for, as when its server had no answer; True if it was known."""
        asked = self._signer.of(url)
        return self._store.forget_urls(list({*asked.known, *asked.remembered})) > 0

    def seen_page(self, url: str, body: bytes | str) -> str | None:
        """Give the URL of the first page with the same content; None if there is none but this.

        Pages without content are never the same as others. `UrlError` if it is no URL.
        """
        standard = self._signer.of(url).standard
        signature = self._content(body)
        return None if signature is None else self._store.add_page(signature, standard)

    def seen_pages(self, pages: Iterable[tuple[str, bytes | str]]) -> list[str | None]:
        """Tell the same of many, one after the other; None also where a URL cannot be parsed."""
        signatures, urls, places = [], [], []
        answers: list[str | None] = []
        for url, body in pages:
            asked = self._signed([url])[0]
            signature = None if asked is None else self._content(body)
            if asked is not None and signature is not None:
                signatures.append(signature)
                urls.append(asked.standard)
                places.append(len(answers))
            answers.append(None)
        for place, first in zip(places, self._store.add_pages(signatures, urls), strict=True):
            answers[place] = first
        return answers

    def flush(self) -> None:
        """Return when all of it would survive a crash of the machine."""
        self._store.flush()

    def close(self) -> None:
        """Flush, and close the store."""
        self._store.close()

    def __enter__(self) -> "Seen":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _signed(self, urls: Iterable[str]) -> list[Asked | None]:
        asked: list[Asked | None] = []
        for url in urls:
            try:
                asked.append(self._signer.of(url))
            except UrlError:
                asked.append(None)
        return asked
