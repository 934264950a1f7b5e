"""URLs: standard normalization and split into keys, beside w3lib and can_ada."""

import gzip
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import can_ada
import pyarrow as pa
from w3lib.url import canonicalize_url

from benchmarks.timing import best_seconds, row
from undust.urls.batch import normalize_many, split_many
from undust.urls.normalize import normalize

COUNT = 65_536
DATA = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data"))


def urls() -> list[str]:
    """Real URLs if the shared data is there, else made-up ones of the same kinds."""
    chance = random.Random(0)  # noqa: S311 - no secret
    file = DATA / "urls" / "kasztp.txt.gz"
    if file.exists():
        found = [url for url in gzip.decompress(file.read_bytes()).decode().split("\n") if url.startswith("http")]
        return (found * (COUNT // len(found) + 1))[:COUNT]
    hosts = [f"{'www.' * (i % 2)}site{i}.example" for i in range(500)]
    return [
        f"http://{chance.choice(hosts)}/a{i % 90}/Page-{i}.html" + (f"?id={i}&session=%7e{i}" if i % 3 else "")
        for i in range(COUNT)
    ]


def run() -> list[dict[str, Any]]:
    """Measure everything on the same URLs in the same process, one core."""
    given = urls()
    column = pa.array(given)
    peers = given[:8192]

    def per_url(count: int, seconds: float) -> str:
        return f"{count / seconds / 1e6:.2f} M URLs/s"

    batch, w3lib, ada, scalar = best_seconds(
        lambda: normalize_many(column),
        lambda: [_try(canonicalize_url, url) for url in peers],
        lambda: [_try(_ada, url) for url in peers],
        lambda: [_try(normalize, url) for url in peers],
        clock=time.process_time,
    )
    each_batch, each_w3lib, each_ada, each_scalar = (
        seconds / count for seconds, count in ((batch, COUNT), (w3lib, 8192), (ada, 8192), (scalar, 8192))
    )
    normal = normalize_many(column).urls.drop_null().combine_chunks()
    splitting, parsing = best_seconds(
        lambda: split_many(normal), lambda: [_try(can_ada.parse, url) for url in peers], clock=time.process_time
    )
    rate = len(normal) / splitting
    return [
        row("batch normalization : w3lib", per_url(COUNT, batch), per_url(8192, w3lib), each_w3lib / each_batch, 20),
        row("batch normalization : can_ada", per_url(COUNT, batch), per_url(8192, ada), each_ada / each_batch, 1),
        row("one URL normalized : w3lib", per_url(8192, scalar), per_url(8192, w3lib), each_w3lib / each_scalar, 3),
        row("batch split into keys : 4 million a second", per_url(len(normal), splitting), "", rate / 4e6, 1),
        row(
            "batch split into keys : can_ada parse",
            per_url(len(normal), splitting),
            per_url(8192, parsing),
            rate * parsing / 8192,
            1,
        ),
        _help_time(),
    ]


def _help_time() -> dict[str, Any]:
    command = [sys.executable, "-m", "undust", "--help"]
    times = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    seconds = statistics.median(times)
    return row("undust --help : 0.3 s", f"{seconds:.3f} s", "", seconds / 0.3, 1, at_most=True)


def _ada(url: str) -> str:
    return str(can_ada.parse(url))


def _try(function: Any, url: str) -> str | None:
    try:
        return str(function(url))
    except ValueError:
        return None
