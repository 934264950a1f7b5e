"""Starts the server on a socket, says where it is, and ends it cleanly."""

import contextlib
import errno
import logging
import secrets
import socket
from collections.abc import Callable, Iterator
from importlib import metadata

import uvicorn

from undust.errors import InputError, UsageError
from undust.serve.app import make_app
from undust.serve.asked import warm
from undust.serve.catalog import open_catalog
from undust.serve.folder import RunFolder, open_folder
from undust.serve.guard import LOOPBACK, Access
from undust.serve.limits import HEAD_SECONDS, MAX_CONNECTIONS
from undust.serve.live_rules import LiveRules
from undust.serve.metrics import Metrics
from undust.serve.protocol import impatient
from undust.serve.site_tree import SiteTrees
from undust.serve.state import Related, State
from undust.serve.two_pages import Pages

Tell = Callable[[str], None]


def serve(
    path: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    allowed_hosts: tuple[str, ...] = (),
    tell: Tell = lambda message: None,
    ready: Tell = lambda address: None,
) -> None:
    """Serve the folder of a run until interrupted. `ready` is called with the address once it answers."""
    folder = open_folder(path)
    listening = listen(host, port)
    with contextlib.closing(listening), open_state(folder, tell) as state:
        access = access_of(host, token, allowed_hosts)
        if access.token is not None and token is None:
            tell(f"changes need the token {access.token}")
        address = _address(host, listening.getsockname()[1])
        ready(address)
        with contextlib.suppress(KeyboardInterrupt):
            server_of(state, access).run(sockets=[listening])


def server_of(state: State, access: Access) -> uvicorn.Server:
    """Make the server, which listens on the sockets that it is run with."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return uvicorn.Server(
        uvicorn.Config(
            make_app(state, access, _version()),
            http=impatient(HEAD_SECONDS),
            loop="uvloop",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_keep_alive=int(HEAD_SECONDS),
            timeout_graceful_shutdown=3,
        )
    )


def access_of(host: str, token: str | None, allowed_hosts: tuple[str, ...]) -> Access:
    """Say who may ask: on loopback whoever is on this machine; beyond it, whoever changes something has the token."""
    names = frozenset(name.lower() for name in allowed_hosts)
    if _is_loopback(host) and names <= LOOPBACK:
        return Access(LOOPBACK | {host.strip("[]").lower()}, token)
    wanted = token or secrets.token_urlsafe(24)
    return Access((LOOPBACK | names) if names or _is_loopback(host) else None, wanted)


@contextlib.contextmanager
def open_state(folder: RunFolder, tell: Tell) -> Iterator[State]:
    """Open all that a server needs to know of a run."""
    rules = LiveRules(folder.rules)
    warm(rules.current)
    with open_catalog(folder, tell) as catalog:
        trees = None if catalog is None else SiteTrees(catalog)
        yield State(
            folder=folder,
            rules=rules,
            catalog=catalog,
            pages=Pages(folder),
            trees=trees,
            related=Related(folder),
            metrics=Metrics(),
            evaluation=folder.evaluation() or {},
            steps=folder.steps(),
        )


def listen(host: str, port: int) -> socket.socket:
    """Listen on an address; `InputError` where that cannot be."""
    name = host.strip("[]")
    try:
        family, kind, _, _, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--host {host}: no address of this machine: {error}") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} of {host} is in use; give another one with --port, 0 for any") from error
        raise InputError(f"{host}, port {port}: cannot be listened on: {error.strerror}; give others") from error
    return listening


def _address(host: str, port: int) -> str:
    name = host if not host or ":" not in host else f"[{host.strip('[]')}]"
    return f"http://{name}:{port}/"


def _is_loopback(host: str) -> bool:
    return host.strip("[]").lower() in LOOPBACK or host.startswith("127.")


def _version() -> str:
    try:
        return metadata.version("undust")
    except metadata.PackageNotFoundError:
        return "0"
