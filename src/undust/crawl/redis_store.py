"""A store in Redis, which several crawlers on several machines share."""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlencode

from undust.crawl.store import FORMAT, checked, paired
from undust.errors import InputError, MissingExtraError, OutputError, UndustError, UsageError

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ImportError as error:
    raise MissingExtraError("redis://…: needs the redis package: pip install 'undust[redis]'") from error

_log = logging.getLogger(__name__)

CONNECT_SECONDS = 10
ANSWER_SECONDS = 60

_BUCKET_BITS = 4
"""Of the third byte of a signature, that name its bucket with the first two: 2^20 buckets in all.

Redis keeps a hash of at most 128 short fields as one string, at 20 bytes for each of ours; a key or member of its own
would take 70 and more. So 134 million signatures stay small.
"""


class RedisStore:
    """Signatures as fields of small hashes, pages as keys.

    What is acknowledged is as safe as the server keeps it: set `appendonly yes` there. Calls are never repeated of
    themselves: one whose answer was lost may have been carried out.
    """

    def __init__(self, place: str) -> None:
        address, _, query = place.partition("?")
        options = dict(parse_qsl(query))
        prefix = options.pop("prefix", "undust")
        self._place = place.rpartition("@")[2] if "@" in place else place.partition("://")[2]  # no password in messages
        try:
            self._base: Any = redis.Redis.from_url(
                address + (f"?{urlencode(options)}" if options else ""),
                retry=Retry(NoBackoff(), 0),
                socket_connect_timeout=CONNECT_SECONDS,
                socket_timeout=ANSWER_SECONDS,
            )
        except (ValueError, TypeError) as error:
            raise UsageError(f"{self._place}: {error}; write it like redis://host:6379/0?prefix=crawl") from error
        self._prefix = prefix.encode() + b":"
        try:
            with self._errors():
                self._open(prefix)
        except BaseException:
            self._base.close()
            raise

    def _open(self, prefix: str) -> None:
        self._base.set(self._name(b"format"), str(FORMAT), nx=True)
        version = str(self._base.get(self._name(b"format")), "utf-8", "replace")
        if not version.isdigit():
            raise InputError(f"{self._place}: {prefix}:format is not ours; choose another prefix")
        if int(version) > FORMAT:
            raise InputError(
                f"{self._place}: a store of format {version}; this undust knows {FORMAT}: use a newer undust"
            )
        self._warn()

    def add_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Remember signatures of URLs; tell which were new."""
        return [bool(new) for new in self._each("hsetnx", checked(signatures), b"")]

    def known_urls(self, signatures: Sequence[bytes]) -> list[bool]:
        """Tell which signatures of URLs are remembered."""
        return [bool(known) for known in self._each("hexists", checked(signatures))]

    def forget_urls(self, signatures: Sequence[bytes]) -> int:
        """Forget signatures of URLs; count those that were there."""
        return sum(self._each("hdel", checked(signatures)))

    def first_page(self, signature: bytes) -> str | None:
        """Give the URL of the first page with a content; None if there was none."""
        with self._errors():
            found = self._base.get(self._name(b"page:" + checked([signature])[0]))
            return None if found is None else str(found, "utf-8", "surrogatepass")

    def add_page(self, signature: bytes, url: str) -> str | None:
        """Remember the content of a page; give the URL of the first page that had it."""
        return self.add_pages([signature], [url])[0]

    def add_pages(self, signatures: Sequence[bytes], urls: Sequence[str]) -> list[str | None]:
        """Do the same for many."""
        with self._errors(), self._base.pipeline() as many:
            for signature, url in paired(signatures, urls):
                name = self._name(b"page:" + signature)
                many.setnx(name, url.encode("utf-8", "surrogatepass"))
                many.get(name)
            firsts = [found.decode("utf-8", "surrogatepass") for found in many.execute()[1::2]]
        return [None if first == url else first for first, url in zip(firsts, urls, strict=True)]

    def get_setting(self, name: str) -> str | None:
        """Give a setting; None if there is none of this name."""
        with self._errors():
            found = self._base.hget(self._name(b"settings"), name)
            return None if found is None else str(found.decode())

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""
        with self._errors():
            self._base.hset(self._name(b"settings"), name, value)

    def settle(self, name: str, value: str) -> str:
        """Keep a setting unless there is one already; give the one that holds."""
        with self._errors(), self._base.pipeline() as both:
            both.hsetnx(self._name(b"settings"), name, value)
            both.hget(self._name(b"settings"), name)
            return str(both.execute()[1].decode())

    def flush(self) -> None:
        """Do nothing: when Redis writes is a setting of the server (`appendfsync`)."""

    def close(self) -> None:
        """Give back the connections."""
        with self._errors():
            self._base.close()

    def __enter__(self) -> "RedisStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _name(self, name: bytes) -> bytes:
        return self._prefix + name

    def _each(self, command: str, signatures: Sequence[bytes], *value: bytes) -> list[int]:
        """Carry out a command on the bucket and the field of each signature; what changes something, all or none."""
        if not signatures:
            return []
        changes = command != "hexists"  # a transaction takes memory, which a full server has not even for looks
        with self._errors(), self._base.pipeline(transaction=changes) as many:
            for one in signatures:
                bucket = self._prefix + b"u:" + one[:2] + bytes([one[2] >> 8 - _BUCKET_BITS])
                getattr(many, command)(bucket, one[2:], *value)
            return list(many.execute())

    def _warn(self) -> None:
        """Say what the server is set to that would lose signatures."""
        about = self._base.info()
        if about.get("maxmemory") and about.get("maxmemory_policy") != "noeviction":
            _log.warning("%s: the server drops keys when memory is full; set maxmemory-policy noeviction", self._place)
        if not about.get("aof_enabled"):
            _log.warning("%s: the server may lose what it has acknowledged; set appendonly yes", self._place)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except redis.RedisError as error:
            raise self._told(error) from error

    def _told(self, error: redis.RedisError) -> UndustError:
        text = str(error).rpartition("caused error: ")[2].rstrip(".")  # what comes before is bytes of ours
        if isinstance(error, redis.exceptions.AuthenticationError | redis.exceptions.NoPermissionError):
            return OutputError(f"{self._place}: {text}; write it like redis://user:password@host/0")
        if isinstance(error, redis.ConnectionError | redis.TimeoutError):
            return OutputError(f"{self._place}: no answer from Redis ({text}); is the server running?")
        if isinstance(error, redis.ResponseError) and "WRONGTYPE" in text:
            return InputError(f"{self._place}: there are keys of another program; choose another prefix")
        return OutputError(f"{self._place}: refused by Redis ({text}); see to the server and go on")
