"""Counts what is asked, for Prometheus, in its text format."""

from bisect import bisect_left
from collections.abc import Iterator

from undust.serve.live_rules import Loaded

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters of one process. They are changed by its event loop only, so they need no lock."""

    def __init__(self) -> None:
        self.urls = 0
        self._requests: dict[tuple[str, str, int], int] = {}
        self._seconds: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer. `route` must be one of few names: each is kept for good."""
        key = method, route, status
        self._requests[key] = self._requests.get(key, 0) + 1
        buckets = self._seconds.get(route)
        if buckets is None:
            buckets = self._seconds[route] = [0] * (len(BUCKETS) + 1)
        buckets[bisect_left(BUCKETS, seconds)] += 1
        self._sums[route] = self._sums.get(route, 0.0) + seconds

    def write(self, now: Loaded, problem: str | None) -> str:
        """Write all of them."""
        return "\n".join([*self._lines(now, problem), ""])

    def _lines(self, now: Loaded, problem: str | None) -> Iterator[str]:
        yield from _head("undust_requests_total", "counter", "Answers by method, route and status.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'undust_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        yield from _head("undust_request_seconds", "histogram", "Time to the end of each answer.")
        for route, buckets in sorted(self._seconds.items()):
            total = 0
            for bound, count in zip(BUCKETS, buckets, strict=False):
                total += count
                yield f'undust_request_seconds_bucket{{route="{route}",le="{bound:g}"}} {total}'
            total += buckets[-1]
            yield f'undust_request_seconds_bucket{{route="{route}",le="+Inf"}} {total}'
            yield f'undust_request_seconds_sum{{route="{route}"}} {self._sums[route]:.6f}'
            yield f'undust_request_seconds_count{{route="{route}"}} {total}'
        yield from _one("undust_urls_total", "counter", "URLs that rules were applied to.", self.urls)
        yield from _one("undust_rules", "gauge", "Rules in force.", len(now.rules))
        yield from _one("undust_rules_loads_total", "counter", "How often rules were read.", now.number)
        yield from _one("undust_rules_read_seconds", "gauge", "When they were, as Unix time.", round(now.read_at, 3))
        yield from _one("undust_rules_stale", "gauge", "1 if the rule file is not readable.", int(bool(problem)))


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _one(name: str, kind: str, about: str, value: float) -> Iterator[str]:
    yield from _head(name, kind, about)
    yield f"{name} {value}"
