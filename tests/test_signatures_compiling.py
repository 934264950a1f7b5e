"""Kernels compile once and load from disk, wherever that can be written, and run where it cannot."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xxhash

import undust
import undust.kernels.words
from undust.kernels.compiling import source_stamp
from undust.kernels.compiling_beside import SLOWEST

SOURCE = Path(undust.__file__).parent
WORD = xxhash.xxh3_64_intdigest(b"word")
ASK = """
from undust.kernels.compiling import announce
announce(lambda: print("compiling"))
import numpy as np, undust.kernels.hashing as hashing, sys
hashes = np.zeros(1, np.uint64)
hashing.hash_words(np.frombuffer(b"word", np.uint8), np.array([0, 4]), np.zeros(144, np.uint8), hashes)
print(hashing.__file__, hex(int(hashes[0])))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the package with nothing compiled."""
    package = tmp_path / "site" / "undust"
    shutil.copytree(SOURCE / "kernels", package / "kernels", ignore=shutil.ignore_patterns("__pycache__", "html*"))
    for name in ("__init__.py", "settings.py"):
        shutil.copy(SOURCE / name, package / name)
    return package


def ask(package: Path, **environment: str) -> list[str]:
    """Hash a word in a fresh process; tell whether anything was compiled, then where and what."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "PYTHON"))}
    settings = {"PYTHONPATH": str(package.parent), "HOME": str(package.parent / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [sys.executable, "-c", ASK], env=keep | settings | environment, capture_output=True, text=True, check=True
    )
    lines = run.stdout.splitlines()
    assert lines[-1] == f"{package / 'kernels' / 'hashing.py'} 0x{WORD:x}"
    return lines[:-1]


def test_the_first_run_compiles_and_says_so_and_the_next_does_not(installed: Path) -> None:
    assert ask(installed) == ["compiling"]
    assert list((installed / "kernels" / "__pycache__").glob("hashing.hash_words*.nbi"))
    assert ask(installed) == []


def test_a_change_in_a_file_that_a_kernel_takes_parts_from_compiles_it_again(installed: Path) -> None:
    ask(installed)
    compiling = installed / "kernels" / "compiling.py"
    compiling.write_text(compiling.read_text("utf-8") + "\n", "utf-8")
    assert ask(installed) == ["compiling"]
    assert ask(installed) == []


def test_a_folder_that_cannot_be_written_leaves_the_users_cache(installed: Path) -> None:
    # A file in the way is what even the administrator cannot write a folder over.
    (installed / "kernels" / "__pycache__").write_text("in the way")
    assert ask(installed) == ["compiling"]
    assert list((installed.parent / "home").rglob("hashing.hash_words*.nbi"))
    assert ask(installed) == []


def test_where_nothing_can_be_written_kernels_run_all_the_same(installed: Path) -> None:
    (installed / "kernels" / "__pycache__").write_text("in the way")
    (installed.parent / "home").write_text("in the way too")
    assert ask(installed) == ["compiling"]
    assert ask(installed) == ["compiling"]


def test_damaged_files_in_the_cache_are_replaced(installed: Path) -> None:
    ask(installed)
    for kept in (installed / "kernels" / "__pycache__").glob("hashing.*.nb?"):
        kept.write_bytes(kept.read_bytes()[:40])
    assert ask(installed) == ["compiling"]
    assert ask(installed) == []


BESIDE = """
from undust.kernels.compiling_beside import compile_beside
helpers = compile_beside(["undust.kernels.union_find", "undust.kernels.lexicon"], processors=3)
import undust.kernels.hashing
print(*[helper.wait() for helper in helpers])
"""


def test_other_processors_compile_too_while_something_has_to_be_compiled(installed: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(installed.parent), "PYTHONDONTWRITEBYTECODE": "1"}

    def helped() -> str:
        done = subprocess.run(
            [sys.executable, "-c", BESIDE], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert helped() == "0 0"
    for name in ("union_find.join_pairs", "lexicon.give_codes", "hashing.hash_words"):
        assert list((installed / "kernels" / "__pycache__").glob(f"{name}*.nbi")), name
    assert helped() == ""


def test_the_modules_that_are_slowest_to_compile_are_there() -> None:
    assert all(importlib.util.find_spec(name) for name in SLOWEST)


def test_the_stamp_of_a_module_covers_what_it_imports_from() -> None:
    names = {name.rpartition(".")[2] for name, _, _ in source_stamp(undust.kernels.words.__name__)}
    assert names == {"words", "characters", "compiling", "hashing", "unicode_tables"}
