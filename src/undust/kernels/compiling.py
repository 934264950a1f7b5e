"""How kernels are compiled: once for fixed types, kept on disk, free of the interpreter lock.

Numba keeps the machine code beside the source, or, where that cannot be written, in the user's cache folder. Where
neither can be, kernels are compiled for this process only.
"""

import functools
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event, typeinfer

Function = TypeVar("Function", bound=Callable[..., Any])

_DAMAGED = (EOFError, pickle.UnpicklingError)
_UNUSABLE = (OSError, RuntimeError, *_DAMAGED)  # disk full, no folder that can be written
_IMPORT = re.compile(r"^from undust\.(kernels\.\w+|settings) import", re.MULTILINE)


def kernel(signature: str) -> Callable[[Function], Function]:
    """Compile a function that Python calls. A fixed signature: no second compilation, and a wrong type is an error."""

    def compiled(function: Function) -> Function:
        try:
            return cast("Function", _compiled(function, signature, kept=True))
        except _UNUSABLE:
            return cast("Function", _compiled(function, signature, kept=False))

    return compiled


def part(function: Function) -> Function:
    """Compile a function that only kernels call; it becomes a part of each of them."""
    return cast("Function", numba.njit(function, nogil=True, forceinline=True, _nrt=False))


def announce(tell: Callable[[], None]) -> None:
    """Call `tell` once, before the first kernel that has to be compiled; never, if all are on disk.

    To be called before the modules of kernels are imported, which is when they are compiled.
    """

    class Listener(event.Listener):  # type: ignore[misc] # Numba has no types
        told = False

        def on_start(self, happened: Any) -> None:
            if not self.told:
                self.told = True
                tell()

        def on_end(self, happened: Any) -> None:
            pass

    event.register("numba:compile", Listener())


def _compiled(function: Callable[..., Any], signature: str, *, kept: bool) -> Any:
    dispatcher = numba.njit(function, nogil=True, _nrt=False, cache=kept)
    if kept:
        # Numba looks at the date of this function's own file only; the parts it is made of are in others.
        dispatcher._cache._cache_file._source_stamp = source_stamp(function.__module__)
    with typeinfer.register_dispatcher(dispatcher):
        try:
            dispatcher.compile(signature)
        except _DAMAGED:
            dispatcher._cache.flush()
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


@functools.cache
def source_stamp(module: str) -> tuple[tuple[str, int, int], ...]:
    """Date and size of a module's file and of those it imports from, which all go into its machine code."""
    files: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        # A module that is being imported is in sys.modules; what it has imported so far is complete.
        path = getattr(sys.modules.get(name), "__file__", None)
        if name in files or path is None:
            continue
        files[name] = Path(path)
        waiting += [f"undust.{found}" for found in _IMPORT.findall(files[name].read_text("utf-8"))]
    stats = {name: path.stat() for name, path in files.items()}
    return tuple((name, stats[name].st_mtime_ns, stats[name].st_size) for name in sorted(stats))
