"""The embedded store: one SQLite file, which survives `kill -9`; several processes of a machine may open it."""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from types import TracebackType

from undust.crawl.store import FORMAT, checked, paired
from undust.errors import InputError, OutputError, UndustError

APPLICATION = int.from_bytes(b"undu", "big")
"""Where SQLite files say whose they are."""

BUSY_SECONDS = 60
"""How long a call waits for another process that writes, which takes microseconds at a time."""

CHECKPOINT_PAGES = 4096
"""The log is copied into the file when it has so many pages. More: fewer waits for the disk, a longer log."""

CACHE_KIB = 65_536

FEW = 4
"""Signatures that are looked for by one statement: those of a URL."""

# Signatures are the key of the table itself: no row numbers, no second tree. Measured: docs/seen.md
_TABLES = """
CREATE TABLE urls (signature BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE pages (signature BLOB PRIMARY KEY, url TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_FULL = ("full", "disk I/O error")
_DAMAGED = ("malformed", "not a database", "corrupt")


class SqliteStore:
    """Signatures in a SQLite file with a write-ahead log.

    A call that changes something is one transaction: when it returns, its pages are with the system, and outlive this
    process. With `sync`, or after `flush`, they are on the disk, and outlive a crash of the machine. Without, such a
    crash may undo the last moments, in whole transactions.
    """

    def __init__(self, path: str | os.PathLike[str], *, sync: bool = False) -> None:
        self._path = Path(path)
        self._sync = sync
        self._guard = threading.RLock()
        self._unflushed = False
        try:
            self._base = sqlite3.connect(
                self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._told(error) from error
        try:
            with self._errors():
                self._open()
        except BaseException:
            self._base.close()
            raise

    def add_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Remember signatures of URLs; tell which were new."""
        with self._guard, self._errors():
            new = [not known for known in self._known(checked(signatures))]
            if any(new):  # a look costs less than the right to write, and most links are known
                # In the order of the tree, so that a large batch writes each page of it once; equal ones stay in order.
                wanted = sorted(compress(range(len(new)), new), key=signatures.__getitem__)
                with self._changing() as base:
                    for place in wanted:
                        done = base.execute("INSERT OR IGNORE INTO urls VALUES (?)", (signatures[place],))
                        new[place] = done.rowcount > 0
            return new

    def known_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Tell which signatures of URLs are remembered."""
        with self._guard, self._errors():
            return self._known(checked(signatures))

    def forget_urls(self, signatures: Sequence[bytes]) -> int:
        """Forget signatures of URLs; count those that were there."""
        with self._guard, self._errors(), self._changing() as base:
            done = base.executemany("DELETE FROM urls WHERE signature = ?", [(one,) for one in checked(signatures)])
            return max(done.rowcount, 0)

    def first_page(self, signature: bytes) -> str | None:
        """Give the URL of the first page with a content; None if there was none."""
        with self._guard, self._errors():
            return self._first(checked([signature])[0])

    def add_page(self, signature: bytes, url: str) -> str | None:
        """Remember the content of a page; give the URL of the first page that had it."""
        return self.add_pages([signature], [url])[0]

    def add_pages(self, signatures: Sequence[bytes], urls: Sequence[str]) -> list[str | None]:
        """Do the same for many."""
        pairs = paired(signatures, urls)
        with self._guard, self._errors():
            firsts = [self._first(signature) for signature, _ in pairs]
            if None in firsts:
                with self._changing() as base:
                    for place, pair in enumerate(pairs):
                        if firsts[place] is None:
                            base.execute("INSERT OR IGNORE INTO pages VALUES (?, ?)", pair)
                            firsts[place] = self._first(pair[0])
        return [None if first == url else first for first, url in zip(firsts, urls, strict=True)]

    def get_setting(self, name: str) -> str | None:
        """Give a setting; None if there is none of this name."""
        with self._guard, self._errors():
            found = self._base.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
            return None if found is None else str(found[0])

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""
        with self._guard, self._errors(), self._changing() as base:
            base.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def settle(self, name: str, value: str) -> str:
        """Keep a setting unless there is one already; give the one that holds."""
        with self._guard, self._errors():
            found = self.get_setting(name)
            if found is None:
                with self._changing() as base:
                    base.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", (name, value))
                found = self.get_setting(name)
            return value if found is None else found

    def flush(self) -> None:
        """Bring what was acknowledged to the disk."""
        with self._guard, self._errors():
            if self._unflushed and not self._sync:
                # A transaction that is waited for brings all before it along: the log is one file.
                self._base.execute("PRAGMA synchronous = FULL")
                try:
                    self.set_setting("flushed", str(time.time_ns()))
                finally:
                    self._base.execute("PRAGMA synchronous = NORMAL")
            self._unflushed = False

    def close(self) -> None:
        """Flush, copy the log into the file, and close it."""
        with self._guard, self._errors():
            try:
                with contextlib.suppress(sqlite3.ProgrammingError):  # closed before
                    self.flush()
            finally:
                self._base.close()

    def __enter__(self) -> "SqliteStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        self._base.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        if self._is_new():
            with self._changing() as base:
                if self._is_new():  # nobody was faster
                    for statement in _TABLES.split(";"):
                        base.execute(statement)
                    base.execute(f"PRAGMA application_id = {APPLICATION}")
                    base.execute(f"PRAGMA user_version = {FORMAT}")
        self._use_log()
        self._base.execute(f"PRAGMA synchronous = {'FULL' if self._sync else 'NORMAL'}")
        self._base.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        self._base.execute(f"PRAGMA journal_size_limit = {2 * CHECKPOINT_PAGES * 4096}")

    def _is_new(self) -> bool:
        """Tell whether the file is empty; refuse it if it is anything but a store that this undust can use."""
        owner, version, tables = (
            self._base.execute(question).fetchone()[0]
            for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if not (owner or version or tables):
            return True
        if owner != APPLICATION:
            raise InputError(f"{self._path}: a SQLite file of another program, no store; choose another path")
        if version > FORMAT:
            raise InputError(
                f"{self._path}: a store of format {version}; this undust knows {FORMAT}: use a newer undust"
            )
        return False

    def _use_log(self) -> None:
        """Write changes to a log beside the file first; others may be about to do the same."""
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _known(self, signatures: Sequence[bytes]) -> list[bool]:
        ask, question = self._base.execute, "SELECT 1 FROM urls WHERE signature = ?"
        if len(signatures) <= FEW:  # one statement, which is one look by itself
            places = ", ".join("?" * len(signatures))
            found = ask(f"SELECT signature FROM urls WHERE signature IN ({places})", signatures)  # noqa: S608 - marks
            there = {row[0] for row in found}
            return [signature in there for signature in signatures]
        ask("BEGIN")  # one look at what others have written, not one for each
        try:
            return [ask(question, (signature,)).fetchone() is not None for signature in signatures]
        finally:
            if self._base.in_transaction:  # an error may have ended it
                ask("COMMIT")

    def _first(self, signature: bytes) -> str | None:
        found = self._base.execute("SELECT url FROM pages WHERE signature = ?", (signature,)).fetchone()
        return None if found is None else str(found[0])

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: whole when the block ends well, undone when not."""
        base = self._base
        base.execute("BEGIN IMMEDIATE")
        try:
            yield base
            base.execute("COMMIT")
        except BaseException:
            if base.in_transaction:  # a full disk has ended it already
                base.execute("ROLLBACK")
            raise
        self._unflushed = True

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._told(error) from error

    def _told(self, error: sqlite3.Error) -> UndustError:
        text = str(error)
        if any(word in text for word in _DAMAGED):
            return InputError(f"{self._path}: no store, or a damaged one ({text}); bring it back from a copy")
        if any(word in text for word in _FULL):
            return OutputError(
                f"{self._path}: cannot be written ({text}); what was acknowledged is safe: make room and go on"
            )
        if "locked" in text:
            return OutputError(f"{self._path}: another process has been writing to it for {BUSY_SECONDS} seconds")
        if "closed" in text:
            return OutputError(f"{self._path}: the store is closed; open it again")
        return OutputError(f"{self._path}: cannot be opened or written ({text}); choose a folder that exists")
