"""The binary form of rules: the same rules, opened at once, and never believed before they are proved."""

import json
import pickle
import random
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules_strategies import RULE_SETS, standard_urls
from undust.errors import InputError
from undust.kernels.rules_validate import seal_sites
from undust.rule_files import load_rules
from undust.rules import binary
from undust.rules.binary import MappedRules, dump_binary
from undust.rules.files import dumps, loads
from undust.rules.line_reader import read_line
from undust.rules.rule import Rule, Statistics
from undust.rules.ruleset import RuleSet
from undust.rules.single import Single
from undust.rules.values import DROP, Pattern, Slot
from undust.rules.work import Work
from undust.urls.batch import buffers
from undust.urls.keys import Key

LINES = [
    "a.com  //….a.com/…?sid={?}  →  //….a.com/…",
    "a.com  //….a.com/…/index.html  →  //….a.com/…/",
    "b.com  //{?}.b.com/{a}/{b:digits}?x={c}:{*}  →  //{*=www}.b.com/{a|lower}/{b}?x={c}",
    "b.com  //….b.com/{a}x{b}y{*}  →  //….b.com/{a}-{b}",
]
URLS = [
    "http://a.com/?sid=1",
    "http://a.com/x/index.html",
    "http://q.b.com/A/12?x=1:2",
    "http://b.com/1x2y3",
    "http://c.com/",
]


def some_rules() -> list[Rule]:
    rules = [read_line(line) for line in LINES]
    many = [
        Rule("a.com", {Key("query", f"n{i}"): Pattern((f"v{i}",))}, {Key("path", 0): (f"p{i}",)}) for i in range(12)
    ]
    some = [Rule("a.com", {Key("path", 0): Pattern((f"v{i}", Slot("hex")))}, {Key("path", 0): DROP}) for i in range(3)]
    return [*rules, *many, *some]


def is_json(rule: Rule) -> bool:
    """Tell whether a rule survives its written form: those that no learner makes may not."""
    try:
        return loads(dumps([rule])) == [rule]
    except InputError:
        return False


@given(RULE_SETS, st.lists(standard_urls(), min_size=1, max_size=8))
def test_rules_come_back_from_the_binary_form_and_do_the_same(made: list[Rule], urls: list[str]) -> None:
    before = RuleSet([rule for rule in made if is_json(rule)])
    after = RuleSet(MappedRules(dump_binary(before)))
    assert after == before
    assert len(after) == len(before)
    assert [after._decide(url) for url in urls] == [before._decide(url) for url in urls]
    decided, again = before.decide_many(urls), after.decide_many(urls)
    assert decided.keys.equals(again.keys)
    assert decided.rules.tolist() == again.rules.tolist()


def test_a_file_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    statistics = Statistics(3, 2, 1, examples=(("http://0.com/é", "b"),))
    rules = RuleSet([*some_rules(), Rule("0.com", {}, {Key("query", "s"): DROP}, statistics=statistics)])
    rules.save(str(tmp_path / "rules.bin"), {"learner": "tree"})
    rules.save(str(tmp_path / "rules.json"))
    (tmp_path / "rules.bin").rename(tmp_path / "other.json")
    mapped, listed = load_rules(tmp_path / "other.json"), load_rules(tmp_path / "rules.json")
    assert mapped == listed == rules
    assert next(iter(mapped)).statistics == statistics
    assert isinstance(mapped._store, MappedRules)
    assert mapped._store.about == {"learner": "tree"}
    assert mapped.normalize_many(URLS) == listed.normalize_many(URLS)
    assert mapped.explain(URLS[2]).to_dict() == listed.explain(URLS[2]).to_dict()


def test_mapped_rules_can_be_pickled() -> None:
    rules = RuleSet(MappedRules(dump_binary(some_rules()), "here"))
    copy = pickle.loads(pickle.dumps(rules))  # noqa: S301 - our own
    assert copy == rules
    assert copy.normalize_many(URLS) == rules.normalize_many(URLS)


def test_no_rules_at_all() -> None:
    rules = RuleSet(MappedRules(dump_binary([])))
    assert (len(rules), list(rules)) == (0, [])
    assert rules.normalize_many(["http://a.com"]) == ["http://a.com/"]


def apply_to_all(data: bytes) -> list[str]:
    rules = MappedRules(data, "rules.bin")
    made = Work(rules.compiled()).apply(*buffers(pa.array(URLS)), fetch=True, keys=True)
    rules.of_site("a.com")
    return [bytes(made.fetch[a:b]).decode() for a, b in zip(made.fetch_offsets, made.fetch_offsets[1:], strict=False)]


def test_a_damaged_file_is_refused_or_does_no_harm() -> None:
    good = dump_binary(some_rules())
    expected = apply_to_all(good)
    assert expected != URLS
    chance = random.Random(3)
    refused = 0
    for _ in range(3000):
        bad = bytearray(good)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        try:
            found = apply_to_all(bytes(bad))
        except InputError:
            refused += 1
        else:
            assert found == expected
    assert refused > 1000  # the rest were texts of rules that nobody asked for, or what lies between


@pytest.mark.parametrize("size", [0, 7, 8, 100, 500, 2000, -1])
def test_a_file_that_is_cut_short_is_refused(size: int) -> None:
    with pytest.raises(InputError, match=r"^rules\.bin: (not a rule file|damaged)"):
        MappedRules(dump_binary(some_rules())[:size], "rules.bin")


def test_another_version_is_refused() -> None:
    data = bytearray(dump_binary([]))
    struct.pack_into("<q", data, 8, 7)
    with pytest.raises(InputError, match="version 7; this undust reads version 1"):
        MappedRules(bytes(data), "rules.bin")


def test_a_rule_whose_text_is_damaged_is_refused_with_its_place() -> None:
    data = dump_binary(some_rules()[:1]).replace(b'"sid"', b'"s\xffd"').replace(b'"?sid"', b'"?s\xffd"')
    with pytest.raises(InputError, match="here: rule 1: "):
        list(MappedRules(data, "here"))


def test_hostile_words_are_proved_before_they_are_followed() -> None:
    """Change words at will and make their sums right again: they may say nonsense, but must not lead astray."""
    good = dump_binary(some_rules())
    start, size = _words_of(good)
    chance = random.Random(4)
    refused = 0
    for _ in range(4000):
        bad = bytearray(good)
        words = np.frombuffer(bad, np.int32, size // 4, start)
        used = len(words) - 40
        for _ in range(chance.choice([1, 1, 3])):
            value = chance.choice(
                [0, 1, -1, 2**31 - 1, -(2**31), chance.randrange(300), int(words[chance.randrange(used)])]
            )
            words[chance.randrange(1, used)] = value
        if _are_chained(words):
            seal_sites(words, words.view(np.uint8))
        try:
            apply_to_all(bytes(bad))
        except InputError:
            refused += 1
        except UnicodeDecodeError:
            pass  # a text that begins elsewhere
    assert 1000 < refused < 3900


def _words_of(data: bytes | bytearray) -> tuple[int, int]:
    header = binary._Header(*binary._FORMAT.unpack_from(data)[2:-1])
    return header.words, header.words_size


def _are_chained(words: np.ndarray) -> bool:
    place = 0
    while place < len(words) and words[place] > 0:
        place += int(words[place])
    return place <= len(words) - 16


def test_a_single_url_meets_damage_with_an_error() -> None:
    data = bytearray(dump_binary(some_rules()))
    start, _ = _words_of(data)
    data[start + 60] ^= 1
    single = Single(MappedRules(bytes(data), "rules.bin").compiled())
    with pytest.raises(InputError, match="damaged"):
        single.answer("http://a.com/?sid=1", 0)
    assert single.answer("http://c.com/", 0) == "http://c.com/"


def test_what_was_said_about_the_rules_is_kept_as_json() -> None:
    data = dump_binary([], {"learner": "both", "trained_on": 3})
    assert json.loads(json.dumps(MappedRules(data).about)) == {"learner": "both", "trained_on": 3}
