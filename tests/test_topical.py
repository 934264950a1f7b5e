"""Topical clusters: paper 002 by hand, against slow oracles, and on real sites."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undust import cli, pipeline, tables
from undust.corpus import Tally, write_table
from undust.detect import topical_pairs as pairs_module
from undust.detect.bags import Bags, drop_rare_and_common, scale, tfidf
from undust.detect.captures import TableFingerprints
from undust.detect.clusters import Clusters
from undust.detect.pages import PageFingerprints
from undust.detect.pairs_store import PairStore
from undust.detect.topical import Topical, cluster_bags, find_topics, topical_clusters, topical_pairs
from undust.detect.topical_bags import (
    StoredBags,
    TermDocuments,
    collapse,
    count_documents,
    from_columns,
    stored,
    to_columns,
)
from undust.detect.topical_draws import Draws, choose_draws
from undust.detect.topical_pairs import MAX_DEGREE, BagSketches, bag_pairs, sketch_bags
from undust.errors import InputError, UsageError

Found = dict[tuple[int, int], float]


def fingerprints(texts: dict[str, str], **options: object) -> pa.Table:
    """Fingerprint texts without a language: their words are their keywords."""
    rows = [{"url": url, "text": text} for url, text in texts.items()]
    model = PageFingerprints(**options)  # type: ignore[arg-type]
    return pa.Table.from_batches([model.of(pa.RecordBatch.from_pylist(rows, tables.PAGES))])


def sketched(bags: Sequence[dict[int, float]], total: float = 1000.0) -> BagSketches:
    """Sketch bags that are given as weights of terms."""
    sizes = np.cumsum([0, *(len(bag) for bag in bags)])
    items = [item for bag in bags for item in sorted(bag.items())]
    terms, weights = np.array([t for t, _ in items], np.uint64), np.array([w for _, w in items], np.float64)
    scaled = scale(Bags(sizes.astype(np.int64), terms, weights), total)
    rows = np.arange(len(bags), dtype=np.uint32)
    return sketch_bags([(rows, scaled)], len(bags), len(items), total=total)


def listed(store: PairStore) -> Found:
    return {
        (a, b): similarity
        for chunk in store.chunks()
        for a, b, similarity in zip(*(column.tolist() for column in chunk), strict=True)
    }


def weighted_jaccard(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """What similarity is, in words: lesser weights over greater ones, of bags scaled to one sum."""
    a, b = ({term: weight / sum(bag.values()) for term, weight in bag.items()} for bag in (one, other))
    terms = a.keys() | b.keys()
    least = sum(min(a.get(term, 0.0), b.get(term, 0.0)) for term in terms)
    return least / sum(max(a.get(term, 0.0), b.get(term, 0.0)) for term in terms)


# By hand. Of the words "page" is on all four pages and common, "boat" and "sail" on one each and rare. What is left has
# 2 of 4 documents each, so tf-idf multiplies all counts by log 2, and scaling to 1000 leaves
#   a: cat 2/3, dog 1/3    b: cat 1/3, dog 2/3    c: fish 1    d: fish 1
# a and b: (1/3 + 1/3) / (2/3 + 2/3) = 1/2. c and d: 1. All others: 0.
BY_HAND = {
    "http://x.test/a": "page cat cat dog",
    "http://x.test/b": "page cat dog dog",
    "http://x.test/c": "page fish boat",
    "http://x.test/d": "page fish sail",
}


def test_four_pages_by_hand() -> None:
    found = topical_pairs(fingerprints(BY_HAND))
    weights = found.sketches.weights.reshape(-1)
    assert [int(size) for size in found.sketches.ends - found.sketches.starts] == [2, 2, 1, 1]
    assert sorted(round(float(weight), 2) for weight in weights) == [333.33, 333.33, 666.67, 666.67, 1000.0, 1000.0]
    assert listed(found.pairs) == pytest.approx({(0, 1): 0.5, (2, 3): 1.0})
    rows = topical_clusters(fingerprints(BY_HAND)).to_pylist()
    assert [(row["url"][-1], row["cluster"][-1], row["topic"][-1]) for row in rows] == [
        ("a", "a", "a"), ("b", "a", "a"), ("c", "c", "c"), ("d", "c", "c"),
    ]  # fmt: skip
    assert [row["similarity"] for row in rows] == pytest.approx([1.0, 0.5, 1.0, 1.0])


def test_a_threshold_between_two_similarities_parts_them() -> None:
    at, above = (topical_clusters(fingerprints(BY_HAND), Topical(threshold=t)) for t in (0.5, 0.51))
    assert [len(pc.unique(table["cluster"])) for table in (at, above)] == [2, 3]


def test_clusters_that_are_half_as_similar_are_one_topic_by_hand() -> None:
    # Two pages that share a fifth of their weight: 200 / 1800 is below 0.2, and above half of that. The third shares
    # a twentieth with the first: 50 / 1950 is below both.
    sketches = sketched([{1: 800, 2: 200}, {3: 800, 2: 200}, {4: 950, 1: 50}])
    alone = Clusters(np.arange(3, dtype=np.uint32), np.ones(3, np.float32))
    assert find_topics(sketches, alone, Topical()).tolist() == [0, 0, 2]
    assert find_topics(sketches, alone, Topical(threshold=0.3)).tolist() == [0, 1, 2]


def test_the_bag_of_a_cluster_is_the_sum_of_its_pages_by_hand() -> None:
    # Page 2 is like neither 0 nor 1 by a tenth (90 / 1910), but like the two together (90 + 90 of 2000: 180 / 1820).
    sketches = sketched([{1: 910, 2: 90}, {1: 910, 3: 90}, {4: 820, 2: 90, 3: 90}])
    assert sketches.similarities([0, 1], [2, 2]).tolist() == pytest.approx([90 / 1910, 90 / 1910])
    pairs = Clusters(np.array([0, 0, 2], np.uint32), np.ones(3, np.float32))
    # The sum of 0 and 1, scaled: 1 has 910, 2 and 3 have 45 each. 90 / 1910 again: below 0.1.
    assert find_topics(sketches, pairs, Topical(threshold=0.2)).tolist() == [0, 0, 2]
    assert find_topics(sketches, pairs, Topical(threshold=0.09)).tolist() == [0, 0, 0]


# --- the steps, against obvious ones -------------------------------------------------------------------------------

CORPORA = st.lists(st.dictionaries(st.integers(0, 30), st.integers(1, 9), max_size=12), min_size=1, max_size=30)


def as_stored(bags: Sequence[dict[int, int]]) -> StoredBags:
    rows = [row for row, bag in enumerate(bags) for count in bag.values() for _ in range(count)]
    terms = [term for bag in bags for term, count in bag.items() for _ in range(count)]
    return collapse(np.array(rows, np.int64), np.array(terms, np.uint32), len(bags))


@given(CORPORA)
def test_bags_are_what_was_counted(bags: list[dict[int, int]]) -> None:
    made = as_stored(bags)
    for row, bag in enumerate(bags):
        here = slice(int(made.rows[row]), int(made.rows[row + 1]))
        assert dict(zip(made.terms[here].tolist(), made.counts[here].tolist(), strict=True)) == bag
        assert made.terms[here].tolist() == sorted(bag)


@given(CORPORA, st.integers(1, 4), st.floats(0.1, 1.0))
def test_weighing_is_the_three_steps_of_the_paper(bags: list[dict[int, int]], least: int, most: float) -> None:
    made = as_stored(bags)
    counted = count_documents([made])
    assert counted.documents == sum(bool(bag) for bag in bags)
    frequencies = counted.frequencies()
    assert dict(zip(frequencies.terms.tolist(), frequencies.counts.tolist(), strict=True)) == Counter(
        term for bag in bags for term in bag
    )
    plain = Bags(made.rows, made.terms.astype(np.uint64), made.counts.astype(np.float64))
    kept = drop_rare_and_common(plain, frequencies, min_documents=least, max_share=most)
    expected = scale(tfidf(kept, frequencies), 500.0)
    found = counted.weigh(made, min_documents=least, max_share=most, total=500.0)
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.terms.tolist() == expected.terms.tolist()
    assert found.weights == pytest.approx(expected.weights)


def test_the_table_of_terms_grows_with_the_words() -> None:
    counted = TermDocuments()
    terms = np.arange(40_000, dtype=np.uint32) * np.uint32(97)
    for _ in range(3):
        counted.add(StoredBags(np.array([0, len(terms)]), np.sort(terms), np.ones(len(terms), np.uint32)))
    found = counted.frequencies()
    assert found.terms.tolist() == sorted(terms.tolist())
    assert set(found.counts.tolist()) == {3}


def test_stored_bags_come_back_from_their_columns() -> None:
    # Words whose hashes share their high half are one term, and a count has its limit.
    high = np.uint64(7 << 32)
    bags = Bags(
        np.array([0, 3, 3, 4]), np.array([high | 1, 5 << 32, high | 2, high], np.uint64), np.array([2, 1, 3, 1e9])
    )
    made = stored(bags)
    columns = to_columns(made, np.array([True, False, True]))
    assert columns[0].to_pylist() == [[5, 7], None, [7]]
    assert columns[1].to_pylist() == [[1, 5], None, [65535]]
    again = from_columns(*columns)
    assert (again.rows.tolist(), again.terms.tolist(), again.counts.tolist()) == (
        [0, 2, 2, 3],
        [5, 7, 7],
        [1, 5, 65535],
    )


@given(
    st.lists(st.dictionaries(st.integers(0, 12), st.floats(0.1, 9), min_size=1, max_size=8), min_size=2, max_size=12)
)
def test_similarity_is_the_weighted_jaccard_similarity(bags: list[dict[int, float]]) -> None:
    sketches = sketched(bags)
    a, b = zip(*itertools.combinations(range(len(bags)), 2), strict=True)
    expected = [weighted_jaccard(bags[i], bags[j]) for i, j in zip(a, b, strict=True)]
    assert sketches.similarities(a, b).tolist() == pytest.approx(expected, abs=1e-5)


def _brute_force(bags: Sequence[dict[int, float]], threshold: float) -> Found:
    numbered = itertools.combinations(enumerate(bags), 2)
    found = {(a, b): weighted_jaccard(one, other) for (a, one), (b, other) in numbered}
    return {pair: similarity for pair, similarity in found.items() if similarity >= threshold}


@settings(max_examples=60)
@given(
    st.lists(st.dictionaries(st.integers(0, 9), st.integers(1, 5), max_size=6), min_size=2, max_size=14),
    st.sampled_from([0.1, 0.2, 0.5, 1.0]),
)
def test_no_pair_is_below_the_threshold_and_equal_bags_are_a_star(bags: list[dict[int, int]], threshold: float) -> None:
    sketches = sketched([{term: float(count) for term, count in bag.items()} for bag in bags])
    found = listed(bag_pairs(sketches, threshold=threshold))
    first = sketches.first_of_equal().tolist()
    for (a, b), similarity in found.items():
        assert similarity == pytest.approx(weighted_jaccard(bags[a], bags[b]), abs=1e-5)
        assert similarity >= threshold - 1e-5
        assert a == first[b] or first[b] == b
    shares = [{term: count / sum(bag.values()) for term, count in bag.items()} for bag in bags]
    for row, lead in enumerate(first):
        if lead != row:
            assert found[lead, row] == 1.0
            assert shares[lead] == pytest.approx(shares[row])


def made_corpus(pages: int, topics: int, seed: int) -> list[dict[int, float]]:
    """Pages that take some of their words from one of the topics, the rest from anywhere."""
    chance = random.Random(seed)
    made = []
    for _ in range(pages):
        topic, share = chance.randrange(topics), chance.uniform(0.1, 0.9)
        words = [
            1000 * topic + chance.randrange(40) if chance.random() < share else 10**6 + chance.randrange(5000)
            for _ in range(80)
        ]
        made.append({word: float(count) for word, count in Counter(words).items()})
    return made


@pytest.mark.parametrize("rows", [2, 3])
def test_as_many_pairs_are_found_as_was_said(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bags = made_corpus(700, 30, seed=rows)
    sketches = sketched(bags)
    everything = itertools.combinations(range(len(bags)), 2)
    a, b = (np.array(side) for side in zip(*everything, strict=True))
    similarities = sketches.similarities(a, b)
    draws = Draws(rows, 66 if rows == 2 else 405)
    assert draws.chance(0.2) == pytest.approx(0.9, abs=0.005)
    monkeypatch.setattr(pairs_module, "choose_draws", lambda *_: draws)
    monkeypatch.setattr(pairs_module, "FEW_PAGES", 0)
    found = listed(bag_pairs(sketches))
    similar = similarities >= 0.2
    hit = np.array([(i, j) in found for i, j in zip(a[similar].tolist(), b[similar].tolist(), strict=True)])
    assert len(found) == hit.sum()  # none but true ones
    chances = np.array([draws.chance(s) for s in similarities[similar]])
    spread = 4 * np.sqrt((chances * (1 - chances)).sum() / len(hit) ** 2) + 0.02  # pairs of a page depend on each other
    assert len(hit) > 300
    assert abs(hit.mean() - chances.mean()) < spread
    assert hit[similarities[similar] >= 0.35].mean() > 0.99


def test_draws_are_distinct_values_and_the_same_every_time() -> None:
    drawn = Draws(3, 50).bands(7)
    assert all(len(set(band)) == 3 for band in drawn.tolist())
    assert drawn.tolist() == Draws(3, 50).bands(7).tolist() != Draws(3, 50).bands(8).tolist()
    assert 0 <= drawn.min() <= drawn.max() < 128


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.5, 1.0])
def test_draws_keep_their_promise_at_the_threshold(threshold: float) -> None:
    for pages in (10, 10**5, 10**7):
        assert choose_draws(pages, threshold).chance(threshold) >= 0.9


def test_a_chance_that_cannot_be_had_is_refused() -> None:
    with pytest.raises(UsageError, match="ask for less"):
        choose_draws(100, 1e-6)


def test_the_order_of_rows_the_batches_and_the_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        f"http://x.test/{i}": " ".join(f"w{word}" for word, count in bag.items() for _ in range(int(count)))
        for i, bag in enumerate(made_corpus(300, 10, seed=5))
    }
    table = fingerprints(texts)
    expected = topical_clusters(table)
    assert 10 < len(pc.unique(expected["topic"])) < len(pc.unique(expected["cluster"])) < 290
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(len(table))))
    assert topical_clusters(shuffled).equals(expected)
    batched = pa.Table.from_batches([batch for row in range(300) for batch in shuffled.slice(row, 1).to_batches()])
    assert topical_clusters(batched).equals(expected)
    monkeypatch.setattr(pairs_module, "FEW_PAGES", 0)
    monkeypatch.setattr(pairs_module, "_MANY", 0)
    expected = topical_clusters(table, threads=2)
    for threads in (1, 3):
        assert topical_clusters(shuffled, threads=threads).equals(expected)


def test_files_instead_of_memory_change_nothing(tmp_path: Path) -> None:
    texts = {
        f"http://x.test/{i}": " ".join(f"w{word}" for word in bag) for i, bag in enumerate(made_corpus(200, 5, seed=6))
    }
    table = fingerprints(texts)
    spilled = topical_clusters(table, memory_bytes=1, folder=tmp_path)
    assert {"terms", "weights", "values"} <= {file.name for file in tmp_path.iterdir()}
    assert spilled.equals(topical_clusters(table))


def test_a_page_counts_by_its_latest_capture() -> None:
    old = fingerprints({"http://x.test/a": "page fish boat"})
    new = fingerprints(BY_HAND)
    times = [pa.array([1], pa.int64()), pa.array([2] * 4, pa.int64())]
    both = [
        table.set_column(table.schema.get_field_index("time"), "time", time.cast(pa.timestamp("s", tz="UTC")))
        for table, time in zip((old, new), times, strict=True)
    ]
    assert topical_clusters(pa.concat_tables(both)).equals(topical_clusters(new))


def test_pages_without_words_are_alone() -> None:
    found = topical_clusters(fingerprints(BY_HAND | {"http://x.test/e": "", "http://x.test/f": "…"})).to_pylist()
    assert [row["cluster"] == row["topic"] == row["url"] for row in found[4:]] == [True, True]


def test_no_page_at_all() -> None:
    assert len(topical_clusters(fingerprints({}))) == 0


def test_equal_pages_count_as_one_when_clusters_are_made() -> None:
    # Otherwise each page would be most like its copy, and cluster with nothing else. "boat" and "sail" are on two of
    # eight pages now and count twice as much as "fish", on four: c and d share 1/3 of 5/3.
    copies = {url.replace("x.test", "y.test"): text for url, text in BY_HAND.items()}
    found = topical_clusters(fingerprints(BY_HAND | copies))
    assert len(pc.unique(found["cluster"])) == 2
    assert found["similarity"].to_pylist() == pytest.approx([1.0, 0.5, 1.0, 0.2] * 2)


def test_components_join_what_pairs_connect() -> None:
    sketches = sketched([{1: 1, 2: 1}, {2: 1, 3: 1}, {3: 1, 4: 1}])  # each a third like the next, the ends unlike
    found = topical_pairs(fingerprints({f"http://x.test/{i}": "" for i in range(3)}))
    linked = type(found)(found.urls, sketches, bag_pairs(sketches))
    assert cluster_bags(linked).rows.tolist() == [0, 0, 2]
    joined = cluster_bags(linked, by="components")
    assert joined.rows.tolist() == [0, 0, 0]
    assert joined.similarities.tolist() == pytest.approx([1.0, 1 / 3, 0.0])


def test_many_pages_of_one_topic_stay_linear() -> None:
    chance = random.Random(3)
    bags = [dict.fromkeys([*range(30), 100 + chance.randrange(9000)], 1.0) for _ in range(3000)]
    sketches = sketched(bags)
    found = listed(bag_pairs(sketches))
    degrees = Counter(row for pair in found for row in pair)
    assert len(found) <= len(bags) * MAX_DEGREE
    different = np.unique(sketches.first_of_equal()).tolist()
    assert len(different) > 2000
    assert min(degrees[row] for row in different) >= 20  # everyone has company


def test_a_few_pages_are_all_compared() -> None:
    bags = made_corpus(120, 4, seed=9)
    sketches = sketched(bags)
    expected = _brute_force(bags, 0.2)
    assert 100 < len(expected) < 5000
    assert listed(bag_pairs(sketches)) == pytest.approx(expected, abs=1e-5)


# --- errors ----------------------------------------------------------------------------------------------------------


def test_fingerprints_without_bags_are_refused() -> None:
    table = fingerprints(BY_HAND, signatures=("simhash",))
    with pytest.raises(InputError, match="no column bag"):
        topical_clusters(table)
    with pytest.raises(InputError, match="--links"):
        topical_clusters(fingerprints(BY_HAND), Topical(bags="anchors"))


@pytest.mark.parametrize(
    "options",
    [{"bags": "words"}, {"threshold": 0.0}, {"threshold": 1.5}, {"recall": 1.0}, {"min_documents": 0},
     {"max_share": 0.0}, {"uncrawled": True}],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Topical(**options)  # type: ignore[arg-type]


def test_lists_that_do_not_fit_are_refused() -> None:
    table = fingerprints(BY_HAND)
    place = table.schema.get_field_index("bag_counts")
    broken = table.set_column(place, "bag_counts", pa.array([[1]] * 4, pa.large_list(pa.uint16())))
    with pytest.raises(InputError, match="counts"):
        topical_clusters(broken)
    wrong = table.set_column(place, "bag_counts", pa.array([1] * 4))
    with pytest.raises(InputError, match="lists"):
        topical_clusters(wrong)


# --- real sites ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sites(shared_data: Path) -> pa.Table:
    """Two sites with folders, each page once: copies of a page would be in its folder, and prove nothing."""
    found = []
    for site in ("docs", "autoindex"):
        table = pipeline.fingerprint(shared_data / "webapps" / f"{site}.warc.gz", links=True, tally=Tally())
        truth = shared_data / "webapps" / f"{site}.clusters.tsv"
        clusters = dict(line.split("\t") for line in truth.read_text().splitlines()[1:])
        seen: set[str] = set()
        kept = []
        for row, url in enumerate(table["url"].to_pylist()):
            if (cluster := clusters.get(url, url)) not in seen:
                seen.add(cluster)
                kept.append(row)
        found.append(table.take(pa.array(kept)))
    return pa.concat_tables(found)


def folder(url: str) -> str:
    parts = url.replace("//www.", "//").replace("//mirror.", "//").split("/")
    return "/".join(parts[2:-1][:3])


@pytest.mark.parametrize(("bags", "least"), [("content", 0.7), ("anchors", 0.75)])
def test_related_pages_are_in_one_folder_more_often_than_by_chance(sites: pa.Table, bags: str, least: float) -> None:
    found = topical_pairs(sites, Topical(bags=bags))
    folders = [folder(url) for url in found.urls.to_pylist()]
    sizes = Counter(folders)
    by_chance = sum((size / len(folders)) ** 2 for size in sizes.values())
    near: dict[int, list[int]] = {}  # of each page those most similar to it, as pairs come
    for pair in listed(found.pairs):
        for one, other in (pair, pair[::-1]):
            near.setdefault(one, []).append(other)
    same = [np.mean([folders[other] == folders[page] for other in others[:10]]) for page, others in near.items()]
    assert len(same) > 500
    assert by_chance < 0.15
    assert np.mean(same) > max(least, 4 * by_chance)


def test_clusters_and_topics_are_of_one_folder_more_often_than_by_chance(sites: pa.Table) -> None:
    table = topical_clusters(sites)
    folders = [folder(url) for url in table["url"].to_pylist()]
    by_chance = sum((size / len(folders)) ** 2 for size in Counter(folders).values())
    shares = {name: _share_of_pairs(table[name].to_pylist(), folders) for name in ("cluster", "topic")}
    assert shares["cluster"][0] > max(0.75, 4 * by_chance)
    assert shares["topic"][0] > max(0.7, 4 * by_chance)
    assert shares["topic"][1] > 2 * shares["cluster"][1]  # topics bring more of a folder together
    whole = table.group_by("cluster").aggregate([("topic", "count_distinct")])
    assert set(whole["topic_count_distinct"].to_pylist()) == {1}  # no cluster is torn


def _share_of_pairs(groups: list[str], folders: list[str]) -> tuple[float, int]:
    """Of the pairs within groups, the share that is of one folder; and how many pairs there are."""
    sizes, both = Counter(groups), Counter(zip(groups, folders, strict=True))
    pairs = sum(size * (size - 1) // 2 for size in sizes.values())
    return sum(size * (size - 1) // 2 for size in both.values()) / pairs, pairs


def test_nearly_all_similar_pairs_of_real_pages_are_found(sites: pa.Table) -> None:
    found = topical_pairs(sites)
    sketches, rows = found.sketches, np.flatnonzero(found.sketches.present)
    first = sketches.first_of_equal()
    rows = rows[first[rows] == rows]
    known = listed(found.pairs)
    hits: list[tuple[float, bool]] = []
    for a, b in _all_pairs(rows):
        similarities = sketches.similarities(a, b)
        for i in np.flatnonzero(similarities >= 0.2).tolist():
            hits.append((float(similarities[i]), (int(a[i]), int(b[i])) in known))
    assert len(hits) > 5000
    assert sum(hit for _, hit in hits) == sum(first[b] == b for _, b in known)  # and no other pair is told
    assert np.mean([hit for _, hit in hits]) > 0.97
    assert np.mean([hit for similarity, hit in hits if similarity >= 0.3]) > 0.99


def _all_pairs(rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for at in range(len(rows) - 1):
        rest = rows[at + 1 :]
        yield np.full(len(rest), rows[at]), rest


def test_the_pipeline_gives_the_same(sites: pa.Table) -> None:
    small = sites.slice(0, 300)
    assert pipeline.cluster(small, method="topical").equals(topical_clusters(TableFingerprints(small)))
    with pytest.raises(UsageError, match="no duplicates"):
        pipeline.cluster(small, method="topical", keep="shortest")


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def stored_pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.parquet"
    write_table(fingerprints(BY_HAND), path)
    return path


def run(*arguments: str | Path) -> int:
    return cli.main([str(argument) for argument in arguments])


def test_the_command_writes_clusters_and_topics(stored_pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = stored_pages.with_name("topics.jsonl")
    assert run("cluster", stored_pages, "--method", "topical", "-o", output) == 0
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [list(row) for row in rows] == [["url", "cluster", "similarity", "topic"]] * 4
    assert rows == topical_clusters(fingerprints(BY_HAND)).to_pylist()
    assert "4 URLs in 2 clusters of 2 topics, largest cluster 2" in capsys.readouterr().err
    assert run("cluster", stored_pages, "--method", "topical", "-o", output, "--threshold", "0.6", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {name: told[name] for name in ("urls", "clusters", "topics", "largest")} == {
        "urls": 4, "clusters": 3, "topics": 2, "largest": 2,
    }  # fmt: skip


def test_the_command_takes_crawls_and_their_links(tmp_path: Path) -> None:
    crawl, output = tmp_path / "crawl.jsonl", tmp_path / "topics.tsv"
    links = "".join(f"<p><a href='/{name}'>zebra quagga okapi</a></p><p>{'filler ' * 9}</p>" for name in "12")
    pages = {"hub": links, "1": "<p>nothing", "2": "<p>whatever", "z": "<p><a href=http://far.test/>beyond</a>"}
    rows = [{"url": f"http://x.test/{name}", "html": f"<title>{name}</title>{html}"} for name, html in pages.items()]
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("cluster", crawl, "--method", "topical", "--bags", "anchors", "-o", output, "--quiet") == 0
    clusters = dict(line.split("\t")[:2] for line in output.read_text().splitlines())
    assert clusters["http://x.test/2"] == "http://x.test/1"
    assert "http://far.test/" not in clusters
    anchors = ("--bags", "anchors", "--uncrawled")
    assert run("cluster", crawl, "--method", "topical", *anchors, "-o", output, "--quiet") == 0
    assert "\nhttp://far.test/\t" in "\n" + output.read_text()
    fingerprinted = tmp_path / "pages.parquet"
    assert run("fingerprint", crawl, "--links", "-o", fingerprinted, "--quiet") == 0
    before = output.read_bytes()
    assert run("cluster", fingerprinted, "--method", "topical", *anchors, "-o", output, "--quiet") == 0
    assert output.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--bags", "anchors"], 1, "--links"),
        (["--uncrawled"], 2, "anchors"),
        (["--keep", "shortest"], 2, "no duplicates"),
        (["--memory", "1kB"], 2, "memory"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    stored_pages: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, told: str
) -> None:
    output = stored_pages.with_name("topics.parquet")
    assert run("cluster", stored_pages, "--method", "topical", "-o", output, *options) == code
    assert told in capsys.readouterr().err.splitlines()[-1]
    assert not output.exists()


def test_links_are_not_looked_at_with_exact_only(stored_pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fingerprint", stored_pages, "--links", "--exact-only", "-o", stored_pages.with_name("out.parquet")) == 2
    assert "--links" in capsys.readouterr().err
