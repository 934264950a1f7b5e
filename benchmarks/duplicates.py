"""Duplicates: speed, memory and quality of pairs and clusters, beside rensa, gaoya, datasketch, simhash, text-dedup."""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.cluster_memory import make as make_fingerprints

from benchmarks.duplicates_peers import (
    TEXT_DEDUP,
    shingles,
    timed_text_dedup,
    with_datasketch,
    with_gaoya,
    with_rensa,
    with_rensa_from,
)
from benchmarks.duplicates_quality import THRESHOLD, articles, ours, rows
from benchmarks.timing import best_seconds, row
from undust.detect.clusters import cluster_pairs
from undust.detect.pairs_hamming import simhash_pairs
from undust.detect.pairs_minhash import candidate_components, minhash_pairs
from undust.detect.sketches import Bands, choose_bands, gather_sketches, sketch_texts


def run() -> list[dict[str, Any]]:
    """Measure everything."""
    return [*_large_jobs(), *_limited_memory(), *_end_to_end(), *rows()]


def _large_jobs() -> Iterator[dict[str, Any]]:
    """Seconds and memory of jobs that are too large for company, each in a process of its own."""
    simhash = _alone("simhash")
    yield row(
        "10 M simhashes within 3 bits : 30 s",
        f"{simhash['seconds']:.1f} s",
        "",
        simhash["seconds"] / 30,
        1,
        at_most=True,
    )
    yield row(
        "10 M simhashes within 3 bits : 4 GB",
        f"{simhash['gigabytes']:.2f} GB",
        "",
        simhash["gigabytes"] / 4,
        1,
        at_most=True,
    )
    for name, limit in (("bands", 3.0), ("spilled_bands", 1.0)):
        bands = _alone(name)
        job = f"5 M signatures 32×4, components, limit {limit:g} GB"
        yield row(f"{job} : 15 s CPU", f"{bands['cpu']:.1f} s", "", bands["cpu"] / 15, 1, at_most=True)
        yield row(f"{job} : memory", f"{bands['gigabytes']:.2f} GB", "", bands["gigabytes"] / limit, 1, at_most=True)
    template = _alone("template")
    yield row(
        "100,000 pages of one template, 0.797 similar : 15 s CPU",
        f"{template['cpu']:.1f} s",
        "",
        template["cpu"] / 15,
        1,
        at_most=True,
    )


def _limited_memory() -> Iterator[dict[str, Any]]:
    """5 million fingerprints, 7.5 GB of them, clustered by each method in 2 GB."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "pages.parquet")
        make_fingerprints(path, 5_000_000)
        for method in ("exact", "simhash", "minhash", "cascade"):
            command = [sys.executable, "-m", "tests.cluster_memory", path, method, "2GB"]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            shown = f"{found['peak_mb'] / 1000:.2f} GB, {found['cpu_seconds']:.0f} s CPU"
            job = f"5 M fingerprints, {method}, --memory 2GB : peak"
            yield row(job, shown, "", found["peak_mb"] / 2000, 1, at_most=True)


def _alone(job: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-m", "benchmarks.duplicates", job], check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _measure(work: Callable[[], Any]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def simhash_job() -> dict[str, float]:
    """10 million simhashes, a tenth of them up to three bits away from another."""
    chance = np.random.default_rng(0)
    values = chance.integers(0, 2**64, 10_000_000, dtype=np.uint64)
    copies = np.arange(9, len(values), 10)
    values[copies] = values[copies - 1]
    for _ in range(3):
        values[copies] ^= np.uint64(1) << chance.integers(0, 64, len(copies), dtype=np.uint64)
    simhash_pairs(values[:1000])
    found: list[pa.Table] = []
    measured = _measure(lambda: found.append(simhash_pairs(values)))
    assert found[0].num_rows >= len(copies)
    return measured


def bands_job(memory_bytes: int = 3 * 10**9) -> dict[str, float]:
    """5 million signatures, a tenth of them 90 % like another, read in batches as from a file; making them is free."""
    chance = np.random.default_rng(0)
    making = 0.0

    def batches() -> Iterator[tuple[Any, None]]:
        nonlocal making
        for _ in range(100):
            start = time.process_time()
            signatures = chance.integers(1, 2**64, (50_000, 128), dtype=np.uint64)
            kept = chance.random((5_000, 128)) < 0.9
            signatures[25_000:30_000] = np.where(kept, signatures[:5_000], signatures[25_000:30_000])
            making += time.process_time() - start
            yield signatures, None

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            sketches = gather_sketches(
                batches(), Bands(4, 32), verify="none", memory_bytes=memory_bytes, folder=Path(folder)
            )
            roots = candidate_components(sketches, memory_bytes=memory_bytes)
            assert (roots != np.arange(len(roots))).sum() > 490_000

    measured = _measure(work)
    return measured | {"cpu": measured["cpu"] - making}


def template_job() -> dict[str, float]:
    """100,000 texts that share 200 words and have 25 of their own: just not similar enough, the worst case."""
    chance = random.Random(0)  # noqa: S311 - no secret
    shared = " ".join(f"w{chance.randrange(10**9)}" for _ in range(200))
    own = [" ".join(f"o{chance.randrange(10**9)}" for _ in range(25)) for _ in range(100_000)]
    texts = pa.array([f"{shared} {words}" for words in own])
    sketches = gather_sketches(sketch_texts(texts), choose_bands(THRESHOLD))
    return _measure(lambda: minhash_pairs(sketches, threshold=THRESHOLD))


JOBS: dict[str, Callable[[], dict[str, float]]] = {
    "simhash": simhash_job,
    "bands": bands_job,
    "spilled_bands": lambda: bands_job(10**9),
    "template": template_job,
}


def _end_to_end() -> Iterator[dict[str, Any]]:
    """Texts to clusters, ours verified exactly."""
    texts, _ = articles()
    few, split = texts[:250], [shingles(text) for text in texts]
    mine, of_rensa, of_rensa_split, of_gaoya, of_datasketch = best_seconds(
        lambda: cluster_pairs(ours(texts), len(texts), by="star"),
        lambda: with_rensa(texts, THRESHOLD),
        lambda: with_rensa_from(split, THRESHOLD),
        lambda: with_gaoya(texts, THRESHOLD),
        lambda: with_datasketch(few, THRESHOLD),
        rounds=3,
    )
    each = mine / len(texts)
    measured = [
        ("rensa", of_rensa, len(texts), 4),
        ("rensa, given shingles", of_rensa_split, len(texts), 1),
        ("gaoya", of_gaoya, len(texts), 4),
        ("datasketch", of_datasketch, len(few), 20),
    ]
    if TEXT_DEDUP:
        measured.append(("text-dedup, 2 processes", timed_text_dedup(texts, THRESHOLD)[1], len(texts), 25))
    for name, seconds, count, target in measured:
        speeds = f"{1 / each:,.0f} texts/s", f"{count / seconds:,.0f} texts/s"
        yield row(f"texts to clusters, verified : {name}", *speeds, seconds / count / each, target)


if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]]()))
