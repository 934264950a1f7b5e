"""The rule language: what rules do, that their written forms round-trip, and the laws of every set of rules."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.errors import InputError, UrlError, UsageError
from undust.rules.apply import fit
from undust.rules.files import dumps, loads
from undust.rules.line import write_line
from undust.rules.line_reader import read_line
from undust.rules.matcher import Decision
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet
from undust.rules.values import ABSENT, ANY, DROP, Copy, Ignore, Operation, Pattern, Slot
from undust.urls.keys import Key, keys
from undust.urls.normalize import normalize

CASES = [
    # (rule, URL, URL to fetch, key; None: the same as the URL to fetch)
    # A session id, wherever it is.
    ("h.com  //….h.com/…?sid={?}  →  //….h.com/…", "http://h.com/a?sid=1&b=2", "http://h.com/a?b=2", None),
    ("h.com  //….h.com/…?sid={?}  →  //….h.com/…", "http://h.com/a?b=2&sid=1", "http://h.com/a?b=2", None),
    ("h.com  //….h.com/…?sid={?}  →  //….h.com/…", "http://h.com/a?sid=1", "http://h.com/a", None),
    ("h.com  //….h.com/…?sid={?}  →  //….h.com/…", "http://h.com/a?x;sid=1;y=2", "http://h.com/a?x;y=2", None),
    # The second of two arguments with one name.
    ("h.com  //….h.com/…?a#2={?}  →  //….h.com/…", "http://h.com/?a=1&a=2", "http://h.com/?a=1", None),
    # A default value equals absence; another value does not.
    ("h.com  //….h.com/…?page=1  →  //….h.com/…", "http://h.com/?page=1", "http://h.com/", None),
    ("h.com  //….h.com/…?page=1  →  //….h.com/…", "http://h.com/?page=2", "http://h.com/?page=2", None),
    # Mirrors: the label does not matter, and most URLs had www.
    ("h.com  //{?}.h.com/…  →  //{*=www}.h.com/…", "http://de.h.com/a", "http://www.h.com/a", "http://*.h.com/a"),
    ("h.com  //{?}.h.com/…  →  //{*=www}.h.com/…", "http://h.com/a", "http://www.h.com/a", "http://*.h.com/a"),
    ("h.com  //{?}.h.com/…  →  //{*=www}.h.com/…", "http://x.de.h.com/a", "http://x.de.h.com/a", None),
    # A label that goes.
    ("h.com  //www.h.com/…  →  //⊥.h.com/…", "http://www.h.com:81/a", "http://h.com:81/a", None),
    # The last segment, wherever it stands; a trailing slash.
    ("h.com  //….h.com/…/index.html  →  //….h.com/…/", "http://h.com/a/index.html", "http://h.com/a/", None),
    ("h.com  //….h.com/…/  →  //….h.com/…/⊥", "http://h.com/a/b/", "http://h.com/a/b", None),
    ("h.com  //….h.com/…/  →  //….h.com/…/⊥", "http://h.com/", "http://h.com/", None),
    # Path parameters.
    ("h.com  //….h.com/…;sid={?}  →  //….h.com/…", "http://h.com/a;sid=1/b;x=2?c", "http://h.com/a/b;x=2?c", None),
    # A value moves from the query into the path.
    (
        "h.com  //….h.com/index.php?title={a}  →  //….h.com/wiki/{a}",
        "http://h.com/index.php?title=X&b=1",
        "http://h.com/wiki/X?b=1",
        None,
    ),
    # Conversions.
    ("h.com  //….h.com/{a}  →  //….h.com/{a|lower}", "http://h.com/ABC", "http://h.com/abc", None),
    # A segment that does not matter, in its context only.
    (
        "h.com  //….h.com/{*}/dp/{a}  →  //….h.com/{*=x}/dp/{a}",
        "http://h.com/Lord/dp/B0",
        "http://h.com/x/dp/B0",
        "http://h.com/*/dp/B0",
    ),
    ("h.com  //….h.com/{*}/dp/{a}  →  //….h.com/{*=x}/dp/{a}", "http://h.com/L/qq/B0", "http://h.com/L/qq/B0", None),
    # An argument that is emptied, and one that has no name.
    ("h.com  //….h.com/…?a={?}  →  //….h.com/…?a=", "http://h.com/?a=1&b=2", "http://h.com/?a=&b=2", None),
    ("h.com  //….h.com/…?={?}  →  //….h.com/…", "http://h.com/p?123", "http://h.com/p", None),
    # A token inside a value.
    (
        "h.com  //….h.com/…?t={a:digits}.msg{*:digits}  →  //….h.com/…?t={a}.0",
        "http://h.com/?t=12.msg34",
        "http://h.com/?t=12.0",
        None,
    ),
    (
        "h.com  //….h.com/…?id={a}:{*}  →  //….h.com/…?id={a}:{*=start}",
        "http://h.com/?id=m:x",
        "http://h.com/?id=m:start",
        "http://h.com/?id=m:*",
    ),
    # Scheme and port.
    ("h.com  http://….h.com/…  →  https://….h.com/…", "http://h.com/a", "https://h.com/a", None),
    ("h.com  //….h.com:8080/…  →  //….h.com:⊥/…", "http://h.com:8080/a", "http://h.com/a", None),
    # The order of arguments.
    (
        "h.com  //….h.com/…  →  //….h.com/…  (arguments in order)",
        "http://h.com/?b=1&a=2&b=0",
        "http://h.com/?a=2&b=1&b=0",
        None,
    ),
    # An address and a bare name are sites of their own.
    ("local:81  //local:81/…?s={?}  →  //local:81/…", "http://local:81/?s=1", "http://local:81/", None),
    ("1.2.3.4  //1.2.3.4/…?s={?}  →  //1.2.3.4/…", "http://1.2.3.4/?s=1", "http://1.2.3.4/", None),
    # Another site.
    ("h.com  //….h.com/…?sid={?}  →  //….h.com/…", "http://i.com/?sid=1", "http://i.com/?sid=1", None),
]  # fmt: skip


@pytest.mark.parametrize(("line", "url", "fetch", "key"), CASES)
def test_a_rule_does_what_it_says(line: str, url: str, fetch: str, key: str | None) -> None:
    rules = RuleSet([read_line(line)])
    assert rules.normalize(url) == fetch
    assert rules.key(url) == (key or fetch)
    assert rules.normalize(fetch) == fetch
    assert rules.key(fetch) == (key or fetch)


@pytest.mark.parametrize("line", dict.fromkeys(case[0] for case in CASES))
def test_a_line_is_written_as_it_was_read(line: str) -> None:
    assert write_line(read_line(line)) == line


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("nothing", "not a rule"),
        ("h.com  a  →  b", "not a URL pattern"),
        ("h.com  //i.com/  →  //i.com/", "not a host of h.com"),
        ("h.com  //h.com/{a:letters}  →  //h.com/x", "unknown kind"),
        ("h.com  //h.com/{a}  →  //h.com/{b}", "nothing on the left is called"),
        ("h.com  //h.com/{a}  →  //h.com/{a|rot13}", "unknown conversion"),
        ("h.com  //h.com/?x  →  //h.com/", "without ="),
        ("h.com  //h.com/…/a/…  →  //h.com/…", "one …"),
        ("h.com  //h.com/café  →  //h.com/", "escaped in URLs"),
    ],
)
def test_a_wrong_line_is_refused_with_the_reason(line: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_line(line)


@pytest.mark.parametrize(
    ("pattern", "value", "slots"),
    [
        (Pattern(()), "", ()),
        (Pattern(()), "x", None),
        (Pattern(("a",)), "a", ()),
        (ANY, "", ("",)),
        (Pattern((Slot("digits"),)), "12", ("12",)),
        (Pattern((Slot("digits"),)), "12a", None),
        (Pattern((Slot("digits"),)), "", None),
        (Pattern((Slot("uuid"),)), "0" * 8 + "-0000-0000-0000-" + "0" * 12, ("0" * 8 + "-0000-0000-0000-" + "0" * 12,)),
        (Pattern((Slot("date"),)), "2024-05-06", ("2024-05-06",)),
        (Pattern((Slot("date"),)), "20240506", ("20240506",)),
        (Pattern((Slot("hex"),)), "aF09", ("aF09",)),
        (Pattern((Slot(), ".html")), ".html", ("",)),
        (Pattern(("ab", Slot(), "bc")), "abc", None),  # the b cannot be in both
        (Pattern((Slot(), Slot("digits"))), "a12", ("a", "12")),
        (Pattern((Slot(), "-", Slot("date"))), "x-2024-05", ("x", "2024-05")),
        (Pattern((Slot(), ":", Slot())), "a:b:c", ("a", "b:c")),
        (Pattern((Slot(), ":", Slot())), "abc", None),
        (Pattern((Slot("digits"), Slot("hex"))), "12ab", ("12", "ab")),
    ],
)
def test_a_pattern_fits_or_not(pattern: Pattern, value: str, slots: tuple[str, ...] | None) -> None:
    assert pattern.fit(value) == slots


LITERALS = st.sampled_from(["", "a", "b", "1", "22", "index.html", "www"])
SLOTS = st.builds(Slot, st.sampled_from(["any", "digits", "hex"]))


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        text = draw(LITERALS)
        return Pattern((text,) if text else ())
    if kind == 1:
        return Pattern((draw(SLOTS),))
    if kind == 2:
        return Pattern((draw(SLOTS), draw(st.sampled_from([".", "-", ":"])), draw(SLOTS)))
    return ANY


KEYS = st.sampled_from(
    [
        Key.parse(text)
        for text in ("scheme", "port", "host[1]", "path[0]", "path[1]", "path[-1]", ";s", "?a", "?b", "?a#2")
    ]
)
CONTEXTS = st.dictionaries(KEYS, st.one_of(st.just(ABSENT), patterns()), max_size=3)


@st.composite
def rules(draw: st.DrawFn, site: str = "h.com") -> Rule:
    context = draw(CONTEXTS)
    if Key("scheme") in context:
        context[Key("scheme")] = draw(st.sampled_from([Pattern(("http",)), ANY]))
    for key in (Key("host", 1), Key("port")):  # labels and ports are never empty
        if context.get(key) == Pattern(()):
            context[key] = Pattern(("81",))
    operations: dict[Key, Operation] = {}
    for key in draw(st.lists(KEYS, max_size=3, unique=True)):
        if key.part == "scheme":
            operations[key] = (draw(st.sampled_from(["http", "https"])),)
            continue
        source = draw(KEYS)
        match = context.get(source)
        slots = sum(isinstance(part, Slot) for part in match.parts) if isinstance(match, Pattern) else 1
        copy = Copy(source, draw(st.integers(0, max(slots - 1, 0))), draw(st.sampled_from(["", "lower", "upper"])))
        usual = None if key.part in ("query", "param") else draw(st.sampled_from(["w", "v"]))
        made: list[Any] = [DROP, ("k",), (Ignore(usual),)]
        if match != ABSENT and slots:
            made.append((copy,))
        operations[key] = draw(st.sampled_from(made))
    if operations.get(Key("port")) not in (None, DROP):
        operations[Key("port")] = ("8080",)
    return Rule(site, context, operations, draw(st.booleans()))


@st.composite
def urls(draw: st.DrawFn) -> str:
    value = st.sampled_from(["a", "b", "1", "22", "A", "index.html", "", "x.1", "1-a", "a:b"])
    host = draw(st.sampled_from(["h.com", "www.h.com", "a.h.com", "a.b.h.com", "i.com"]))
    port = draw(st.sampled_from(["", ":81", ":8080"]))
    path = "".join(f"/{draw(value)}" + draw(st.sampled_from(["", ";s=1"])) for _ in range(draw(st.integers(0, 3))))
    pairs = [f"{draw(st.sampled_from('abc'))}={draw(value)}" for _ in range(draw(st.integers(0, 4)))]
    query = draw(st.sampled_from("&;")).join(pairs)
    return f"{draw(st.sampled_from(['http', 'https']))}://{host}{port}{path}" + (f"?{query}" if query else "")


RULE_SETS = st.lists(rules(), max_size=5)


@given(RULE_SETS, urls())
def test_normalizing_is_total_and_idempotent_whatever_the_rules(made: list[Rule], url: str) -> None:
    rule_set = RuleSet(made)
    fetch = rule_set.normalize(url)
    assert rule_set.normalize(fetch) == fetch
    assert rule_set.key(fetch) == rule_set.key(url)
    assert normalize(fetch) == fetch


@given(RULE_SETS, urls())
def test_the_first_rule_that_holds_decides(made: list[Rule], url: str) -> None:
    values = keys(url)
    holding = [place for place, rule in enumerate(made) if fit(rule.context, values) is not None]
    assert Decision(made).find(values) == (holding[0] if holding else -1)


@given(RULE_SETS)
def test_rules_come_back_from_json(made: list[Rule]) -> None:
    told = [
        Rule(r.site, r.context, r.operations, r.sort_query, Statistics(3, 2, 1, examples=(("a", "b"),))) for r in made
    ]
    back = loads(dumps(told))
    assert back == told
    assert [rule.statistics for rule in back] == [rule.statistics for rule in told]
    assert loads(dumps(back)) == back


@given(rules(), st.lists(urls(), min_size=1, max_size=5))
def test_a_rule_that_was_written_on_a_line_does_the_same(rule: Rule, some: list[str]) -> None:
    before, after = RuleSet([rule]), RuleSet([read_line(write_line(rule))])
    for url in some:
        assert (before.normalize(url), before.key(url)) == (after.normalize(url), after.key(url)), write_line(rule)


@given(RULE_SETS, st.lists(st.one_of(urls(), st.just("nothing"), st.none()), max_size=6))
def test_a_column_is_normalized_as_single_urls_are(made: list[Rule], some: list[str | None]) -> None:
    rule_set = RuleSet(made)

    def expected(url: str | None, key: bool) -> str | None:
        try:
            return None if url is None else rule_set.key(url) if key else rule_set.normalize(url)
        except UrlError:
            return None

    assert rule_set.normalize_many(some) == [expected(url, False) for url in some]
    assert rule_set.key_many(some) == [expected(url, True) for url in some]


def test_many_rules_are_decided_in_few_steps() -> None:
    made = [read_line(f"h.com  //….h.com/p{i}/…?s={{?}}  →  //….h.com/p{i}/…") for i in range(1000)]
    rule_set = RuleSet(made)
    assert rule_set.normalize("http://h.com/p999/?s=1") == "http://h.com/p999/"
    assert rule_set.normalize("http://h.com/q/?s=1") == "http://h.com/q/?s=1"


def test_an_explanation_names_the_rule_and_what_matched() -> None:
    rule = read_line("h.com  //….h.com/…?do=media&id={?}  →  //….h.com/…?do=media")
    told = RuleSet([rule]).explain("http://h.com/?id=1&do=media")
    assert told.rule == rule
    assert told.matched == (("?do", "media"),)
    assert "fetch     http://h.com/?do=media" in str(told)
    assert "none" in str(RuleSet().explain("http://h.com/"))


def _edited(**changes: Any) -> str:
    rule = {"site": "h.com", "context": {"?a": "{}"}, "operations": [{"key": "?a", "op": "drop"}]} | changes
    return json.dumps({"version": 1, "rules": [rule]})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a rule file"),
        ("[" * 100_000, "not a rule file"),
        (dumps([read_line(CASES[0][0])])[:-40], "not a rule file"),
        ("{}", "needs version and rules"),
        ('{"version": 2, "rules": []}', "version 2"),
        (_edited(site=""), "rule 1: no site"),
        (_edited(site="H.com"), "rule 1: site is 'H.com': in standard form it is 'h.com'"),
        (_edited(site="bücher.de"), "'xn--bcher-kva.de'"),
        (_edited(site="h.com:81"), "'h.com'"),
        (_edited(site="http://h.com/"), "give a host such as"),
        (_edited(operations=[{"key": "?a", "op": "dropp"}]), "'dropp'; one of keep, copy, ignore, drop"),
        (_edited(operations=[{"key": "?a", "op": "drop"}] * 2), "two operations"),
        (_edited(operations=[{"key": "query", "op": "drop"}]), "unknown key"),
        (_edited(operations=[{"key": "?a", "op": "copy", "from": "?a", "slot": 3}]), "slot 3 of 1"),
        (_edited(operations=[{"key": "?a", "op": "copy", "from": "?a", "through": "eval"}]), "unknown conversion"),
        (_edited(operations=[{"key": "?a", "op": "keep", "value": "a b"}]), "write %20"),
        (_edited(context={"?a": 'x"y'}), "write %22"),
        (_edited(operations=[{"key": "?a[]", "op": "drop"}]), "write %5B"),
        (_edited(operations="drop"), "must be a list"),
        (_edited(context={"?a": "{word}"}), "unknown kind"),
        (_edited(context={"?a": 3}), "must be a text"),
        (_edited(contexts={}), "unknown field 'contexts'"),
        (_edited(statistics={"coverage": "many"}), "coverage"),
    ],
)  # fmt: skip
def test_a_damaged_rule_file_is_refused_with_place_and_reason(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        loads(text, "rules.json")
    assert str(caught.value).startswith("rules.json: ")


def test_rules_that_would_go_in_circles_change_nothing() -> None:
    lines = ["h.com  //….h.com/a  →  //….h.com/b", "h.com  //….h.com/b  →  //….h.com/a"]
    rule_set = RuleSet([read_line(line) for line in lines])
    assert [rule_set.normalize(f"http://h.com/{x}") for x in "ab"] == ["http://h.com/a", "http://h.com/b"]
