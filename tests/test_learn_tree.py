"""The pattern tree: how it splits, against a slow and obvious one; its patterns; which nodes hold duplicates."""

import math
import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.kernels.pattern_tree import MAX_CHILDREN
from undust.learn.columns import SiteUrls, by_site
from undust.learn.tree.evidence import Evidence, at_most, lower_bound, merges
from undust.learn.tree.forms import forms_of
from undust.learn.tree.nodes import Overlaps, duplicate_nodes, overlaps
from undust.learn.tree.pattern_tree import PatternTree, fitting, grow
from undust.learn.tree.text import MAX_LINES, MAX_WIDTH, describe, draw, pattern
from undust.urls.keys import Key


def site_of(*pairs: tuple[str, object]) -> SiteUrls:
    table = pa.table({"url": [url for url, _ in pairs], "cluster": [str(cluster) for _, cluster in pairs]})
    (site,) = by_site(table)
    return site


def tree_of(*urls: str) -> PatternTree:
    return grow(forms_of(site_of(*((url, place) for place, url in enumerate(urls)))))


def asked(tree: PatternTree) -> dict[str, int]:
    """The nodes below the root, and how many URLs each has."""
    return {describe(tree, tree.constraint(node)): len(tree.members(node)) for node in range(1, len(tree))}


ALBUM = [f"http://h.com/album/?id={i}" for i in range(30)]
SHOW = [f"http://h.com/show/?id={i}&b={i}" for i in range(25)]

SHAPES: dict[str, tuple[list[str], dict[str, int]]] = {
    # what is in the list: (URLs, the nodes that are expected)
    "words have a node each, ids have none": (
        [*ALBUM, *SHOW],
        {"path[0] = 'album'": 30, "path[0] = 'show'": 25},
    ),
    "one value is no reason to split": ([f"http://h.com/a?id={i}" for i in range(40)], {}),
    "few URLs are not split": (["http://h.com/a", "http://h.com/a?x=1", "http://h.com/b", "http://h.com/b?x=1"], {}),
    "a flat head is split if it is short": (
        [f"http://{w}.h.com/{i}" for w in ("us", "de", "fr") for i in range(10)],
        {"host[1] = 'us'": 10, "host[1] = 'de'": 10, "host[1] = 'fr'": 10},
    ),
    "a flat head is not split if it is long": ([f"http://h.com/{i}/{i}-{j}" for i in range(12) for j in range(4)], {}),
    "the largest drop parts words from the others": (
        [f"http://h.com/{w}/x{i}" for w, n in (("a", 40), ("b", 20), ("c", 2), ("d", 1)) for i in range(n)],
        {"path[0] = 'a'": 40, "path[0] = 'b'": 20, "path[0] = other": 3},
    ),
    "a value that few have is not a word, even before a drop": (
        [f"http://h.com/{w}/x{i}" for w, n in (("a", 40), ("b", 2)) for i in range(n)],
        {},
    ),
    "being there or not comes before the value": (
        [f"http://h.com/?p={i}" for i in range(40)] + [f"http://h.com/?p={i}&do=a{i % 2}" for i in range(20)],
        {"?do = ⊥": 40, "?do = *": 20, "?do = 'a0'": 10, "?do = 'a1'": 10},
    ),
    "an argument that hardly any URL has is free": (
        [f"http://h.com/x{i}" for i in range(40)] + ["http://h.com/y?rare=1", "http://h.com/z?rare=2"],
        {},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_site_is_split_by_what_its_urls_have_in_common(name: str) -> None:
    urls, expected = SHAPES[name]
    assert asked(tree_of(*urls)) == expected


def test_too_many_words_are_ids() -> None:
    urls = [f"http://h.com/{i}/{j}" for i in range(MAX_CHILDREN + 1) for j in range(100)]
    assert asked(tree_of(*urls)) == {}
    assert len(tree_of(*urls[:-100])) == 1 + MAX_CHILDREN


def slow_tree(rows: list[dict[Key, int]], keys: list[Key], least: int) -> list[list[int]]:
    """Algorithm 1 without a thought for speed: the rows of each node, root first, then child by child."""
    found: list[list[int]] = []

    def entropy(values: Counter[int], size: int) -> float:
        return -sum(n / size * math.log(n / size) for n in values.values())

    def salient(values: Counter[int], size: int) -> list[int]:
        order = sorted((n for v, n in values.items() if v), reverse=True)
        common = [n for n in order if n >= least]
        few = len(order) ** 2 <= size
        last = common[-1] if common and not few else 1  # a curve of many values that nothing follows does not end
        after = [*common[1:], max([n for n in order if n < least], default=last)]
        drops = [math.log(a) - math.log(b) for a, b in zip(common, after, strict=False)][:MAX_CHILDREN]
        best = max(drops, default=0.0)
        if best >= math.log(2) - 1e-9:
            limit = common[next(i for i, drop in enumerate(drops) if abs(drop - best) < 1e-12)]
        elif len(common) <= MAX_CHILDREN and few and common:
            limit = least
        else:
            return []
        return [v for v, n in values.items() if v and n >= limit]

    def build(here: list[int], done: set[Key]) -> None:
        found.append(sorted(here))
        done = set(done)
        while len(here) >= 2 * least:
            counts = {key: Counter(rows[row].get(key, 0) for row in here) for key in keys}
            open_keys = [key for key in keys if key not in done and len(counts[key]) > 1]
            if not open_keys:
                return
            key = min(open_keys, key=lambda key: (round(entropy(counts[key], len(here)), 8), keys.index(key)))
            absent = counts[key][0]
            if absent >= least and len(here) - absent >= least:
                build([row for row in here if not rows[row].get(key, 0)], done)
                build([row for row in here if rows[row].get(key, 0)], done)
                return
            done.add(key)
            if len(here) - absent < least:
                continue
            words = salient(counts[key], len(here))
            if not words:
                return
            left = [row for row in here if rows[row].get(key, 0) not in words]
            if len(words) == 1 and len(left) < least:
                continue
            for word in words:
                build([row for row in here if rows[row].get(key, 0) == word], done)
            if left:
                build(left, done)
            return

    build(list(range(len(rows))), set())
    return sorted(found)


WORDS = st.sampled_from(["", "a", "b", "c", "dd"])


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, st.integers(0, 40)), min_size=1, max_size=60, unique=True))
def test_the_tree_is_that_of_the_slow_algorithm(rows: list[tuple[str, str, str, int]]) -> None:
    urls = [f"http://h.com/{a}?n={n}" + (f"&b={b}" if b else "") + (f"&c={c}" if c else "") for a, b, c, n in rows]
    tree = tree_of(*urls)
    columns = {key: tree.forms.codes(key).tolist() for key in tree.forms.columns}
    slow = slow_tree(
        [{key: codes[row] for key, codes in columns.items()} for row in range(len(tree.forms))],
        sorted(columns, key=str),
        least=3,
    )
    assert sorted(tree.members(node).tolist() for node in range(len(tree))) == slow


@given(st.lists(st.tuples(WORDS, WORDS, st.integers(0, 40)), min_size=1, max_size=60, unique=True))
def test_a_node_has_the_urls_that_fit_what_it_asks_and_match_its_pattern(rows: list[tuple[str, str, int]]) -> None:
    urls = [f"http://h.com/{a}/{n}" + (f"?b={b}&c={a}" if b else f"?c={n % 3}" if n % 2 else "") for a, b, n in rows]
    tree = tree_of(*urls)
    of_form = np.empty(len(tree.forms), object)
    of_form[tree.forms.of_url] = tree.forms.site.urls.to_pylist()
    for node in range(len(tree)):
        members = tree.members(node)
        assert fitting(tree.forms, tree.constraints(node)).tolist() == members.tolist()
        below = [tree.members(child) for child in tree.children(node)]
        assert not below or sorted(np.concatenate(below).tolist()) == members.tolist()
        for url in of_form[members]:
            assert re.fullmatch(pattern(tree, node), url), (pattern(tree, node), url)


def test_a_pattern_reads_well() -> None:
    tree = tree_of(*(f"http://{w}h.com/a.php?id={i}&s=x{i}" for w in ("", "www.") for i in range(9)), "http://h.com/b/")
    assert pattern(tree, 0) == r"http://(www\.)?h\.com/(a\.php|b)(/[^/]*)?([?&]id=[0-9]+)?([?&]s=[^&]*)?"
    node = next(n for n in range(1, len(tree)) if describe(tree, tree.constraint(n)) == "host[1] = *")
    assert pattern(tree, node) == r"http://www\.h\.com/a\.php\?id=[0-9]+&s=[^&]*"


def test_a_drawing_is_bounded() -> None:
    urls = [f"http://h.com/{a}/{b}/{i}?long{'g' * 200}={i}" for a in range(30) for b in range(3) for i in range(40)]
    lines = draw(tree_of(*urls)).splitlines()
    assert len(lines) <= MAX_LINES + 1
    assert max(map(len, lines)) <= MAX_WIDTH
    assert lines[1].split()[:3] == ["3,600", "3,600", "all"]
    assert "… 22 more" in draw(tree_of(*urls))


def test_clusters_of_a_node_are_counted_in_urls() -> None:
    tree = grow(forms_of(site_of(*((f"http://h.com/a?i={i}", i // 4) for i in range(12)))))
    clusters, urls = tree.clusters(0)
    assert len(clusters) == 3
    assert urls.tolist() == [4, 4, 4]


def slow_overlap(tree: PatternTree, s: int, t: int) -> float:
    """Equation 6 as it stands, of URLs whose cluster has several."""
    sizes = Counter(tree.forms.clusters.tolist())
    sides = [[int(c) for c in tree.forms.clusters[tree.members(node)] if sizes[int(c)] > 1] for node in (s, t)]
    common = set(sides[0]) & set(sides[1])
    both = sum(c in common for side in sides for c in side)
    return both / sum(map(len, sides)) if any(sides) else 0.0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 6)), min_size=2, max_size=50, unique=True)
)
def test_overlaps_are_those_of_equation_6(rows: list[tuple[int, int, int]]) -> None:
    tree = grow(forms_of(site_of(*((f"http://h.com/{a}/{i}?n={a * n}", n) for a, i, n in rows))))
    found = overlaps(tree)
    for s in range(len(tree)):
        for t in range(len(tree)):
            assert found.overlap(s, t) == pytest.approx(slow_overlap(tree, s, t))
    assert all(found.overlap(s, s) in (0.0, 1.0) for s in range(len(tree)))


def test_a_cluster_counts_for_a_node_only_so_often() -> None:
    tree = grow(forms_of(site_of(*((f"http://h.com/{'ab'[i % 2]}/{i}", 0) for i in range(500)))))
    found: Overlaps = overlaps(tree)
    assert found.volume.max() == 16
    assert found.duplicate_rate(0) == 15 / 16


def test_duplicate_nodes_are_pairs_that_share_clusters_and_never_one_inside_the_other() -> None:
    pages = [(f"http://h.com/{w}/{i}", i) for w in ("a", "b") for i in range(10)]
    alone = [(f"http://h.com/c/{i}", f"c{i}") for i in range(10)]
    tree = grow(forms_of(site_of(*pages, *alone)))
    names = {node: describe(tree, tree.constraint(node)) for node in range(1, len(tree))} | {0: "all"}
    found = [(names[s], names[t]) for s, t in duplicate_nodes(tree, overlaps(tree))]
    assert found == [("all", "all"), ("path[0] = 'a'", "path[0] = 'b'"), ("path[0] = 'b'", "path[0] = 'a'")]


def test_a_default_is_seen_though_few_urls_of_the_other_node_have_duplicates_in_it() -> None:
    pages = [(f"http://h.com/p{i}?v={j}", i) for i in range(60) for j in range(2)]
    default = [(f"http://h.com/p{i}?v=1&page=1", i) for i in range(8)]
    other = [(f"http://h.com/p{i}?v=1&page=2", f"{i}b") for i in range(8)]
    tree = grow(forms_of(site_of(*pages, *default, *other)))
    found = overlaps(tree)
    names = {describe(tree, tree.constraint(node)): node for node in range(1, len(tree))}
    one, none = names["?page = '1'"], names["?page = ⊥"]
    assert found.overlap(one, none) < 0.5
    assert found.covered(one, none) == 1.0
    assert (one, none) in duplicate_nodes(tree, found)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=40, unique=True))
def test_merges_are_those_that_counting_by_hand_finds(rows: list[tuple[int, int]]) -> None:
    # Each row: a cluster, and what its form becomes; forms within a cluster are different before.
    rows = sorted((cluster, form % 3) for cluster, form in rows)
    found = merges(np.array([f for _, f in rows], np.uint64), np.array([c for c, _ in rows], np.int32))
    cells = Counter(rows)
    groups = {form: {c for c, f in rows if f == form} for _, form in rows}
    gains = Counter({c: sum(n - 1 for (k, _), n in cells.items() if k == c) for c, _ in rows})
    assert found == Evidence(
        forms=len(rows),
        gained=sum(n - 1 for n in cells.values()),
        capped=sum(min(n, 8) for n in gains.values()),
        clusters=sum(n > 0 for n in gains.values()),
        wrong=sum(len(clusters) - 1 for clusters in groups.values()),
        left=len(groups),
        contexts=len({f for (_, f), n in cells.items() if n > 1}),
    )


@given(st.integers(0, 30), st.integers(0, 30), st.floats(0.01, 0.99))
def test_chance_is_counted_as_tossing_coins(count: int, tries: int, rate: float) -> None:
    exact = sum(math.comb(tries, n) * rate**n * (1 - rate) ** (tries - n) for n in range(min(count, tries) + 1))
    assert at_most(count, tries, rate) == pytest.approx(exact, abs=1e-9)


@given(st.integers(0, 200), st.integers(0, 200))
def test_a_lower_bound_is_below_the_share_and_rises_with_evidence(right: int, wrong: int) -> None:
    bound = lower_bound(right, wrong)
    assert 0 <= bound <= right / max(1, right + wrong) + 1e-12
    assert lower_bound(2 * right, 2 * wrong) >= bound - 1e-12
