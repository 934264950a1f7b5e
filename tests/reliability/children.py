"""Runs work in forked processes that meet a fault: killed before a change of files, without room or rights."""

import contextlib
import importlib
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Work = Callable[[], int]

CHANGES = frozenset({"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink"})
"""Events of the interpreter that change folders; files that are opened to be written are among them by their flags."""

WRITES = ("fsync", "fdatasync", "pwrite", "pwritev", "write", "writev", "ftruncate")
"""Functions of `os` that the interpreter tells nobody of."""

NOBODY = 65_534
PATIENCE_SECONDS = 300  # after which a child that hangs is a failure


@dataclass(frozen=True, slots=True)
class Fault:
    """What is to happen to a process."""

    kill_at: int = -1
    """It is killed before its change of files number so-and-so."""
    most_bytes: int = -1
    """No file may become longer, as on a disk without room."""
    stranger: bool = False
    """It has no right to write where it works."""


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended."""

    code: int
    """Its exit code, or minus the signal that killed it."""
    changes: int
    """How many changes of files it came to."""
    said: str


class Child:
    """A process that works in a folder; `end` waits for it."""

    def __init__(self, work: Work, folder: Path, fault: Fault = Fault()) -> None:
        self._saying, said = os.pipe()  # no file: there may be no room for one
        self._reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            os.close(self._reading)
            os.close(self._saying)
            _live(work, folder, fault, writing, said)
        os.close(writing)
        os.close(said)

    def kill(self) -> None:
        """Kill it wherever it is."""
        os.kill(self.pid, signal.SIGKILL)

    def end(self) -> End:
        """Wait until it has ended."""
        with os.fdopen(self._saying, "rb") as saying, os.fdopen(self._reading, "rb") as reading:
            said = saying.read().decode("utf-8", "replace")
            counted = len(reading.read())
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code != -signal.SIGALRM, f"it hangs:\n{said}"
        return End(code, counted, said)


def try_first(work: Work, folder: Path) -> End:
    """Do some work in a child, then import here what it has imported there: children of now on have it.

    Not the work itself: threads that it leaves do not survive a fork, but locks that they hold do.
    """
    told = folder.with_name(f"{folder.name}.modules")

    def work_and_tell() -> int:
        code = work()
        told.write_text("\n".join(sorted(sys.modules)))
        return code

    end = Child(work_and_tell, folder).end()
    for name in told.read_text().splitlines() if told.exists() else []:
        if name not in sys.modules and not name.startswith("__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    return end


def _live(work: Work, folder: Path, fault: Fault, counting: int, said: int) -> None:
    """Be the child: never return."""
    code = 70
    try:
        signal.alarm(PATIENCE_SECONDS)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.chdir(folder)
        tempfile.tempdir = str(folder / "tmp")
        _watch(str(folder), fault.kill_at, counting)
        if fault.most_bytes >= 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (fault.most_bytes, fault.most_bytes))
        if fault.stranger and os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        code = work()
    except BaseException:  # noqa: BLE001 - whatever it is: a child must not become a second parent
        with contextlib.suppress(BaseException):
            traceback.print_exc()
        code = 70
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _watch(folder: str, kill_at: int, counting: int) -> None:
    """Count the changes of files in a folder, and end before one of them. The counts go through a pipe."""
    done = 0
    tell = os.write

    def change() -> None:
        nonlocal done
        if done == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        done += 1
        tell(counting, b".")

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            writes = isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if not writes:
                return
        elif event not in CHANGES:
            return
        path = os.fsdecode(given[0]) if isinstance(given[0], str | bytes | os.PathLike) else ""
        if path.startswith(folder) or (path and not path.startswith("/")):
            change()

    sys.addaudithook(hook)
    for name in WRITES:
        setattr(os, name, _counted(getattr(os, name), change))


def _counted(function: Callable[..., Any], change: Callable[[], None]) -> Callable[..., Any]:
    def counted(*given: Any, **named: Any) -> Any:
        change()
        return function(*given, **named)

    return counted
