"""Keeps the few inputs that reach what no smaller ones reach: python -m tests.fuzz.keep TARGET FOUND."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from tests.fuzz.targets import CORPUS, TARGETS

MAX_FILES = 100
MAX_BYTES = 200_000

Step = tuple[int, int, int]
"""Of the code with this identity, from one line to another."""


def reached(target: Callable[[bytes], None], data: bytes) -> set[Step]:
    """The steps from line to line of our own code that an input leads through."""
    steps: set[Step] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if "undust" not in frame.f_code.co_filename:
            return None
        code, last = id(frame.f_code), frame.f_lineno

        def line(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            steps.add((code, last, frame.f_lineno))
            last = frame.f_lineno
            return line

        return line

    sys.settrace(trace)
    try:
        target(data)
    finally:
        sys.settrace(None)
    return steps


def keep(name: str, found: Path) -> int:
    """Copy what is new and small to the seeds, up to a limit; say how many."""
    seeds = CORPUS / name
    target = TARGETS[name]
    known: set[Step] = set()
    count = size = kept = 0
    for path in seeds.iterdir():
        known |= reached(target, path.read_bytes())
        count += 1
        size += path.stat().st_size
    for path in sorted(found.iterdir(), key=lambda path: (path.stat().st_size, path.name)):
        steps = reached(target, path.read_bytes())
        if steps <= known or count == MAX_FILES or size + path.stat().st_size > MAX_BYTES:
            continue
        known |= steps
        shutil.copy(path, seeds / path.name)
        count, size, kept = count + 1, size + path.stat().st_size, kept + 1
    return kept


if __name__ == "__main__":
    print(keep(sys.argv[1], Path(sys.argv[2])))
