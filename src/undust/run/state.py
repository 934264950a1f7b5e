"""Remembers in a file which steps of a run are done, and of what: what has not changed is not done again."""

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from undust.errors import InputError, OutputError
from undust.outputs import write_whole

STATE = "run.json"
_VERSION = 1


class State:
    """The steps that are done in a folder: of what each was made, its outputs as they were, and what it told.

    A step is written down when its outputs are in place. Whoever interrupts a run loses the step it was at, no more.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._steps: dict[str, dict[str, Any]] = {}
        try:
            found = orjson.loads((folder / STATE).read_bytes())
            version = found["version"]
            if isinstance(version, int) and version > _VERSION:
                raise InputError(
                    f"{folder / STATE}: a run of format {version}; this undust knows {_VERSION}: use a newer undust, or"
                    " another folder"
                )
            if version == _VERSION:
                self._steps = {str(name): dict(step) for name, step in found["steps"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # no state, or one that is no longer readable: all steps are done again

    def told(self, step: str, made_of: str, outputs: Sequence[str]) -> dict[str, Any] | None:
        """Give what a step told, if it was done of the same things and its outputs are still there."""
        known = self._steps.get(step)
        if known is None or known.get("made_of") != made_of or known.get("outputs") != self._stamps(outputs):
            return None
        told = known.get("told")
        return told if isinstance(told, dict) else None

    def done(
        self,
        step: str,
        made_of: str,
        outputs: Sequence[str],
        told: dict[str, Any],
        took: dict[str, float] | None = None,
    ) -> None:
        """Write down that a step is done, and what time and memory it took."""
        self._steps[step] = {"made_of": made_of, "outputs": self._stamps(outputs), "told": told, "took": took or {}}
        text = orjson.dumps({"version": _VERSION, "steps": self._steps}, option=orjson.OPT_INDENT_2)
        write_whole(self.folder / STATE, text)

    def took(self, steps: Iterable[str]) -> Iterator[tuple[str, dict[str, float]]]:
        """Give what time and memory steps took when they were done, in this run or in an earlier one."""
        for step in steps:
            took = self._steps.get(step, {}).get("took")
            if isinstance(took, dict) and took:
                yield step, took

    def _stamps(self, outputs: Sequence[str]) -> dict[str, list[int]] | None:
        try:
            found = {name: (self.folder / name).stat() for name in outputs}
        except OSError:
            return None
        return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in found.items()}


def made_of(*things: Any) -> str:
    """Name what a step is made of: other options, inputs or steps before it give another name."""
    return hashlib.sha256(repr(things).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def input_stamps(files: Iterable[str]) -> list[str]:
    """Name inputs with their sizes and dates; of a folder those of all files in it. A pipe is never the same."""
    stamps = []
    for file in files:
        path = Path(file)
        if path.is_file():
            stamps.append(f"{os.path.realpath(file)} {_stamp(path)}")
        elif path.is_dir():
            inside = sorted(found for found in path.rglob("*") if found.is_file())
            stamps.append(f"{os.path.realpath(file)} {made_of(*((str(each), _stamp(each)) for each in inside))}")
        else:
            stamps.append(secrets.token_hex(8))
    return stamps


def _stamp(path: Path) -> str:
    found = path.stat()
    return f"{found.st_size} {found.st_mtime_ns}"


def make_folder(folder: Path) -> None:
    """Make the folder of a run; `OutputError` if that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}; choose another folder") from error
