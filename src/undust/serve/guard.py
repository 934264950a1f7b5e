"""Stands before all handlers: who may ask, how much, how long; and what browsers are told with each answer."""

import asyncio
import hmac
import re
import time
from dataclasses import dataclass

from undust.serve.answers import RefusedError, failure, refuse
from undust.serve.asgi import App, Message, Receive, Scope, Send, header
from undust.serve.limits import BODY_SECONDS, MAX_BODY_BYTES, WORK_SECONDS
from undust.serve.metrics import Metrics

QUESTIONS = frozenset({"/normalize", "/key", "/same", "/explain"})
"""What is asked by POST and changes nothing."""

ROUTES = QUESTIONS | {
    "/overview", "/sites", "/rules", "/clusters", "/related", "/pages", "/compare", "/search",
    "/health", "/metrics", "/reload", "/openapi.json", "/page", "/",
}  # fmt: skip

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Nothing but our own files is loaded or run, and no text can become markup, whatever a page says."""

_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]

_PORT = re.compile(r":[0-9]*$")

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask."""

    hosts: frozenset[str] | None = LOOPBACK
    """Names by which the server may be called; None for any. A page of another site that points its own name at
    127.0.0.1 calls it by that name."""
    token: str | None = None
    """What a write must name; None where nobody but this machine can reach the server."""


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: App, access: Access, metrics: Metrics) -> None:
        self._app, self._access, self._metrics = app, access, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse to."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"]
                headers += _HEADERS
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
            await send(message)

        limited = _Limited(receive)
        try:
            self._admit(scope)
            async with asyncio.timeout(WORK_SECONDS):
                await self._app(scope, limited.receive, sending)
        except RefusedError as error:
            if not status:
                await failure(error.status, error.code, error.message, _challenge(error.status))(
                    scope, receive, sending
                )
        except TimeoutError:
            if not status:
                late = failure(503, "too_slow", f"no answer within {WORK_SECONDS:g} seconds; ask for less")
                await late(scope, receive, sending)
        finally:
            self._metrics.count(_method(scope), _route(scope["path"]), status, time.perf_counter() - started)

    def _admit(self, scope: Scope) -> None:
        headers = scope["headers"]
        host = header(headers, b"host")
        if sum(name == b"host" for name, _ in headers) > 1:
            refuse(400, "host", "a question names one host")
        if self._access.hosts is not None and _name(host) not in self._access.hosts:
            refuse(
                403, "host", "this server is not known by that name; call it 127.0.0.1, or start it with --allow-host"
            )
        length = header(headers, b"content-length")
        if length.isdigit() and int(length[:18]) > MAX_BODY_BYTES:
            refuse(413, "too_large", f"the body is larger than {MAX_BODY_BYTES:,} bytes; ask in several batches")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and scope["path"] not in QUESTIONS:
            self._admit_write(headers, host, scope)

    def _admit_write(self, headers: list[tuple[bytes, bytes]], host: str, scope: Scope) -> None:
        origin = header(headers, b"origin")
        if origin and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            refuse(403, "origin", "another site may not change rules here")
        if header(headers, b"sec-fetch-site") not in ("", "same-origin", "none"):
            refuse(403, "origin", "another site may not change rules here")
        if self._access.token is not None:
            given = header(headers, b"authorization")
            wanted = f"Bearer {self._access.token}"
            if not hmac.compare_digest(given.encode("latin-1", "replace"), wanted.encode()):
                refuse(401, "token", "changes need the token that the server was started with: Authorization: Bearer …")


class _Limited:
    """Counts the bytes of a body as they arrive, and the seconds."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._bytes, self._whole = receive, 0, False
        self._until: float | None = None

    async def receive(self) -> Message:
        """Give the next part of the body."""
        if self._whole:
            return await self._receive()
        loop = asyncio.get_running_loop()
        if self._until is None:
            self._until = loop.time() + BODY_SECONDS
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            refuse(408, "slow_body", f"the body did not arrive within {BODY_SECONDS:g} seconds")
        self._bytes += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._bytes > MAX_BODY_BYTES:
            refuse(413, "too_large", f"the body is larger than {MAX_BODY_BYTES:,} bytes; ask in several batches")
        return message


def _challenge(status: int) -> dict[str, str] | None:
    return {"WWW-Authenticate": "Bearer"} if status == 401 else None


def _name(host: str) -> str:
    """Give the name in a Host header, without the port."""
    return _PORT.sub("", host).removeprefix("[").removesuffix("]").lower()


def _route(path: str) -> str:
    """Name what was asked for by one of few names."""
    first = "/" + path[1:].partition("/")[0]
    return first if first in ROUTES else "other"


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH") else "other"
