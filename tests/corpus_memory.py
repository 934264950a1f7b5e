"""Reads files in a process of its own and tells how its memory grew: python -m tests.corpus_memory FILE..."""

import gc
import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.corpus_files import SAMPLES, read_bytes
from undust import corpus
from undust.corpus import Tally
from undust.errors import UndustError

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def memory_mib() -> tuple[float, float]:
    """Memory of this process now, and the most that it had since the peak was forgotten, or ever."""
    if STATUS.exists():
        told = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return int(told["VmRSS"].split()[0]) / 2**10, int(told["VmHWM"].split()[0]) / 2**10
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return peak, peak


def forget_peak() -> None:
    """Give back what is unused, and let the peak start at what is left (Linux only)."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if CLEAR.exists():
        CLEAR.write_text("5")


def measure(path: str) -> dict[str, Any]:
    """Read one file, and tell what came out and by how much the peak was above the start."""
    forget_peak()
    before, _ = memory_mib()
    tally = Tally()
    error = None
    try:
        for batch in corpus.read_pages([path], tally=tally):
            assert batch.nbytes < 128 * 2**20
    except UndustError as problem:
        error = str(problem)
    _, peak = memory_mib()
    return {**tally.to_dict(), "error": error, "grown_mib": peak - before}


def main() -> None:
    """Warm up with small files of every format, so that code and caches do not count, then measure."""
    with tempfile.TemporaryDirectory() as folder:
        for sample in SAMPLES:
            read_bytes(Path(folder), sample.data, sample.name)
    for path in sys.argv[1:]:
        print(json.dumps(measure(path)), flush=True)


if __name__ == "__main__":
    main()
