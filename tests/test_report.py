"""The numbers of a report: what they say of clusters with known answers, and that large ones stay within bounds."""

import json
import math
from collections import Counter, defaultdict
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undust
from tests.report_numbers import HOSTILE, made_up
from undust import corpus, pipeline
from undust.evaluate.coded import apply_to
from undust.evaluate.confidence import independent, wilson
from undust.evaluate.confusions import find_confusions
from undust.evaluate.rule_confidence import rule_confidences
from undust.evaluate.sizes import count_sizes
from undust.evaluate.unexplained import differing, find_unexplained
from undust.learn.columns import by_site
from undust.learn.tree.forms import forms_of
from undust.learn.tree.outline import outline
from undust.learn.tree.pattern_tree import grow
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet
from undust.run.html.markup import tag, text
from undust.run.html.page import write_page
from undust.run.html.urls import common_ends
from undust.run.tradeoff import some_sites
from undust.run.what_if import try_ignoring


def test_wilsons_interval_is_that_of_the_literature() -> None:
    # Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29
    for count, of, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        found = wilson(count / of, of)
        assert (round(found[0], 4), round(found[1], 4)) == (low, high)


@given(st.floats(0, 1), st.floats(0.1, 1e9))
def test_an_interval_holds_its_share_and_more_observations_narrow_it(share: float, observations: float) -> None:
    low, high = wilson(share, observations)
    assert 0 <= low <= share + 1e-9
    assert share - 1e-9 <= high <= 1
    narrow = wilson(share, 4 * observations)
    assert narrow[1] - narrow[0] <= high - low + 1e-12


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=50))
def test_groups_are_worth_between_one_observation_and_one_each(sizes: list[int]) -> None:
    found = independent(np.array(sizes))
    assert 1 - 1e-9 <= found <= len(sizes) + 1e-9
    assert independent(np.full(7, sizes[0])) == pytest.approx(7)


def test_sizes_of_a_power_law_give_its_exponent() -> None:
    sizes = [size for size in range(2, 400) for _ in range(round(200_000 * size**-2.5))]
    found = count_sizes(np.repeat(np.arange(len(sizes)), sizes))
    assert found.exponent == pytest.approx(2.5, abs=0.1)
    assert dict(found.counts) == Counter(sizes)


def test_the_evaluation_has_an_interval_beside_each_measure() -> None:
    found = undust.evaluate(RuleSet(), sessions()).to_dict()
    assert found["compression"] == 0
    assert found["intervals"]["compression"][0] == 0 < found["intervals"]["compression"][1] < 0.2
    assert set(found["sites"]["a.example"]["intervals"]) == {"compression", "pages_lost", "fpr"}


def sessions() -> pa.Table:
    """Thirty pages with and without `sid`, ten with and without `v` that differ in content, two sites with one page."""
    rows = [(f"http://a.example/p{i}{s}", f"a{i}") for i in range(30) for s in ("", f"?sid={i}")]
    rows += [(f"http://a.example/q{i}?v={v}", f"q{i}{v}") for i in range(10) for v in (1, 2)]
    rows += [("http://b.example/", "common"), ("http://c.example/", "common")]
    return pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})


def rules(*lines: str) -> RuleSet:
    return RuleSet([read_line(line) for line in lines])


DROP_SID = "a.example  //….a.example/…?sid={*}  →  //….a.example/…"
DROP_V = "a.example  //….a.example/…?v={*}  →  //….a.example/…"


def test_what_no_rule_explains_is_counted_and_said() -> None:
    found = find_unexplained(apply_to(RuleSet(), sessions()), most=5)
    assert (found.clusters, found.left, found.across_sites) == (30, 30, 1)
    assert [(each.site, [str(key) for key in each.differ], each.clusters) for each in found.differences] == [
        ("a.example", ["?sid"], 30)
    ]
    assert len(found.largest) == 5
    assert all(each.left == 1 and not each.decided for each in found.largest)
    after = find_unexplained(apply_to(rules(DROP_SID), sessions()), most=5)
    assert (after.clusters, after.left, after.across_sites) == (0, 0, 1)


def test_why_there_is_no_rule_is_tried_on_the_site() -> None:
    table = pa.concat_tables([sessions(), pa.table({"url": ["http://a.example/q1?v=3"], "cluster": ["q11"]})])
    coded = apply_to(rules(DROP_SID), table)
    (told,) = try_ignoring(coded, find_unexplained(coded, most=5).differences)
    assert told["differ"] == ["?v"]
    # Without v the 21 URLs of q are 10, of 20 pages: one fetch is saved in a page, ten pages are lost.
    assert (told["would_save"], told["would_lose"]) == (1, 10)


def test_rules_that_go_too_far_are_found_with_the_pages_they_put_together() -> None:
    made = rules(DROP_SID, DROP_V)
    coded = apply_to(made, sessions())
    found = find_confusions(coded, most=3)
    assert (found.keys, found.pages, len(found.worst)) == (10, 10, 3)
    assert {each.rule for each in found.worst} == {1}
    assert found.worst[0].examples == ("http://a.example/q0?v=1", "http://a.example/q0?v=2")
    good, bad = rule_confidences(coded, len(made))
    assert (good.urls, good.lost, good.fpr) == (30, 0, 0.0)
    assert (bad.urls, bad.keys, bad.saved, bad.pages, bad.lost, bad.fpr) == (20, 10, 10, 20, 10, 1.0)
    assert bad.fpr_interval[1] == 1.0


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_what_is_saved_left_and_lost_adds_up_to_all_urls(rows: list[tuple[int, int, int]]) -> None:
    table = pa.table(
        {
            "url": pa.array([f"http://a.example/p{page}?sid={sid}" for page, sid, _ in rows], pa.string()),
            "cluster": pa.array([str(cluster) for *_, cluster in rows], pa.string()),
        }
    )
    coded = apply_to(rules(DROP_SID), table)
    left, confused = find_unexplained(coded, most=5).left, find_confusions(coded, most=5).pages
    urls, keys, clusters = len(coded.urls), len(set(coded.keys.tolist())), len(set(coded.clusters.tolist()))
    assert keys == clusters + left - confused
    of: dict[int, set[int]] = defaultdict(set)  # the slow oracle
    for cluster, key in zip(coded.clusters.tolist(), coded.keys.tolist(), strict=True):
        of[cluster].add(key)
    assert left == sum(len(each) - 1 for each in of.values())
    assert urls >= keys


def test_urls_that_differ_in_nothing_that_rules_speak_of_are_told_apart_too() -> None:
    assert [str(key) for key in differing(["http://h.com/a/b/c", "http://h.com/a/c"])] == ["path[1]", "path[2]"]


def test_the_outline_of_a_tree_is_bounded_and_names_nodes_with_the_same_pages() -> None:
    rows = [(f"http://a.example/{v}/p{i}?x={i % 60}", f"{i}") for i in range(300) for v in ("old", "new")]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})
    (site,) = by_site(table)
    tree = grow(forms_of(site))
    nodes = outline(tree, max_shown=30)
    assert len(nodes) == min(30, len(tree))
    assert nodes[0].parent == -1
    assert (nodes[0].urls, nodes[0].pages) == (600, 300)
    assert all(node.parent < place for place, node in enumerate(nodes))
    asks = {node.asks: place for place, node in enumerate(nodes)}
    old, new = (asks[f"path[0] = '{name}'"] for name in ("old", "new"))
    assert (new, 1.0) in nodes[old].same
    assert (old, 1.0) in nodes[new].same
    shown = Counter(node.parent for node in nodes)
    assert all(shown[place] + node.hidden == len(tree.children(0)) for place, node in enumerate(nodes) if not place)


def test_whole_sites_are_taken_where_there_are_too_many_urls() -> None:
    rows = [(f"http://s{site}.example/{page}", f"{site}-{page}") for site in range(50) for page in range(20)]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})
    some = some_sites(table, 205)
    sites = Counter(url.split("/")[2] for url in some["url"].to_pylist())
    assert len(sites) == 10
    assert set(sites.values()) == {20}
    assert some_sites(table, 1000).equals(table)
    one = table.filter(pa.array([url.startswith("http://s0.") for url, _ in rows]))
    assert 5 <= some_sites(one, 10).num_rows <= 15


ENDS = [
    # texts, characters in common at the start and at the end
    (["http://h/a?sid=12", "http://h/a?sid=17"], (15, 0)),
    (["http://h/a.c", "http://h/a.c?x=1"], (12, 0)),
    (["http://www.h/a", "http://h/a"], (7, 3)),
    (["a", "a"], (1, 0)),
    ([], (0, 0)),
    (["http://h/a12b", "http://h/a13b"], (9, 0)),
]


@pytest.mark.parametrize(("texts", "expected"), ENDS, ids=lambda value: str(value)[:30])
def test_what_urls_have_in_common_ends_between_words(texts: list[str], expected: tuple[int, int]) -> None:
    assert common_ends(texts) == expected


@given(st.lists(st.text("ab./?=1", max_size=12), min_size=2, max_size=4))
def test_what_is_in_common_is_in_all_texts(texts: list[str]) -> None:
    start, end = common_ends(texts)
    assert all(start + end <= len(each) for each in texts)
    assert len({each[:start] for each in texts}) == 1
    assert len({each[len(each) - end :] for each in texts}) == 1


@given(st.text())
def test_text_never_becomes_an_element_or_leaves_its_attribute(said: str) -> None:
    made = tag("a", text(said, most=None), title=said)
    assert made.count("<") == 2
    assert made.count('"') == 2
    assert not any(sign in text(said, most=None) for sign in "<>\"'\u202e\u2066\x00")


def test_a_report_of_5000_rules_on_1500_sites_is_under_5_mb() -> None:
    page = write_page(made_up(sites=1500, rules_each=4, nodes=80))  # 6,000
    assert len(page.encode()) < 5_000_000
    assert len(page.encode()) > 1_000_000  # the best of it is there
    few = write_page(made_up(sites=25, rules_each=200, nodes=80))
    assert len(few.encode()) < 5_000_000
    worst = write_page(made_up(sites=1500, rules_each=4, nodes=80, text=HOSTILE))
    assert len(worst.encode()) < 25_000_000  # whatever the web says, it is cut


def test_the_page_names_its_own_style_and_script_and_nothing_else() -> None:
    page = write_page(made_up(sites=2, rules_each=2, text=HOSTILE))
    assert "default-src 'none'; style-src 'sha256-" in unescape(page)
    assert page.count("<script>") == 1
    assert page.count("<style>") == 1
    assert "<img" not in page
    assert " style=" not in page


def test_all_numbers_of_a_run_are_in_report_json(tmp_path: Path) -> None:
    corpus.write_table(sessions(), tmp_path / "given.tsv")
    found = undust.run(tmp_path / "given.tsv", output=tmp_path / "found")
    told = json.loads((tmp_path / "found" / "report.json").read_text())
    page = (tmp_path / "found" / "report.html").read_text()
    evaluation = found.told.evaluation
    assert told["version"] == 1
    assert told["options"]["max_fpr"] == 0.01
    assert told["methods"] == found.told.methods
    assert told["sizes"]["counts"] == [[1, 20], [2, 31]]
    assert [rule["number"] for rule in told["rules"]] == list(range(1, len(found.rules) + 1))
    assert sum(site["urls"] for site in told["sites"]) == 82
    by_name = {site["site"]: site for site in told["sites"]}
    assert by_name["a.example"]["learned_from"] == evaluation["learned_from"]["sites"]["a.example"]
    assert {tree["site"] for tree in told["trees"]} == {"a.example", "b.example", "c.example"}
    assert [point["max_fpr"] for point in told["tradeoff"]["points"]] == [0.0, 0.001, 0.01, 0.05, 0.2]
    assert [stage["stage"] for stage in told["stages"]] == ["clusters", "rules", "evaluation", "tradeoff"]
    assert all(stage["peak_bytes"] > 1e6 and math.isfinite(stage["seconds"]) for stage in told["stages"])
    assert told["similarity"] == {"around": None, "members": None}
    assert "the argument sid does not matter" in page
    assert page.startswith("<!doctype html>")
    assert write_page(told) == page  # the page is made of these numbers, and of nothing else


def test_pages_have_titles_and_similarities_around_the_threshold(tmp_path: Path) -> None:
    rows = []
    for number in range(30):
        words = [f"w{number}x{place}" for place in range(120)]
        for spelling, changed in ((f"p{number}", 0), (f"q{number * 31}", 3), (f"r{number * 17}", 40)):
            body = " ".join([*words[changed:], *(f"new{number}{place}" for place in range(changed))])
            html = f"<html><title>Page {number}</title><body><p>{body}</p></body></html>"
            rows.append({"url": f"http://a.example/{spelling}", "html": html})
    (tmp_path / "crawl.jsonl").write_text("\n".join(map(json.dumps, rows)))
    undust.run(tmp_path / "crawl.jsonl", output=tmp_path / "found")
    told = json.loads((tmp_path / "found" / "report.json").read_text())
    around = told["similarity"]["around"]
    assert around["threshold"] == 0.9
    assert (around["pages"], around["of"]) == (90, 90)
    assert sum(around["counts"]) + around["alone"] == 90
    above = sum(count for edge, count in zip(around["edges"], around["counts"], strict=False) if edge > 0.9)
    assert above >= 60  # p and q are near duplicates, r is less alike
    assert sum(told["similarity"]["members"]["counts"]) == 30
    assert "Page 7" in told["titles"].values()
    assert [stage["stage"] for stage in told["stages"]][:3] == ["pages", "clusters", "similarity"]


def test_no_urls_at_all_and_no_rules_give_a_page_too(tmp_path: Path) -> None:
    file = tmp_path / "alone.csv"
    file.write_text("url,cluster\nnot a url,1\nhttp://a.example/,2\n")
    undust.run(file, output=tmp_path / "found")
    assert "There is nothing to learn." in (tmp_path / "found" / "report.html").read_text()
    file.write_text("url,cluster\nnot a url,1\n")
    undust.run(file, output=tmp_path / "found")
    assert "<html" in (tmp_path / "found" / "report.html").read_text()


def test_the_charts_are_vega_lite_that_altair_takes_and_draws() -> None:
    altair = pytest.importorskip("altair")
    drawn = pytest.importorskip("vl_convert")
    specs = made_up(sites=3, rules_each=2)["charts"]
    assert set(specs) == {"sizes", "tradeoff", "around", "members", "sites"}
    for spec in specs.values():
        assert altair.Chart.from_dict(spec).to_dict()["title"] == spec["title"]
        assert drawn.vegalite_to_svg(spec).startswith("<svg")


def test_learning_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    pipeline.learn(sessions(), moved=lambda done, of: told.append((done, of)))
    assert told == [(80, 82), (81, 82), (82, 82)]


def test_a_report_says_the_same_twice(tmp_path: Path) -> None:
    corpus.write_table(sessions(), tmp_path / "given.tsv")
    pages: list[Any] = []
    for name in ("one", "two"):
        undust.run(tmp_path / "given.tsv", output=tmp_path / name)
        told = json.loads((tmp_path / name / "report.json").read_text())
        pages.append({key: value for key, value in told.items() if key not in ("made", "stages")})
    assert pages[0] == pages[1]
