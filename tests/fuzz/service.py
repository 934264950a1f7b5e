"""The service in this process, without a network: a question goes in as ASGI has it, an answer comes out."""

import asyncio
import atexit
import contextlib
import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from undust import corpus
from undust.pipeline import learn
from undust.serve.app import make_app
from undust.serve.folder import open_folder
from undust.serve.server import access_of, open_state

Ask = Callable[[str, bytes, bytes], tuple[int, str, bytes]]


@functools.cache
def _started() -> tuple[Any, asyncio.AbstractEventLoop]:
    """Serve a small run: its clusters and its rules."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="undust-fuzz-")))
    rows = [(f"http://h.com/p{n}{s}", f"p{n}") for n in range(12) for s in ("", f"?sid={n}", f"?sid={n + 40}")]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})
    corpus.write_table(table, folder / "clusters.parquet")
    learn(table).save(str(folder / "rules.json"))
    state = stack.enter_context(open_state(open_folder(str(folder)), lambda message: None))
    loop = asyncio.new_event_loop()
    stack.callback(loop.close)
    return make_app(state, access_of("127.0.0.1", None, ()), "0"), loop


def ask(method: str, target: bytes, body: bytes) -> tuple[int, str, bytes]:
    """Give the status, the kind and the bytes of an answer."""
    app, loop = _started()
    path, _, query = target.partition(b"?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path.decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1:80"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    said: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    loop.run_until_complete(app(scope, receive, send))
    kinds = [value.decode() for name, value in said[0]["headers"] if name.lower() == b"content-type"]
    return int(said[0]["status"]), "".join(kinds), b"".join(each.get("body", b"") for each in said[1:])
