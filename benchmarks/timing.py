"""Times functions in turns, so that whatever else the machine does meets all of them alike."""

import time
from collections.abc import Callable
from typing import Any


def best_seconds(*functions: Callable[[], Any], rounds: int = 5) -> list[float]:
    """The shortest time of each function over some rounds, in which they take turns. One round warms up."""
    best = [float("inf")] * len(functions)
    for number in range(rounds + 1):
        for place, function in enumerate(functions):
            start = time.perf_counter()
            function()
            seconds = time.perf_counter() - start
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
