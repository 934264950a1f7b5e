"""Measures how well signatures estimate similarity on real page pairs, and draws it: python -m benchmarks.agreement.

Writes docs/agreement.svg and prints the table of docs/signatures.md. Pages are those of the shared data: crawls of five
web applications and news articles. Pairs are of two random pages of one site, which share what the site's pages share.
Each pair has a seed of its own, so that the errors of two pairs are independent and may be added up.
"""

import gzip
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text  # type: ignore[import-untyped]

from undust.detect.bags import Bags, count, document_frequencies, flat_signatures, scale, tfidf, weighted_signatures
from undust.detect.fingerprints import agreement, shingle_signatures
from undust.detect.words import normalized, split
from undust.detect.words_lexicon import Keywords

DATA = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data"))
PICTURE = Path(__file__).parents[1] / "docs" / "agreement.svg"
PAIRS = 2_400  # of each of the sites and of the articles
VALUES = 128
SHINGLE_WORDS = 5

Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]


def pages(path: Path) -> list[str]:
    """Read the texts of the HTML pages of a WARC file."""
    texts = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
            if "html" in (record.http_content_type or ""):
                text = extract_plain_text(record.reader.read().decode("utf-8", "replace"), main_content=False)
                texts.append(text)
    return texts


def articles(path: Path) -> list[str]:
    """Read news articles, one on a line after its name."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.split(" ", 1)[1].strip() for line in lines]


def sites() -> dict[str, list[str]]:
    """Read all texts, by where they are from."""
    found = {path.name.split(".")[0]: pages(path) for path in sorted((DATA / "webapps").glob("*.warc.gz"))}
    return found | {"articles": articles(DATA / "articles" / "articles_2500.train.gz")}


@numba.njit(nogil=True)  # type: ignore[untyped-decorator] # Numba has no types
def classic(elements: Any, seed: int, signature: Any) -> None:
    """Min-hash as in the textbook: the least of all elements, by as many hash functions as there are values."""
    for k in range(len(signature)):
        least = np.uint64(0xFFFFFFFFFFFFFFFF)
        for element in elements:
            x = element ^ (np.uint64(seed * 1000 + k + 1) * np.uint64(0x9E3779B97F4A7C15))
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            least = min(least, x ^ (x >> np.uint64(31)))
        signature[k] = least


def classic_signatures(sets: list[Counter[int]], seed: int) -> Hashes:
    """Sketch sets of shingles by classic permutations."""
    signatures = np.empty((len(sets), VALUES), dtype=np.uint64)
    for shingles, signature in zip(sets, signatures, strict=True):
        classic(np.array(list(shingles), dtype=np.int64).view(np.uint64), seed, signature)
    return signatures


def similarity(a: Counter[int], b: Counter[int]) -> float:
    """Give the exact weighted Jaccard similarity: lesser weights over greater weights."""
    common = sum(min(weight, b[term]) for term, weight in a.items() if term in b)
    return common / (sum(a.values()) + sum(b.values()) - common)


def shingle_set(hashes: list[int]) -> Counter[int]:
    """Give the set of runs of words."""
    last = max(len(hashes) - SHINGLE_WORDS, 0)
    return Counter({hash(tuple(hashes[i : i + SHINGLE_WORDS])): 1 for i in range(last + 1)})


def part(bags: Bags, rows: list[int]) -> Bags:
    """Take some bags out of many."""
    spans = [slice(bags.rows[row], bags.rows[row + 1]) for row in rows]
    ends = np.cumsum([0, *(span.stop - span.start for span in spans)])
    return Bags(ends, np.concatenate([bags.terms[s] for s in spans]), np.concatenate([bags.weights[s] for s in spans]))


def counters(bags: Bags) -> list[Counter[int]]:
    """Give bags as Python's own."""
    terms, weights = bags.terms.tolist(), bags.weights.tolist()
    return [Counter(dict(zip(terms[a:b], weights[a:b], strict=True))) for a, b in pairwise(bags.rows.tolist())]


def measure(texts: list[str], first_seed: int) -> dict[str, list[tuple[float, float]]]:
    """Give exact similarity and agreement of random pairs, by kind of sketch."""
    words = split(normalized(pa.array(texts)))
    counted = count(words.hashes, words.rows)
    weighted = scale(tfidf(counted, document_frequencies(counted)))
    usable = np.flatnonzero((np.diff(words.rows) > 0) & (np.diff(weighted.rows) > 0))
    chosen = np.random.default_rng(first_seed).choice(usable, size=(3 * PAIRS, 2))
    chosen = chosen[chosen[:, 0] != chosen[:, 1]][:PAIRS]
    found: dict[str, list[tuple[float, float]]] = {"shingles": [], "classic": [], "bags": [], "tf-idf bags": []}

    def take(kind: str, exact: float, signatures: Hashes) -> None:
        found[kind].append((exact, float(agreement(signatures[0], signatures[1]))))

    for seed, pair in enumerate(chosen.tolist(), first_seed):
        spans = [words.hashes[words.rows[row] : words.rows[row + 1]] for row in pair]
        both = Keywords(np.concatenate(spans), np.cumsum([0, *map(len, spans)]))
        sets = [shingle_set(span.tolist()) for span in spans]
        exact = similarity(*sets)
        take("shingles", exact, shingle_signatures(both, shingle_words=SHINGLE_WORDS, values=VALUES, seed=seed))
        take("classic", exact, classic_signatures(sets, seed))
        for kind, bags, sketch in (("bags", counted, flat_signatures), ("tf-idf bags", weighted, weighted_signatures)):
            two = part(bags, pair)
            take(kind, similarity(*counters(two)), sketch(two, values=VALUES, seed=seed))
    return found


def table(found: dict[str, Floats]) -> str:
    """Write the table of the documentation."""
    lines = [
        "| sketch | pairs | mean similarity | mean error | in standard errors | root mean square error | of a coin |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, rows in found.items():
        exact, errors = rows[:, 0], rows[:, 1] - rows[:, 0]
        coin = exact * (1 - exact) / VALUES
        lines.append(
            f"| {kind} | {len(rows):,} | {exact.mean():.3f} | {errors.mean():+.5f} |"
            f" {errors.sum() / np.sqrt(coin.sum()):+.2f} | {np.sqrt((errors**2).mean()):.4f} |"
            f" {np.sqrt(coin.mean()):.4f} |"
        )
    return "\n".join(lines)


COLOURS = {"shingles": "#1f6feb", "bags": "#1a7f37", "tf-idf bags": "#8250df", "classic": "#bf3989"}


def panel(x: float, title: str, marks: list[str], label: str, most: float, places: list[float]) -> list[str]:
    """Draw the frame of one of the two pictures, 360 by 360, around its marks."""
    drawn = [f'<g transform="translate({x} 60)">', f'<text x="180" y="-18" class="title">{title}</text>']
    for place in places:
        y = 360 - 360 * place / most
        drawn.append(f'<path d="M0 {y:.1f}H360" class="grid"/><text x="-8" y="{y + 4:.1f}" class="y">{place:g}</text>')
    for tenth in range(0, 11, 2):
        drawn.append(f'<text x="{36 * tenth}" y="380" class="x">{tenth / 10:g}</text>')
    drawn += ['<path d="M0 0V360H360" class="axis"/>', *marks]
    drawn.append(
        f'<text x="180" y="404" class="x">exact similarity</text><text x="0" y="-4" class="label">{label}</text>'
    )
    return [*drawn, "</g>"]


def squares(rows: Floats, bins: int = 60) -> list[str]:
    """Draw how many pairs have an exact similarity and an agreement, darker for more."""
    counts, _, _ = np.histogram2d(rows[:, 0], rows[:, 1], bins=bins, range=[[0, 1], [0, 1]])
    side = 360 / bins
    drawn = ['<path d="M0 360L360 0" class="diagonal"/>']
    for i, j in np.argwhere(counts > 0).tolist():
        depth = min(1.0, 0.15 + 0.17 * np.log(counts[i, j]))
        drawn.append(
            f'<rect x="{i * side:g}" y="{360 - (j + 1) * side:g}" width="{side:g}" height="{side:g}"'
            f' opacity="{depth:.2f}"/>'
        )
    return [f'<g fill="{COLOURS["shingles"]}">', *drawn, "</g>"]


def errors_by_similarity(found: dict[str, Floats], most: float) -> list[str]:
    """Draw the root mean square error of each sketch in twelve classes of similarity, and that of a coin."""
    line = " ".join(
        f"{3.6 * i:.1f},{360 - 360 * np.sqrt(i / 100 * (1 - i / 100) / VALUES) / most:.1f}" for i in range(101)
    )
    drawn = [f'<polyline points="{line}" class="diagonal"/>']
    edges = np.linspace(0, 1, 13)
    for number, (kind, rows) in enumerate(found.items()):
        points = []
        for low, high in pairwise(edges.tolist()):
            inside = rows[(rows[:, 0] > low) & (rows[:, 0] <= high)]
            if len(inside) >= 30:
                error = np.sqrt(((inside[:, 1] - inside[:, 0]) ** 2).mean())
                points.append(f"{360 * inside[:, 0].mean():.1f},{360 - 360 * error / most:.1f}")
        dots = "".join('<circle cx="{}" cy="{}" r="3"/>'.format(*point.split(",")) for point in points)
        drawn.append(
            f'<g fill="{COLOURS[kind]}"><polyline points="{" ".join(points)}" stroke="{COLOURS[kind]}"/>{dots}'
        )
        drawn.append(f'<text x="20" y="{20 + 16 * number}" class="key">{kind}</text></g>')
    drawn.append('<text x="20" y="84" class="key" fill="#57606a">dashed: a coin, which classic min-hash is</text>')
    return drawn


def picture(found: dict[str, Floats]) -> str:
    """Draw both as SVG."""
    style = (
        "text{font:13px sans-serif;fill:#24292f}.title{text-anchor:middle;font-weight:bold}.x{text-anchor:middle}"
        ".y{text-anchor:end}.key{fill:inherit}.grid{stroke:#d0d7de;fill:none}.axis{stroke:#57606a;fill:none}"
        ".diagonal{stroke:#57606a;fill:none;stroke-dasharray:5 4}polyline{fill:none;stroke-width:1.5}"
    )
    pairs = len(found["shingles"])
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 480" role="img">',
        f"<title>Agreement of signatures and exact similarity of {pairs:,} pairs of pages</title>",
        f'<style>{style}</style><rect width="900" height="480" fill="#fff"/>',
        *panel(
            60,
            f"{pairs:,} pairs of pages, shingles",
            squares(found["shingles"]),
            "agreement",
            1,
            [0, 0.25, 0.5, 0.75, 1],
        ),
        *panel(
            510,
            "root mean square error",
            errors_by_similarity(found, 0.06),
            "error",
            0.06,
            [0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06],
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Measure, draw and print."""
    together: dict[str, list[tuple[float, float]]] = {}
    for number, (name, texts) in enumerate(sites().items()):
        for kind, rows in measure(texts, 1 + number * 10_000).items():
            together.setdefault(kind, []).extend(rows)
        print(f"{name}: {len(texts):,} pages")
    found = {kind: np.array(rows) for kind, rows in together.items()}
    print(table(found))
    PICTURE.write_text(picture(found), "utf-8")


if __name__ == "__main__":
    main()
