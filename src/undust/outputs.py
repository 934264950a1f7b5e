"""Writes a file whole or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from undust.asides import forget, only_one, open_aside
from undust.errors import OutputError


@contextlib.contextmanager
def parts_folder(output: str) -> Iterator[Path | None]:
    """Give the folder beside an output that holds what is done of it; it goes when all went well, and stays if not.

    None for stdout, beside which there is no place.
    """
    if output == "-":
        yield None
        return
    folder = Path(f"{output}.parts")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{output}: cannot be written: {error.strerror}; choose a folder that exists, has room and is yours"
        ) from error
    with only_one(folder):
        try:
            yield folder
        except BaseException:
            with contextlib.suppress(OSError):  # there may be nothing in it yet
                folder.rmdir()
            raise
        shutil.rmtree(folder, ignore_errors=True)


def write_whole(path: str | os.PathLike[str], data: bytes | Iterable[bytes | memoryview]) -> None:
    """Write a file beside its place, and put it there when it is complete. What was there stays until then."""
    target = Path(path)
    try:
        file, aside = open_aside(os.fspath(target))
        try:
            with file:
                file.writelines([data] if isinstance(data, bytes) else data)
                file.flush()
                os.fsync(file.fileno())
                Path(aside).replace(target)
        except BaseException:
            forget(aside)
            raise
    except OSError as error:
        why = error.strerror or error
        raise OutputError(
            f"{path}: cannot be written: {why}; choose a folder that exists, has room and is yours"
        ) from error
