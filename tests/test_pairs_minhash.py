"""Pairs by min-hash: every candidate that is similar enough, none that is not, and no bucket that grows quadratic."""

import gzip
import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undust.detect import pairs_minhash
from undust.detect.clusters import cluster_pairs
from undust.detect.fingerprints import shingle_signatures
from undust.detect.pairs_minhash import MAX_BUCKET, candidate_components, minhash_pairs
from undust.detect.shingles import ShingleSets, concatenate, from_column, shingle_sets
from undust.detect.sketches import Bands, Sketches, choose_bands, gather_sketches
from undust.detect.words import Words, split
from undust.errors import UsageError
from undust.kernels.banding import union_buckets

Batch = tuple[npt.NDArray[np.uint64], ShingleSets]
Pair = tuple[int, int]


def batch(texts: list[str], shingle_words: int = 2) -> Batch:
    words = split(pa.array(texts, pa.string()))
    return shingle_signatures(words, shingle_words=shingle_words), shingle_sets(words, shingle_words=shingle_words)


def sketch(texts: list[str], bands: Bands, shingle_words: int = 2) -> Sketches:
    return gather_sketches([batch(texts, shingle_words)], bands)


def shingles_of(text: str, width: int = 2) -> frozenset[tuple[str, ...]]:
    words = text.split()
    return (
        frozenset(tuple(words[i : i + width]) for i in range(max(len(words) - width + 1, 1))) if words else frozenset()
    )


def jaccard(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    return len(a & b) / len(a | b)


def oracle(texts: list[str], bands: Bands, threshold: float) -> dict[Pair, float]:
    """All pairs that agree in a band and are similar enough; pages of equal sets are paired with their first."""
    signatures, _ = batch(texts)
    sets = [shingles_of(text) for text in texts]
    first = {one: row for row, one in reversed(list(enumerate(sets))) if one}
    found = {(first[one], row): 1.0 for row, one in enumerate(sets) if one and first[one] != row}
    for a, b in itertools.combinations(sorted(first.values()), 2):
        cuts = [slice(i * bands.rows, (i + 1) * bands.rows) for i in range(bands.count)]
        similarity = jaccard(sets[a], sets[b])
        if similarity >= threshold and any((signatures[a, cut] == signatures[b, cut]).all() for cut in cuts):
            found[a, b] = similarity
    return found


def as_dict(table: pa.Table) -> dict[Pair, float]:
    rows = table.to_pylist()
    assert len({(row["a"], row["b"]) for row in rows}) == len(rows)
    return {(row["a"], row["b"]): row["similarity"] for row in rows}


TEXTS = st.lists(st.lists(st.sampled_from("abcde"), max_size=12).map(" ".join), max_size=25)


@given(TEXTS, st.sampled_from([Bands(1, 8), Bands(2, 20), Bands(4, 32)]), st.sampled_from([0.1, 0.5, 0.8, 1.0]))
def test_every_candidate_that_is_similar_enough_is_found_and_nothing_else(
    texts: list[str], bands: Bands, threshold: float
) -> None:
    found = as_dict(minhash_pairs(sketch(texts, bands), threshold=threshold))
    expected = oracle(texts, bands, threshold)
    assert found == pytest.approx(expected)


@given(TEXTS, st.integers(1, 4))
def test_shingles_are_the_sets_of_runs_of_words(texts: list[str], width: int) -> None:
    sets = batch(texts, width)[1]
    pairs = list(itertools.combinations(range(len(texts)), 2))
    a, b = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    plain = [shingles_of(text, width) for text in texts]
    expected = [jaccard(plain[i], plain[j]) if plain[i] and plain[j] else 0.0 for i, j in pairs]
    assert sets.similarities(a, b).tolist() == pytest.approx(expected)
    assert [len(one) for one in sets.to_column().to_pylist()] == [len(one) for one in plain]


def test_sets_survive_a_column_and_batches_their_joining() -> None:
    one, two = batch(["a b c b c", ""])[1], batch(["x " * 500 + "y z"])[1]
    column = concatenate([one, two]).to_column()
    assert column.slice(0, 2).to_pylist() == one.to_column().to_pylist()
    assert column.slice(2).to_pylist() == two.to_column().to_pylist()
    assert [sorted(set(row)) for row in column.to_pylist()] == column.to_pylist()
    assert from_column(pa.chunked_array([column])).to_column().equals(column)
    assert [len(row) for row in column.to_pylist()] == [3, 0, 3]  # ab bc cb; none; xx xy yz


def pages(count: int, template: int, own: int, seed: int = 0, width: int = 5) -> Words:
    """Pages of one template of random words, each followed by words of its own."""
    chance = np.random.default_rng(seed)
    hashes = np.empty((count, template + own), dtype=np.uint64)
    hashes[:, :template] = chance.integers(1, 2**63, template, dtype=np.uint64)
    hashes[:, template:] = chance.integers(1, 2**63, (count, own), dtype=np.uint64)
    return bare(hashes)


def bare(hashes: npt.NDArray[np.uint64]) -> Words:
    """Words that are known by their hashes only, a row a page."""
    rows = np.arange(len(hashes) + 1, dtype=np.int64) * hashes.shape[1]
    none = np.zeros(0, dtype=np.int32)
    return Words(np.zeros(0, np.uint8), np.zeros(0, np.int64), hashes.reshape(-1), none, none, rows)


def sketch_words(words: Words, bands: Bands) -> Sketches:
    return gather_sketches([(shingle_signatures(words), shingle_sets(words))], bands)


def test_a_hundred_thousand_pages_of_a_template_are_paired_with_few_and_all_of_them() -> None:
    words = pages(100_000, 60, 4)  # 56 of 60 shingles are the template's: similarity 56 / 64 = 0.875
    table = minhash_pairs(sketch_words(words, choose_bands(0.8)), threshold=0.8)
    assert table.num_rows < 100_000 * 18  # at most one a band, not five billion
    clusters = cluster_pairs(table, 100_000, by="components")
    assert (clusters.rows == 0).all()
    assert clusters.similarities[1:].min() == np.float32(0.875)


def test_a_template_that_is_not_enough_makes_no_pairs_and_hides_none() -> None:
    words = pages(20_000, 60, 30)  # 56 shingles of 86 are the template's: 0.48
    hashes = words.hashes.reshape(20_000, -1).copy()
    hashes[10_000:10_100] = hashes[:100]
    hashes[10_000:10_100, -1] += np.uint64(1)  # one shingle of 86 is another
    table = minhash_pairs(sketch_words(bare(hashes), choose_bands(0.8)), threshold=0.8)
    assert as_dict(table) == pytest.approx({(row, row + 10_000): 85 / 87 for row in range(100)})


def test_a_bucket_of_more_than_the_limit_is_paired_with_hubs_and_a_smaller_one_in_full() -> None:
    words = pages(MAX_BUCKET, 60, 1)
    bands = choose_bands(0.8)
    assert minhash_pairs(sketch_words(words, bands)).num_rows == MAX_BUCKET * (MAX_BUCKET - 1) // 2
    hubs = minhash_pairs(sketch_words(words, bands), max_bucket=10)
    assert set(hubs["a"].to_pylist()) < set(range(40))
    assert set(hubs["b"].to_pylist()) == set(range(1, MAX_BUCKET))


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([3, 128]))
def test_threads_memory_and_batches_do_not_change_the_result(
    tmp_path_factory: pytest.TempPathFactory, seed: int, connected: bool, max_bucket: int
) -> None:
    chance = np.random.default_rng(seed)
    hashes = np.concatenate([pages(200, 30, own, seed + own).hashes.reshape(200, -1)[:, :30] for own in (2, 3, 4)])
    hashes[chance.integers(0, len(hashes), 300), chance.integers(0, 30, 300)] += np.uint64(1)
    signatures, sets = shingle_signatures(bare(hashes)), shingle_sets(bare(hashes))
    bands = choose_bands(0.7)
    options = {"threshold": 0.7, "connected": connected, "max_bucket": max_bucket}
    plain = minhash_pairs(gather_sketches([(signatures, sets)], bands), threads=1, **options)  # type: ignore[arg-type]
    cuts = [0, 1, 250, 600]
    parts = [
        (signatures[start:stop], shingle_sets(bare(hashes[start:stop]))) for start, stop in itertools.pairwise(cuts)
    ]
    folder = tmp_path_factory.mktemp("spill")
    spilled = gather_sketches(parts, bands, memory_bytes=1 << 14, folder=folder)
    assert {file.name for file in folder.iterdir()} == {"keys-0", "shingles"}
    assert minhash_pairs(spilled, threads=2, memory_bytes=1 << 14, **options).equals(plain)  # type: ignore[arg-type]
    assert plain.num_rows > 100


def test_two_threads_give_what_one_gives_where_there_is_enough_to_share() -> None:
    words = pages(40_000, 30, 3)
    sketches = sketch_words(words, Bands(5, 18))
    one, two = (minhash_pairs(sketches, threshold=0.7, threads=threads) for threads in (1, 2))
    assert one.equals(two)
    assert one.num_rows > 40_000


def test_the_order_of_the_pages_does_not_matter() -> None:
    chance = np.random.default_rng(5)
    hashes = np.repeat(pages(300, 0, 40).hashes.reshape(300, -1), 3, axis=0)
    # A word of each is another, not the same of two copies: of equal pages, the first in order would stand for them.
    hashes[np.arange(900), np.arange(900) % 3 * 13 + chance.integers(0, 13, 900)] += np.uint64(1)
    order = chance.permutation(900)
    plain = as_dict(minhash_pairs(sketch_words(bare(hashes), choose_bands(0.6)), threshold=0.6))
    shuffled = as_dict(minhash_pairs(sketch_words(bare(hashes[order]), choose_bands(0.6)), threshold=0.6))
    assert {(*sorted((int(order[a]), int(order[b]))), s) for (a, b), s in shuffled.items()} == {
        (a, b, s) for (a, b), s in plain.items()
    }
    assert len(plain) > 300


@given(TEXTS)
def test_connected_pairs_are_a_forest_with_the_components_of_all_pairs(texts: list[str]) -> None:
    bands = Bands(2, 30)
    every, few = (minhash_pairs(sketch(texts, bands), threshold=0.4, connected=c) for c in (False, True))
    components = [cluster_pairs(table, len(texts), by="components").rows for table in (every, few)]
    assert components[0].tolist() == components[1].tolist()
    assert few.num_rows == len(texts) - len(set(components[0].tolist()))
    assert as_dict(few).items() <= as_dict(every).items()


@given(TEXTS)
def test_candidate_components_join_all_that_agree_in_a_band(texts: list[str]) -> None:
    bands = Bands(3, 10)
    found = candidate_components(gather_sketches([batch(texts)], bands, verify="none"))
    signatures, _ = batch(texts)
    roots = list(range(len(texts)))
    for a, b in itertools.combinations(range(len(texts)), 2):
        equal = (signatures[a, :30].reshape(10, 3) == signatures[b, :30].reshape(10, 3)).all(axis=1).any()
        if equal and texts[a] and texts[b]:
            low, high = sorted((roots[a], roots[b]))
            roots = [low if root == high else root for root in roots]
    assert found.tolist() == roots


def test_short_texts_are_alike_only_if_equal_and_empty_ones_never() -> None:
    texts = ["", "", "yes", "no", "yes", "so it is", "it is so", "   ", "it"]
    table = minhash_pairs(gather_sketches([batch(texts, 5)], Bands(1, 100)), threshold=0.01)
    assert as_dict(table) == {(2, 4): 1.0}


def test_a_short_text_is_no_shingle_of_a_longer_one() -> None:
    sets = batch(["a b c", "a b c d e f"], 5)[1]
    assert sets.similarities([0], [1]).tolist() == [0.0]


def test_pages_of_one_signature_and_different_sets_are_told_apart() -> None:
    signatures = np.full((3, 8), 7, dtype=np.uint64)
    sets = batch(["a b c d", "a b x y", "a b c d"])[1]
    table = minhash_pairs(gather_sketches([(signatures, sets)], Bands(2, 4)), threshold=0.5)
    assert as_dict(table) == {(0, 2): 1.0}


@pytest.mark.parametrize("sets_of", [[[1, 2, 3], [1, 2, 3, 9]], [[1, 2, 3, 9], [1, 2, 3]]])
def test_a_set_is_not_equal_to_the_beginning_of_another(sets_of: list[list[int]]) -> None:
    sets = from_column(pa.array(sets_of, pa.list_(pa.uint32())))
    table = minhash_pairs(gather_sketches([(np.full((2, 8), 7, dtype=np.uint64), sets)], Bands(2, 4)), threshold=0.5)
    assert as_dict(table) == {(0, 1): 0.75}


@pytest.mark.parametrize(("max_bucket", "found"), [(4, 6), (3, 3)])
def test_all_pages_of_a_bucket_up_to_the_limit_are_compared(max_bucket: int, found: int) -> None:
    signatures = np.array([[7, row + 1] for row in range(4)], dtype=np.uint64)  # all agree in the one band
    sets = from_column(pa.array([[1, 2, 3, 4, row + 5] for row in range(4)], pa.list_(pa.uint32())))
    sketches = gather_sketches([(signatures, sets)], Bands(1, 1))
    assert minhash_pairs(sketches, threshold=0.5, max_bucket=max_bucket).num_rows == found


def test_halves_of_keys_that_are_equal_by_chance_join_nothing() -> None:
    parent = np.arange(4, dtype=np.uint32)
    keys = np.array([1 << 32 | 5, 1 << 32 | 6, 1 << 32 | 5, 1 << 32 | 6], dtype=np.uint64)
    union_buckets(1 << 32 | np.arange(4, dtype=np.uint64), keys, parent)
    assert parent.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(("tries", "found"), [(3, {}), (4, {(3, 4): 0.5})])
def test_a_page_is_compared_in_vain_with_so_many_hubs_only(
    monkeypatch: pytest.MonkeyPatch, tries: int, found: dict[Pair, float]
) -> None:
    monkeypatch.setattr(pairs_minhash, "MAX_TRIES", tries)
    signatures = np.array([[7, row + 1] for row in range(5)], dtype=np.uint64)  # all agree in the one band
    sets = from_column(pa.array([[1], [2], [3], [4], [4, 5]], pa.list_(pa.uint32())))  # the last is like the fourth
    sketches = gather_sketches([(signatures, sets)], Bands(1, 1))
    assert as_dict(minhash_pairs(sketches, threshold=0.5, max_bucket=3)) == found


def test_signatures_can_stand_for_the_sets() -> None:
    texts = ["one two three four five six seven eight", "one two three four five six seven nine", "", "", "x y z"]
    signatures, _ = batch([*texts, texts[4]])
    sketches = gather_sketches([(signatures, None)], Bands(2, 60), verify="signature")
    found = as_dict(minhash_pairs(sketches, threshold=0.4))
    agreement = float((signatures[0] == signatures[1]).mean())
    assert found == pytest.approx({(4, 5): 1.0, (0, 1): agreement})
    assert as_dict(minhash_pairs(sketches, threshold=agreement + 0.001)) == {(4, 5): 1.0}


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    signatures, sets = batch(["a b", "c d"])
    with pytest.raises(UsageError, match="bands of 5 rows need 150"):
        gather_sketches([(signatures, sets)], Bands(5, 30))
    with pytest.raises(UsageError, match="needs the shingles"):
        gather_sketches([(signatures, None)], Bands(2, 30))
    with pytest.raises(UsageError, match="one of exact, signature, none"):
        gather_sketches([(signatures, sets)], Bands(2, 30), verify="exactly")
    with pytest.raises(UsageError, match="give a folder"):
        gather_sketches([(signatures, sets)], Bands(2, 30), memory_bytes=4)
    with pytest.raises(UsageError, match="without shingles or signatures"):
        minhash_pairs(gather_sketches([(signatures, sets)], Bands(2, 30), verify="none"))
    with pytest.raises(UsageError, match="threshold 0"):
        minhash_pairs(gather_sketches([(signatures, sets)], Bands(2, 30)), threshold=0)
    with pytest.raises(UsageError, match="cannot find pairs"):
        choose_bands(0.01, values=10)


def test_no_pages_have_no_pairs() -> None:
    assert minhash_pairs(gather_sketches([], Bands(2, 3))).num_rows == 0
    assert minhash_pairs(gather_sketches([batch([])], Bands(2, 3))).num_rows == 0


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0])
def test_bands_reach_the_recall_asked_for_and_one_more_row_would_not(threshold: float) -> None:
    bands = choose_bands(threshold, values=128, recall=0.99)
    assert bands.chance(threshold) >= 0.99
    more = Bands(bands.rows + 1, max(128 // (bands.rows + 1), 1))
    assert more.chance(threshold) < 0.99 or more.rows * more.count > 128


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_recall_and_precision_on_pairs_of_known_similarity(threshold: float) -> None:
    chance = np.random.default_rng(8)
    count, size = 2000, 200
    hashes = np.repeat(chance.integers(1, 2**63, (count, size), dtype=np.uint64), 2, axis=0)
    tails = chance.integers(1, size // 2, count)  # the end of the second page of a pair is another
    for pair, tail in enumerate(tails.tolist()):
        hashes[2 * pair + 1, size - tail :] += np.uint64(1)
    common = size - 4 - tails
    truth = {(2 * i, 2 * i + 1): s for i, s in enumerate((common / (2 * (size - 4) - common)).tolist())}
    found = as_dict(minhash_pairs(sketch_words(bare(hashes), choose_bands(threshold)), threshold=threshold))
    assert {pair: truth[pair] for pair in found} == pytest.approx(found)
    assert min(found.values()) >= threshold
    above = [pair for pair, similarity in truth.items() if similarity >= threshold + 0.1]
    assert len(above) > 150
    assert sum(pair in found for pair in above) / len(above) >= 0.99


def test_planted_pairs_of_real_articles_are_found_and_no_others(shared_data: Path) -> None:
    folder = shared_data / "articles"
    lines = gzip.decompress((folder / "articles_1000.train.gz").read_bytes()).decode().splitlines()
    names = [line.split(" ", 1)[0] for line in lines]
    table = minhash_pairs(sketch([line.split(" ", 1)[1] for line in lines], choose_bands(0.5), 5), threshold=0.5)
    found = {frozenset((names[a], names[b])) for a, b in as_dict(table)}
    assert found == {frozenset(line.split()) for line in (folder / "articles_1000.truth").read_text().splitlines()}
