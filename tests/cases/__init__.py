"""Tables of cases as data: one JSON object a line, with the reason for the case."""

import json
from pathlib import Path
from typing import Any


def load(name: str) -> list[dict[str, Any]]:
    """Read a table of cases."""
    text = (Path(__file__).parent / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
