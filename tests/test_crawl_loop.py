"""The loop of a crawl without network and clock: order, rules, checks, what a killed crawl knows, traps."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawl_site import links, prose
from undust.crawl.evidence import common_lines, content_of, lines_of
from undust.crawl.learning import learn_from
from undust.crawl.loop import Answer, Loop
from undust.crawl.options import Options
from undust.crawl.patterns import Patterns
from undust.crawl.rulebook import refuted
from undust.crawl.scope import Scope, is_public, scope_of
from undust.crawl.summary import Summary, summarize
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet

Web = Callable[[str], tuple[int, str]]
TIME = datetime(2026, 1, 1, tzinfo=UTC)


Begin = Callable[..., Loop]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Begin crawls, or go on with them, and close them in the end."""
    begun: list[Loop] = []

    def new(options: Options, rules: RuleSet | None = None) -> Loop:
        begun.append(Loop(tmp_path, options, ["http://a.test/"], rules))
        return begun[-1]

    yield new
    for loop in begun:
        loop.archive.close()
        loop.frontier.close()


def fetch(loop: Loop, web: Web, number: int) -> str | None:
    link = loop.next(number)
    if link is None:
        return None
    status, body = web(link.url)
    target = body if 300 <= status < 400 else None
    loop.fetched(link, Answer(status, [], body.encode(), "text/html; charset=utf-8", TIME, location=target), number)
    return link.url


def crawl(loop: Loop, web: Web, most: int = 5000) -> list[str]:
    """Crawl to the end, learning at once whenever that is due."""
    fetched: list[str] = []
    while len(fetched) < most:
        if loop.learning_due:
            learn(loop)
        url = fetch(loop, web, len(fetched))
        if url is not None:
            fetched.append(url)
        elif loop.begin_exam():
            learn(loop)
        else:
            url = fetch(loop, web, len(fetched))
            if url is None:
                break
            fetched.append(url)
    return fetched


def learn(loop: Loop) -> None:
    loop.commit()
    loop.counts.learned_at = loop.counts.unique + loop.counts.duplicates
    loop.learned(learn_from(loop.frontier))


def told(loop: Loop) -> Summary:
    return summarize(loop.frontier, loop.counts, "")


def library(url: str) -> tuple[int, str]:
    """Give books, each under its own name, with a session, and for printing."""
    path = url.removeprefix("http://a.test/")
    if not path:
        return 200, links([f"/book?id={n}" for n in range(70)], "all books")
    number = int(path.partition("id=")[2].partition("&")[0])
    more = [f"/book?id={number}&sid={number * 7 % 13 + 10}", f"/book?id={number}&view=print"]
    return 200, links([*more, f"/book?id={(number + 1) % 70}"], f"book {number} {prose(number)}")


def test_without_rules_every_url_is_fetched_exactly_once(begin: Begin) -> None:
    loop = begin(Options())
    fetched = crawl(loop, library)
    assert len(fetched) == len(set(fetched)) == 211
    assert (loop.counts.unique, loop.counts.duplicates) == (71, 140)


def test_a_crawl_that_learns_finds_every_page_with_fewer_requests(begin: Begin) -> None:
    loop = begin(Options(learn=True))
    fetched = crawl(loop, library)
    assert {url.partition("&")[0] for url in fetched} == {"http://a.test/"} | {
        f"http://a.test/book?id={n}" for n in range(70)
    }
    found = told(loop)
    assert len(fetched) == found.requests < 190
    assert found.skipped + found.requests == found.links == 211
    assert found.checks > 0
    assert all(use.misses == 0 for use in found.rules)


def test_pages_come_before_their_duplicates_even_without_rules(begin: Begin) -> None:
    loop = begin(Options())
    fetched = crawl(loop, library)
    new = [place for place, url in enumerate(fetched) if "&" not in url]
    assert sum(new) / len(new) < sum(range(211)) / 211 / 1.8


def wrong_rule() -> RuleSet:
    return RuleSet([read_line("a.test  //a.test/book?id={?}  →  //a.test/book")])


def test_a_wrong_rule_is_withdrawn_and_what_it_skipped_is_fetched_after_all(begin: Begin) -> None:
    loop = begin(Options(learn=True), wrong_rule())
    fetched = crawl(loop, library)
    assert {f"http://a.test/book?id={n}" for n in range(70)} <= {url.partition("&")[0] for url in fetched}
    gone = [use for use in told(loop).rules if use.state == "withdrawn"]
    assert len(gone) == 1
    assert "would have hidden" in (gone[0].why or "")


def test_a_withdrawn_rule_stays_withdrawn_when_it_is_learned_again(begin: Begin) -> None:
    loop = begin(Options(learn=True), wrong_rule())
    crawl(loop, library)
    loop.rulebook.replace(list(wrong_rule()), [])
    assert not {str(rule) for rule in loop.rulebook.rules} & {str(rule) for rule in wrong_rule()}


def test_a_page_that_is_gone_under_one_name_is_fetched_under_another(begin: Begin) -> None:
    def web(url: str) -> tuple[int, str]:
        if url.endswith("/"):
            return 200, links(["/p?id=1&s=1", "/p?id=1&s=2", "/p?id=1&s=3"])
        return (404, "gone") if url.endswith("s=1") else (200, prose(1))

    rules = RuleSet([read_line("a.test  //a.test/p?s={?}  →  //a.test/p")])
    loop = begin(Options(), rules)
    assert crawl(loop, web)[1:] == ["http://a.test/p?id=1&s=1", "http://a.test/p?id=1&s=2"]


@pytest.mark.parametrize("seed", range(4))
def test_a_crawl_that_is_cut_off_anywhere_ends_with_the_same_pages(begin: Begin, seed: int) -> None:
    chance = random.Random(seed)
    seen: list[str] = []
    while True:
        loop = begin(Options())
        for number in range(chance.randrange(1, 150)):
            url = fetch(loop, library, number)
            if url is None:
                assert len(set(seen)) == 211
                assert loop.frontier.execute("SELECT count(*) FROM pages").fetchone() == (211,)
                assert (loop.counts.unique, loop.counts.duplicates) == (71, 140)
                return
            seen.append(url)
            if chance.random() < 0.05:
                loop.commit()
        # As if killed: what is not committed is lost, with what was written to the archive since.
        loop.archive.close()
        loop.frontier.close()


def month(url: str) -> tuple[int, str]:
    number = int(url.rpartition("=")[2] or 0) if "=" in url else 0
    days = "".join(f"<p>{day}: nothing</p>" for day in range(31))
    return 200, f"<h1>month {number}</h1>{days}" + links([f"/cal?m={number + 1}", f"/cal?m={number - 1}"])


def session(url: str) -> tuple[int, str]:
    number = int(url.rpartition("=")[2]) if "=" in url else 0
    return 200, links([f"/page?sid={number + 7919}"], prose(1))


def calendar(form: str, names: tuple[str, ...]) -> Web:
    """Give a calendar of months, each with links to the next and the one before."""
    urls = {form.format(year=at // 12, month=names[at % 12]): at for at in range(12 * 1900, 12 * 2200)}

    def web(url: str) -> tuple[int, str]:
        at = urls.get(url.removeprefix("http://a.test"), 12 * 2026)
        days = "".join(f"<p>{day}: nothing</p>" for day in range(31))
        beside = [form.format(year=one // 12, month=names[one % 12]) for one in (at + 1, at - 1)]
        return 200, f"<h1>{names[at % 12]} {at // 12}</h1>{days}" + links(beside)

    return web


NUMBERS = tuple(map(str, range(1, 13)))
NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@pytest.mark.parametrize(
    "web",
    [month, session, calendar("/cal?y={year}&m={month}", NUMBERS), calendar("/cal/{year}/{month}/", NUMBERS),
     calendar("/{year}/{month}", NUMBERS), calendar("/{month}/{year}", NAMES)],
)  # fmt: skip
def test_traps_end_by_themselves(begin: Begin, web: Web) -> None:
    loop = begin(Options())
    assert len(crawl(loop, web, 500)) < 100
    assert any(why.startswith("trap") for why in told(loop).refused)


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("http://a.test/x", None),
        ("http://deep.www.a.test/x", None),
        ("http://extra.test/", None),
        ("http://b.test/", "other site"),
        ("ftp://a.test/", "no web page"),
        ("http://a.test/" + "x" * 3000, "trap: long URL"),
        ("http://a.test/" + "a/b/" * 8, "trap: path that repeats itself"),
        ("http://a.test/1/2/3/4/5/6/7/8/9", None),
        ("http://a.test/?" + "&".join(["a=1"] * 5), "trap: arguments that repeat themselves"),
        ("http://a.test/?" + "&".join(f"a={n}" for n in range(5)), None),
        ("http://a.test/" + "/".join(map(str, range(60))), "trap: deep path"),
    ],
)
def test_scope_and_traps_by_look(url: str, refusal: str | None) -> None:
    scope = scope_of(["http://www.a.test/"], hosts_only=False, extra_hosts=["extra.test"], max_url_bytes=2000)
    assert scope.refusal(url) == refusal


def test_a_scope_of_hosts_leaves_other_hosts_of_the_site_out() -> None:
    scope = scope_of(["http://www.a.test/"], hosts_only=True, extra_hosts=[], max_url_bytes=2000)
    assert isinstance(scope, Scope)
    assert scope.refusal("http://a.test/") == "other site"
    assert scope.refusal("http://www.a.test/") is None


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False),  # noqa: S104 - nothing is bound
        ("224.0.0.1", False), ("255.255.255.255", False), ("::", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("2606:4700::1111", True), ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False),
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_are_known(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_one_miss_refutes_a_rule_at_once_but_not_after_many_hits() -> None:
    assert not refuted(50, 0)
    assert refuted(1, 1)
    assert refuted(5, 1)
    assert not refuted(20, 1)
    assert refuted(50, 3)


@given(st.lists(st.text(alphabet="abc de", max_size=12), max_size=12), st.randoms())
def test_the_order_of_lines_does_not_matter(lines: list[str], chance: random.Random) -> None:
    mixed = list(lines)
    chance.shuffle(mixed)
    assert content_of(lines_of("\n".join(lines))) == content_of(lines_of("\n".join(mixed)))


def test_lines_that_many_pages_share_are_not_the_pages() -> None:
    pages = [lines_of(f"{prose(n)}\n{prose(n + 500)}\nwritten by {'ann' if n % 2 else 'bob'}") for n in range(40)]
    common = common_lines(pages)
    assert set(common.tolist()) == set(lines_of("written by ann\nwritten by bob")["hash"].tolist())
    twin = lines_of(f"{prose(3)}\n{prose(503)}\nwritten by bob")
    assert content_of(twin, common) == content_of(pages[3], common) != content_of(pages[5], common)


def test_patterns_tell_actions_apart_but_not_titles() -> None:
    patterns = Patterns()
    urls = [f"http://a.test/wiki.php?do={do}&id=page{n}" for do in ("show", "edit") for n in range(99)]
    names = {patterns.of(url).name for url in urls}
    assert "a.test/wiki.php?do=edit&id=*" in names
    assert patterns.of("http://a.test/1999/a-title.html").name == patterns.of("http://a.test/1999/other.html").name
