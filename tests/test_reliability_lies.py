"""Sites that lie about what is a duplicate: whatever they teach, their pages are not lost beyond the limit.

Learners see which URLs showed the same content. What the pages are in truth, only these tests know.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pytest

from undust.evaluate.report import evaluate
from undust.evaluate.split import by_cluster, by_sample
from undust.pipeline import learn

MOST_LOST = 0.01
"""Of the pages in truth: the share of false pairs that learners are told to stay below, taken for pages."""


@dataclass(frozen=True, slots=True)
class Row:
    """A URL, the page that it is, and the content that the site showed for it."""

    url: str
    page: str
    shown: str


Site = list[Row]
Make = Callable[[random.Random], Site]


def plain(chance: random.Random, pages: int = 60) -> Site:
    """Pages by number and by title, and some of them with a print view: what there is to learn, told honestly."""
    rows = []
    for number in range(pages):
        urls = [f"http://lies.example/show?id={number}", f"http://lies.example/news/{number}-{word(chance)}.html"]
        for url in urls:
            rows.append(Row(url, f"{url}", f"{url}"))
        if chance.random() < 0.6:
            rows.append(Row(f"{urls[0]}&print=1", urls[0], urls[0]))
    return rows


def word(chance: random.Random) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7))


def lied(rows: Site, lie: Callable[[Row], str]) -> Site:
    return [Row(row.url, row.page, lie(row)) for row in rows]


def one_page_for_everything(chance: random.Random) -> Site:
    """A wall, such as a consent page, for nine URLs of ten."""
    return lied(plain(chance), lambda row: "wall" if chance.random() < 0.9 else row.shown)


def nothing_but_one_page(chance: random.Random) -> Site:
    """The same wall for all URLs but the start page."""
    return [*lied(plain(chance), lambda row: "wall"), Row("http://lies.example/", "start", "start")]


def two_contents_in_turns(chance: random.Random) -> Site:
    """Every answer is one of two, whatever is asked for."""
    return lied(plain(chance), lambda row: chance.choice(["one", "other"]))


def a_content_for_each_visit(chance: random.Random) -> Site:
    """A visit shows one of forty pages, so that small clusters of unrelated URLs come about."""
    return lied(plain(chance), lambda row: f"teaser {chance.randrange(40)}" if chance.random() < 0.5 else row.shown)


def soft_404_for_half(chance: random.Random) -> Site:
    """Half of the URLs were gone when they were fetched, and said so with status 200."""
    return lied(plain(chance), lambda row: "not found" if chance.random() < 0.5 else row.shown)


def soft_404_under_one_path(chance: random.Random) -> Site:
    """All of one section was gone, and only that."""
    return lied(plain(chance), lambda row: "not found" if "/news/" in row.url else row.shown)


def a_session_that_matters(chance: random.Random) -> Site:
    """An argument that looks like a session is the name of the page; in one pair of ten it seems not to matter."""
    rows = []
    for number in range(90):
        page = f"http://lies.example/view?sid={chance.randrange(16**32):032x}"
        shown = f"page {number - 1}" if number % 10 == 9 else f"page {number}"
        rows.append(Row(page, page, shown))
        rows.append(Row(f"{page}&utm_source=x", page, shown))
    return rows


def a_tracker_that_matters_elsewhere(chance: random.Random) -> Site:
    """What is a tracker under one path is the page under another, most of whose pages show a login."""
    rows = []
    for number in range(120):
        for ref in chance.sample(range(900), 2):
            rows.append(Row(f"http://lies.example/a/{number}?ref={ref}", f"a{number}", f"a{number}"))
        page = f"http://lies.example/b?ref={number}"
        rows.append(Row(page, page, "login" if chance.random() < 0.8 else page))
    return rows


def pages_in_pairs(chance: random.Random) -> Site:
    """Even and odd numbers show the same, as long as somebody learns."""
    rows = plain(chance)
    return [
        Row(row.url, row.page, f"{int(row.url.split('id=')[1].split('&')[0]) // 2}" if "id=" in row.url else row.shown)
        for row in rows
    ]


LIES: list[Make] = [
    one_page_for_everything, nothing_but_one_page, two_contents_in_turns, a_content_for_each_visit, soft_404_for_half,
    soft_404_under_one_path, a_session_that_matters, a_tracker_that_matters_elsewhere, pages_in_pairs,
]  # fmt: skip


def as_table(rows: Site, clusters: list[str]) -> pa.Table:
    return pa.table({"url": [row.url for row in rows], "cluster": clusters})


def lost(rows: Site, method: str, seed: int) -> list[float]:
    """Share of pages lost in truth, for rules learned from all, from a half of the clusters, and from a sample."""
    told = as_table(rows, [row.shown for row in rows])
    truth = as_table(rows, [row.page for row in rows])
    shares = []
    for part in (told, by_cluster(told, 0.5, seed)[0], by_sample(told, 0.3, seed)[0]):
        report = evaluate(learn(part, method=method), truth)
        shares.append(report.micro.pages_lost)
    return shares


def check(make: Make, method: str, seed: int) -> None:
    rows = make(random.Random(f"{make.__name__} {seed}"))
    assert len({row.url for row in rows}) == len(rows)
    for share, how in zip(lost(rows, method, seed), ("all", "by cluster", "by sample"), strict=True):
        assert share <= MOST_LOST, f"{how}: {share:.1%} of the pages are lost"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", LIES, ids=lambda make: make.__name__)
def test_a_site_that_lies_loses_no_pages(make: Make, seed: int) -> None:
    check(make, "both", seed)


ALONE = [(make, method) for make in LIES for method in ("tree", "pairwise")]
BELIEVE_A_SECTION = [
    (soft_404_under_one_path, "tree"), (soft_404_under_one_path, "pairwise"), (nothing_but_one_page, "pairwise"),
]  # fmt: skip
"""Where all of a section is one wall and nothing else was ever seen, each learner alone takes it for one page."""


@pytest.mark.parametrize(("make", "method"), [each for each in ALONE if each not in BELIEVE_A_SECTION])
def test_each_learner_alone_withstands_lies_too(make: Make, method: str) -> None:
    check(make, method, 7)


@pytest.mark.xfail(reason="one learner alone believes a section that showed one page only", strict=True)
@pytest.mark.parametrize(("make", "method"), BELIEVE_A_SECTION)
def test_a_section_that_showed_one_page_only_is_no_page(make: Make, method: str) -> None:
    check(make, method, 7)


def test_what_is_told_honestly_is_learned_beside_the_lies() -> None:
    """Else a learner that learns nothing would pass."""
    rows = soft_404_under_one_path(random.Random(1))
    told = as_table(rows, [row.shown for row in rows])
    rules = learn(told)
    assert rules.key("http://lies.example/show?id=901&print=1") == rules.key("http://lies.example/show?id=901")
    assert rules.key("http://lies.example/show?id=901") != rules.key("http://lies.example/show?id=902")
