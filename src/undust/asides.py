"""Files and folders on their way to an output: held by who makes them, swept up when that process is dead.

Each is locked for as long as its process lives, however that ends. One that nobody holds is what a kill has left, and
goes when the same output is written again: what is left behind does not grow.
"""

import contextlib
import ctypes
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from undust.errors import UsageError

try:
    import fcntl
except ImportError:  # where there are no such locks, nothing is swept
    fcntl = None  # type: ignore[assignment]

SCRATCH = "undust-work-"
_SHOWN = 40  # of the name of an output in the name of what is on its way to it: names have limits
_RANDOM = r"[0-9a-z_]{8}"
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux


def open_aside(target: str) -> tuple[IO[bytes], str]:
    """Make a file beside an output, to be renamed while it is open, and give it with its name."""
    folder, name = os.path.split(target)
    sweep_beside(Path(target))
    while True:
        # In the same folder: a rename across file systems is a copy, and can be cut.
        path = os.path.join(folder, f".{name[:_SHOWN]}.{secrets.token_hex(4)}.part")  # noqa: PTH118 - as users gave it
        file = open(path, "xb", buffering=2**20)  # noqa: PTH123, SIM115 - closed by who asked for it
        try:
            _hold(file.fileno())
        except BaseException:
            file.close()
            forget(path)
            raise
        if os.path.lexists(path):
            return file, path
        file.close()  # somebody swept before it was held


@contextlib.contextmanager
def aside_folder(target: Path) -> Iterator[Path]:
    """Make a folder beside an output, to be put in its place by `put_folder`; what is still there in the end goes."""
    sweep_beside(target)
    with _held(lambda: _made(target)) as folder:
        yield folder


@contextlib.contextmanager
def scratch_folder(parent: str | Path | None = None) -> Iterator[Path]:
    """Make a folder for what has no room in memory, among temporary files or in a folder."""
    place = Path(parent or tempfile.gettempdir())
    sweep(str(place), SCRATCH, "")
    with _held(lambda: Path(tempfile.mkdtemp(prefix=SCRATCH, dir=place))) as folder:  # for its owner only
        yield folder


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keep other processes from a folder that one may work in at a time."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        taken = _held_by_us(handle) is False or not folder.exists()  # gone: another has just ended its work
        if taken:
            raise UsageError(f"{folder}: another process is at work here; wait for its end, or choose another output")
        yield
    finally:
        os.close(handle)


def put_folder(aside: Path, target: Path) -> None:
    """Put a folder that is complete in its place; what was there goes after that."""
    if not target.exists():
        aside.rename(target)
    elif _exchange(aside, target):
        forget(str(aside))
    else:  # a moment in which there is neither, where the system cannot exchange two
        old = aside.with_name(f".{target.name[:_SHOWN]}.{secrets.token_hex(4)}.part")
        target.rename(old)
        aside.rename(target)
        forget(str(old))


def forget(path: str) -> None:
    """Take away a file or a folder that may be there."""
    with contextlib.suppress(OSError):
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 - as users gave it
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)  # noqa: PTH108 - the same


def sweep_beside(target: Path) -> None:
    """Take away what dead processes have left of an output."""
    sweep(str(target.parent), f".{target.name[:_SHOWN]}.", ".part")


def sweep(folder: str, prefix: str, suffix: str) -> None:
    """Take away what dead processes of ours have left in a folder under such names."""
    wanted = re.compile(f"{re.escape(prefix)}{_RANDOM}{re.escape(suffix)}")
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if wanted.fullmatch(entry.name) and not entry.is_symlink():
                _sweep_one(entry.path)


def _sweep_one(path: str) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if os.fstat(handle).st_uid == os.geteuid() and _held_by_us(handle):
                forget(path)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _held(make: Callable[[], Path]) -> Iterator[Path]:
    while True:
        folder = make()
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        _hold(handle)
        if folder.exists():
            break
        os.close(handle)  # somebody swept before it was held
    try:
        yield folder
    finally:
        os.close(handle)
        forget(str(folder))


def _made(target: Path) -> Path:
    folder = target.with_name(f".{target.name[:_SHOWN]}.{secrets.token_hex(4)}.part")
    folder.mkdir()
    return folder


def _hold(handle: int) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks: nobody sweeps there either
            fcntl.flock(handle, fcntl.LOCK_EX)


def _held_by_us(handle: int) -> bool | None:
    """Lock what nobody holds; False where somebody else does, None where nobody can tell."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Let two names change places in one step; False where the system or the file system cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)
