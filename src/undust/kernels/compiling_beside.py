"""Has other processors compile kernels too, where a first run needs all of them.

Kernels that are compiled stay on disk, so whoever is first compiles for all; one that nobody has compiled by the time
it is needed is compiled where it is needed. So nothing is lost if a helper fails, or is too slow.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from numba.core import event

SLOWEST = tuple(f"undust.kernels.{name}" for name in ("rules", "html", "rules_validate", "words", "pattern_tree"))
"""Modules whose kernels take longest to compile, the longest first: most of the time that all take."""

Helper = subprocess.Popen[bytes]


def compile_beside(modules: Sequence[str] = SLOWEST, *, processors: int | None = None) -> list[Helper]:
    """Have other processors compile the kernels of some modules, from when one has to be compiled here.

    To be called before the modules of kernels are imported. The helpers are in the list that is returned, which stays
    empty if all kernels are on disk; they end with this process at the latest.
    """
    others = (processors or _processors()) - 1
    helpers: list[Helper] = []

    class Listener(event.Listener):  # type: ignore[misc] # Numba has no types
        def on_start(self, happened: Any) -> None:
            if not helpers:
                helpers.extend(_start(modules[place::others]) for place in range(min(others, len(modules))))

        def on_end(self, happened: Any) -> None:
            pass

    event.register("numba:compile", Listener())
    return helpers


def _processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(modules: Sequence[str]) -> Helper:
    code = f"import importlib\nfor name in {tuple(modules)!r}: importlib.import_module(name)"
    helper = subprocess.Popen(  # noqa: S603 - this interpreter, and names of modules of ours
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(_end, helper)
    return helper


def _end(helper: Helper) -> None:
    helper.kill()  # nothing half-written is left: Numba writes files whole
    helper.wait()
