"""Writes a file whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path

from undust.errors import OutputError


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file beside its place, and put it there when it is complete. What was there stays until then."""
    target = Path(path)
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{target.name[:80]}.", suffix=".part", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            mask = os.umask(0)
            os.umask(mask)
            Path(aside).chmod(0o666 & ~mask)  # mkstemp's file is for its owner only
            Path(aside).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(aside).unlink()
            raise
    except OSError as error:
        why = error.strerror or error
        raise OutputError(
            f"{path}: cannot be written: {why}; choose a folder that exists, has room and is yours"
        ) from error
