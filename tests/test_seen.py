"""`undust.Seen` tells what was asked for and what was found, whatever the rules were then."""

import threading
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undust
from tests.rules_strategies import rules as any_rules
from tests.rules_strategies import standard_urls
from undust.errors import InputError, UndustError, UrlError, UsageError
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet

SID = "a.test  //a.test/…?sid={?}  →  //a.test/…"
HOST = "a.test  //{?}.a.test/…  →  //{*=www}.a.test/…"
PRINT = "a.test  //a.test/print/{a}  →  //a.test/{a}"
OTHER = "b.test  //b.test/…?sid={?}  →  //b.test/…"


def rule_set(*lines: str) -> RuleSet:
    return RuleSet([read_line(line) for line in lines])


def test_a_url_is_seen_once_in_any_spelling(tmp_path: Path) -> None:
    with undust.Seen(tmp_path / "seen.store") as seen:
        assert not seen.known_url("http://a.test/x")
        assert not seen.seen_url("http://a.test/x")
        assert seen.seen_url("HTTP://A.test:80/y/../x#top")
        assert seen.known_url("http://a.test/x")
        assert not seen.seen_url("http://a.test/X")
    with undust.Seen(tmp_path / "seen.store") as seen:
        assert seen.seen_url("http://a.test/x")
        assert seen.forget_url("http://a.test/x")
        assert not seen.forget_url("http://a.test/x")
        assert not seen.seen_url("http://a.test/x")


def test_a_url_is_seen_under_the_key_of_the_rules(tmp_path: Path) -> None:
    rule_set(SID, HOST).save(str(tmp_path / "rules.json"))
    with undust.Seen(":memory:", tmp_path / "rules.json") as seen:
        assert not seen.seen_url("http://a.test/x?sid=1")
        assert seen.seen_url("http://a.test/x?sid=2")
        assert seen.seen_url("http://a.test/x")
        assert seen.forget_url("http://a.test/x?sid=1")
        assert not seen.seen_url("http://a.test/x")
        assert seen.seen_url("http://a.test/x?sid=2")


# What is asked for first, under which rules; what then, under which; whether that was seen. Rules that change lose no
# page (they may fetch one again), and nothing that was fetched is fetched again.
CHANGES = [
    ((), "http://a.test/x?sid=1", (SID,), "http://a.test/x?sid=1", True),  # itself, whatever the rules
    ((SID,), "http://a.test/x?sid=1", (), "http://a.test/x?sid=1", True),
    ((), "http://a.test/x", (SID,), "http://a.test/x?sid=1", True),  # the spelling that the rules would fetch
    ((), "http://www.a.test/x", (HOST,), "http://de.a.test/x", True),
    ((), "http://us.a.test/x", (HOST,), "http://de.a.test/x", False),  # nobody knew then that they were the same
    ((SID,), "http://a.test/x?sid=1", (), "http://a.test/x", False),  # a rule withdrawn: what it skipped is new
    ((SID,), "http://a.test/x?sid=1", (), "http://a.test/x?sid=2", False),
    ((SID,), "http://a.test/x?sid=1", (PRINT,), "http://a.test/print/x", False),  # a key of other rules holds no more
    ((SID,), "http://a.test/x?sid=1", (SID, OTHER), "http://a.test/x?sid=2", True),  # rules of another site
    ((OTHER, SID), "http://a.test/x?sid=1", (SID,), "http://a.test/x", True),
]


@pytest.mark.parametrize(("before", "first", "after", "then", "expected"), CHANGES)
def test_rules_may_change(
    tmp_path: Path, before: tuple[str, ...], first: str, after: tuple[str, ...], then: str, expected: bool
) -> None:
    with undust.Seen(tmp_path / "seen.store", rule_set(*before)) as seen:
        assert not seen.seen_url(first)
    with undust.Seen(tmp_path / "seen.store", rule_set(*after)) as seen:
        assert seen.known_url(then) == expected
        assert seen.seen_url(then) == expected
        assert seen.seen_url(then)


SOME_RULES = [list(some) for size in range(4) for some in combinations((SID, HOST, PRINT), size)]
SOME_URLS = [f"http://{host}a.test/{page}{sid}" for host in ("", "www.", "de.") for page in ("x", "print/x", "y")
             for sid in ("", "?sid=1", "?sid=2")]  # fmt: skip


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(SOME_RULES), st.lists(st.sampled_from(SOME_URLS), max_size=12)), max_size=4))
def test_whatever_the_rules_become_nothing_is_fetched_twice_and_no_page_is_lost(
    tmp_path_factory: pytest.TempPathFactory, phases: list[tuple[list[str], list[str]]]
) -> None:
    path = tmp_path_factory.mktemp("seen") / "seen.store"
    fetched: list[str] = []
    for lines, urls in phases:
        rules = rule_set(*lines)
        with undust.Seen(path, rules) as seen:
            for url in urls:
                if seen.seen_url(url):
                    # Somebody has fetched the page, as far as the rules that are in force can tell.
                    assert rules.key(url) in {rules.key(one) for one in fetched}
                else:
                    assert url not in fetched
                    fetched.append(url)


@settings(max_examples=60)
@given(st.lists(any_rules(), max_size=5), st.lists(standard_urls(), max_size=12))
def test_under_the_same_rules_two_urls_are_one_if_and_only_if_their_keys_are_equal(
    lines: list[Rule], urls: list[str]
) -> None:
    rules = RuleSet(lines)
    keys: set[str] = set()
    with undust.Seen(":memory:", rules) as one, undust.Seen(":memory:", rules) as many:
        expected: list[bool | None] = []
        for url in urls:
            try:
                key = rules.key(url)
            except UrlError:
                expected.append(None)
                continue
            expected.append(key in keys)
            keys.add(key)
            assert one.known_url(url) == expected[-1]
            assert one.seen_url(url) == expected[-1]
        assert many.seen_urls(urls) == expected
        assert many.known_urls(urls) == [None if answer is None else True for answer in expected]


def test_what_is_no_url_is_an_error_for_one_and_nothing_in_a_batch() -> None:
    with undust.Seen(":memory:") as seen:
        for call in (seen.seen_url, seen.known_url, seen.forget_url):
            with pytest.raises(UrlError, match=r"'mailto:me@a\.test': not an absolute URL"):
                call("mailto:me@a.test")
        with pytest.raises(UrlError, match="not an absolute URL"):
            seen.seen_page("/a", b"one")
        assert seen.seen_urls(["/a", "http://a.test/", "http://a.test/"]) == [None, False, True]
        assert seen.known_urls(["/a", "http://a.test/"]) == [None, True]
        assert seen.seen_pages([("/a", b"1"), ("http://a.test/1", b"1"), ("http://a.test/2", b"1")]) == [
            None,
            None,
            "http://a.test/1",
        ]
        assert (seen.seen_urls([]), seen.known_urls([]), seen.seen_pages([])) == ([], [], [])


def test_a_page_is_seen_by_its_content(tmp_path: Path) -> None:
    with undust.Seen(tmp_path / "seen.store") as seen:
        assert seen.seen_page("http://a.test/1", b"<p>One") is None
        assert seen.seen_page("http://A.test/1#top", b"<p>One") is None  # the same page again
        assert seen.seen_page("http://a.test/2", "<p>One") == "http://a.test/1"
        assert seen.seen_page("http://a.test/3", b"<p>Two") is None
        assert seen.seen_page("http://a.test/4", b"") is None  # two pages without content say nothing of each other
        assert seen.seen_page("http://a.test/5", b"") is None
        assert not seen.known_url("http://a.test/1")


CONTENTS = [
    # content, two bodies, whether they are the same
    ("body", b"<p>One two", b"<p class=a>One two", False),
    ("text", b"<p>One two", b"<p class=a>One\n  two</p>", True),
    ("text", b"<p>One two", b"<p>One three", False),
    ("text", b"\x89PNG\r\n\x1a\n\x00\x01", b"\x89PNG\r\n\x1a\n\x00\x02", False),  # no text: the bytes count
    ("text", b"\x89PNG\r\n\x1a\n\x00\x01", b"\x89PNG\r\n\x1a\n\x00\x01", True),
    ("main", b"<nav><a href=/>Home</a></nav><main><p>One two</main>", b"<main><p>One two</main>", True),
]


@pytest.mark.parametrize(("content", "first", "second", "same"), CONTENTS)
def test_content_is_the_body_or_its_text(content: str, first: bytes, second: bytes, same: bool) -> None:
    with undust.Seen(":memory:", content=content) as seen:
        assert seen.seen_page("http://a.test/1", first) is None
        assert seen.seen_page("http://a.test/2", second) == ("http://a.test/1" if same else None)


def test_wrong_use_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "seen.store"
    with pytest.raises(UsageError, match="unknown content 'html'; one of body, text, main"):
        undust.Seen(path, content="html")
    with pytest.raises(InputError, match=r"none\.json: cannot be read: .*; give a rule file"):
        undust.Seen(path, tmp_path / "none.json")
    assert not path.exists()
    undust.Seen(path, content="text").close()
    with pytest.raises(UsageError, match="contents are compared by text here, not by body; say content='text'"):
        undust.Seen(path)
    seen = undust.Seen(path, content="text")
    seen.close()
    with pytest.raises(UndustError, match="the store is closed; open it again"):
        seen.seen_url("http://a.test/")


def test_stores_have_salts_of_their_own(tmp_path: Path) -> None:
    for name in "ab":
        with undust.Seen(tmp_path / name) as seen:
            seen.seen_url("http://a.test/")
    from undust.crawl.asked import UrlSigner
    from undust.crawl.signatures import salt_of
    from undust.crawl.store import open_store

    with open_store(tmp_path / "a") as a, open_store(tmp_path / "b") as b:
        known = UrlSigner(salt=salt_of(a)).of("http://a.test/").known
        assert a.known_urls(known) == [True]
        assert b.known_urls(known) == [False]


def test_threads_fetch_each_page_once(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}?sid={s}" for n in range(50) for s in range(3)]
    fetched: list[str] = []

    with undust.Seen(tmp_path / "seen.store", rule_set(SID)) as seen:

        def crawl(step: int) -> None:
            mine = urls[::step]
            fetched.extend(url for url in mine[:75] if not seen.seen_url(url))
            answers = seen.seen_urls(mine[75:])
            fetched.extend(url for url, known in zip(mine[75:], answers, strict=True) if not known)

        threads = [threading.Thread(target=crawl, args=(step,)) for step in (1, -1, 1, -1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(url.partition("?")[0] for url in fetched) == sorted({url.partition("?")[0] for url in urls})
