"""Progress: what is said of long work on a terminal and in a log, and that it is nothing when nobody wants it."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from undust.cli.talk import progress, working
from undust.cli.watching import Standing
from undust.corpus import Tally
from undust.memory import held_bytes

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")

SAID = [
    # total, done, count, seconds, what is said
    (1000, 250, 500, 10.0, ["25%", "500 pages", "50 pages/s", "0:30 left", "2.5 GB"]),
    (1000, 0, 0, 3.0, ["0%", "0:03", "2.5 GB"]),
    (1000, 1000, 90, 60.0, ["100%", "90 pages", "1.5 pages/s", "1:00", "2.5 GB"]),
    (1000, 2000, 90, 60.0, ["100%", "90 pages", "1.5 pages/s", "1:00", "2.5 GB"]),  # more than anybody knew of
    (None, 100, 7, 3700.0, ["7 pages", "0.0 pages/s", "1:01:40", "2.5 GB"]),
    (None, 0, 0, 0.0, ["0:00", "2.5 GB"]),
]


@pytest.mark.parametrize(("total", "done", "count", "seconds", "said"), SAID)
def test_what_is_known_is_said(total: int | None, done: int, count: int, seconds: float, said: list[str]) -> None:
    assert Standing("x", "pages", total, done, count, 0.0).parts(seconds, 2_500_000_000) == said


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], threading.Event]:
    """Catch the lines for a log, which come at once; and an event that says that some have come."""
    caught: list[str] = []
    some = threading.Event()

    def say(message: str, *, quiet: bool = False) -> None:
        caught.append(message)
        some.set()

    monkeypatch.setenv("UNDUST_PROGRESS_SECONDS", "0.001")
    monkeypatch.setattr("undust.cli.talk.say", say)
    return caught, some


def test_a_log_gets_plain_lines(lines: tuple[list[str], threading.Event], tmp_path: Path) -> None:
    caught, some = lines
    file = tmp_path / "a"
    file.write_bytes(b"x" * 1000)
    with progress([str(file)], quiet=False) as moved:
        moved(Tally(pages=5, bytes=500))
        some.clear()
        assert some.wait(60)
    assert caught[-1].startswith("reading: 50%, 5 pages, ")
    assert caught[-1].endswith((" MB", " GB"))  # of all this process holds, which other tests add to
    assert " left, " in caught[-1]


def test_work_that_cannot_tell_how_far_it_is_says_for_how_long(lines: tuple[list[str], threading.Event]) -> None:
    caught, some = lines
    with working("clusters", quiet=False):
        assert some.wait(60)
    assert caught[0].startswith("clusters: 0:0")
    after = len(caught)
    assert not [thread for thread in threading.enumerate() if thread.name == "undust-progress"]
    assert len(caught) == after


@pytest.mark.parametrize("watch", [lambda: progress(["-"], quiet=True), lambda: working("x", quiet=True)])
def test_quiet_is_quiet(lines: tuple[list[str], threading.Event], watch: Callable[[], object]) -> None:
    caught, _ = lines
    with watch() as moved:  # type: ignore[attr-defined] # both are contexts
        assert callable(moved)
        assert not [thread for thread in threading.enumerate() if thread.name == "undust-progress"]
    assert caught == []


def test_a_log_that_wants_no_lines_gets_none(
    lines: tuple[list[str], threading.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNDUST_PROGRESS_SECONDS", "0")
    with working("x", quiet=False):
        assert not [thread for thread in threading.enumerate() if thread.name == "undust-progress"]
    assert lines[0] == []


def test_an_error_ends_the_lines(lines: tuple[list[str], threading.Event]) -> None:
    with pytest.raises(ValueError, match="broken"), working("x", quiet=False):
        raise ValueError("broken")
    assert not [thread for thread in threading.enumerate() if thread.name == "undust-progress"]


def test_a_terminal_shows_stage_rate_and_memory_and_is_left_clean(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "undust", "fingerprint", SAMPLE, "-o", str(tmp_path / "p.parquet"), "--exact-only"],
        stderr=theirs, stdout=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # the terminal is closed
            break
        if not some:
            break
        shown += some
    os.close(ours)
    assert process.wait(120) == 0
    text = shown.decode()
    assert "reading" in text
    assert "pages/s" in text
    assert " MB" in text
    assert text.rstrip().endswith("299 pages of 299 records")


def test_memory_counts_processes_that_were_started() -> None:
    alone = held_bytes()
    assert alone > 10_000_000
    command = [sys.executable, "-c", "x = b'x' * 200_000_000; print('there', flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        assert held_bytes() > alone + 100_000_000
        process.communicate(b"\n")
