"""Faulty rules are found and refused: circles, rules that can never be used, and too many tries; sound ones are not."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules_strategies import RULE_SETS, standard_urls
from undust.errors import InputError
from undust.rule_files import load_rules
from undust.rules.apply import fit
from undust.rules.check import example, find_fault, sound
from undust.rules.files import dumps
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.rules.values import DROP, Pattern, Slot
from undust.urls.keys import Key, keys

CIRCLES = [
    (["//….h.com/a  →  //….h.com/b", "//….h.com/b  →  //….h.com/a"], "rules 1 and 2 go in circles"),
    (["//….h.com/{a}/{b}  →  //….h.com/{b}/{a}"], "rule 1 go"),
    (["//….h.com/{a}  →  //….h.com/x{a}"], "never come to an end"),
    (["http://….h.com/…  →  https://….h.com/…", "https://….h.com/…  →  http://….h.com/…"], "1 and 2 go in circles"),
    ([f"//….h.com/…?a={a}  →  //….h.com/…?a={(a + 1) % 3}" for a in range(3)], "rules 1, 2 and 3 go in circles"),
    (["//….h.com/…?a={?}  →  //….h.com/…", "//….h.com/…?b={?}  →  //….h.com/…"], "rules 1 and 2 hold for the same"),
]  # fmt: skip

SOUND = [
    ["//{?}.h.com/…  →  //{*=www}.h.com/…"],
    ["//….h.com/index.php?title={a}  →  //….h.com/wiki/{a}"],
    ["//….h.com/…?t={a:digits}.msg{*:digits}  →  //….h.com/…?t={a}.0"],
    ["//….h.com/{a}  →  //….h.com/{a|lower}"],
    ["//….h.com/{a}  →  //….h.com/{a|encode}"],
    ["//….h.com/{*}/dp/{a}  →  //….h.com/{*=x}/dp/{a}"],
    ["//….h.com/…/  →  //….h.com/…/⊥"],
    ["//….h.com/a  →  //….h.com/b", "//….h.com/b  →  //….h.com/c"],  # a row that ends
    ["//….h.com/…  →  //….h.com/…  (arguments in order)"],
]


def a_site(lines: list[str]) -> list[Rule]:
    return [read_line(f"h.com  {line}") for line in lines]


@pytest.mark.parametrize(("lines", "why"), CIRCLES)
def test_faulty_rules_are_refused_with_their_numbers_and_an_example(tmp_path: Path, lines: list[str], why: str) -> None:
    other = read_line("a.com  //….a.com/…?s={?}  →  //….a.com/…")
    (tmp_path / "rules.json").write_text(dumps([*a_site(lines), other]))
    with pytest.raises(InputError, match=why):
        load_rules(tmp_path / "rules.json")


@pytest.mark.parametrize("lines", SOUND)
def test_sound_rules_are_loaded(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "rules.json").write_text(dumps(a_site(lines)))
    assert list(load_rules(tmp_path / "rules.json")) == a_site(lines)


@pytest.mark.parametrize("lines", [lines for lines, _ in CIRCLES])
def test_what_is_learned_can_be_loaded(lines: list[str]) -> None:
    made = sound(a_site(lines))
    assert find_fault(made) is None
    assert sound(made) == made


@given(RULE_SETS, st.lists(standard_urls(), min_size=1, max_size=4))
def test_what_is_sound_stays_and_the_rest_becomes_so(made: list[Rule], urls: list[str]) -> None:
    rules = [Rule("h.com", rule.context, rule.operations, rule.sort_query) for rule in made]
    left = sound(rules)
    assert find_fault(left) is None
    before, after = RuleSet(rules), RuleSet(left)
    for url in urls:
        if find_fault(rules) is None:
            assert after._decide(url) == before._decide(url)


@pytest.mark.parametrize("lines", [*SOUND, *(lines for lines, _ in CIRCLES)])
def test_an_example_is_a_url_that_the_rule_holds_for(lines: list[str]) -> None:
    for rule in a_site(lines):
        url = example(rule)
        assert url is not None
        assert fit(rule.context, keys(url)) is not None


def test_a_site_whose_urls_would_be_held_against_thousands_of_patterns_is_refused(tmp_path: Path) -> None:
    patterns = [
        Rule("h.com", {Key("path", 0): Pattern((f"v{i}-", Slot("hex")))}, {Key("path", 0): DROP}) for i in range(3000)
    ]
    (tmp_path / "rules.json").write_text(dumps(patterns))
    with pytest.raises(InputError, match="may need 3,001 tries for one URL; at most 2,000"):
        load_rules(tmp_path / "rules.json")
    literals = [Rule("h.com", {Key("path", 0): Pattern((f"v{i}",))}, {Key("path", 1): DROP}) for i in range(3000)]
    (tmp_path / "rules.json").write_text(dumps(literals))
    assert len(load_rules(tmp_path / "rules.json")) == 3000
