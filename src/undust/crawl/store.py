"""What a crawler remembers: the role of a store of signatures, and the store that a setting names.

>>> with open_store(":memory:") as store:
...     store.add_urls([b"0123456789abcdef"]), store.add_urls([b"0123456789abcdef"])
([True], [False])
"""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

from undust.errors import UsageError

FORMAT = 1
"""Version of what is stored, for all kinds of stores. A newer one is refused."""

SIGNATURE_BYTES = 16


class Store(Protocol):
    """Signatures of URLs and of contents, each 16 bytes, and a few settings beside them.

    A call that changes something is acknowledged when it returns: from then on `kill -9` of this process loses nothing
    of it. `flush` makes it outlive a crash of the machine as well. A call that fails has changed nothing that counts.
    Threads may share a store, and processes may open the same one.
    """

    def add_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Remember signatures of URLs; tell which were new. Of equal ones in a batch only the first is."""
        ...

    def known_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Tell which signatures of URLs are remembered."""
        ...

    def forget_urls(self, signatures: Sequence[bytes]) -> int:
        """Forget signatures of URLs, as when a rule is withdrawn; count those that were there."""
        ...

    def first_page(self, signature: bytes) -> str | None:
        """Give the URL of the first page with a content; None if there was none. Nothing is remembered."""
        ...

    def add_page(self, signature: bytes, url: str) -> str | None:
        """Remember the content of a page; give the URL of the first page that had it.

        None if there was none before, or if it was this very URL: a page that is fetched again is no duplicate.
        """
        ...

    def add_pages(self, signatures: Sequence[bytes], urls: Sequence[str]) -> list[str | None]:
        """Do the same for many, one after the other."""
        ...

    def get_setting(self, name: str) -> str | None:
        """Give a setting that is kept beside the signatures; None if there is none of this name."""
        ...

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting beside the signatures, whatever was there."""
        ...

    def settle(self, name: str, value: str) -> str:
        """Keep a setting unless there is one already; give the one that holds. All processes get the same."""
        ...

    def flush(self) -> None:
        """Return when what was acknowledged would survive a crash of the machine, as far as the store can do that."""
        ...

    def close(self) -> None:
        """Flush, and give back files and connections."""
        ...

    def __enter__(self) -> "Store": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


def open_store(place: str | os.PathLike[str], *, sync: bool = False) -> Store:
    """Open the store that a setting names, or make it.

    A path is a file of this machine; `redis://host/0?prefix=crawl` and `postgresql://user@host/base?prefix=crawl` are
    stores that several machines share; `:memory:` is gone when it is closed. `sync` flushes every call.
    """
    name = os.fspath(place)
    if name == ":memory:":
        from undust.crawl.memory_store import MemoryStore

        return MemoryStore()
    scheme, found, _ = name.partition("://")
    if not found:
        from undust.crawl.sqlite_store import SqliteStore

        return SqliteStore(name, sync=sync)
    if scheme in ("redis", "rediss", "unix"):
        from undust.crawl.redis_store import RedisStore

        return RedisStore(name)
    if scheme in ("postgresql", "postgres"):
        from undust.crawl.postgres_store import PostgresStore

        return PostgresStore(name)
    raise UsageError(f"{name}: no such kind of store; give the path of a file, redis://… or postgresql://…")


def checked(signatures: Sequence[bytes]) -> Sequence[bytes]:
    """Give the signatures if all have 16 bytes, and refuse them if not."""
    for signature in signatures:
        if len(signature) != SIGNATURE_BYTES:
            raise UsageError(f"a signature of {len(signature)} bytes; it should have {SIGNATURE_BYTES}")
    return signatures


def paired(signatures: Sequence[bytes], urls: Sequence[str]) -> list[tuple[bytes, str]]:
    """Give each signature its URL, and refuse them if there are not as many."""
    if len(signatures) != len(urls):
        raise UsageError(f"{len(signatures)} signatures and {len(urls)} URLs; give one URL for each")
    return list(zip(checked(signatures), urls, strict=True))
