"""Rules by the column and for single URLs: the same as trying rule after rule, whatever rules and URLs say."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules_oracle import answer, answer_once, cut
from tests.rules_strategies import HOSTS, RULE_SETS, standard_urls
from tests.strategies import hosts, odd_urls
from undust.errors import UrlError
from undust.kernels.rules import PUNT
from undust.rules.apply import Applied
from undust.rules.batch import apply_rules
from undust.rules.line_reader import read_line
from undust.rules.listed import ListedRules
from undust.rules.rule import Rule
from undust.rules.ruleset import COLD, RuleSet
from undust.rules.single import Single
from undust.rules.values import ABSENT, ANY, DROP, Copy, Ignore, Pattern, Slot
from undust.rules.work import Work
from undust.settings import MAX_ARGUMENTS, MAX_URL_BYTES
from undust.urls.batch import buffers
from undust.urls.keys import Key
from undust.urls.normalize import normalize
from undust.urls.parse import split
from undust.urls.site import site_of


def oracle(rules: list[Rule], url: str) -> tuple[Applied, int]:
    made = answer(rules, url)
    return Applied(made.url, made.key), made.place


def by_column(rule_set: RuleSet, urls: list[str]) -> list[tuple[Applied, int]]:
    made = rule_set._apply(urls, fetch=True, key=True, standard=True)
    assert made.urls is not None
    assert made.keys is not None
    pairs = zip(made.urls.to_pylist(), made.keys.to_pylist(), strict=True)
    return list(zip([Applied(*pair) for pair in pairs], made.rules.tolist(), strict=True))


@given(standard_urls())
def test_the_oracle_puts_urls_together_as_they_were(url: str) -> None:
    assert str(cut(url)) == url


@given(RULE_SETS, st.lists(standard_urls(), min_size=1, max_size=12))
def test_a_column_a_single_url_and_the_oracle_agree(made: list[Rule], urls: list[str]) -> None:
    rule_set = RuleSet(made)
    in_order = list(rule_set)
    expected = [oracle(in_order, url) for url in urls]
    assert [rule_set._decide(url) for url in urls] == expected
    assert by_column(rule_set, urls) == expected
    single = Single(ListedRules(made).compiled())
    for url, (applied, _) in zip(urls, expected, strict=True):
        assert single.answer(url, 0) in (applied.url, None)
        assert single.answer(url, 1) in (applied.key, None)


_NAMED = st.sampled_from([Key("query", name, nth) for name in "abc" for nth in (1, 1, 1, 2)] + [Key("query")])
_WANTED = st.sampled_from([ABSENT, ANY, ANY, Pattern(("1",)), Pattern((Slot("digits"),))])
_DROPPED = st.sampled_from([DROP, DROP, DROP, (Ignore(),), ("1",)])
DROPPING = st.builds(
    Rule,
    st.just("h.com"),
    st.dictionaries(_NAMED, _WANTED, max_size=2),
    st.dictionaries(_NAMED, _DROPPED, max_size=3),
    st.sampled_from([False, False, False, True]),
)
QUERIES = st.lists(st.sampled_from(["a=1", "a=2", "a", "b=1", "b=", "b", "c=1", "c", "=1", "", "d=1"]), max_size=5)


@given(st.lists(DROPPING, min_size=1, max_size=5), st.lists(QUERIES, min_size=1, max_size=12))
def test_rules_that_drop_arguments_rest_as_the_oracle_says(made: list[Rule], queries: list[list[str]]) -> None:
    """What is proved beforehand of such rules spares a second look; names that occur twice are what it depends on."""
    rule_set = RuleSet(made)
    urls = [f"http://h.com/?{'&'.join(query)}" for query in queries]
    assert by_column(rule_set, urls) == [oracle(made, url) for url in urls]


@given(RULE_SETS, standard_urls())
def test_at_most_one_rule_decides_and_deciding_again_changes_nothing(made: list[Rule], url: str) -> None:
    rule_set = RuleSet(made)
    applied, place = rule_set._decide(url)
    again, _ = rule_set._decide(applied.url)
    assert again == applied
    if place < 0:
        assert applied == Applied(url, url)
        return
    alone = answer_once([rule_set[place]], url)  # the rule that decides makes all that is made
    assert alone[:2] == applied


@given(RULE_SETS, st.lists(standard_urls(), min_size=1, max_size=12))
def test_a_column_is_normalized_once_for_all(made: list[Rule], urls: list[str]) -> None:
    rule_set = RuleSet(made)
    fetch = rule_set.normalize_many(pa.array(urls))
    assert rule_set.normalize_many(fetch).equals(fetch)
    assert rule_set.key_many(fetch).equals(rule_set.key_many(pa.array(urls)))


@given(RULE_SETS, st.lists(st.one_of(odd_urls(), st.none()), max_size=10))
def test_whatever_stands_where_a_url_should_be(made: list[Rule], urls: list[str | None]) -> None:
    rule_set = RuleSet(made)
    column = pa.array([None if url is None else url.encode("utf-8", "replace").decode() for url in urls], pa.string())

    def expected(url: str | None) -> str | None:
        try:
            return None if url is None else rule_set.normalize(url)
        except UrlError:
            return None

    assert rule_set.normalize_many(column).to_pylist() == [expected(url) for url in column.to_pylist()]


@given(st.lists(hosts(), min_size=1, max_size=20), st.sampled_from(["", ":81"]))
def test_hosts_find_the_rules_of_their_site(some: list[str], port: str) -> None:
    urls = []
    for host in [*some, *HOSTS]:
        try:
            urls.append(normalize(f"http://{host}{port}/?s=1"))
        except UrlError:
            continue
    sites = {site_of(split(url).host, split(url).port) for url in urls[::2]}
    rule_set = RuleSet([Rule(site, {}, {Key("query", "s"): DROP}) for site in sites])
    assert by_column(rule_set, urls) == [oracle(list(rule_set), url) for url in urls]


def test_rules_of_a_server_are_not_for_its_other_ports() -> None:
    sites = ["local", "local:81", "1.2.3.4", "[::1]:81", "www.h.com", "h.com"]
    rules = [Rule(site, {}, {Key("query", "s"): (str(place),)}) for place, site in enumerate(sites)]
    expected = {
        "http://local/": 0, "http://local:81/": 1, "http://local:82/": -1, "http://1.2.3.4/": 2,
        "http://1.2.3.4:81/": -1, "http://[::1]:81/": 3, "http://[::1]/": -1, "http://www.h.com:81/": 4,
        "http://a.h.com:81/": 5,
    }  # fmt: skip
    rule_set = RuleSet(rules)
    in_order = list(rule_set)
    places = [-1 if place < 0 else in_order.index(rules[place]) for place in expected.values()]
    assert [rule_set._decide(url)[1] for url in expected] == places
    assert [place for _, place in by_column(rule_set, list(expected))] == places


def punts(rules: list[Rule], urls: list[str]) -> list[bool]:
    made = Work(ListedRules(rules).compiled()).apply(*buffers(pa.array(urls)), fetch=True, keys=True)
    return [bool(status == PUNT) for status in made.status]


def test_the_kernel_leaves_odd_urls_only() -> None:
    rules = [Rule("h.com", {}, {Key("query", "s"): DROP, Key("host", 1): (Ignore("w"),)})]
    plain = ["http://h.com/?s=1", "https://www.h.com:81/a;b=1/?s", "http://i.com./", "http://[::1]/", "ftp://i.com/"]
    assert punts(rules, plain) == [False] * len(plain)
    odd = ["ftp://h.com/?s=1", "http://me@h.com/?s=1", "http://a..h.com/", "http://a.b.h.com./"]
    assert punts(rules, odd) == [True] * len(odd)


def test_rules_that_words_cannot_say_leave_their_site_to_the_scalar_function() -> None:
    userinfo = Rule("h.com", {Key("userinfo"): ANY}, {Key("userinfo"): DROP})
    other = Rule("i.com", {}, {Key("query", "s"): DROP})
    urls = ["http://me@h.com/", "http://h.com/?s=1", "http://i.com/?s=1"]
    rule_set = RuleSet([userinfo, other])
    assert punts([userinfo, other], urls) == [True, True, False]
    assert rule_set.normalize_many(pa.array(urls)).to_pylist() == [
        "http://h.com/",
        "http://h.com/?s=1",
        "http://i.com/",
    ]


@pytest.mark.parametrize("count", [1, 8, 9, 40])
def test_names_are_found_whether_few_or_many(count: int) -> None:
    rules = [
        Rule("h.com", {Key("query", f"n{i}"): Pattern((str(i),))}, {Key("query", f"n{i}"): DROP}) for i in range(count)
    ]
    urls = [f"http://h.com/?n{i}={value}&z" for i in range(count + 2) for value in (i, "x")]
    assert by_column(RuleSet(rules), urls) == [oracle(rules, url) for url in urls]


def test_many_literals_of_one_structure_are_found_by_hash() -> None:
    rules = [Rule("h.com", {Key("path", 0): Pattern((f"p{i}",)), Key("path", 1): ABSENT}, {Key("path", 0): (f"q{i}",)})
             for i in range(3000)]  # fmt: skip
    urls = [f"http://h.com/p{i}" for i in range(0, 3100, 7)] + ["http://h.com/p1/x", "http://h.com/"]
    made = by_column(RuleSet(rules), urls)
    assert made[0] == (Applied("http://h.com/q0", "http://h.com/q0"), 0)
    assert made[-1][1] == made[-2][1] == -1
    rule_set = RuleSet(rules)
    assert made == [rule_set._decide(url) for url in urls]


def test_more_arguments_than_a_page_has_are_one_value() -> None:
    rules = [Rule("h.com", {}, {Key("query", "a"): DROP, Key("query", "b", 3): ("x",)}, sort_query=True)]
    urls = [f"http://h.com/?{'&'.join(f'{name}={i}' for i in range(count))}"
            for name in "ab" for count in (MAX_ARGUMENTS - 1, MAX_ARGUMENTS, MAX_ARGUMENTS + 1)]  # fmt: skip
    urls += [f"http://h.com/{';a=1' * count}" for count in (MAX_ARGUMENTS, MAX_ARGUMENTS + 1)]
    assert by_column(RuleSet(rules), urls) == [oracle(rules, url) for url in urls]


@pytest.mark.parametrize("through", ["", "encode"])
def test_results_that_are_too_long_are_not_used(through: str) -> None:
    copies = (Copy(Key("query", "a"), 0, through),) * 3  # type: ignore[arg-type] # one of the conversions
    rules = [Rule("h.com", {Key("query", "a"): ANY}, {Key("path", 0): copies})]
    urls = [f"http://h.com/?a={'/' * size}" for size in (1, MAX_URL_BYTES // 9, MAX_URL_BYTES // 4, MAX_URL_BYTES - 17)]
    assert by_column(RuleSet(rules), urls) == [oracle(rules, url) for url in urls]


def test_urls_of_the_greatest_length_with_the_most_segments_and_labels() -> None:
    rules = [
        Rule("h.com", {Key("path", -1): Pattern((Slot(), "aab", Slot()))}, {Key("path", -1): ("x",)}, sort_query=True),
        Rule("a.com", {}, {Key("host", 3): DROP, Key("path", 0): DROP}),
    ]
    room = MAX_URL_BYTES - len("http://h.com/")
    urls = [
        "http://h.com/" + "/" * room,
        "http://h.com/" + "aa" * (room // 2 - 2) + "aab",
        "http://h.com/?" + "=" * (room - 1),
        "http://" + "a." * (room // 2) + "com/",
        "http://h.com/" + ";" * room,
    ]
    rule_set = RuleSet(rules)
    assert by_column(rule_set, urls) == [oracle(list(rule_set), url) for url in urls]


def test_a_column_that_grows_has_room() -> None:
    rules = [Rule("h.com", {}, {Key("query", "z"): ("long" * 5000,), Key("path", 0): (Ignore("w" * 3000),)})]
    urls = [f"http://h.com/{i}" for i in range(500)]
    assert by_column(RuleSet(rules), urls) == [oracle(rules, url) for url in urls]


def some_rules_and_urls(count: int) -> tuple[RuleSet, list[str]]:
    chance = random.Random(1)
    lines = [
        "//….{0}/…?sid={{?}}  →  //….{0}/…",
        "//….{0}/…/index.html  →  //….{0}/…/",
        "//{{?}}.{0}/…  →  //{{*=www}}.{0}/…",
    ]
    sites = [f"s{i}.com" for i in range(50)]
    rules = [read_line(f"{site}  {chance.choice(lines).format(site)}") for site in sites for _ in range(2)]
    urls = []
    for i in range(count):
        host = chance.choice(["", "www.", "a.b."]) + chance.choice(sites)
        end = chance.choice(["", "index.html", "x"]) + chance.choice(["", f"?sid={i}", f"?b={i}&sid={i}"])
        urls.append(f"http://{host}/{i}/{end}")
    return RuleSet(rules), urls


def test_the_number_of_threads_does_not_matter() -> None:
    rule_set, urls = some_rules_and_urls(200_000)
    compiled = rule_set._store.compiled()
    made = [
        apply_rules(compiled, rule_set._decide, urls, fetch=True, key=True, standard=False, threads=threads)
        for threads in (1, 3)
    ]
    assert made[0].urls.equals(made[1].urls)  # type: ignore[union-attr]
    assert made[0].keys.equals(made[1].keys)  # type: ignore[union-attr]
    assert np.array_equal(made[0].rules, made[1].rules)
    assert len(set(made[0].rules.tolist())) > 50


def test_a_set_of_rules_is_shared_by_threads_and_pickled() -> None:
    rule_set, urls = some_rules_and_urls(4000)
    expected = [rule_set._decide(url)[0].url for url in urls]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rule_set.normalize, urls)) == expected
    copy = pickle.loads(pickle.dumps(rule_set))  # noqa: S301 - our own
    assert copy == rule_set
    assert [copy.normalize(url) for url in urls] == expected


def test_a_single_url_has_the_same_answer_cold_and_warm() -> None:
    rule_set, urls = some_rules_and_urls(2 * COLD)
    odd = ["http://me@s1.com/?sid=1", "http://a..s1.com/"]
    cold = [(rule_set.normalize(url), rule_set.key(url)) for url in [*urls[: COLD // 4], *odd]]
    for url in urls:
        rule_set.normalize(url)
    assert hasattr(rule_set._own, "single")
    assert [(rule_set.normalize(url), rule_set.key(url)) for url in [*urls[: COLD // 4], *odd]] == cold


def test_urls_in_standard_form_are_decided_with_the_places_of_their_rules() -> None:
    rules = [read_line(f"{site}  //….{site}/…?s={{?}}  →  //….{site}/…") for site in ("b.com", "a.com")]
    decided = RuleSet(rules).decide_many(["http://b.com/?s=1", "http://a.com/", "http://c.com/"])
    assert decided.keys.to_pylist() == ["http://b.com/", "http://a.com/", "http://c.com/"]
    assert decided.rules.tolist() == [1, 0, -1]
    assert RuleSet(rules).decide_many([]).keys.to_pylist() == []
