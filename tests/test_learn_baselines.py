"""The older methods: substring substitutions and rewrite rules, each step against an obvious one."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_learn import FAMILIES
from tests.test_learn_pairs import EXAMPLES, only, table
from undust.evaluate.report import evaluate
from undust.evaluate.split import by_cluster
from undust.learn.columns import by_site
from undust.learn.dust import Dust
from undust.learn.dust_substrings import Substitution, likely_substitutions, without_redundant
from undust.learn.dust_translate import translated
from undust.learn.methods import Method
from undust.learn.pairs.choose import ranked
from undust.learn.pairs.workspace import Workspace
from undust.learn.pairwise import Pairwise
from undust.learn.rewrite import MAX_PARTNERS, Rewrite, _all_pairs
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet

PAGES = range(12)


def rule(piece: str, instead: str, support: int = 10, refuted: int = 0) -> Substitution:
    return Substitution(piece, instead, support, refuted, ())


def learned(method: Method, urls: Iterable[tuple[str, object]]) -> list[Rule]:
    return [found for site in by_site(table(urls)) for found in method.learn_site(site)]


@pytest.mark.parametrize(
    ("one", "other", "refines"),
    [
        (("/index.html", "/"), ("index.html", ""), True),  # the paper's own example
        ((".com/story?id=", ".com/story_"), ("story?id=", "story_"), True),
        (("story?id=", "story_"), (".com/story?id=", ".com/story_"), False),
        (("a", "b"), ("a", "b"), False),  # a rule does not refine itself
        (("xa", "yb"), ("a", "b"), False),  # what is around must be the same
        (("aa", "a"), ("a", ""), True),
    ],
)
def test_a_rule_refines_another_if_it_is_the_same_with_more_around_it(
    one: tuple[str, str], other: tuple[str, str], refines: bool
) -> None:
    assert rule(*one).refines(rule(*other)) == refines


def test_of_rules_that_are_nearly_the_same_the_one_that_says_more_is_kept() -> None:
    wide, narrow, rare = rule("index.html", "", 20), rule("/index.html", "/", 19), rule("x/index.html", "x/", 5)
    assert without_redundant([wide, narrow, rare]) == [narrow, rare]  # a rule with far less support says something else


_TOKEN = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")


def obvious(urls: list[str], clusters: list[int]) -> Counter[tuple[str, str]]:
    """Count instances of substitutions by trying all pairs of URLs and all pieces."""
    found: Counter[tuple[str, str]] = Counter()
    pieces: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for url, cluster in zip(urls, clusters, strict=True):
        tokens = _TOKEN.findall(url)
        for first in range(len(tokens) + 1):
            for last in range(first, min(first + 6, len(tokens)) + 1):
                around = "".join(tokens[:first]), "".join(tokens[last:])
                pieces.setdefault(around, []).append(("".join(tokens[first:last]), cluster))
    for several in pieces.values():
        if len(several) <= 12:
            for (one, here), (other, there) in itertools.combinations(several, 2):
                if here == there and len(one) != len(other):
                    found[max(one, other, key=len), min(one, other, key=len)] += 1
    return found


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.builds(
                lambda host, path, query: f"http://{host}h.com/{path}{query}",
                st.sampled_from(["", "www."]),
                st.sampled_from(["a", "b", "a/index.html", "b/index.html", "a/", "b/"]),
                st.sampled_from(["", "?s=1", "?s=1&t=2"]),
            ),
            st.integers(0, 1),
        ),
        min_size=2,
        max_size=12,
        unique_by=lambda row: row[0],
    )
)
def test_support_is_the_number_of_envelopes_in_which_both_pieces_stand(rows: list[tuple[str, int]]) -> None:
    urls, clusters = [url for url, _ in rows], [cluster for _, cluster in rows]
    expected = obvious(urls, clusters)
    for found in likely_substitutions(pa.array(urls), np.array(clusters, np.int32)):
        if len(found.piece) != len(found.instead):
            assert found.support == expected[found.piece, found.instead]
            assert found.support >= 3
            for source, target in found.instances:
                assert (
                    urls[source].replace(found.piece, found.instead, 1) == urls[target] or found.piece in urls[source]
                )


TRANSLATED = [
    # a substitution, the URLs of an instance, and the rule that it is; None where the rule language cannot say it
    (("/index.html", "/"), "http://h.com/a/index.html", "http://h.com/a/",
     "h.com  //….h.com/…/index.html  →  //….h.com/…/"),
    (("/index.html", ""), "http://h.com/a/index.html", "http://h.com/a",
     "h.com  //….h.com/…/index.html  →  //….h.com/…/⊥"),
    (("//www.", "//"), "http://www.h.com/a", "http://h.com/a", "h.com  //….www.h.com/…  →  //….⊥.h.com/…"),
    (("?page=1", ""), "http://h.com/a?page=1", "http://h.com/a", "h.com  //….h.com/…?page=1  →  //….h.com/…"),
    (("photogallery", "media"), "http://h.com/x/photogallery", "http://h.com/x/media",
     "h.com  //….h.com/…/photogallery  →  //….h.com/…/media"),
    (("-print", ""), "http://h.com/news/12-print.html", "http://h.com/news/12.html",
     "h.com  //….h.com/…/{a}-print{b}  →  //….h.com/…/{a}{b}"),
    (("?id=", "_"), "http://h.com/story?id=5", "http://h.com/story_5",
     "h.com  //….h.com/…/{a}?id={b}  →  //….h.com/…/{a}_{b}"),
    (("sid=1&s", "s"), "http://h.com/a?sid=1&sort=2", "http://h.com/a?sort=2",
     "h.com  //….h.com/…?sid=1  →  //….h.com/…"),
    (("", "/index"), "http://h.com/a", "http://h.com/a/index", None),  # a segment behind paths of any length
    (("colo", "colou"), "http://h.com/?color=1", "http://h.com/?colour=1", None),  # a name of an argument in parts
]  # fmt: skip


@pytest.mark.parametrize(("pieces", "source", "target", "line"), TRANSLATED)
def test_a_substitution_is_written_in_the_rule_language(
    pieces: tuple[str, str], source: str, target: str, line: str | None
) -> None:
    draft = translated(rule(*pieces), source, target)
    if line is None:
        assert draft is None or not RuleSet([Rule("h.com", draft.context, draft.operations)]).same(source, target)
        return
    assert draft is not None
    made = Rule("h.com", draft.context, draft.operations)
    assert made == read_line(line)
    assert RuleSet([made]).same(source, target)


DUST_KNOWS = [
    "a session id that is there or not",
    "www",
    "http and https",
    "index files",
    "a trailing slash",
    "a default value",
]


@pytest.mark.parametrize("family", DUST_KNOWS)
def test_substitutions_are_learned(family: str) -> None:
    urls, (a, b) = FAMILIES[family]
    rules = RuleSet(learned(Dust(), urls))
    assert rules.same(a, b), list(map(str, rules))
    assert evaluate(rules, table(urls)).micro.fpr == 0


def test_a_value_that_is_new_every_time_is_no_substitution() -> None:
    urls = [(f"http://h.com/p{i}?sid={i * 97 + j * 13}", i) for i in PAGES for j in range(3)]
    assert learned(Dust(), urls) == []


def test_a_substitution_that_confuses_pages_is_refuted() -> None:
    right = [(f"http://h.com/p{i}{s}", i) for i in PAGES for s in ("", "?v=1")]
    wrong = [(f"http://h.com/q{i}{s}", f"q{i}{s}") for i in PAGES for s in ("", "?v=1")]
    assert learned(Dust(), right)
    assert learned(Dust(), [*right, *wrong]) == []


REWRITE_KNOWS = [
    "a session id",
    "a path parameter",
    "mirrors",
    "a segment that does not matter",
    "an argument that matters under one condition only",
    *DUST_KNOWS,
]


@pytest.mark.parametrize("family", REWRITE_KNOWS)
def test_rewrite_rules_are_learned(family: str) -> None:
    urls, (a, b) = FAMILIES[family]
    rules = RuleSet(learned(Rewrite(), urls))
    assert rules.same(a, b), list(map(str, rules))
    assert evaluate(rules, table(urls)).micro.fpr == 0


def test_fewer_values_than_the_fan_out_stay_literals() -> None:
    urls = [(f"http://h.com/p{i}{s}", i) for i in range(20) for s in ("", "?v=1")]
    (general,) = learned(Rewrite(fan_out=10), urls)
    assert RuleSet([general]).same("http://h.com/new", "http://h.com/new?v=1")
    assert learned(Rewrite(fan_out=30), urls) == []  # each page has its own rule, which covers too little


def test_what_is_counted_from_the_end_is_beyond_rewrite_rules() -> None:
    urls, _ = EXAMPLES["ag.arizona.edu"]
    deep = "http://ag.arizona.edu/v/w/x/y/z", "http://ag.arizona.edu/v/w/x/y/z/index.html"
    assert RuleSet(learned(Pairwise(), urls)).same(*deep)
    assert not RuleSet(learned(Rewrite(fan_out=5, min_coverage=2), urls)).same(*deep)


def test_a_reference_to_another_key_is_a_rewrite_rule() -> None:
    rules = RuleSet(learned(Rewrite(), EXAMPLES["wikipedia"][0]))
    assert rules.same("http://en.wikipedia.org/?title=New", "http://en.wikipedia.org/wiki/New")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_pairs_of_a_cluster_are_all_or_an_even_choice(clusters: list[int]) -> None:
    site = only((f"http://h.com/{place}", cluster) for place, cluster in enumerate(clusters))
    work = Workspace(site, ranked(site))
    pairs = _all_pairs(work)
    assert (work.clusters[pairs.sources] == work.clusters[pairs.targets]).all()
    assert (pairs.targets < pairs.sources).all()
    assert len(set(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True))) == len(pairs.sources)
    sizes = Counter(clusters).values()
    assert len(pairs.sources) == sum(min(place, MAX_PARTNERS) for size in sizes for place in range(size))


METHODS: list[Method] = [Dust(), Rewrite(), Pairwise()]


@settings(max_examples=10)
@given(st.sampled_from(sorted(FAMILIES)), st.sampled_from(METHODS[:2]), st.randoms(use_true_random=False))
def test_the_order_of_the_clusters_does_not_matter(family: str, method: Method, chance: random.Random) -> None:
    urls, _ = FAMILIES[family]
    again = [(url, f"c{cluster}") for url, cluster in chance.sample(list(urls), len(urls))]
    assert learned(method, again) == learned(method, urls)


@pytest.mark.parametrize("method", METHODS, ids=["dust", "rewrite", "pairwise"])
@pytest.mark.parametrize("urls", [[], [("http://h.com/", 0)], [(f"http://h.com/{i}", i) for i in range(50)]])
def test_without_duplicates_there_are_no_rules(method: Method, urls: list[tuple[str, object]]) -> None:
    assert learned(method, urls) == []


@pytest.mark.parametrize("method", METHODS, ids=["dust", "rewrite", "pairwise"])
def test_rules_are_at_rest(method: Method) -> None:
    urls = [*FAMILIES["a session id"][0], *FAMILIES["index files"][0]]
    rules = RuleSet(learned(method, urls))
    for url, _ in urls:
        made = rules.normalize(url)
        assert rules.normalize(made) == made
        assert rules.key(made) == rules.key(url)


def test_learning_from_pairs_beats_the_older_methods_on_real_sites(shared_data: Path) -> None:
    options = pa_csv.ParseOptions(delimiter="\t", quote_char=False)
    recall: dict[str, list[float]] = {"dust": [], "rewrite": [], "pairwise": []}
    for crawl in ("wordpress", "autoindex", "dokuwiki_sid"):
        clusters = pa_csv.read_csv(shared_data / "webapps" / f"{crawl}.clusters.tsv", parse_options=options)
        train, test = by_cluster(clusters, seed=0)
        for name, method in zip(recall, METHODS, strict=True):
            rules = RuleSet(found for site in by_site(train) for found in method.learn_site(site))
            recall[name].append(evaluate(rules, test).micro.recall_of_possible)
    means = {name: float(np.mean(found)) for name, found in recall.items()}
    assert means["pairwise"] > means["rewrite"] > means["dust"] > 0
