"""Quality of near duplicates: pairs of known similarity, planted pairs, and real crawls whose clusters are known.

Beside each peer at its best setting, and undust at its own defaults and at its best.
"""

import gzip
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.duplicates_peers import PEERS, Pairs, ordered
from benchmarks.timing import row
from undust import corpus
from undust.detect.clusters import cluster_pairs
from undust.detect.pairs import to_table
from undust.detect.pairs_minhash import minhash_pairs
from undust.detect.sketches import choose_bands, gather_sketches, sketch_texts
from undust.detect.text import extract
from undust.evaluate.partitions import compare_codes, match_truth

DATA = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data"))
THRESHOLD = 0.8
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)

Codes = npt.NDArray[Any]


def ours(texts: list[str], threshold: float = THRESHOLD) -> pa.Table:
    """Texts to verified pairs."""
    sketches = gather_sketches(sketch_texts(pa.array(texts, pa.large_string())), choose_bands(threshold))
    return minhash_pairs(sketches, threshold=threshold)


def articles() -> tuple[list[str], Pairs]:
    """Texts of real articles and the pairs planted among them; made-up ones where the shared data is not there."""
    folder = DATA / "articles"
    if not folder.is_dir():
        return generated(2500)[0], set()
    lines = gzip.decompress((folder / "articles_2500.train.gz").read_bytes()).decode().splitlines()
    names = {line.split(" ", 1)[0]: at for at, line in enumerate(lines)}
    truth = [line.split() for line in (folder / "articles_2500.truth").read_text().splitlines()]
    return [line.split(" ", 1)[1] for line in lines], {ordered(names[a], names[b]) for a, b in truth}


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


def crawl(name: str) -> tuple[list[str], Codes]:
    """Main texts of the pages of a real crawl, and the codes of their true clusters."""
    pages = pa.Table.from_batches(corpus.read_pages([DATA / "webapps" / f"{name}.warc.gz"], tally=corpus.Tally()))
    urls = pages["url"].combine_chunks()
    known = match_truth(urls, corpus.read_clusters(DATA / "webapps" / f"{name}.clusters.tsv"))
    texts = extract(pages.take(pa.array(known.places)), content="main")["text"].to_pylist()
    worded = [at for at, text in enumerate(texts) if text and len(text.split()) >= 5]
    return [texts[at] for at in worded], known.clusters[worded]


def rows() -> Iterator[dict[str, Any]]:
    """Measure everything."""
    made, similarities = generated(4000)
    yield from _known_similarity(made, similarities)
    truth = {pair for pair, similarity in similarities.items() if similarity >= THRESHOLD}
    yield from _beside_peers(f"known similarity ≥ {THRESHOLD:g}", made, _codes(truth, len(made)), (THRESHOLD,))
    texts, planted = articles()
    if planted:
        yield from _beside_peers("articles, planted pairs", texts, _codes(planted, len(texts)), THRESHOLDS)
    for name in ("wordpress", "dokuwiki_sid"):
        if (DATA / "webapps").is_dir():
            yield from _beside_peers(f"{name}, true clusters", *crawl(name), THRESHOLDS)


def _known_similarity(texts: list[str], similarities: dict[tuple[int, int], float]) -> Iterator[dict[str, Any]]:
    found = ours(texts)
    pairs = set(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True))
    well_above = {pair for pair, similarity in similarities.items() if similarity >= THRESHOLD + 0.1}
    true = {pair for pair in pairs if similarities.get(pair, 0) >= THRESHOLD}
    recall, precision = len(pairs & well_above) / len(well_above), len(true) / len(pairs)
    yield row(f"known similarity ≥ {THRESHOLD + 0.1:g} : recall", f"{recall:.4f}", "", recall, 0.99)
    yield row(f"known similarity ≥ {THRESHOLD:g} : precision", f"{precision:.4f}", "", precision, 0.99)


def _beside_peers(job: str, texts: list[str], truth: Codes, tried: tuple[float, ...]) -> Iterator[dict[str, Any]]:
    """F1 of pairs in one cluster: undust's stars at the best threshold, each peer's components at its best."""

    def of_ours(threshold: float) -> float:
        clusters = cluster_pairs(ours(texts, threshold), len(texts), by="star").rows
        return compare_codes(clusters, truth).f1

    mine, at = max((of_ours(threshold), threshold) for threshold in tried)
    for name, (find, thresholds) in PEERS.items():
        scored = ((compare_codes(_codes(find(texts, value), len(texts)), truth).f1, value) for value in thresholds)
        theirs, best = max(scored)
        shown = f"{mine:.4f} at {at:g}", f"{theirs:.4f} at {best:g}"
        yield row(f"{job}, F1 : {name}", *shown, mine / max(theirs, 1e-9), 1)


def _codes(pairs: Pairs, count: int) -> Codes:
    packed = np.array([a << 32 | b for a, b in pairs], dtype=np.uint64)
    table = to_table(packed, np.ones(len(packed), dtype=np.float32))
    return cluster_pairs(table, count, by="components").rows
