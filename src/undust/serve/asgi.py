"""The words of ASGI, by which servers and applications talk."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """Give a header, empty where it is not there."""
    for key, value in headers:
        if key == name:
            return value.decode("latin-1")
    return ""
