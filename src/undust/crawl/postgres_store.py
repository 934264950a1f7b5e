"""A store in PostgreSQL, which several crawlers on several machines share."""

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from undust.crawl.store import FORMAT, checked, paired
from undust.errors import InputError, MissingExtraError, OutputError, UndustError, UsageError

try:
    import psycopg
    from psycopg import sql
except ImportError as error:
    raise MissingExtraError("postgresql://…: needs the psycopg package: pip install 'undust[postgres]'") from error

CONNECT_SECONDS = "10"
_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_LOCK = int.from_bytes(b"undust", "big")

# A uuid is the type of 16 bytes without a length before them.
_TABLES = (
    "CREATE TABLE IF NOT EXISTS {urls} (signature uuid PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS {pages} (signature uuid PRIMARY KEY, url text NOT NULL)",
    "CREATE TABLE IF NOT EXISTS {settings} (name text PRIMARY KEY, value text NOT NULL)",
)
# In the order of the signatures: so two crawlers with the same ones never wait for each other in a circle.
_ADD = (
    "INSERT INTO {urls} (signature) SELECT s FROM unnest(%b::uuid[]) s ORDER BY s"
    " ON CONFLICT DO NOTHING RETURNING signature"
)
_KNOWN = "SELECT signature FROM {urls} WHERE signature = ANY(%b::uuid[])"
_FORGET = (
    "DELETE FROM {urls} WHERE signature IN "
    "(SELECT signature FROM {urls} WHERE signature = ANY(%b::uuid[]) ORDER BY signature FOR UPDATE)"
)
_ADD_PAGES = (
    "INSERT INTO {pages} (signature, url)"
    " SELECT s, u FROM unnest(%b::uuid[], %b::text[]) WITH ORDINALITY t(s, u, n) ORDER BY s, n ON CONFLICT DO NOTHING"
)
_PAGES = "SELECT signature, url FROM {pages} WHERE signature = ANY(%b::uuid[])"
_GET = "SELECT value FROM {settings} WHERE name = %s"
_SET = "INSERT INTO {settings} (name, value) VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_SETTLE = "INSERT INTO {settings} (name, value) VALUES (%s, %s) ON CONFLICT DO NOTHING"


class PostgresStore:
    """Signatures in tables named by a prefix; each call is one statement or two, committed when it returns."""

    def __init__(self, place: str) -> None:
        address, _, query = place.partition("?")
        options = dict(parse_qsl(query))
        prefix = options.pop("prefix", "undust")
        if not _PREFIX.fullmatch(prefix):
            raise UsageError(f"prefix {prefix!r}: use small letters, digits and _, at most 40")
        options.setdefault("connect_timeout", CONNECT_SECONDS)
        self._place = place.rpartition("@")[2] if "@" in place else place.partition("://")[2]  # no password in messages
        self._address = f"{address}?{urlencode(options)}"
        self._tables = {name: sql.Identifier(f"{prefix}_{name}") for name in ("urls", "pages", "settings")}
        self._guard = threading.RLock()
        self._base: psycopg.Connection[Any] | None = None
        self._closed = False
        try:
            with self._errors():
                self._open(prefix)
        except BaseException:
            self.close()
            raise

    def _open(self, prefix: str) -> None:
        with self._connection() as base, base.transaction():
            base.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))  # two crawlers may start at once
            found = base.execute("SELECT to_regclass(%s)", (f'"{prefix}_settings"',)).fetchone()
            if found is None or found[0] is None:
                for statement in _TABLES:
                    base.execute(self._sql(statement))
            version = self.settle("format", str(FORMAT))
        if not version.isdigit():
            raise InputError(f"{self._place}: {prefix}_settings is no table of ours; choose another prefix")
        if int(version) > FORMAT:
            raise InputError(
                f"{self._place}: a store of format {version}; this undust knows {FORMAT}: use a newer undust"
            )

    def add_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Remember signatures of URLs; tell which were new."""
        added = self._found(_ADD, signatures)
        new = []
        for signature in signatures:
            new.append(signature in added)
            added.discard(signature)  # of equal ones only the first is new
        return new

    def known_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Tell which signatures of URLs are remembered."""
        known = self._found(_KNOWN, signatures)
        return [signature in known for signature in signatures]

    def forget_urls(self, signatures: Sequence[bytes]) -> int:
        """Forget signatures of URLs; count those that were there."""
        with self._errors(), self._connection() as base:
            return max(base.execute(self._sql(_FORGET), (_uuids(signatures),)).rowcount, 0)

    def first_page(self, signature: bytes) -> str | None:
        """Give the URL of the first page with a content; None if there was none."""
        with self._errors(), self._connection() as base:
            found = base.execute(self._sql(_PAGES), (_uuids([signature]),)).fetchone()
            return None if found is None else str(found[1])

    def add_page(self, signature: bytes, url: str) -> str | None:
        """Remember the content of a page; give the URL of the first page that had it."""
        return self.add_pages([signature], [url])[0]

    def add_pages(self, signatures: Sequence[bytes], urls: Sequence[str]) -> list[str | None]:
        """Do the same for many."""
        given = [UUID(bytes=signature) for signature, _ in paired(signatures, urls)]
        with self._errors(), self._connection() as base:
            base.execute(self._sql(_ADD_PAGES), (given, list(urls)))
            firsts = dict(base.execute(self._sql(_PAGES), (given,)).fetchall())
        return [None if firsts[one] == url else firsts[one] for one, url in zip(given, urls, strict=True)]

    def get_setting(self, name: str) -> str | None:
        """Give a setting; None if there is none of this name."""
        with self._errors(), self._connection() as base:
            found = base.execute(self._sql(_GET), (name,)).fetchone()
            return None if found is None else str(found[0])

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""
        with self._errors(), self._connection() as base:
            base.execute(self._sql(_SET), (name, value))

    def settle(self, name: str, value: str) -> str:
        """Keep a setting unless there is one already; give the one that holds."""
        with self._errors(), self._connection() as base:
            base.execute(self._sql(_SETTLE), (name, value))
            found = self.get_setting(name)
            return value if found is None else found

    def flush(self) -> None:
        """Do nothing: PostgreSQL has written to its disk what it has committed."""

    def close(self) -> None:
        """Give back the connection."""
        with self._guard:
            self._closed = True
            if self._base is not None:
                self._base.close()

    def __enter__(self) -> "PostgresStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _found(self, question: str, signatures: Sequence[bytes]) -> set[bytes]:
        if not signatures:
            return set()
        with self._errors(), self._connection() as base:
            return {one.bytes for (one,) in base.execute(self._sql(question), (_uuids(signatures),)).fetchall()}

    def _sql(self, text: str) -> sql.Composed:
        return sql.SQL(text).format(**self._tables)  # our own texts, above

    @contextlib.contextmanager
    def _connection(self) -> Iterator["psycopg.Connection[Any]"]:
        """Give the connection to one thread at a time; a new one if the server has ended the last."""
        with self._guard:
            if self._closed:
                raise OutputError(f"{self._place}: the store is closed; open it again")
            if self._base is None or self._base.closed:
                self._base = psycopg.connect(self._address, autocommit=True)
            yield self._base

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise self._told(error) from error

    def _told(self, error: psycopg.Error) -> UndustError:
        text = " ".join(str(error).split())
        if isinstance(error, psycopg.errors.UndefinedColumn | psycopg.errors.UndefinedTable):
            return InputError(f"{self._place}: tables of another program ({text}); choose another prefix")
        if isinstance(error, psycopg.OperationalError) and not error.sqlstate:
            return OutputError(f"{self._place}: no connection to PostgreSQL ({text}); is the server running?")
        return OutputError(f"{self._place}: refused by PostgreSQL ({text}); see to the server and go on")


def _uuids(signatures: Sequence[bytes]) -> list[UUID]:
    return [UUID(bytes=signature) for signature in checked(signatures)]
