"""What is on its way to an output: somebody's while its process lives, nobody's and gone when that is dead."""

import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from undust import asides
from undust.asides import aside_folder, only_one, open_aside, put_folder, scratch_folder
from undust.errors import UsageError
from undust.outputs import write_whole

OPEN_AND_DIE = """
import os, signal, sys
from pathlib import Path
from undust.asides import aside_folder, open_aside, scratch_folder
target = sys.argv[1]
file, _ = open_aside(target)
file.write(b"half"); file.flush()
with aside_folder(Path(target + ".d")) as folder, scratch_folder(Path(target).parent) as scratch:
    (folder / "part").write_bytes(b"half")
    (scratch / "spilled").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_kills_leave_behind_does_not_grow_and_goes_with_the_next_output(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    for _ in range(3):
        assert (
            subprocess.run([sys.executable, "-c", OPEN_AND_DIE, str(target)], check=False).returncode == -signal.SIGKILL
        )
        assert len(names(tmp_path)) == 3  # a file, a folder, a folder for what is spilled: of the last one only
    write_whole(target, b"whole")
    with aside_folder(tmp_path / "a.json.d"), scratch_folder(tmp_path):
        pass
    assert names(tmp_path) == ["a.json"]


def test_what_is_somebodys_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    file, aside = open_aside(str(target))
    with file, aside_folder(tmp_path / "a.json") as folder, scratch_folder(tmp_path) as scratch:
        write_whole(target, b"another's")
        with aside_folder(tmp_path / "a.json"), scratch_folder(tmp_path):
            assert Path(aside).exists()
            assert folder.exists()
            assert scratch.exists()
        Path(aside).replace(target)
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize(
    "name", ["a.json.part", ".b.json.12345678.part", ".a.json.1234567.part", ".a.json.12345678.partly"]
)
def test_what_only_looks_like_it_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"precious")
    write_whole(tmp_path / "a.json", b"whole")
    assert names(tmp_path) == sorted([name, "a.json"])


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(b"precious")
    (tmp_path / f"{asides.SCRATCH}12345678").symlink_to(precious)
    with scratch_folder(tmp_path):
        pass
    assert names(precious) == ["file"]


def test_one_at_a_time_may_work_in_a_folder(tmp_path: Path) -> None:
    with only_one(tmp_path), pytest.raises(UsageError, match="another process"), only_one(tmp_path):
        pass
    with only_one(tmp_path):
        pass


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(asides, "_exchange", lambda one, other: False)
    target = tmp_path / "out"
    for content in (b"old", b"new"):
        with aside_folder(target) as folder:
            (folder / "part").write_bytes(content)
            put_folder(folder, target)
        assert names(tmp_path) == ["out"]
        assert (target / "part").read_bytes() == content


def _look(target: str, rounds: int, told: "multiprocessing.Queue[int]") -> None:
    absent = 0
    for _ in range(rounds):
        try:
            Path(target).stat()
        except FileNotFoundError:
            absent += 1
    told.put(absent)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="two names change places in one step on Linux only")
def test_a_folder_is_there_at_every_moment_while_it_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[int] = context.Queue()
    write_folder(target, b"old")
    reader = context.Process(target=_look, args=(str(target), 2_000, told))
    reader.start()
    while reader.is_alive() and told.empty():
        write_folder(target, b"new")
    assert told.get() == 0
    reader.join()


def write_folder(target: Path, content: bytes) -> None:
    with aside_folder(target) as folder:
        (folder / "part").write_bytes(content)
        put_folder(folder, target)
