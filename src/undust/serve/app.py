"""The ASGI application: hot questions, what is browsed, the page, health and metrics, behind the guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import anyio
import orjson
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from undust.errors import UndustError
from undust.serve import browse, rule_routes
from undust.serve.answers import RefusedError, failure, success
from undust.serve.asgi import App
from undust.serve.asked import WORK, Asked
from undust.serve.description import describe
from undust.serve.guard import Access, Guard
from undust.serve.limits import WATCH_SECONDS
from undust.serve.metrics import CONTENT_TYPE
from undust.serve.schemas import COUNT, STRING, TEXT_OR_NULL, obj, responses
from undust.serve.state import State
from undust.serve.threads import in_thread

_CODES = {400: "bad_request", 404: "no_such_path", 405: "no_such_method"}


def make_app(state: State, access: Access, version: str) -> App:
    """Make the application."""

    @asynccontextmanager
    async def watching(_: FastAPI) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, state)
            yield
            tasks.cancel_scope.cancel()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=watching, redirect_slashes=False)
    for path in WORK:  # only for what is said to other methods: `Asked` answers before it comes to routes
        app.router.routes.append(Route(path, _elsewhere, methods=["POST"]))
    _add_health(app, state)
    app.include_router(browse.routes(state))
    app.include_router(rule_routes.routes(state))
    _add_page(app)
    description = orjson.dumps(describe(app, version, token=access.token is not None))
    app.router.routes.append(
        Route("/openapi.json", lambda request: Response(description, media_type="application/json"), methods=["GET"])
    )
    _add_errors(app)
    return Guard(Asked(app, state.rules, state.metrics), access, state.metrics)


async def _elsewhere(request: Request) -> Response:
    raise HTTPException(404)


async def _watch(state: State) -> None:
    while True:
        await anyio.sleep(WATCH_SECONDS)
        await in_thread(state.rules.refresh)


def _add_health(app: FastAPI, state: State) -> None:
    health = obj(status=STRING, rules=COUNT, loads=COUNT, problem=TEXT_OR_NULL)

    @app.get("/health", responses=responses(health), summary="Tell that the server is there, and with what rules")
    async def get_health() -> Response:
        now, problem = state.rules.current, state.rules.problem
        status = "stale" if problem else "ok"
        return success({"status": status, "rules": len(now.rules), "loads": now.number, "problem": problem})

    text = {"description": "Prometheus' text format", "content": {"text/plain": {"schema": STRING}}}
    errors = {status: each for status, each in responses({}).items() if status != 200}

    @app.get("/metrics", responses={200: text, **errors}, summary="Give counters", response_class=Response)
    async def get_metrics() -> Response:
        written = state.metrics.write(state.rules.current, state.rules.problem)
        return Response(written, headers={"content-type": CONTENT_TYPE})


def _add_page(app: FastAPI) -> None:
    files = Path(str(resources.files("undust.serve") / "page"))
    index = (files / "index.html").read_bytes()

    async def page(request: Request) -> Response:
        return Response(index, media_type="text/html", headers={"cache-control": "no-cache"})

    app.router.routes.append(Route("/", page, methods=["GET"]))
    app.mount("/page", _Revalidated(StaticFiles(directory=files)), name="page")


class _Revalidated:
    """Files that browsers may keep, but ask about each time: another version of undust has others."""

    def __init__(self, files: App) -> None:
        self._files = files

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"cache-control", b"no-cache")]
            await send(message)

        await self._files(scope, receive, sending)


def _add_errors(app: FastAPI) -> None:
    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)  # noqa: S101 - this is what it is registered for
        return failure(error.status, error.code, error.message)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return failure(422, "bad_value", f"{place}: {first['msg']}")

    async def no_route(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101
        code = _CODES.get(error.status_code, "http")
        return failure(error.status_code, code, str(error.detail), dict(error.headers or {}))

    async def failed(_: Request, error: Exception) -> Response:
        return failure(503, "unavailable", str(error))

    app.add_exception_handler(RefusedError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, no_route)
    app.add_exception_handler(UndustError, failed)
