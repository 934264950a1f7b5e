"""Imports: hand-made lists become rules that mean what the list says, or less; the rest is listed with the reason."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undust import export_rules, import_rules
from undust.cli import main
from undust.errors import InputError, UsageError
from undust.rule_files import load_rules
from undust.rules.imports.formats import FORMATS, import_text
from undust.rules.imports.names import EndlessError, expanded
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.rules.values import DROP, Pattern
from undust.urls.keys import Key

BRAVE = [{"include": ["*://*.h.com/search?*"], "exclude": ["*://*.h.com/search/x*"], "params": ["a", "b[0]"]}]
CLEARURLS = {
    "providers": {
        "h": {
            "urlPattern": r"^https?:\/\/(?:[a-z0-9-]+\.)*?h\.com",
            "rules": ["mc_(?:eid|cid)", "srs?", "x_[a-z]*"],
            "exceptions": [r"^https?:\/\/(?:[a-z0-9-]+\.)*?h\.com\/login\/.*"],
            "rawRules": [r"\/ref=[^/?]*"],
        },
        "globalRules": {"urlPattern": ".*", "rules": ["utm(?:_[a-z_]*)?"]},
        "shop": {"urlPattern": r"^https?:\/\/(?:[a-z0-9-]+\.)*?shop(?:\.[a-z]{2,}){1,}", "rules": ["tag"]},
    }
}
DUD = [
    {"order": 0, "processor": "queryRemoval", "args": ["a"], "urlPattern": {"include": ["h.com"]}},
    {
        "order": 0,
        "processor": "queryRemoval",
        "args": ["b"],
        "urlPattern": {"include": ["h.com/p/"], "exclude": ["h.com/p/q"]},
    },
    {"order": 0, "processor": "subpathRemoval", "args": [0], "urlPattern": {"include": ["i.com/*/dp"]}},
    {"order": 0, "processor": "queryRemoval", "args": ["utm"], "urlPattern": {"include": [""]}},
    {"order": 0, "processor": "normalizer", "args": [], "urlPattern": {"include": [""]}},
]
ADGUARD = """! a comment
||h.com^$removeparam=a
||m.h.com^$removeparam=b
||h.com/p^$removeparam=/^c[12]$/,match-case
@@||h.com/p/q^$removeparam=a
$removeparam=utm,domain=~i.com
$removeparam=gclid,domain=j.com
||h.com^$removeparam
||h.com^$script
||h.com/*.js$removeparam=v
"""
CLEAN = """User-agent: Yandex
Disallow: /x
Clean-param: sid&ref /forum/
Clean-param: print # a comment
# Site: i.com
Clean-param: z
"""
NUTCH = r"""<?xml version="1.0"?>
<regex-normalize>
<regex><pattern>(?i)(;?\b_?(l|j|bv_)?(sid|phpsessid|sessionid)=.*?)(\?|&amp;|#|$)</pattern><substitution>$4</substitution></regex>
<regex><pattern>^(https?://example\.com/view\.php\?)sid=[^&amp;]*&amp;?</pattern><substitution>$1</substitution></regex>
<regex><pattern>&amp;amp;</pattern><substitution>&amp;</substitution></regex>
</regex-normalize>"""

H = "http://h.com/?id=1&x_y=2&utm_source=3"
CASES = [
    # (format, text, URL, URL to fetch under the imported rules)
    ("clearurls", CLEARURLS, "http://www.h.com/a?mc_eid=1&mc_cid=2&sr=3&srs=4&id=5", "http://www.h.com/a?id=5"),
    ("clearurls", CLEARURLS, "http://h.com/login/a?mc_eid=1", "http://h.com/login/a?mc_eid=1"),  # an exception
    ("clearurls", CLEARURLS, "http://h.com/a?x_y=1&utm_source=2&id=5", "http://h.com/a?id=5"),  # names seen on the site
    ("clearurls", CLEARURLS, "http://h.com/a?x_unseen=1", "http://h.com/a?x_unseen=1"),
    ("clearurls", CLEARURLS, "http://shop.de/a?tag=1", "http://shop.de/a"),  # any suffix, as the site was named
    ("clearurls", CLEARURLS, "http://shop.fr/a?tag=1", "http://shop.fr/a?tag=1"),
    ("dud", DUD, "http://h.com/?a=1&b=2", "http://h.com/?b=2"),
    ("dud", DUD, "http://h.com/p/x?a=1&b=2", "http://h.com/p/x"),  # all that fit are carried out
    ("dud", DUD, "http://h.com/p/q?a=1&b=2", "http://h.com/p/q?a=1&b=2"),
    ("dud", DUD, "http://h.com/?utm=1", "http://h.com/?utm=1"),  # a rule for the site switches those for all off
    ("dud", DUD, "http://shop.de/?utm=1", "http://shop.de/"),
    ("dud", DUD, "http://i.com/Lord/dp/B0", "http://i.com/dp/B0"),
    ("adguard", ADGUARD, "http://h.com/?a=1&b=2", "http://h.com/?b=2"),
    ("adguard", ADGUARD, "http://m.h.com/?a=1&b=2", "http://m.h.com/"),
    ("adguard", ADGUARD, "http://m.h.com/p/x?a=1&b=2&c1=3&c3=4", "http://m.h.com/p/x?c3=4"),  # where two places meet
    ("adguard", ADGUARD, "http://h.com/p/q?a=1&c2=2", "http://h.com/p/q?a=1"),  # an exception for one name
    ("adguard", ADGUARD, "http://shop.de/?utm=1", "http://shop.de/"),
    ("adguard", ADGUARD, "http://i.com/?utm=1", "http://i.com/?utm=1"),
    ("adguard", ADGUARD, "http://j.com/?gclid=1", "http://j.com/"),
    ("brave", BRAVE, "http://www.h.com/search?a=1&b%5B0%5D=2&q=3", "http://www.h.com/search?q=3"),
    ("brave", BRAVE, "http://www.h.com/other?a=1", "http://www.h.com/other?a=1"),
    ("clean-param", CLEAN, "http://h.com/forum/a?sid=1&ref=2&t=3&print=1", "http://h.com/forum/a?t=3"),
    ("clean-param", CLEAN, "http://h.com/b?sid=1&print=1", "http://h.com/b?sid=1"),
    ("clean-param", CLEAN, "http://i.com/b?z=1", "http://i.com/b"),
    ("nutch", NUTCH, "http://h.com/?phpsessid=1&id=2", "http://h.com/?id=2"),
    ("nutch", NUTCH, "http://example.com/view.php?sid=1&id=2", "http://example.com/view.php?id=2"),
]  # fmt: skip
SITES = [H, "http://shop.de/", "http://i.com/"]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize(("from_", "text", "url", "fetched"), CASES)
def test_rules_out_of_a_list_do_what_the_list_says(from_: str, text: object, url: str, fetched: str) -> None:
    made = import_text(_text(text), from_, urls=SITES)
    assert RuleSet(made.rules).normalize(url) == fetched
    assert {rule.statistics.learner for rule in made.rules} == {from_}


def test_all_formats_are_in_the_table_above() -> None:
    assert {from_ for from_, *_ in CASES} == set(FORMATS)


REASONS = [
    ("clearurls", CLEARURLS, "it is for many sites: name yours with --sites", 2),
    ("clearurls", CLEARURLS, "it stands for many names: name URLs with --sites to see which", 1),
    ("clearurls", CLEARURLS, "rawRules: it is about more than arguments", 1),
    ("dud", DUD, "normalizer: it does not name what goes", 1),
    ("adguard", ADGUARD, "it removes all arguments", 1),
    ("adguard", ADGUARD, "where it holds is more than a host and the start of a path", 1),
    ("nutch", NUTCH, "no replacement that only takes arguments away: it writes something", 1),
]


@pytest.mark.parametrize(("from_", "text", "why", "count"), REASONS)
def test_what_cannot_be_taken_over_is_listed_with_the_reason(from_: str, text: object, why: str, count: int) -> None:
    assert len(import_text(_text(text), from_).reasons()[why]) == count


NAMES = [
    ("sid", ["sid"]), ("p[fd]_rd", ["pf_rd", "pd_rd"]), ("(?:%3F)?gclid", ["gclid", "%3Fgclid"]), (r"p\[\]", ["p[]"]),
    ("a(b|c(d)?)", ["ab", "ac", "acd"]), ("x*", None), ("[a-z]x", None), (r"\d", None), ("(?=x)", None), ("(", None),
    ("a)", None), ("(((((((((((a)))))))))))", None), ("(a?){9}", None),
    ("[ab][ab][ab][ab][ab][ab][ab]", None), ("\\", None),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "names"), NAMES)
def test_expressions_that_stand_for_few_names(expression: str, names: list[str] | None) -> None:
    if names is None:
        with pytest.raises(EndlessError):
            expanded(expression)
    else:
        assert expanded(expression) == names


@given(st.text("ab(|)[]?*+\\.{}^$", max_size=40))
@settings(max_examples=100)
def test_any_expression_is_expanded_to_few_names_or_refused(expression: str) -> None:
    with contextlib.suppress(EndlessError):
        assert len(expanded(expression)) <= 64


BAD = [
    ("clearurls", "{", r"list:1: not JSON"),
    ("clearurls", "[]", r"list: the file must be an object"),
    ("clearurls", '{"providers": {"x": {"urlPattern": 1}}}', r"list: x: urlPattern must be a text, and is '1'"),
    ("clearurls", '{"providers": {"x": {"urlPattern": ".*", "rules": [1]}}}', r"list: x: each of rules must be a text"),
    ("dud", '[{"urlPattern": {}}]', r"list: rule 1: processor must be a text"),
    ("dud", "[" * 100_000, r"not JSON"),
    ("brave", '[{"include": "x"}]', r"list: rule 1: include must be a list"),
    ("nutch", "<regex-normalize>\n<regex>", r"list:2: not XML"),
    ("nutch", "<a/>", r"<a> is no <regex-normalize>"),
    ("nutch", '<!DOCTYPE a [<!ENTITY b "c">]><regex-normalize/>', r"it declares entities"),
]  # fmt: skip


@pytest.mark.parametrize(("from_", "text", "message"), BAD)
def test_damaged_lists_are_refused_with_the_place_and_the_reason(from_: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        import_text(text, from_)


def test_hostile_lists_cost_bounded_time() -> None:
    many = "\n".join(
        f"||h.com/{'/'.join('ab'[number >> bit & 1] for bit in range(12))}^$removeparam=a" for number in range(4_000)
    )
    made = import_text(many, "adguard")
    assert made.rules == ()
    assert "more than 64 places of one site are named" in made.reasons()
    evil = {"providers": {"x": {"urlPattern": ".*", "rules": ["(a+)+$", "(" * 900, "(a|aa)+b", "(?=a)"]}}}
    made = import_text(json.dumps(evil), "clearurls", urls=[f"http://h.com/?{'a' * 5_000}=1"])
    assert "its regular expression is not one of linear time (RE2)" in made.reasons()


def test_unknown_formats_name_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown format 'clear'; one of dud, clearurls"):
        import_rules("no such file", "clear")


@st.composite
def _removals(draw: st.DrawFn) -> list[Rule]:
    """Rules that drop arguments of sites, below paths that do not get into each other's way."""
    name = st.sampled_from(["a", "b", "sid", "x.y", "n[0]", "pf_rd"])
    made = []
    for site in draw(st.lists(st.sampled_from(["h.com", "x.co.uk", "i.org"]), unique=True, min_size=1)):
        for segment in draw(st.lists(st.sampled_from(["p.php", "q.php"]), unique=True) | st.just([None])):
            context = {} if segment is None else {Key("path", 0): Pattern((segment,))}
            names = [
                each.replace("[", "%5B").replace("]", "%5D") for each in draw(st.lists(name, unique=True, min_size=1))
            ]
            made.append(Rule(site, context, {Key("query", each): DROP for each in sorted(names)}))
    return made


@given(_removals())
@settings(max_examples=20)
@pytest.mark.parametrize("format_", ["dud", "clearurls", "adguard", "clean-param"])
def test_what_was_exported_is_imported_as_the_same_rules(format_: str, rules: list[Rule]) -> None:
    made = export_rules(rules, format_)
    assert made.count("exported") == len(rules)
    text = made.text
    if format_ == "dud":  # without what it drops everywhere
        text = json.dumps(
            [{**each, "args": [arg for arg in each["args"] if "utm_" not in arg]} for each in json.loads(text)]
        )
    imported = import_text(text, format_)
    assert imported.skipped == ()
    assert sorted(map(str, imported.rules)) == sorted(map(str, rules))


def test_the_command_writes_a_rule_file_with_where_it_is_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, sites, output = tmp_path / "list.json", tmp_path / "urls.txt", str(tmp_path / "rules.json")
    source.write_text(json.dumps(CLEARURLS))
    sites.write_text("\n".join(SITES))
    assert main(["import", str(source), "--from", "clearurls", "-o", output]) == 0
    said = capsys.readouterr().err
    assert "2 rules for 1 sites, from 4 entries" in said
    assert "left out 2: it is for many sites: name yours with --sites" in said
    assert main(["import", str(source), "--from", "clearurls", "-o", output, "--sites", str(sites), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sites"] == len({rule.site for rule in load_rules(output)}) == 2
    assert json.loads(Path(output).read_text())["rules"][0]["statistics"]["learner"] == "clearurls"
    assert main(["import", str(source), "--from", "clear", "-o", output]) == 2
    assert main(["import", str(tmp_path / "none"), "--from", "dud", "-o", output]) == 1
    source.write_bytes(b"\xff\xfe")
    assert main(["import", str(source), "--from", "dud", "-o", output]) == 1
    assert "not UTF-8 at byte 0" in capsys.readouterr().err


REAL = [
    # (format, file, rules without sites, entries understood), as measured; lists change, these copies do not
    ("clearurls", "clearurls_data.min.json", 160),
    ("brave", "brave_clean-urls.json", 350),
    ("dud", "zyte_dud_queryRemoval_product.json", 210),
    ("dud", "zyte_dud_queryRemoval_article.json", 159),
    ("dud", "zyte_dud_subpathRemoval_product.json", 20),
]


@pytest.mark.parametrize(("from_", "name", "least"), REAL)
def test_real_lists(shared_data: Path, from_: str, name: str, least: int) -> None:
    made = import_rules(shared_data / "params" / name, from_)
    assert len(made.rules) >= least
    rules = RuleSet(made.rules)
    for rule in made.rules:  # each is one that the set can use
        names = "&".join(f"{key.name}=1" for key in rule.operations if key.part == "query")
        if not rule.context and names:
            assert rules.normalize(f"http://{rule.site}/?{names}&undust=1") == f"http://{rule.site}/?undust=1"
