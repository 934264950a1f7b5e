"""Times functions in turns, so that whatever else the machine does meets all of them alike."""

import time
from collections.abc import Callable
from typing import Any


def best_seconds(
    *functions: Callable[[], Any], rounds: int = 5, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """The shortest time of each function over some rounds, in which they take turns. One round warms up.

    For a comparison per core the clock is `time.process_time`, which counts what every thread of the process does.
    """
    best = [float("inf")] * len(functions)
    for number in range(rounds + 1):
        for place, function in enumerate(functions):
            start = clock()
            function()
            seconds = clock() - start
            if number:
                best[place] = min(best[place], seconds)
    return best


def row(job: str, ours: str, peer: str, ratio: float, target: float, *, at_most: bool = False) -> dict[str, Any]:
    """One line of the report; a ratio has a least value to reach, or a most value to stay under."""
    return {
        "job": job,
        "ours": ours,
        "peer": peer,
        "ratio": round(ratio, 2),
        "target": f"{'≤' if at_most else '≥'} {target:g}",
        "met": ratio <= target if at_most else ratio >= target,
    }
