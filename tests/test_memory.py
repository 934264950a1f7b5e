"""The limit of memory is kept, and a limit that cannot be kept is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from undust import memory
from undust.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("2g", 2 * 10**9),
        ("1.5 GiB", 3 * 2**29),
        ("750MB", 750 * 10**6),
        ("64kib", 65536),
        ("123", 123),
        (4096, 4096),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str | int, size: int) -> None:
    assert memory.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "much", "-1GB", "0", "2XB", "1e9", "2 G B"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no size; write it like 2GB"):
        memory.parse_size(text)


def test_by_default_a_share_of_the_machine_is_used() -> None:
    assert 10**8 < memory.usable_bytes() < 2**50
    assert memory.working_bytes(None, 0, "pages") <= memory.usable_bytes()


def test_a_limit_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(UsageError, match=r"7 pages need [0-9.]+ GB of memory at least; give --memory [0-9.]+GB"):
        memory.working_bytes("1MB", 0, "7 pages")
    assert memory.working_bytes("100TB", 10**12, "pages") < 99 * 10**12


ROWS = 200_000
LIMIT_MB = 700


def test_a_process_stays_under_the_limit_it_was_given(tmp_path: Path) -> None:
    """Signatures and shingles of 300 MB, beside the 300 MB of a process that has done nothing yet."""
    command = [
        sys.executable,
        "-m",
        "tests.cluster_memory",
        str(tmp_path / "pages.parquet"),
        str(ROWS),
        f"{LIMIT_MB}MB",
    ]
    done = subprocess.run(command, capture_output=True, timeout=240, check=True, cwd=Path(__file__).parents[1])
    limited, free = (json.loads(line) for line in done.stdout.splitlines())
    assert limited["clusters"] == free["clusters"] == ROWS - ROWS // 10
    assert limited["peak_mb"] < LIMIT_MB
    assert free["peak_mb"] > limited["peak_mb"]
