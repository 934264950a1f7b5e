"""The two shapes of every JSON answer: `{ok, result, total, next}`, and `{ok, error}`."""

from typing import Any, NoReturn

import orjson
from starlette.responses import Response

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


class RefusedError(Exception):
    """A question that is not answered: the HTTP status, a code for programs, and a message for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def refuse(status: int, code: str, message: str) -> NoReturn:
    """Refuse a question."""
    raise RefusedError(status, code, message)


def success(result: Any, *, total: int | None = None, next_page: str | None = None) -> Response:
    """Answer. `total` counts a list of which this is a part, `next` is where its next part is; else they are null.

    >>> success({"url": "http://a.test/"}).body
    b'{"ok":true,"result":{"url":"http://a.test/"},"total":null,"next":null}'
    """
    return Response(
        orjson.dumps({"ok": True, "result": result, "total": total, "next": next_page}), 200, media_type=JSON
    )


def failure(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    """Say why there is no answer."""
    body = {"ok": False, "error": {"status": status, "code": code, "message": message[:1000]}}
    return Response(orjson.dumps(body), status, headers, media_type=JSON)


def text(body: bytes | str) -> Response:
    """Answer with plain text."""
    return Response(body, 200, media_type=TEXT)
