"""What the online index must answer, found by comparing with everything; and fingerprints that are made to collide."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.fingerprints import schema, to_column
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near_hamming import hash_keywords
from undust.detect.sketches import choose_bands
from undust.kernels.index_rows import fold_signatures

Answer = tuple[str | None, str | None, float | None]
NEW: Answer = (None, None, None)


@dataclass(frozen=True)
class Content:
    """The fingerprint of a page; with `digest` None that of a page without words."""

    digest: int | None
    simhash: int = 0
    sentences: int = 1
    keywords: tuple[str, ...] = ()
    values: tuple[int, ...] = ()
    shingles: frozenset[int] = frozenset()


def table(pages: Sequence[tuple[str, Content]], made: SignatureParameters, *, shingles: bool = True) -> pa.Table:
    """Write pages as the table of fingerprints that they would be."""
    names = ["exact", "simhash", "minhash", *(["shingles"] if shingles else []), "sentences", "keywords"]
    columns = schema(made, names)
    there = np.array([content.digest is not None for _, content in pages], dtype=np.bool_)
    zeros = (0,) * made.minhash_values
    values = np.array([content.values or zeros for _, content in pages], dtype=np.uint64)
    if made.simhash_bits <= 64:
        simhash = pa.array([None if c.digest is None else c.simhash for _, c in pages], pa.uint64())
    else:
        halves = [[content.simhash % 2**64, content.simhash >> 64] for _, content in pages]
        simhash = to_column(np.array(halves, dtype=np.uint64).reshape(-1, 2), 8, there)
    found = {
        "words": [len(content.shingles) for _, content in pages],
        "text_xxh3": [None if c.digest is None else c.digest.to_bytes(16, "little") for _, c in pages],
        "simhash": simhash,
        "minhash": to_column(values.reshape(-1, made.minhash_values), made.minhash_bytes, there),
        "shingles": [None if c.digest is None else sorted(c.shingles) for _, c in pages],
        "sentences": [content.sentences for _, content in pages],
        "keywords": [list(content.keywords) for _, content in pages],
        "keyword_counts": [[1] * len(content.keywords) for _, content in pages],
    }
    arrays = [pa.array(found[name], columns.field(name).type) for name in columns.names]
    urls = pa.array([url for url, _ in pages], pa.string())
    return pa.table([urls, *arrays], names=["url", *columns.names]).replace_schema_metadata(columns.metadata)


@dataclass
class Group:
    """Pages that were found to be duplicates of the first, by its content."""

    content: Content
    label: int
    founder: str
    is_founded: bool = True  # whether the founder is still there
    followers: dict[str, Answer] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        return self.founder if self.is_founded else next(iter(self.followers), None)


class Oracle:
    """The same as the index, by going through a list."""

    def __init__(
        self,
        methods: Iterable[str],
        made: SignatureParameters,
        *,
        threshold: float,
        distance: int,
        max_sentences: int,
        modes: npt.NDArray[np.uint64] | None = None,
        verify: str = "exact",
    ) -> None:
        self.methods = list(methods)
        self.made = made
        self.threshold, self.distance, self.max_sentences = threshold, distance, max_sentences
        self.modes = [] if modes is None else [set(mode.tolist()) - {0} for mode in modes]
        self.bands = choose_bands(threshold, values=made.minhash_values)
        self.verify = verify
        self.groups: list[Group] = []
        self.pages: dict[str, Group] = {}

    def label(self, content: Content) -> int:
        words = set(hash_keywords(pa.array([list(content.keywords)], pa.list_(pa.string())), 10)[0].tolist()) - {0}
        shared = [len(words & mode) for mode in self.modes]
        most = max(shared, default=0)
        return shared.index(most) if most else -1

    def similarity(self, a: Content, b: Content) -> float:
        if self.verify == "exact":
            return len(a.shingles & b.shingles) / len(a.shingles | b.shingles) if a.shingles | b.shingles else 0.0
        folded = np.empty((2, (len(a.values) + 1) // 2), dtype=np.uint32)
        fold_signatures(np.array([a.values, b.values], dtype=np.uint64), folded)
        one, other = folded.view(np.uint16)[:, : len(a.values)].tolist()
        same: int = sum(x == y for x, y in zip(one, other, strict=True))
        return same / len(a.values)

    def share_a_band(self, a: Content, b: Content) -> bool:
        rows = self.bands.rows
        return any(
            a.values[i * rows : (i + 1) * rows] == b.values[i * rows : (i + 1) * rows] for i in range(self.bands.count)
        )

    def decide(self, content: Content) -> tuple[Group | None, str | None, float]:
        if content.digest is None:
            return None, None, 0.0
        living = [group for group in self.groups if group.name is not None and group.content.digest is not None]
        for method in self.methods:
            found: list[tuple[float, Group]] = []
            for group in living:
                other = group.content
                bits = (other.simhash ^ content.simhash).bit_count()
                near = bits <= self.distance
                if method == "exact" and other.digest == content.digest:
                    found.append((1.0, group))
                if method == "simhash" and near:
                    found.append((1 - bits / self.made.simhash_bits, group))
                if (
                    method == "cascade"
                    and near
                    and abs(other.sentences - content.sentences) <= self.max_sentences
                    and group.label == self.label(content)
                ):
                    found.append((1 - bits / self.made.simhash_bits, group))
                if method == "minhash" and self.share_a_band(other, content):
                    similarity = self.similarity(other, content)
                    if similarity >= self.threshold:
                        found.append((similarity, group))
            if found:
                similarity, best = max(found, key=lambda pair: pair[0])  # of equals the first
                return best, method, similarity
        return None, None, 0.0

    def query(self, url: str, content: Content) -> Answer:
        group, method, similarity = self.decide(content)
        own = self.pages.get(url)
        if content.digest is None and own is not None and own.content.digest is None:
            group = own
        if group is None or group.name == url:
            return NEW
        return group.name, method, float(np.float32(similarity))

    def known(self, url: str, content: Content) -> bool:
        own = self.pages.get(url)
        if own is None:
            return False
        nothing = content.digest is None and own.content.digest is None  # then as now
        return nothing or self.decide(content)[0] is own

    def add(self, url: str, content: Content) -> Answer:
        answer = self.query(url, content)
        group, method, similarity = self.decide(content)
        own = self.pages.get(url)
        if content.digest is None and own is not None and own.content.digest is None:
            group = own
        if own is not None and own is group:
            return answer
        self.remove(url)
        if group is None:
            group = Group(content, self.label(content), url)
            self.groups.append(group)
        else:
            group.followers[url] = (None, method, float(np.float32(similarity)))
        self.pages[url] = group
        return answer

    def remove(self, url: str) -> bool:
        group = self.pages.pop(url, None)
        if group is None:
            return False
        if url in group.followers:
            del group.followers[url]
        else:
            group.is_founded = False
        return True

    def get(self, url: str) -> Answer | None:
        group = self.pages.get(url)
        if group is None:
            return None
        if group.name == url:
            return NEW
        _, method, similarity = group.followers[url]
        return group.name, method, similarity

    def duplicates(self, url: str) -> list[str]:
        group = self.pages.get(url)
        return [] if group is None or group.name != url else [one for one in group.followers if one != url]
