"""Real Redis and PostgreSQL servers on loopback, for tests and benchmarks; each is stopped by its own id."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

SERVERS = os.pathsep.join(
    [os.environ.get("PATH", os.defpath), "/usr/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
)
ATTEMPTS = 5  # the port that the system gave may be taken until the server asks for it


def free_port() -> int:
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        return int(given.getsockname()[1])


def starting(command: list[str], ready: str, **options: object) -> subprocess.Popen[str] | None:
    """Start a server, and wait until it says that it is ready; None if it ends instead."""
    server = subprocess.Popen(  # type: ignore[call-overload] # options as they come
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )

    def drain() -> None:
        with server.stdout:
            server.stdout.read()

    for line in server.stdout:
        if ready in line:
            threading.Thread(target=drain, daemon=True).start()  # so that its log never stops it
            return server  # type: ignore[no-any-return] # a Popen
    server.communicate()
    return None


@contextlib.contextmanager
def redis_server(*options: str) -> Iterator[str]:
    """Run Redis in memory; gives its address."""
    program = shutil.which("redis-server", path=SERVERS)
    assert program
    for _ in range(ATTEMPTS):
        port = free_port()
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", *options]
        with tempfile.TemporaryDirectory(prefix="undust-redis-") as folder:
            server = starting(command, "Ready to accept connections", cwd=folder)
            if server is None:
                continue
            try:
                yield f"redis://127.0.0.1:{port}/0"
                return
            finally:
                server.terminate()
                server.wait()
    raise AssertionError("Redis did not start")


@contextlib.contextmanager
def postgres_server(*settings: str) -> Iterator[str]:
    """Run PostgreSQL, which refuses to run as root, as another user; gives the address of its base."""
    initdb, postgres = (shutil.which(name, path=SERVERS) for name in ("initdb", "postgres"))
    assert initdb
    assert postgres
    folder = Path(tempfile.mkdtemp(prefix="undust-postgres-"))  # pytest's folders are closed to other users
    options: dict[str, object] = {"cwd": folder}
    if os.geteuid() == 0:
        user = next(one for one in map(_user, ("postgres", "nobody")) if one)
        os.chown(folder, user.pw_uid, user.pw_gid)
        options |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    try:
        data = str(folder / "data")
        subprocess.run(  # type: ignore[call-overload] # options as above
            [initdb, "-D", data, "-U", "undust", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"],
            check=True,
            capture_output=True,
            **options,
        )
        for _ in range(ATTEMPTS):
            port = free_port()
            command = [postgres, "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", str(folder)]
            command += [word for setting in ("fsync=off", *settings) for word in ("-c", setting)]
            server = starting(command, "ready to accept connections", **options)
            if server is None:
                continue
            try:
                yield f"postgresql://undust@127.0.0.1:{port}/postgres"
                return
            finally:
                server.send_signal(signal.SIGINT)  # at once, without waiting for clients
                server.wait()
        raise AssertionError("PostgreSQL did not start")
    finally:
        shutil.rmtree(folder)


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None
