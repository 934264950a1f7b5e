"""Work that takes longer than a moment goes to a few threads, so that quick questions do not wait for it."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import anyio
import anyio.to_thread

from undust.serve.limits import THREADS

P = ParamSpec("P")
T = TypeVar("T")

_limiter: list[anyio.CapacityLimiter] = []


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do work in a thread. Who gives up waiting is let go; the thread ends in its own time."""
    if not _limiter:
        _limiter.append(anyio.CapacityLimiter(THREADS))
    call: functools.partial[Any] = functools.partial(work, *args, **kwargs)
    made: T = await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=_limiter[0])
    return made
