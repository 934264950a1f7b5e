"""Exports at work in the programs they are for, on thousands of URLs: our answers, and never two pages made one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from tests import export_targets as targets
from undust import export_rules
from undust.rules.line_reader import read_line
from undust.rules.rule import Statistics
from undust.rules.ruleset import RuleSet
from undust.urls.normalize import normalize

# As they are learned: a forum, a wiki, a mirror with sort orders, versions of a page. In lines, for people.
LINES = [
    "forum.com  //….forum.com/viewtopic.php?sid={?}&hilit={?}  →  //….forum.com/viewtopic.php",
    "forum.com  //….forum.com/…?sid={?}  →  //….forum.com/…",
    "wiki.org  //….wiki.org/…?do=index&id={a}:{*}&sess={?}  →  //….wiki.org/…?do=index&id={a}:{*=start}",
    "wiki.org  //….wiki.org/…?do=&sess={?}  →  //….wiki.org/…",
    "wiki.org  //….wiki.org/…?sess={?}  →  //….wiki.org/…",
    "files.net  //….{?}.files.net/…?C={?}&O={?}  →  //….{*=}.files.net/…",
    "mirror.org  //{?}.mirror.org/…  →  //{*=www}.mirror.org/…",
    "docs.io  //….docs.io/…/index.html  →  //….docs.io/…/",
    "docs.io  //www.docs.io/…  →  //⊥.docs.io/…",
    "shop.de  https://….shop.de/…?ref={?}  →  http://….shop.de/…",
    "shop.de  //….shop.de/p/{a}-{*:digits}.html  →  //….shop.de/p/{a}-{*=1}.html",
    "jobs.fr  //….jobs.fr/…;jsessionid={?}?utm={?}  →  //….jobs.fr/…",
]
RULES = [read_line(line) for line in LINES]
SETS: dict[str, list[list[str]]] = {
    "forum.com": [["", "/viewtopic.php", "/viewforum.php"], ["", "sid=1", "sid=2"], ["t=1", "t=2"],
                  ["", "hilit=x"], ["", "sid"]],
    "wiki.org": [["/doku.php"], ["", "do=index", "do=", "do=edit"], ["id=a:b", "id=a:c", "id=a", ""],
                 ["", "sess=x", "sess=y"]],
    "files.net": [["/", "/pool/", "/pool/a.deb"], ["", "C=N", "C=M"], ["", "O=A", "O=D"], ["", "F=1"]],
    "mirror.org": [["/", "/a%2Fb/~c", "/o'neil(1)+$!"], ["", "v=1&w=%26"], ["", "w=a%22b"]],
    "docs.io": [["/", "/index.html", "/a/index.html", "/a/", "/a/index.htm"], ["", "v=1"]],
    "shop.de": [["/p/a-1.html", "/p/a-22.html", "/p/b-x-3.html", "/q/a-1.html"], ["", "ref=1"], ["", "id=7"]],
    "jobs.fr": [["/a", "/a;jsessionid=F1", "/a;jsessionid=F2/b", "/a;x=1;jsessionid=F1"], ["", "utm=a", "utm=b"],
                ["", "q=?a"]],
}  # fmt: skip


def _urls(separators: str = "&;") -> list[str]:
    made = []
    for site, (paths, *arguments) in SETS.items():
        for start, host, mark in product(("http", "https"), (site, f"www.{site}", f"m.{site}:81"), separators):
            for path, *chosen in product(paths, *arguments):
                for order in (chosen, chosen[::-1]):
                    query = mark.join(argument for argument in order if argument)
                    made.append(normalize(f"{start}://{host}{path}{'?' if query else ''}{query}"))
    return list(dict.fromkeys(made))


URLS = _urls()
# Formats that know names only drop an argument as often as it occurs, and separate arguments by & (docs/exports.md).
PLAIN_URLS = [url for url in _urls("&") if "sid" not in url.partition("?")[2].split("&")]


def _agree(to: str, target: targets.Target, urls: Sequence[str], at_least: float) -> None:
    """Check that a program gives our answer for a share of URLs, and makes no two one that we keep apart."""
    rules = RuleSet(RULES)
    ours = rules.normalize_many(list(urls))
    theirs = target(export_rules(RULES, to).text, urls)
    same = sum(mine == other for mine, other in zip(ours, theirs, strict=True))
    assert same / len(urls) >= at_least, f"{same} of {len(urls)}"
    keys: dict[str, set[str]] = {}
    for mine, other in zip(ours, theirs, strict=True):
        keys.setdefault(other, set()).add(mine)
    assert [each for each in keys.values() if len(each) > 1] == []


def test_there_are_thousands_of_urls_and_rules_change_most() -> None:
    changed = sum(made != url for made, url in zip(RuleSet(RULES).normalize_many(URLS), URLS, strict=True))
    assert len(URLS) > 2_000
    assert changed > len(URLS) / 2


# How many of the URLs each gets as we do; the rest it leaves alone (docs/exports.md).
REGEX = 0.9
NAMES = 0.4
PYWB_SHOWN = 0.9


def test_python_regular_expressions() -> None:
    _agree("regex", targets.by_python, URLS, REGEX)


def test_duckdb() -> None:
    _agree("sql", targets.by_duckdb, URLS, REGEX)


@pytest.mark.java
@pytest.mark.parametrize("to", ["nutch", "stormcrawler", "heritrix"])
def test_java_crawlers(to: str) -> None:
    if not targets.java_compiles():
        pytest.skip("this Java runs no source files (Debian: openjdk-17-jdk-headless)")
    target = {"nutch": targets.by_nutch, "stormcrawler": targets.by_stormcrawler, "heritrix": targets.by_heritrix}[to]
    _agree(to, target, URLS, REGEX)


@pytest.mark.nginx
def test_nginx() -> None:
    _agree("nginx", targets.by_nginx, [url for url in URLS if url.startswith("http:")], REGEX)


@pytest.mark.apache
def test_apache() -> None:
    _agree("apache", targets.by_apache, [url for url in URLS if url.startswith("http:")], REGEX)


def test_duplicate_url_discarder() -> None:
    _agree("dud", targets.by_dud, PLAIN_URLS, NAMES)


def test_duplicate_url_discarder_still_drops_what_it_drops_everywhere() -> None:
    text = export_rules(RULES, "dud").text
    assert targets.by_dud(text, ["http://forum.com/?sid=1&utm_source=x&t=1"]) == ["http://forum.com/?t=1"]


def test_clearurls_as_documented() -> None:
    _agree("clearurls", targets.by_clearurls, PLAIN_URLS, NAMES)


def test_adguard_as_documented() -> None:
    _agree("adguard", targets.by_adguard, PLAIN_URLS, NAMES)


def test_clean_param_as_documented() -> None:
    _agree("clean-param", targets.by_clean_param, PLAIN_URLS, NAMES)


PYWB_RULES = [
    '{"version": 1, "rules": [{"site": "forum.com", "operations": [{"key": "?sid", "op": "drop"}],'
    ' "statistics": {"examples":'
    ' [["http://forum.com/v.php?t=1&sid=2", "http://forum.com/v.php?t=1"],'
    ' ["http://forum.com/v.php?f=1&t=1&sid=2", "http://forum.com/v.php?f=1&t=1"]]}}]}'
]
CAPTURED = [
    "http://forum.com/v.php?t=1&sid=a", "http://forum.com/v.php?t=10&sid=a", "http://forum.com/v.php?f=1&t=1&sid=a",
    "http://forum.com/v.phpx?t=1&sid=a", "http://forum.com/v.php?sid=a", "http://forum.com/v.php?t=1&x=2",
    "http://forum.com/v.php?t=2", "http://forum.community/v.php?t=3&sid=a", "http://m.forum.com/v.php?t=4&sid=a",
]  # fmt: skip
ASKED = [
    # (URL that was not captured, the captures that may be shown for it)
    ("http://forum.com/v.php?t=1&sid=b", ["http://forum.com/v.php?t=1&sid=a"]),
    ("http://forum.com/v.php?sid=b&t=10", ["http://forum.com/v.php?t=10&sid=a"]),
    ("http://forum.com/v.php?t=1&f=1&sid=b", ["http://forum.com/v.php?f=1&t=1&sid=a"]),
    ("http://forum.com/v.php?t=2&sid=b", ["http://forum.com/v.php?t=2"]),
    ("http://forum.com/v.php?sid=b", ["http://forum.com/v.php?sid=a"]),
    ("http://m.forum.com/v.php?t=4&sid=b", ["http://m.forum.com/v.php?t=4&sid=a"]),
    ("http://forum.com/v.php?t=3&sid=b", []),
    ("http://forum.com/v.php?t=1&x=2&sid=b", []),  # nobody has said whether x matters
    ("http://forum.com/v.php?t=(1&sid=b", []),
]


def _pywb_text() -> str:
    from undust.rules.files import loads

    return export_rules(loads(PYWB_RULES[0]), "pywb").text


@pytest.mark.parametrize(("asked", "shown"), ASKED)
def test_pywb_as_documented(asked: str, shown: list[str]) -> None:
    assert targets.pywb_finds(_pywb_text(), CAPTURED, asked) == shown


needs_pywb = pytest.mark.skipif(
    not targets.PYWB.exists(), reason="no pywb: make test installs it, or UNDUST_PYWB_PYTHON names a Python that has it"
)


@needs_pywb
def test_pywb_itself_finds_the_same() -> None:
    assert targets.by_pywb(_pywb_text(), CAPTURED, [asked for asked, _ in ASKED]) == [shown for _, shown in ASKED]


def _forum(*hosts: str) -> list[str]:
    paths, topics = ("/viewtopic.php", "/viewforum.php", "/"), (f"t={number}" for number in range(60))
    sessions, more = ("", "sid=1", "sid=2"), ("", "hilit=x")
    return [
        normalize(f"http://{host}{path}?{'&'.join(filter(None, (session, topic, found)))}")
        for host, path, topic, session, found in product(hosts, paths, topics, sessions, more)
    ]


@needs_pywb
def test_pywb_shows_captures_of_the_same_page_and_no_other() -> None:
    """Of each page that has a capture under another URL one is shown, out of thousands, and never that of another."""
    examples = (("http://forum.com/?t=1&sid=1", "http://forum.com/?t=1"),
                ("http://forum.com/?hilit=x&t=1&sid=1", "http://forum.com/?hilit=x&t=1"))  # fmt: skip
    servers = ["local", "1.2.3.4:81"]
    made = [replace(rule, statistics=Statistics(examples=examples)) for rule in RULES if rule.site == "forum.com"]
    made += [read_line(f"{site}  //….{site}/…?sid={{?}}  →  //….{site}/…") for site in servers]
    lone = [f"http://{place}/a?sid={number}" for place in [*servers, "local:81"] for number in range(3)]
    urls = [*_forum("forum.com", "m.forum.com"), *lone]
    captured = [url for url in urls if "sid=1" in url]
    asked = [url for url in urls if "sid=1" not in url]
    rules = RuleSet(made)
    key_of = dict(zip(urls, rules.key_many(urls), strict=True))
    pages = {key_of[url] for url in captured}
    shown = targets.by_pywb(export_rules(made, "pywb").text, captured, asked)
    assert [
        (url, other) for url, some in zip(asked, shown, strict=True) for other in some if key_of[url] != key_of[other]
    ] == []
    wanted = [bool(some) for url, some in zip(asked, shown, strict=True) if key_of[url] in pages]
    assert len(wanted) > 1_000
    assert sum(wanted) / len(wanted) >= PYWB_SHOWN
