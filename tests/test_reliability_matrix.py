"""What writes is killed, starved of room, refused and disturbed: its outputs are the old ones or the new ones.

`python -m tests.reliability --kills 100` kills each verb before every change it makes to files, and as often at random.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.verbs import VERBS

ROOT = Path(__file__).parents[1]
LONG = int(os.environ.get("UNDUST_KILLS", "0"))


@pytest.fixture(scope="module")
def tried() -> dict[str, dict[str, Any]]:
    """One process imports and compiles everything once, and forks for each fault."""
    options = ["--kills", str(LONG)] if LONG else ["--points", "3"]
    command = [sys.executable, "-m", "tests.reliability", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    print(sum(each["kills"] for each in found), "kills")
    return {each["verb"]: each for each in found}


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_outputs_are_old_or_new_whatever_happens_and_a_rerun_finishes(
    tried: dict[str, dict[str, Any]], verb: str
) -> None:
    found = tried[verb]
    assert found["wrong"] == []
    assert found["kills"] >= 2  # one that never came to a change was not tried
    assert found["full"] >= 1
    assert found["refused"] == found["pairs"] == 1
