"""The docs say what is true: their commands run, their pages are complete, their links lead somewhere."""

import importlib
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from tests.console import with_output
from undust import cli, errors, tables
from undust.detect.pages import PageFingerprints
from undust.urls.normalize import PRESETS, STANDARD

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SAMPLE = resources.files("undust") / "data" / "sample.warc.gz"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def test_generated_pages_are_as_the_code_would_write_them() -> None:
    generate = importlib.import_module("docs.generate")
    for name, page in generate.PAGES.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(), f"run: python -m docs.generate ({name})"


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    shutil.copy(str(SAMPLE), tmp_path / "crawl.warc.gz")
    (tmp_path / "urls.txt").write_text("HTTP://a.test\n")
    commands = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    ran = [line.replace("undust", f"{sys.executable} -m undust", 1) for line in commands if line.startswith("undust")]
    assert len(ran) >= 3
    for command in ran:
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "clusters.tsv").read_text().startswith("url\tcluster\n")
    assert (tmp_path / "one.txt").read_text() == "http://a.test/\n"


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(str(SAMPLE), tmp_path / "crawl.warc.gz")
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(ROOT / "README.md", "python")
    exec(code, {})  # noqa: S102 - our own README


def test_the_tutorial_prints_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert page.count("$ undust") > 5
    assert with_output(page, tmp_path) == page, "run: python -m tests.console docs/tutorial.md --write"


def test_the_pages_make_a_site(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "-q", "-d", str(tmp_path / "doctrees")]
    command += [str(ROOT / "docs"), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    for page in (ROOT / "docs").rglob("*.md"):
        html = (tmp_path / "site" / page.relative_to(ROOT / "docs").with_suffix(".html")).read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*\b(?:src|href)=[\"'](https?:)?//", html)
        assert not loaded, page  # nothing comes from elsewhere


def test_every_word_of_the_code_is_in_the_glossary() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = ["page", "text", "fingerprint", "pair", "cluster", "keeper", "site", "key", "value"]
    words += ["rule", "context", "operation", "coverage", "support"]
    assert [word for word in words if not re.search(rf"\b{word}", page)] == []


def test_the_make_targets_of_the_docs_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        for block in blocks(page, "sh"):
            assert set(re.findall(r"^make ([a-z]+)", block, re.MULTILINE)) <= targets, page
    assert {"demo", "test"} <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_is_documented(verb: str) -> None:
    assert f"## undust {verb}\n" in (ROOT / "docs" / "cli.md").read_text()


def test_every_error_is_in_the_tree() -> None:
    for name, error in inspect.getmembers(errors, inspect.isclass):
        assert re.search(rf"(├── |└── |^){name}\b", errors.__doc__ or "", re.MULTILINE), name
        assert issubclass(error, errors.UndustError)


def test_every_step_and_preset_is_documented() -> None:
    page = (ROOT / "docs" / "urls.md").read_text(encoding="utf-8")
    for step in STANDARD:
        assert f"`{step.__name__}`" in page
    for preset in PRESETS.keys() - {"standard"}:
        assert f"`{preset}`" in page


def test_every_column_is_documented() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for name in PageFingerprints().schema.names + tables.CLUSTERS.names:
        assert f"`{name}`" in page


def test_every_dependency_has_its_reason() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        assert re.search(rf"^\|.*\b{re.split('[>=<]', requirement)[0]}\b", page, re.MULTILINE), requirement
    for extra in project["optional-dependencies"]:
        assert f"| `{extra}` |" in page


def test_the_changelog_names_every_verb() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert all(f"`undust {verb}`" in changes for verb in cli.VERBS)


def test_no_file_is_larger_than_one_can_read() -> None:
    for file in (ROOT / "src").rglob("*.py"):
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 320, file


def test_locks_name_no_index() -> None:
    for lock in (ROOT / "requirements").glob("*.txt"):
        text = lock.read_text()
        assert "://" not in text
        assert "--hash=sha256:" in text
