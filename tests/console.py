"""Runs the commands that a page of the docs shows, and says what they print: python -m tests.console PAGE [--write]."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

TODAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
A_DAY = "2026-03-01"
"""What is shown as today."""
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)


def with_output(page: str, folder: Path) -> str:
    """Give a page with what its commands print now. They run in a folder, one after the other; Python code as well."""
    environment = _environment(folder)

    def shown(block: re.Match[str]) -> str:
        if block[1] == "python":
            _run([sys.executable, "-c", block[2]], folder, environment)
            return block[0]
        lines = (line for command in _commands(block[2]) for line in _told(command, folder, environment))
        return "```console\n" + "".join(f"{line}\n" for line in lines) + "```"

    return BLOCK.sub(shown, page)


def _commands(block: str) -> Iterator[str]:
    return (line[2:] for line in block.splitlines() if line.startswith("$ "))


def _told(command: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    yield f"$ {command}"
    yield from _run(["sh", "-c", command], folder, environment).splitlines()


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return TODAY.sub(A_DAY, done.stdout)


def _environment(folder: Path) -> dict[str, str]:
    """Let `undust` and `python` be those that run this, wherever they are installed."""
    programs = folder / ".bin"
    programs.mkdir()
    for name, command in (("python", f'"{sys.executable}"'), ("undust", f'"{sys.executable}" -m undust')):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    return os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "UNDUST_PROGRESS_SECONDS": "0",
        "LC_ALL": "C.UTF-8",
    }


if __name__ == "__main__":
    for name in sys.argv[1:]:
        if name != "--write":
            with tempfile.TemporaryDirectory() as scratch:
                now = with_output(Path(name).read_text(encoding="utf-8"), Path(scratch))
            print(now)
            if "--write" in sys.argv:
                Path(name).write_text(now, encoding="utf-8")
