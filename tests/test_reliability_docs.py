"""The tests that docs/reliability.md names are there."""

import re
from pathlib import Path

from tests.reliability.verbs import VERBS

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs" / "reliability.md").read_text("utf-8")


def test_every_test_that_is_named_exists() -> None:
    there = {path.stem for path in HERE.glob("test_*.py")}
    for path in HERE.glob("test_*.py"):
        there |= set(re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 40
    assert sorted(named - there) == []


def test_every_verb_that_writes_is_in_the_table() -> None:
    from undust.cli import VERBS as ALL

    reading = {"evaluate", "normalize", "explain", "rules", "demo"}  # demo is fingerprint, cluster and learn
    table = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    assert [verb for verb in ALL if verb not in reading and f"`{verb}`" not in table] == []
    tried = " ".join(verb.name for verb in VERBS)
    elsewhere = {"crawl"}
    assert [verb for verb in ALL if verb not in reading | elsewhere and verb not in tried] == []
