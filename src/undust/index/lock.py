"""One writer at a time: a lock that the system takes back when its owner ends, however it ends."""

import fcntl
import os
from pathlib import Path

from undust.errors import OutputError, UsageError


class WriterLock:
    """The right to write to an index."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        try:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}; open it read-only") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(self._handle, 32, 0).decode("ascii", "replace").strip()
            os.close(self._handle)
            raise UsageError(
                f"{folder}: process {owner or 'unknown'} is writing to this index; one may at a time: wait for it, or"
                " open the index read-only"
            ) from error
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let others write."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
