"""Duplicates: speed, memory and quality of pairs and clusters, beside rensa, gaoya and datasketch."""

import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasketch  # type: ignore[import-untyped]
import gaoya  # type: ignore[import-untyped]
import numpy as np
import pyarrow as pa
import rensa  # type: ignore[import-untyped]

from benchmarks.timing import best_seconds, row
from undust.detect.clusters import cluster_pairs
from undust.detect.pairs_hamming import simhash_pairs
from undust.detect.pairs_minhash import candidate_components, minhash_pairs
from undust.detect.sketches import Bands, choose_bands, gather_sketches, sketch_texts

DATA = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data"))
THRESHOLD = 0.8
Pairs = set[tuple[int, int]]


def run() -> list[dict[str, Any]]:
    """Measure everything."""
    return [*_large_jobs(), *_end_to_end(), *_quality()]


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


def articles() -> tuple[list[str], Pairs]:
    """Texts of real articles and the pairs planted among them; made-up ones where the shared data is not there."""
    folder = DATA / "articles"
    if not folder.is_dir():
        return generated(2500)[0], set()
    lines = gzip.decompress((folder / "articles_2500.train.gz").read_bytes()).decode().splitlines()
    names = {line.split(" ", 1)[0]: at for at, line in enumerate(lines)}
    truth = [line.split() for line in (folder / "articles_2500.truth").read_text().splitlines()]
    return [line.split(" ", 1)[1] for line in lines], {_pair(names[a], names[b]) for a, b in truth}


def generated(count: int, seed: int = 0) -> tuple[list[str], dict[tuple[int, int], float]]:
    """Texts in pairs, the second with another end, and the exact similarity of each pair (shingles of 5 words)."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    texts, truth = [], {}
    for at in range(0, count, 2):
        size = chance.randrange(30, 400)
        words = [f"w{chance.randrange(10**9)}" for _ in range(size)]
        tail = chance.randrange(1, max(size // 3, 2))
        other = words[: size - tail] + [f"x{chance.randrange(10**9)}" for _ in range(tail)]
        texts += [" ".join(words), " ".join(other)]
        common = size - 4 - tail
        truth[at, at + 1] = common / (2 * (size - 4) - common)
    return texts, truth


def ours(texts: list[str], threshold: float = THRESHOLD) -> pa.Table:
    """Texts to pairs and clusters."""
    pairs = minhash_pairs(gather_sketches(sketch_texts(pa.array(texts)), choose_bands(threshold)), threshold=threshold)
    cluster_pairs(pairs, len(texts))
    return pairs


def shingles(text: str) -> list[str]:
    """Split as the peers' users do."""
    words = text.lower().split()
    return [" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]


def with_rensa(texts: list[str]) -> Pairs:
    """Its own deduplicator: adds each text that is like none before."""
    return with_rensa_from([shingles(text) for text in texts])


def with_rensa_from(split: list[list[str]]) -> Pairs:
    """The same without the time for Python to make shingles, which rensa cannot do."""
    deduplicator = rensa.RMinHashDeduplicator(THRESHOLD, 128, True, 32)
    sketches = rensa.RMinHash.from_token_sets(split, 128, 42)
    found = set()
    for at, sketch in enumerate(sketches):
        if not deduplicator.add(str(at), sketch):
            found |= {_pair(int(other), at) for other in deduplicator.get_duplicates(sketch)}
    return found


def with_gaoya(texts: list[str]) -> Pairs:
    """Its own index, on all cores."""
    index = gaoya.minhash.MinHashStringIndex(32, THRESHOLD, 32, 4, None, "word", True, (5, 5))
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return {_pair(at, other) for at, like in enumerate(index.par_bulk_query(texts)) for other in like if other != at}


def with_datasketch(texts: list[str]) -> Pairs:
    """Its index, asked for each text."""
    index = datasketch.MinHashLSH(threshold=THRESHOLD, num_perm=128)
    found = set()
    for at, text in enumerate(texts):
        sketch = datasketch.MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in shingles(text)])
        found |= {_pair(other, at) for other in index.query(sketch)}
        index.insert(at, sketch)
    return found


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _end_to_end() -> Iterator[dict[str, Any]]:
    texts, _ = articles()
    few, split = texts[:250], [shingles(text) for text in texts]
    mine, of_rensa, of_rensa_split, of_gaoya, of_datasketch = best_seconds(
        lambda: ours(texts),
        lambda: with_rensa(texts),
        lambda: with_rensa_from(split),
        lambda: with_gaoya(texts),
        lambda: with_datasketch(few),
        rounds=3,
    )
    each = mine / len(texts)
    for name, seconds, count, target in (
        ("rensa", of_rensa, len(texts), 4),
        ("rensa, given shingles", of_rensa_split, len(texts), 1),
        ("gaoya", of_gaoya, len(texts), 4),
        ("datasketch", of_datasketch, len(few), 20),
    ):
        speeds = f"{1 / each:,.0f} texts/s", f"{count / seconds:,.0f} texts/s"
        yield row(f"texts to clusters, verified : {name}", *speeds, seconds / count / each, target)


def _quality() -> Iterator[dict[str, Any]]:
    texts, planted = articles()
    found = _rows(ours(texts, 0.5))
    if planted:
        yield row("articles, planted pairs : F1", f"{_f1(found, planted):.3f}", "", _f1(found, planted), 0.99)
    made, similarities = generated(4000)
    truth = {pair for pair, similarity in similarities.items() if similarity >= THRESHOLD}
    well_above = {pair for pair, similarity in similarities.items() if similarity >= THRESHOLD + 0.1}
    found = _rows(ours(made))
    recall, precision = len(found & well_above) / len(well_above), len(found & truth) / len(found)
    yield row(f"known similarity ≥ {THRESHOLD + 0.1:g} : recall", f"{recall:.4f}", "", recall, 0.99)
    yield row(f"known similarity ≥ {THRESHOLD:g} : precision", f"{precision:.4f}", "", precision, 0.99)
    for name, peer in (("rensa", with_rensa), ("gaoya", with_gaoya), ("datasketch", with_datasketch)):
        theirs = _f1(peer(made), truth)
        mine = _f1(found, truth)
        yield row(f"known similarity ≥ {THRESHOLD:g}, F1 : {name}", f"{mine:.4f}", f"{theirs:.4f}", mine / theirs, 1)


def _rows(pairs: pa.Table) -> Pairs:
    return set(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))


def _f1(found: Pairs, truth: Pairs) -> float:
    return 2 * len(found & truth) / (len(found) + len(truth))


if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]]()))
