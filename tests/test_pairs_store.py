"""Pairs come back sorted and once each, however much memory there is for them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undust.detect import pairs_store
from undust.detect.pairs import to_table
from undust.detect.pairs_store import Chunk, PairStore


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """Let a few pairs be more than memory holds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_store, "_MIN_BLOCK", 8)
        yield


def table_of(chunks: list[Chunk]) -> pa.Table:
    a, b, similarities = (np.concatenate(column) for column in zip(*chunks, strict=True))
    packed = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
    assert len(np.unique(packed)) == len(packed)
    keys = [(-s, x, y) for x, y, s in zip(a.tolist(), b.tolist(), similarities.tolist(), strict=True)]
    assert keys == sorted(keys)
    return to_table(packed, similarities)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), values=st.sampled_from([1, 3, 100]), rows=st.sampled_from([12, 90]))
def test_what_goes_through_files_is_what_memory_gives(
    tmp_path_factory: pytest.TempPathFactory, seed: int, values: int, rows: int
) -> None:
    chance = np.random.default_rng(seed)
    pairs = np.sort(chance.integers(0, rows, (400, 2), dtype=np.uint64), axis=1)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    packed = pairs[:, 0] << np.uint64(32) | pairs[:, 1]
    similarities = (1 + packed % np.uint64(values)).astype(np.float32) / np.float32(values)  # one for each pair
    folder = tmp_path_factory.mktemp("pairs")
    small, large = PairStore(1, folder), PairStore()
    for part in np.array_split(np.arange(len(packed)), 25):
        for store in (small, large):
            store.add(packed[part], similarities[part])
    expected = to_table(packed, similarities)
    assert table_of(list(large.chunks())).equals(expected)
    chunks = list(small.chunks())
    assert table_of(chunks).equals(expected)
    assert table_of(list(small.chunks())).equals(expected)  # can be asked for again
    if expected.num_rows > 16:
        assert len(chunks) > 1
        assert list(folder.iterdir())


def test_no_pairs_are_no_pairs(tmp_path: Path) -> None:
    store = PairStore(1, tmp_path)
    store.add(np.empty(0, np.uint64), np.empty(0, np.float32))
    assert list(store.chunks()) == []


def test_without_a_folder_all_stays_in_memory() -> None:
    store = PairStore(1)
    for b in range(1, 100):
        store.add(np.array([b], np.uint64), np.array([0.5], np.float32))
    (chunk,) = store.chunks()
    assert chunk[1].tolist() == list(range(1, 100))
