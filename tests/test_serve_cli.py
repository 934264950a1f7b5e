"""`undust serve` as a command: it says where it is, ends when told to, and says in one line what is wrong."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from undust import cli

START = [sys.executable, "-m", "undust", "serve"]


def test_it_prints_its_address_answers_and_ends_cleanly_on_an_interrupt(served_run: Path) -> None:
    command = [*START, str(served_run), "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        assert httpx.get(f"{address}health").json()["ok"]
        assert httpx.get(address).headers["content-type"].startswith("text/html")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr.read() == ""


def test_what_is_wrong_is_said_in_one_line(
    served_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for arguments, code, words in (
            ([str(tmp_path / "none")], 1, "no such folder"),
            ([str(tmp_path)], 1, "not a folder of undust run"),
            ([str(served_run / "rules.json")], 1, "not a folder"),
            ([str(served_run), "--port", port], 1, "in use; give another one with --port"),
            ([str(served_run), "--host", "no.such.name.invalid"], 2, "no address of this machine"),
            ([str(served_run), "--port", "70000"], 2, "70000"),
        ):
            assert cli.main(["serve", *arguments]) == code
            said = capsys.readouterr()
            assert words in said.err
            assert "Traceback" not in said.err
            assert said.out == ""


def test_a_rule_file_that_is_none_is_refused_at_the_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.json").write_text("{}")
    assert cli.main(["serve", str(tmp_path), "--port", "0"]) == 1
    assert "not a rule file" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(served_run: Path, tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text("raise ImportError('no fastapi', name='fastapi')")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*START, str(served_run)], env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "undust: undust serve needs fastapi; install undust[serve]\n"
