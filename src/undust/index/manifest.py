"""The manifest of an index: which files belong to it, and up to where. Replaced whole, it is the index's one truth."""

import dataclasses
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xxhash

from undust.errors import InputError, OutputError
from undust.index.design import Design
from undust.outputs import write_whole

FORMAT = 1
NAME = "manifest.json"


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run as the manifest knows it."""

    name: str
    size: int  # bytes
    checksum: str
    pages: int
    first: int  # its rows have numbers from here
    end: int  # to before here


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything about an index that is not in its rows and tables."""

    design: Design
    generation: int = 0  # of the files of rows; goes up when they are written anew
    segments: tuple[int, ...] = (0,)  # bytes of each file of rows; of the last one, what runs know of
    sequence: int = 0  # records in them
    runs: tuple[RunFile, ...] = ()
    next_run: int = 0
    pages: int = 0
    groups: int = 0
    modes: str | None = None  # checksum of the file of modes, if there is one
    format: int = field(default=FORMAT)

    def rows_name(self, segment: int) -> str:
        """Name of a file of rows."""
        return f"rows-{self.generation:04d}-{segment:03d}.log"

    def files(self) -> set[str]:
        """Names of all files that belong to the index."""
        rows = {self.rows_name(segment) for segment in range(len(self.segments))}
        return rows | {run.name for run in self.runs} | {NAME, "lock"} | ({"modes.npy"} if self.modes else set())


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in the place of the one before. When this returns, the change outlives a crash of the machine."""
    kept = {**dataclasses.asdict(manifest), "design": manifest.design.to_json()}
    write_whole(folder / NAME, json.dumps({**kept, "checksum": _checksum(kept)}, indent=1).encode())
    sync_folder(folder)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an index; `InputError` if there is none, it is damaged, or of a newer format."""
    path = folder / NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"{folder}: not an index: no {NAME} in it; give the folder of one") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        kept = json.loads(text)
        found = kept["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: damaged; bring the folder back from a copy") from error
    if found != FORMAT:
        newer = isinstance(found, int) and found > FORMAT
        why = f"by a newer undust (format {found}); update undust to read it" if newer else f"of format {found!r}"
        raise InputError(f"{path}: an index made {why}; this one reads format {FORMAT}")
    try:
        if kept.pop("checksum") != _checksum(kept):
            raise ValueError("checksum")
        runs = tuple(RunFile(**run) for run in kept["runs"])
        design = Design.from_json(kept["design"])
        return Manifest(**{**kept, "runs": runs, "design": design, "segments": tuple(kept["segments"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: damaged; bring the folder back from a copy") from error


def sync_folder(folder: Path) -> None:
    """Make sure that what was created, renamed or deleted in a folder stays so, whatever happens to the machine."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from error


def _checksum(kept: dict[str, Any]) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(kept, sort_keys=True).encode())
