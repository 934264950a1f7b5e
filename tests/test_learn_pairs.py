"""Learning from pairs: the worked examples of the paper, each step against an obvious one, and what must not happen."""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_learn import FAMILIES, NOTHING
from undust.evaluate.report import evaluate
from undust.evaluate.split import by_cluster, by_sample
from undust.learn.columns import SiteUrls, by_site
from undust.learn.pairs import choose
from undust.learn.pairs.alignment import align
from undust.learn.pairs.belief import Draft, Judge
from undust.learn.pairs.chains import compile_drafts
from undust.learn.pairs.choose import Pairs, choose_pairs, ranked, sampled
from undust.learn.pairs.contexts import tree
from undust.learn.pairs.limits import Limits, of_paper
from undust.learn.pairs.workspace import Workspace
from undust.learn.pairwise import Pairwise
from undust.rules.apply import apply, fit
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.rules.values import ABSENT, ANY, DROP, Copy, Ignore, Match, Operation, Pattern, Slot
from undust.urls.keys import Key, keys
from undust.urls.parse import split

FLOORS = Path(__file__).parent / "cases" / "quality_pairs.json"
Urls = Sequence[tuple[str, object]]


def table(urls: Iterable[tuple[str, object]]) -> pa.Table:
    rows = list(urls)
    return pa.table({"url": [url for url, _ in rows], "cluster": [str(cluster) for _, cluster in rows]})


def only(urls: Iterable[tuple[str, object]]) -> SiteUrls:
    (site,) = by_site(table(urls))
    return site


def learned(urls: Iterable[tuple[str, object]], limits: Limits | None = None) -> list[Rule]:
    return [rule for site in by_site(table(urls)) for rule in Pairwise(limits or Limits()).learn_site(site)]


def code(chance: random.Random, size: int) -> str:
    return "".join(chance.choices("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=size))


def examples() -> dict[str, tuple[Urls, list[str]]]:
    """Clusters like those of the paper, twelve of each kind, and the rules that it makes of them."""
    chance = random.Random(4)
    words = ["Casino_Royale", "Graz", "Smores", "Zebra", "Quark", "Salt", "Oak", "Elm", "Fir", "Ash", "Up", "Ox"]
    numbers = [chance.randrange(10**6, 10**7) for _ in words]
    paths = ["srnr/about/art", "art", "a/b", "c", "d/e/f", "g/h", "i", "j", "k/l/m", "n", "o/p", "q"]
    ebay = [f"http://catalog.ebay.com/{word}_UPC_{number}_W0" for word, number in zip(words, numbers, strict=True)]
    return {
        "wikipedia": (
            [
                (u, w)
                for w in words
                for u in (f"http://en.wikipedia.org/wiki/{w}", f"http://en.wikipedia.org/?title={w}")
            ],
            ["wikipedia.org  //….en.wikipedia.org/{*}?title={a}  →  //….en.wikipedia.org/wiki/{a}"],
        ),
        "stanford": (
            [
                (f"http://cs.stanford.edu/degrees/mscs/faq/index.php?sid={n * s}&cat={n}", n)
                for n in numbers
                for s in (3, 7)
            ],
            [
                "stanford.edu  //….cs.stanford.edu/degrees/mscs/faq/index.php/…?sid={?}"
                "  →  //….cs.stanford.edu/degrees/mscs/faq/index.php/…"
            ],
        ),
        "amazon": (
            [
                (f"http://www.amazon.com/{s}dp/B000{n}", n)
                for w, n in zip(words, numbers, strict=True)
                for s in ("", f"{w}/")
            ],
            ["amazon.com  //….www.amazon.com/{*}/dp/…  →  //….www.amazon.com/⊥/dp/…"],
        ),
        "ebay": (
            [(f"{u}QQ_fclsZ1QQ_pcatidZ{p % 3}QQ_pidZ{7 * p}QQ_tabZ{p % 2}", p) for p, u in enumerate(ebay, 1000)]
            + [(f"{u}?_fcls=1&_pcatid={p % 3}&_pid={7 * p}&_tab={p % 2}", p) for p, u in enumerate(ebay, 1000)],
            [
                "ebay.com  //….catalog.ebay.com/{a}_UPC_{b:digits}_W0?_fcls=1&_pcatid={c}&_pid={d}&_tab={e}"
                "  →  //….catalog.ebay.com/{a}_UPC_{b}_W0QQ_fclsZ1QQ_pcatidZ{c}QQ_pidZ{d}QQ_tabZ{e}"
            ],
        ),
        "ag.arizona.edu": (
            [(f"http://ag.arizona.edu/{path}{s}", path) for path in paths for s in ("", "/index.html")],
            ["arizona.edu  //….ag.arizona.edu/…/index.html  →  //….ag.arizona.edu/…/⊥"],
        ),
        "360.yahoo.com": (
            [(f"http://360.yahoo.com/friends-{code(chance, 12)}", "friends") for _ in range(120)]
            + [(f"http://360.yahoo.com/blog-{code(chance, 12)}", place) for place in range(60)],
            ["yahoo.com  //….360.yahoo.com/friends-{*}/…  →  //….360.yahoo.com/friends-{*=XXX}/…"],
        ),
        "allrecipes.com": (
            [(f"http://allrecipes.com/{r}/{w}/default.aspx", w) for w in words for r in ("Recipe", "RECIPE")],
            [
                "allrecipes.com  //….allrecipes.com/{a}/{?}/default.aspx/…"
                "  →  //….allrecipes.com/{a|upper}/{?}/default.aspx/…"
            ],
        ),
        "imdb.com": (
            [(f"http://www.imdb.com/title/tt{n}/{p}", n) for n in numbers for p in ("photogallery", "mediaindex")]
            + [
                (f"http://www.imdb.com/title/co{n}/{p}", f"{n}{p}")
                for n in numbers
                for p in ("photogallery", "mediaindex")
            ],
            [
                "imdb.com  //….www.imdb.com/title/tt{a:digits}/photogallery/…"
                "  →  //….www.imdb.com/title/tt{a}/mediaindex/…"
            ],
        ),
        "youtube.com": (
            [
                (f"http://www.youtube.com/watch?v={video}{s}", video)
                for video in (code(chance, 11) for _ in words)
                for s in ("", "&feature=channel", f"&feature=channel&ytsession={code(chance, 17)}")
            ],
            [
                "youtube.com  //….www.youtube.com/watch/…?feature=channel&ytsession={?}"
                "  →  //….www.youtube.com/watch/…",
                "youtube.com  //….www.youtube.com/watch/…?ytsession={?}  →  //….www.youtube.com/watch/…",
            ],
        ),
        "simtel.net": (
            [
                (f"http://www.simtel.net/accelerate.php[id]{number}[SiteID]{s}", number)
                for number in numbers
                for s in ("softwareoasis", "simtel", "pcworld")
            ],
            [
                "simtel.net  //….www.simtel.net/accelerate.php%5Bid%5D{a:digits}%5BSiteID%5D{*}/…"
                "  →  //….www.simtel.net/accelerate.php%5Bid%5D{a}%5BSiteID%5D{*=XXX}/…"
            ],
        ),
    }


EXAMPLES = examples()


def plain(rule: Rule) -> Rule:
    """Leave the value out that stands in for one that does not matter: any will do."""
    made: dict[Key, Operation] = {}
    for key, operation in rule.operations.items():
        pieces = operation if isinstance(operation, tuple) else ()
        told = tuple(Ignore("XXX") if isinstance(piece, Ignore) else piece for piece in pieces)
        made[key] = told if isinstance(operation, tuple) else operation
    return Rule(rule.site, rule.context, made, rule.sort_query)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_clusters_of_the_paper_give_its_rules(name: str) -> None:
    urls, expected = EXAMPLES[name]
    rules = learned(urls)
    assert [plain(rule) for rule in rules] == [plain(read_line(line)) for line in expected], list(map(str, rules))
    report = evaluate(RuleSet(rules), table(urls))
    assert report.micro.recall_of_possible == 1
    assert report.micro.fpr == 0


def test_two_clusters_are_enough_if_nobody_doubts() -> None:
    # Sections 2.1 and 3.2.2 of the paper, to the letter.
    arizona = [
        ("http://ag.arizona.edu/srnr/about/art/index.html", 1),
        ("http://ag.arizona.edu/srnr/about/art", 1),
        ("http://ag.arizona.edu/art/index.html", 2),
        ("http://ag.arizona.edu/art", 2),
    ]
    (rule,) = learned(arizona, of_paper(1.0, min_coverage=1))
    assert rule == read_line("arizona.edu  //….ag.arizona.edu/…/index.html  →  //….ag.arizona.edu/…/⊥")
    titles = ("0810900", "0053198")
    imdb = [(f"http://www.imdb.com/title/tt{t}/{p}", t) for t in titles for p in ("photogallery", "mediaindex")]
    (rule,) = learned(imdb, of_paper(1.0, min_coverage=1))
    assert RuleSet([rule]).same(*(f"http://www.imdb.com/title/tt1/{p}" for p in ("photogallery", "mediaindex")))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_way_to_spell_a_page_twice_is_learned_and_holds_for_unseen_pages(family: str) -> None:
    urls, (a, b) = FAMILIES[family]
    rules = RuleSet(learned(urls))
    assert rules.same(a, b), list(map(str, rules))
    report = evaluate(rules, table(urls))
    assert report.micro.fpr == 0
    assert report.micro.recall_of_possible > 0.99


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_is_learned_from(name: str) -> None:
    assert learned(NOTHING[name]) == []


def test_a_giant_cluster_of_errors_does_not_swallow_the_site() -> None:
    urls = [(f"http://h.com/article/{i}/{s}", i) for i in range(60) for s in ("", "?print=1")]
    errors = [(f"http://h.com/article/{i}/x{i % 7}", "error") for i in range(1000, 4000)]
    rules = RuleSet(learned([*urls, *errors]))
    assert rules.same("http://h.com/article/9999/", "http://h.com/article/9999/?print=1")
    assert not rules.same("http://h.com/article/9998/", "http://h.com/article/9999/")
    assert evaluate(rules, table(urls)).micro.pages_lost == 0


@settings(max_examples=12)
@given(st.sampled_from(sorted(EXAMPLES)), st.randoms(use_true_random=False))
def test_the_order_of_the_clusters_does_not_matter(name: str, chance: random.Random) -> None:
    urls, _ = EXAMPLES[name]
    again = [(url, f"c{cluster}") for url, cluster in chance.sample(urls, len(urls))]
    assert learned(again) == learned(urls)


SEGMENTS = st.sampled_from(["a", "b", "a-1", "b-22", "a-b-3", ""])
URLS = st.builds(
    lambda host, path, query: f"http://{host}h.com/{'/'.join(path)}" + (f"?{query}" if query else ""),
    st.sampled_from(["", "www."]),
    st.lists(SEGMENTS, min_size=1, max_size=3),
    st.sampled_from(["", "x=1", "x=2", "x=a-1", "x=1&y=a", "y=b", "y=1"]),
)
NUMBERED = Pattern((Slot(), "-", Slot("digits")))
MATCHES: st.SearchStrategy[Match] = st.sampled_from(
    [ANY, ABSENT, Pattern(("a",)), Pattern(()), Pattern(("1",)), NUMBERED]
)
PLACES = st.sampled_from([Key("path", 0), Key("path", 1), Key("path", -1), Key("query", "x"), Key("query", "y")])
PIECES = st.one_of(
    st.sampled_from(["a", "z"]),
    st.builds(Ignore, st.just("a")),
    st.builds(Copy, PLACES, st.integers(0, 1), st.sampled_from(["", "upper"])),
)
OPERATIONS: st.SearchStrategy[Operation] = st.one_of(st.just(DROP), st.lists(PIECES, max_size=3).map(tuple))
DRAFTS = st.builds(
    Draft, st.dictionaries(PLACES, MATCHES, max_size=2), st.dictionaries(PLACES, OPERATIONS, min_size=1, max_size=2)
)


def by_hand(draft: Draft, url: str) -> str:
    values = keys(url)
    if fit(draft.context, values) is None:
        return url
    # Columns know no order of arguments, and a draft that adds two puts them wherever there is room.
    made = apply(Rule("h.com", draft.context, draft.operations, sort_query=True), split(url), values)
    return url if made is None else made.key


def groups(labels: Iterable[object]) -> list[int]:
    known: dict[object, int] = {}
    return [known.setdefault(label, len(known)) for label in labels]


@settings(max_examples=300)
@given(st.lists(URLS, min_size=1, max_size=12, unique=True), DRAFTS)
def test_a_draft_does_by_the_column_what_its_rule_does_to_one_url(urls: list[str], draft: Draft) -> None:
    site = only((url, place) for place, url in enumerate(urls))
    work = Workspace(site)
    rows = np.flatnonzero(work.holds(draft.context))
    made, depth, possible = work.changed(draft.context, draft.operations, rows)
    work.accept({key: codes[possible] for key, codes in made.items()}, depth[possible], rows[possible])
    assert groups(work.hashes.tolist()) == groups(by_hand(draft, url) for url in site.urls.to_pylist())


SIMPLE = st.builds(
    Draft,
    st.dictionaries(PLACES, st.sampled_from([ANY, Pattern(("a",)), Pattern(("1",))]), max_size=2),
    st.dictionaries(PLACES, st.sampled_from([DROP, ("a",), ("z",)]), min_size=1, max_size=1),
)


@settings(max_examples=300)
@given(st.lists(URLS, min_size=1, max_size=10, unique=True), st.lists(SIMPLE, max_size=4))
def test_rules_do_at_once_what_drafts_do_one_after_the_other(urls: list[str], drafts: list[Draft]) -> None:
    # Segments that are counted from both ends may be one and the same, which only one of the two ways sees.
    drafts = [d for d in drafts if not any(key.part == "path" for key in d.operations)]
    site = only((url, place) for place, url in enumerate(urls))
    rules = compile_drafts("h.com", drafts, Workspace(site))
    texts = site.urls.to_pylist()
    expected = []
    for url in texts:
        for draft in drafts:
            url = by_hand(draft, url)
        expected.append(url)
    found = []
    for url in texts:
        first = next((rule for rule in rules if fit(rule.context, keys(url)) is not None), None)
        made = None if first is None else apply(first, split(url), keys(url))
        found.append(url if made is None else made.key)
    # A key that goes and comes again is at the end; the order of arguments is another matter.
    assert [sorted(keys(url).items()) for url in found] == [sorted(keys(url).items()) for url in expected]


@given(st.lists(st.tuples(SEGMENTS, SEGMENTS, SEGMENTS), min_size=2, max_size=8, unique=True), st.data())
def test_paths_are_aligned_from_both_ends(paths: list[tuple[str, ...]], data: st.DataObject) -> None:
    cut = [path[: data.draw(st.integers(1, 3))] for path in paths]
    urls = sorted({f"http://h.com/{'/'.join(path)}" for path in cut})
    if len(urls) < 2:
        return
    site = only((url, 0) for url in urls)
    pairs = Pairs(np.arange(1, len(urls)), np.zeros(len(urls) - 1, np.int64))
    found = align(Workspace(site), pairs)
    for place, url in enumerate(site.urls.to_pylist()[1:]):
        source, target = (text.split("/")[3:] for text in (url, str(site.urls[0])))
        before = 0
        while before < min(len(source), len(target)) and source[before] == target[before]:
            before += 1
        after = 0
        while after < min(len(source), len(target)) - before and source[-1 - after] == target[-1 - after]:
            after += 1
        assert (found.before[place], found.after[place]) == (before, after)
        assert (found.source[place], found.target[place]) == (
            len(source) - before - after,
            len(target) - before - after,
        )


def test_targets_are_static_short_and_shallow() -> None:
    urls = ["http://h.com/?a=1", "http://h.com/long/path", "http://h.com/longpaths", "http://h.com/zz"]
    site = only((url, 0) for url in urls)
    assert [str(site.urls[int(row)]) for row in ranked(site)] == [urls[3], urls[2], urls[1], urls[0]]


def test_links_decide_between_targets_that_are_as_good() -> None:
    urls = pa.table({"url": ["http://h.com/a", "http://h.com/b"], "cluster": ["0", "0"], "inlinks": [1, 5]})
    (site,) = by_site(urls)
    assert [str(site.urls[int(row)]) for row in ranked(site)] == ["http://h.com/b", "http://h.com/a"]


def test_importance_decides_which_sources_are_taken() -> None:
    count = 1000
    rows = {"url": [f"http://h.com/{i:04}" for i in range(count)], "cluster": ["0"] * count}
    (site,) = by_site(pa.table({**rows, "importance": [100.0 if i >= 990 else 0.01 for i in range(count)]}))
    work = Workspace(site, ranked(site))
    chosen = np.unique(work.rows[choose_pairs(work, site.importance).sources])
    assert np.count_nonzero(chosen >= 990) == 10


@settings(max_examples=30)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=300))
def test_there_are_never_more_pairs_than_twice_the_urls(clusters: list[int]) -> None:
    site = only((f"http://h.com/{place}", cluster) for place, cluster in enumerate(clusters))
    work = Workspace(site, ranked(site))
    pairs = choose_pairs(work)
    assert len(pairs.sources) <= choose.NEAREST * len(site)
    assert (work.clusters[pairs.sources] == work.clusters[pairs.targets]).all()
    assert (pairs.targets < pairs.sources).all()
    assert max(np.bincount(work.clusters[np.unique(pairs.sources)]), default=0) <= choose.MAX_SOURCES + choose.TARGETS


def test_a_sample_has_whole_clusters_but_of_giants_a_part() -> None:
    small = [(f"http://h.com/a/{i}/{j}", i) for i in range(400) for j in range(2)]
    giant = [(f"http://h.com/b/{i}", "giant") for i in range(3000)]
    site = only([*small, *giant])
    rows = sampled(site, 600)
    counts = np.bincount(site.clusters[rows])
    assert 300 <= len(rows) <= 700
    assert set(counts[counts < 10].tolist()) <= {0, 2}
    assert counts.max() <= 100
    assert np.array_equal(np.sort(sampled(site, 10**6)), np.arange(len(site)))


def test_the_tree_of_the_papers_example_has_a_wildcard_for_the_title() -> None:
    # Two transformations; the title has a value of its own in each pair, the other keys have one for each class.
    title, kind, last = Key("path", 1), Key("path", 0), Key("path", 2)
    columns = {
        title: np.arange(10, 20, dtype=np.int32),
        kind: np.full(10, 1, np.int32),
        last: np.array([2] * 5 + [3] * 5, np.int32),
    }
    made = tree(columns, np.array([0] * 5 + [1] * 5))
    assert (made[title] == -1).all()
    assert (made[kind] == 1).all()
    assert made[last].tolist() == [2] * 5 + [3] * 5


def test_a_value_with_the_majority_is_kept_among_many() -> None:
    columns = {Key("query", "do"): np.array([1] * 20 + list(range(2, 12)), np.int32)}
    (made,) = tree(columns, np.zeros(30, np.int64)).values()
    assert made.tolist() == [1] * 20 + [-1] * 10


@settings(max_examples=60)
@given(st.lists(st.tuples(URLS, st.integers(0, 3)), min_size=1, max_size=12, unique_by=lambda row: row[0]), DRAFTS)
def test_merges_are_those_that_counting_by_hand_finds(rows: list[tuple[str, int]], draft: Draft) -> None:
    site = only(rows)
    texts = site.urls.to_pylist()
    merges = Judge(Workspace(site, ranked(site)), Limits()).measure(draft)
    before = set(zip(texts, site.clusters.tolist(), strict=True))
    new = [by_hand(draft, url) for url in texts]
    after = set(zip(new, site.clusters.tolist(), strict=True))
    gained = len(before) - len(after)
    wrong = len(after) - len(set(new))
    assert (gained, wrong) == ((0, 0) if merges is None else (merges.gained, merges.wrong))


def test_precision_is_a_level_to_choose() -> None:
    right = [(f"http://h.com/p{i}{s}", i) for i in range(40) for s in ("", "?v=1")]
    wrong = [(f"http://h.com/p{i}{s}", f"{i}{s}") for i in range(40, 45) for s in ("", "?v=1")]
    sizes = [len(learned([*right, *wrong], of_paper(level))) for level in (1, 0.95, 0.8, 0)]
    assert sizes == [0, 0, 1, 1]


def test_small_coverage_is_no_rule() -> None:
    urls = [(f"http://h.com/p{i}{s}", i) for i in range(8) for s in ("", "?v=1")]
    assert learned(urls, of_paper(1.0, min_coverage=10)) == []
    assert len(learned(urls, of_paper(1.0, min_coverage=5))) == 1


def test_stages_are_counted() -> None:
    site = only(EXAMPLES["imdb.com"][0])
    stages = Pairwise().stages(site)
    assert stages.pairwise >= 12
    assert stages.generalized >= stages.believed == 1


@pytest.mark.parametrize("crawl", ["autoindex", "docs", "dokuwiki", "dokuwiki_sid", "wordpress"])
def test_real_sites_stay_above_the_floor(shared_data: Path, crawl: str) -> None:
    options = pa_csv.ParseOptions(delimiter="\t", quote_char=False)
    clusters = pa_csv.read_csv(shared_data / "webapps" / f"{crawl}.clusters.tsv", parse_options=options)
    floor = json.loads(FLOORS.read_text())["pairwise"][crawl]
    for name, parted in (("by_cluster", by_cluster), ("by_sample", by_sample)):
        found = []
        for seed in range(3):
            train, test = parted(clusters, seed=seed)
            rules = RuleSet(rule for site in by_site(train) for rule in Pairwise().learn_site(site))
            found.append(evaluate(rules, test).micro)
        assert np.mean([each.recall_of_possible for each in found]) >= floor[name], name
        assert max(each.fpr for each in found) <= floor["fpr"], name
        assert max(each.pages_lost for each in found) <= 0.0055, name
