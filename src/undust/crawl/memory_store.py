"""A store in memory, for crawls that nobody resumes."""

import threading
from collections.abc import Sequence
from types import TracebackType

from undust.crawl.store import checked, paired


class MemoryStore:
    """Signatures in a set and a dict: about 100 bytes for each, gone when the process ends."""

    def __init__(self) -> None:
        self._urls: set[bytes] = set()
        self._pages: dict[bytes, str] = {}
        self._settings: dict[str, str] = {}
        self._guard = threading.Lock()

    def add_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Remember signatures of URLs; tell which were new."""
        with self._guard:
            new = []
            for signature in checked(signatures):
                new.append(signature not in self._urls)
                self._urls.add(signature)
            return new

    def known_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Tell which signatures of URLs are remembered."""
        return [signature in self._urls for signature in checked(signatures)]

    def forget_urls(self, signatures: Sequence[bytes]) -> int:
        """Forget signatures of URLs; count those that were there."""
        with self._guard:
            before = len(self._urls)
            self._urls.difference_update(checked(signatures))
            return before - len(self._urls)

    def first_page(self, signature: bytes) -> str | None:
        """Give the URL of the first page with a content; None if there was none."""
        return self._pages.get(checked([signature])[0])

    def add_page(self, signature: bytes, url: str) -> str | None:
        """Remember the content of a page; give the URL of the first page that had it."""
        return self.add_pages([signature], [url])[0]

    def add_pages(self, signatures: Sequence[bytes], urls: Sequence[str]) -> list[str | None]:
        """Do the same for many."""
        with self._guard:
            firsts = [self._pages.setdefault(one, url) for one, url in paired(signatures, urls)]
        return [None if first == url else first for first, url in zip(firsts, urls, strict=True)]

    def get_setting(self, name: str) -> str | None:
        """Give a setting; None if there is none of this name."""
        return self._settings.get(name)

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""
        self._settings[name] = value

    def settle(self, name: str, value: str) -> str:
        """Keep a setting unless there is one already; give the one that holds."""
        return self._settings.setdefault(name, value)

    def flush(self) -> None:
        """Do nothing: there is nothing beyond memory."""

    def close(self) -> None:
        """Forget everything."""
        self._urls, self._pages, self._settings = set(), {}, {}

    def __enter__(self) -> "MemoryStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
