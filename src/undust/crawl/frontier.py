"""The durable frontier: every URL that was found, what became of it, and the pages; one SQLite file, one transaction.

What a page changes (its row, its links, the place in the archive) is written together or not at all: a crawl that is
killed at any moment goes on from the last transaction, refetches what was in flight, and forgets nothing.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from undust.crawl.signatures import signature
from undust.errors import InputError, OutputError

PENDING, DONE, FAILED, SKIPPED = range(4)
"""States of a URL. Skipped: a rule says that another URL leads to the same page."""

FORMAT = 1
APPLICATION = int.from_bytes(b"undc", "big")

_TABLES = """
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL, own BLOB NOT NULL, key BLOB NOT NULL, state INTEGER NOT NULL,
    pattern INTEGER NOT NULL, rule INTEGER, depth INTEGER NOT NULL, hops INTEGER NOT NULL, stale INTEGER NOT NULL,
    source INTEGER, tries INTEGER NOT NULL DEFAULT 0, seed INTEGER NOT NULL DEFAULT 0,
    checking INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX urls_own ON urls (own);
CREATE INDEX urls_key ON urls (key);
CREATE INDEX urls_state ON urls (state, pattern, depth, id);
CREATE INDEX urls_rule ON urls (rule, own) WHERE state = 3;
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, status INTEGER, mime TEXT, bytes INTEGER NOT NULL, digest BLOB, content BLOB, cluster BLOB,
    lines BLOB, location TEXT, canonical TEXT, record TEXT, time INTEGER NOT NULL, error TEXT
);
CREATE INDEX pages_digest ON pages (digest);
CREATE INDEX pages_content ON pages (content);
CREATE INDEX pages_cluster ON pages (cluster);
CREATE TABLE patterns (
    number INTEGER PRIMARY KEY, name TEXT, host TEXT, features TEXT, fetched INTEGER, fresh INTEGER, worth REAL,
    dry INTEGER
);
CREATE TABLE rules (
    number INTEGER PRIMARY KEY, line TEXT NOT NULL UNIQUE, state TEXT NOT NULL, checks INTEGER NOT NULL DEFAULT 0,
    misses INTEGER NOT NULL DEFAULT 0, why TEXT
);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE refused (why TEXT PRIMARY KEY, count INTEGER NOT NULL);
"""


class Link(NamedTuple):
    """A URL that is to be fetched."""

    id: int
    url: str
    pattern: int
    depth: int
    hops: int
    stale: int
    tries: int
    key: bytes


_LINK = "id, url, pattern, depth, hops, stale, tries, key"


class Found(NamedTuple):
    """A URL that was found, as it goes into the frontier."""

    url: str
    own: bytes
    key: bytes
    state: int
    pattern: int
    rule: int | None
    depth: int
    hops: int
    stale: int
    source: int | None
    seed: bool = False


class Frontier:
    """The state of a crawl in a file. Nothing is durable before `commit`."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        try:
            uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
            self.base = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)
            self.base.execute("PRAGMA cache_size = -65536")
            if not read_only:
                self._open()
        except sqlite3.Error as error:
            raise told(path, error) from error

    def _open(self) -> None:
        owner = self.base.execute("PRAGMA application_id").fetchone()[0]
        tables = self.base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and owner != APPLICATION:
            raise InputError(f"{self.path}: a SQLite file of another program, no crawl; choose another folder")
        version = self.base.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise InputError(
                f"{self.path}: a crawl of format {version}; this undust knows {FORMAT}: use a newer undust"
            )
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.execute("PRAGMA synchronous = NORMAL")
        if not tables:
            self.base.execute("BEGIN IMMEDIATE")
            for statement in _TABLES.split(";"):
                self.base.execute(statement)
            self.base.execute(f"PRAGMA application_id = {APPLICATION}")
            self.base.execute(f"PRAGMA user_version = {FORMAT}")
            self.base.execute("COMMIT")

    def execute(self, statement: str, values: Iterable[Any] = ()) -> sqlite3.Cursor:
        """Run a statement; the first that changes something begins the transaction that `commit` ends."""
        try:
            if not self.base.in_transaction and not statement.startswith("SELECT"):
                self.base.execute("BEGIN IMMEDIATE")
            return self.base.execute(statement, tuple(values))
        except sqlite3.Error as error:
            raise told(self.path, error) from error

    def execute_many(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement that changes something for many rows."""
        try:
            if not self.base.in_transaction:
                self.base.execute("BEGIN IMMEDIATE")
            self.base.executemany(statement, rows)
        except sqlite3.Error as error:
            raise told(self.path, error) from error

    def commit(self) -> None:
        """Make durable what has changed."""
        try:
            if self.base.in_transaction:
                self.base.execute("COMMIT")
        except sqlite3.Error as error:
            raise told(self.path, error) from error

    def close(self) -> None:
        """Give back the file; what is not committed is undone."""
        self.base.close()

    # ------------------------------------------------------------ URLs

    def add(self, found: Found) -> int:
        """Put a URL in; the caller knows that it is new."""
        done = self.execute(
            "INSERT INTO urls (url, own, key, state, pattern, rule, depth, hops, stale, source, seed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            found,
        )
        return int(done.lastrowid or 0)

    def id_of(self, own: bytes) -> int | None:
        """Give the number of a URL by its signature; None if it was never found."""
        row = self.execute("SELECT id FROM urls WHERE own = ?", (own,)).fetchone()
        return None if row is None else int(row[0])

    def holder(self, key: bytes) -> tuple[int, int] | None:
        """Give number and state of the URL that stands for a key: fetched or to be fetched; None if there is none."""
        row = self.execute(
            "SELECT u.id, u.state FROM urls u LEFT JOIN pages p ON p.id = u.id WHERE u.key = ? AND u.state IN (0, 1)"
            " AND checking = 0 AND coalesce(p.status, 200) < 400 LIMIT 1",
            (key,),
        ).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def waiting(self, pattern: int, limit: int, state: int = PENDING) -> list[Link]:
        """Give URLs of a pattern that are to be fetched, the shallow ones first."""
        rows = self.execute(
            f"SELECT {_LINK} FROM urls WHERE state = ? AND pattern = ? ORDER BY depth, id LIMIT ?",  # noqa: S608 - a constant
            (state, pattern, limit),
        )
        return [Link(*row) for row in rows]

    def counts_by_pattern(self) -> Iterator[tuple[int, int]]:
        """Give how many URLs of each pattern are to be fetched."""
        yield from self.execute("SELECT pattern, count(*) FROM urls WHERE state = 0 GROUP BY pattern")

    def link(self, number: int) -> Link:
        """Give one URL."""
        return Link(*self.execute(f"SELECT {_LINK} FROM urls WHERE id = ?", (number,)).fetchone())  # noqa: S608 - a constant

    def count(self, state: int) -> int:
        """Count URLs in a state."""
        return int(self.execute("SELECT count(*) FROM urls WHERE state = ?", (state,)).fetchone()[0])

    def refuse(self, why: str) -> None:
        """Count a link that is not followed."""
        self.execute("INSERT INTO refused VALUES (?, 1) ON CONFLICT (why) DO UPDATE SET count = count + 1", (why,))

    # ------------------------------------------------------------ settings

    def get(self, name: str) -> str | None:
        """Give a setting; None if there is none of this name."""
        row = self.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set(self, name: str, value: str) -> None:
        """Keep a setting."""
        self.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))


def own_signature(url: str, salt: int) -> bytes:
    """Give the signature of a URL as it is spelled in standard form."""
    return signature(url, salt)


def told(path: Path, error: sqlite3.Error) -> InputError | OutputError:
    """Say in a line what SQLite found."""
    text = str(error)
    if any(word in text for word in ("malformed", "not a database", "corrupt")):
        return InputError(f"{path}: no state of a crawl, or a damaged one ({text}); begin in another folder")
    return OutputError(f"{path}: cannot be written ({text}); make room, then go on with --resume")
