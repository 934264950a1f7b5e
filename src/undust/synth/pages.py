"""Pages for the URLs of a generated web: each cluster has a text of its own, each site what all its pages share."""

import html
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from undust.synth.sites import Site
from undust.synth.words import vocabulary

_GIANTS = {
    "soft 404": "The page that you asked for is not here. It may have moved, or the address may be wrong.",
    "login": "Please sign in to go on. Forgot your password? Not a member yet? Join us, it is free.",
    "calendar": "There are no events in this month. Look at another month, or add an event of your own.",
}


@dataclass(frozen=True, slots=True)
class Pages:
    """How pages are written."""

    seed: int = 0
    edits: float = 0.0
    """Share of the URLs whose page differs a little from the others of its cluster: by a word, or a counter."""
    canonical: bool = False
    """Pages name the plain URL of their cluster as the canonical one, where it is among the URLs."""

    def of(self, site: Site, batch: pa.RecordBatch) -> Iterator[tuple[str, bytes]]:
        """Write the page of each URL of a batch."""
        truth = "true_cluster" if "true_cluster" in batch.schema.names else "cluster"
        urls, clusters, families = (batch[name].to_pylist() for name in ("url", truth, "families"))
        plain = {}
        if self.canonical:
            plain = {c: url for url, c, changed in zip(urls, clusters, families, strict=True) if not changed}
        giants = site.giants()
        texts: dict[str, tuple[str, list[str]]] = {}
        around = self._around(site)
        for url, cluster in zip(urls, clusters, strict=True):
            if cluster not in texts:
                texts[cluster] = self._text(site, cluster, giants.get(cluster, ""))
            yield url, self._page(url, texts[cluster], around, plain.get(cluster, ""))

    def _page(self, url: str, text: tuple[str, list[str]], around: tuple[str, str], canonical: str) -> bytes:
        title, paragraphs = text
        drawn = zlib.crc32(url.encode(), self.seed)
        if drawn < self.edits * 2**32:
            paragraphs = _edited(paragraphs, np.random.default_rng([self.seed, drawn]))
        link = f'<link rel="canonical" href="{html.escape(canonical)}">' if canonical else ""
        body = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{link}</head>\n'
            f"<body>{around[0]}\n<main><h1>{title}</h1>\n{body}</main>\n{around[1]}</body></html>\n"
        ).encode()

    def _text(self, site: Site, cluster: str, giant: str) -> tuple[str, list[str]]:
        """Write the title and the paragraphs of a cluster."""
        if giant:
            return site.domain, [_GIANTS[giant]]
        chance = np.random.default_rng([self.seed, site.seed, zlib.crc32(cluster.encode())])
        # One draw for all words: a page is a few hundred of them.
        lengths = [int(length) for length in chance.integers(6, 18, int(chance.integers(6, 24)))]
        words = _words(chance, sum(lengths) + 5)
        ends = np.cumsum([5, *lengths]).tolist()
        sentences = [" ".join(words[a:b]).capitalize() + "." for a, b in pairwise(ends)]
        paragraphs = [" ".join(sentences[place : place + 4]) for place in range(0, len(sentences), 4)]
        return " ".join(words[:5]).capitalize(), paragraphs

    def _around(self, site: Site) -> tuple[str, str]:
        """Write what all pages of a site have: the menu above and the lines below."""
        chance = np.random.default_rng([self.seed, site.seed])
        menu = "".join(f'<li><a href="/{word}/">{word.title()}</a></li>' for word in _words(chance, 12))
        below = " ".join(_words(chance, 40)).capitalize()
        return f"<nav><ul>{menu}</ul></nav>", f"<footer><p>{below}. &copy; {site.domain}</p></footer>"


def _words(chance: np.random.Generator, count: int) -> list[str]:
    """Draw words as texts have them: few of them often, most of them hardly ever."""
    words = vocabulary()
    places = np.minimum((len(words) ** chance.random(count)).astype(np.int64), len(words) - 1)
    found: list[str] = words.take(pa.array(places)).to_pylist()
    return found


def _edited(paragraphs: list[str], chance: np.random.Generator) -> list[str]:
    """Change a page a little: another word, or a line with a counter and a date."""
    if chance.random() < 0.5:
        place = int(chance.integers(len(paragraphs)))
        words = paragraphs[place].split(" ")
        words[int(chance.integers(len(words)))] = _words(chance, 1)[0]
        return [*paragraphs[:place], " ".join(words), *paragraphs[place + 1 :]]
    return [*paragraphs, f"Read {int(chance.integers(2, 9999))} times, last on {int(chance.integers(1, 29))} May."]
