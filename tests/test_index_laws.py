"""The online index against comparing with everything, whatever is done to it in whatever order."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.index_oracle import Answer, Content, Oracle, table
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near_hamming import hash_keywords
from undust.index.online import Index

MODES = hash_keywords(pa.array([["a", "b"], ["c"]]), 2)
URLS = st.sampled_from([f"http://a.test/{n}" for n in range(14)])


def contents(made: SignatureParameters) -> st.SearchStrategy[Content]:
    """Fingerprints that agree in one thing or the other; a few of them are without words."""
    bits, values = made.simhash_bits, made.minhash_values
    ones = st.sets(st.integers(0, bits - 1), max_size=4)
    return st.builds(
        Content,
        digest=st.one_of(st.none(), st.integers(1, 6), st.integers(1, 6), st.integers(1, 6)),
        simhash=ones.map(lambda places: sum(1 << place for place in places)),
        sentences=st.integers(0, 4),
        keywords=st.sampled_from([(), ("a",), ("a", "c"), ("c", "b"), ("d",)]),
        values=st.integers(0, 2**values - 1).map(lambda ones: tuple(1 + (ones >> v & 1) for v in range(values))),
        shingles=st.integers(1, 2**7 - 1).map(lambda ones: frozenset(v for v in range(7) if ones >> v & 1)),
    )


SETTINGS: list[dict[str, Any]] = [
    {"methods": ("exact",)},
    {"methods": ("simhash",), "distance": 2},
    {"methods": ("minhash",), "threshold": 0.5},
    {"methods": ("exact", "minhash"), "threshold": 0.5, "verify": "signature"},
    {"methods": ("exact", "cascade"), "distance": 1, "max_sentences": 1, "modes": MODES},
    {"methods": ("minhash", "simhash", "exact"), "threshold": 0.6, "distance": 1},
]


@pytest.fixture(autouse=True, scope="module")
def no_waiting_for_the_disk() -> Iterator[None]:
    """Files need not outlive a crash of the machine here, and waiting for the disk is most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


class IndexMachine(RuleBasedStateMachine):
    """Adds, asks, removes, closes, crashes, compacts; after each step a reader and the oracle agree."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())

    @initialize(
        chosen=st.sampled_from(SETTINGS),
        bits=st.sampled_from([8, 64, 100]),
        buffer_pages=st.sampled_from([1, 2, 3, 64]),
        values=st.sampled_from([16, 21]),
    )
    def begin(self, chosen: dict[str, Any], bits: int, buffer_pages: int, values: int) -> None:
        self.made = SignatureParameters(simhash_bits=bits, minhash_values=values)
        self.buffer_pages = buffer_pages
        self.signature = chosen.get("verify") == "signature"
        self.oracle = Oracle(**{"threshold": 0.8, "distance": 3, "max_sentences": 2, **chosen}, made=self.made)
        self.index = Index(self.folder / "i", sync=False, buffer_pages=buffer_pages, **chosen)
        self.reader = Index(self.folder / "i", read_only=True)

    def rows(self, pages: list[tuple[str, Content]]) -> pa.Table:
        return table(pages, self.made, shingles=not self.signature)

    @rule(data=st.data(), count=st.integers(0, 6))
    def add(self, data: st.DataObject, count: int) -> None:
        pages = data.draw(st.lists(st.tuples(URLS, contents(self.made)), min_size=count, max_size=count))
        expected = [(self.oracle.known(*page), self.oracle.add(*page)) for page in pages]
        found = self.index.add_many(self.rows(pages))
        assert list(zip(found["known"].to_pylist(), answers(found), strict=True)) == expected

    @rule(data=st.data())
    def query(self, data: st.DataObject) -> None:
        pages = data.draw(st.lists(st.tuples(URLS, contents(self.made)), max_size=4))
        expected = [(self.oracle.known(*page), self.oracle.query(*page)) for page in pages]
        found = self.index.query_many(self.rows(pages))
        assert list(zip(found["known"].to_pylist(), answers(found), strict=True)) == expected

    @rule(urls=st.lists(URLS, max_size=6))
    def remove(self, urls: list[str]) -> None:
        assert self.index.remove_many(urls).to_pylist() == [self.oracle.remove(url) for url in urls]

    @rule()
    def compact(self) -> None:
        self.index.compact()

    @rule(crash=st.booleans(), buffer_pages=st.sampled_from([None, 1, 5]))
    def open_again(self, crash: bool, buffer_pages: int | None) -> None:
        if crash:
            self.index._session._release()  # what a crash leaves: the files as they are
        else:
            self.index.close()
        self.index = Index(self.folder / "i", sync=False, buffer_pages=buffer_pages or self.buffer_pages)

    @invariant()
    def a_reader_agrees(self) -> None:
        if not hasattr(self, "reader"):
            return
        self.reader.refresh()
        urls = [f"http://a.test/{n}" for n in range(14)]
        found = self.reader.get_many(urls)
        known = found["known"].to_pylist()
        got = [answer if there else None for answer, there in zip(answers(found), known, strict=True)]
        assert got == [self.oracle.get(url) for url in urls]
        kept = len({id(group) for group in self.oracle.pages.values()})
        stats = self.reader.stats()
        assert (stats["pages"], stats["kept"]) == (len(self.oracle.pages), kept)
        for url in urls[:4]:
            assert self.reader.duplicates(url) == self.oracle.duplicates(url)

    def teardown(self) -> None:
        if hasattr(self, "reader"):
            self.index.check()
            self.index.close()
            self.reader.close()
        shutil.rmtree(self.folder)


def answers(found: pa.Table) -> list[Answer]:
    return [(row["duplicate_of"], row["method"], row["similarity"]) for row in found.to_pylist()]


TestIndex = IndexMachine.TestCase
TestIndex.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
