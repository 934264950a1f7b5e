"""Rules one by one: what each saves and loses, against counting by hand."""

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.cli import main
from undust.evaluate.by_rule import measure_rules
from undust.evaluate.measures import lost_clusters
from undust.evaluate.report import evaluate
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet

RULES = RuleSet(
    [
        read_line("h.com  //h.com/a?v={?}  →  //h.com/a"),
        read_line("h.com  //h.com/{?}?s={?}  →  //h.com/{?}"),
    ]
)


def table(*rows: tuple[str, str]) -> pa.Table:
    return pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})


def test_each_rule_is_told_with_what_it_saves_and_loses() -> None:
    clusters = table(
        ("http://h.com/a?v=1", "a"),
        ("http://h.com/a?v=2", "a"),
        ("http://h.com/a?v=3", "other"),
        ("http://h.com/b?s=1", "b"),
        ("http://h.com/b?s=2", "b"),
        ("http://i.com/b?s=2", "c"),
    )
    report = evaluate(RULES, clusters)
    first, second = report.by_rule
    assert (first.coverage, first.saved, first.support, first.false_positives, first.clusters_lost) == (3, 2, 1, 2, 1)
    assert first.fpr == 2 / 3
    assert first.precision == 1 / 3
    assert (second.coverage, second.saved, second.support, second.false_positives) == (2, 1, 1, 0)
    assert [each["rule"] for each in report.to_dict()["by_rule"]] == list(map(str, RULES))


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 4), st.integers(0, 4)), max_size=20))
def test_rules_are_counted_as_by_hand(rows: list[tuple[int, int, int]]) -> None:
    decided, keys, names = (np.array([row[place] for row in rows], np.int64) for place in range(3))
    _, clusters = np.unique(names, return_inverse=True)
    lost = lost_clusters(keys, clusters)
    kept = set()
    for key in set(keys.tolist()):
        counts = Counter(clusters[keys == key].tolist())
        kept.add(min(counts, key=lambda each: (-counts[each], each)))
    assert np.flatnonzero(lost).tolist() == sorted(set(clusters.tolist()) - kept)
    found = measure_rules([("r", "h")] * 3, decided, keys, clusters, lost)
    for place, told in enumerate(found):
        mine = set(keys[decided == place].tolist())
        pairs = [(a, b) for a, b in combinations(range(len(rows)), 2) if keys[a] == keys[b] and int(keys[a]) in mine]
        good = sum(bool(clusters[a] == clusters[b]) for a, b in pairs)
        assert (told.support, told.false_positives) == (good, len(pairs) - good)
        assert told.saved == sum(int((keys == key).sum()) - 1 for key in mine)
        assert told.coverage == int((decided == place).sum())
        assert told.clusters_lost == len({int(clusters[i]) for i in range(len(rows)) if decided[i] == place} - kept)


def test_the_command_line_tells_rules_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RULES.save(str(tmp_path / "r.json"))
    (tmp_path / "c.tsv").write_text("url\tcluster\nhttp://h.com/a?v=1\ta\nhttp://h.com/a?v=2\ta\nnothing\tb\n")
    assert main(["evaluate", str(tmp_path / "r.json"), str(tmp_path / "c.tsv")]) == 0
    out = capsys.readouterr().out
    assert "decides 2, saves 1" in out
    assert "1 URLs cannot be parsed" in out
