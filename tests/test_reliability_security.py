"""What is never done with data of strangers, and what is locked: read from the source, not from a promise."""

import ast
import functools
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "undust"

FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "os.tmpnam", "tempfile.mktemp", "os.tempnam",
    "pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "shelve.open", "dill.loads",
    "cloudpickle.load", "cloudpickle.loads", "yaml.load", "yaml.unsafe_load", "numpy.load", "np.load",
    "pandas.read_pickle",
    "joblib.load", "subprocess.getoutput", "subprocess.getstatusoutput", "ssl._create_unverified_context",
    "xml.etree.ElementTree.parse", "xml.etree.ElementTree.fromstring", "xml.dom.minidom.parseString", "xml.sax.parse",
}  # fmt: skip

ALLOWED = {
    ("crawl/spider.py", "subprocess.Popen of what is no list"): "a list with a name: our own module by our own Python",
}

MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "xml"}
MAY_IMPORT = {
    ("rules/exports/heritrix.py", "xml.sax.saxutils"): "escapes what is written",
    ("rules/exports/nutch.py", "xml.sax.saxutils"): "the same",
    ("rules/imports/nutch.py", "xml.etree"): "refuses a document type before it parses, so there are no entities",
    ("kernels/compiling.py", "pickle"): "names the error that Numba's own cache of machine code may raise",
}


def files() -> list[Path]:
    found = sorted(SOURCE.rglob("*.py"))
    assert len(found) > 300
    return found


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@functools.cache
def nodes(path: Path) -> tuple[list[ast.Call], list[ast.Import], list[ast.ImportFrom]]:
    """What is called and imported in a file."""
    found = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    return (
        [node for node in found if isinstance(node, ast.Call)],
        [node for node in found if isinstance(node, ast.Import)],
        [node for node in found if isinstance(node, ast.ImportFrom)],
    )


def found_in(path: Path) -> list[tuple[str, str, int]]:
    """What a file does of what is forbidden."""
    name = path.relative_to(SOURCE).as_posix() if path.is_relative_to(SOURCE) else path.name
    wrong = []
    for call in nodes(path)[0]:
        called = name_of(call.func)
        shell = any(each.arg == "shell" for each in call.keywords)
        if called in FORBIDDEN or shell:
            wrong.append((name, called, call.lineno))
        for each in call.keywords:
            loose = isinstance(each.value, ast.Constant) and each.value.value is True
            if each.arg == "allow_pickle" and loose:
                wrong.append((name, f"{called} with allow_pickle", call.lineno))
        if called in ("subprocess.run", "subprocess.Popen") and not isinstance(call.args[0], ast.List):
            wrong.append((name, f"{called} of what is no list", call.lineno))  # a string may be read by a shell
    return wrong


def test_nothing_in_the_source_runs_or_unpickles_data() -> None:
    wrong = [each for path in files() for each in found_in(path) if each[:2] not in ALLOWED]
    assert wrong == []


def test_each_exception_is_still_needed() -> None:
    there = {each[:2] for path in files() for each in found_in(path)}
    assert set(ALLOWED) <= there


def test_the_check_sees_what_it_should_see(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import pickle, subprocess, os, tempfile, numpy as np\n"
        "pickle.loads(b'')\neval('1')\nos.system('x')\ntempfile.mktemp()\n"
        "subprocess.run('ls', shell=True)\nsubprocess.run(name)\nnp.load('x', allow_pickle=True)\n"
        "subprocess.run(['ls'])\n"
    )
    assert sorted({line for _, _, line in found_in(bad)}) == [2, 3, 4, 5, 6, 7, 8]


def test_modules_that_run_what_they_read_are_not_imported() -> None:
    wrong: list[tuple[str, str]] = []
    for path in files():
        name = path.relative_to(SOURCE).as_posix()
        _, plain, froms = nodes(path)
        names = [each.name for node in plain for each in node.names] + [node.module or "" for node in froms]
        wrong += [(name, each) for each in names if each.split(".")[0] in MODULES]
    assert set(wrong) == set(MAY_IMPORT)


def test_numbers_on_disk_are_read_without_pickles() -> None:
    for path in files():
        for call in nodes(path)[0]:
            if name_of(call.func) in ("np.load", "numpy.load"):
                said = {each.arg: each.value for each in call.keywords}
                value = said.get("allow_pickle")
                assert isinstance(value, ast.Constant), f"{path.name}:{call.lineno}"
                assert value.value is False, f"{path.name}:{call.lineno}"


# Dependencies

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9_.-]+)==(?P<version>[^ ;\\]+)")


def requirements(path: Path) -> list[tuple[str, str]]:
    """Each requirement of a lock file: its first line, and all of its lines together."""
    found: list[tuple[str, str]] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith((" ", "\t")):
            first, rest = found[-1]
            found[-1] = (first, rest + line)
        elif line.strip() and not line.startswith("#"):
            found.append((line, line))
    return found


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_locked_requirement_has_one_version_and_hashes_and_names_no_host(path: Path) -> None:
    assert len(requirements(path)) > 1
    for first, whole in requirements(path):
        assert REQUIREMENT.match(first), first
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", whole), first
        assert "://" not in whole, first
        assert "--index-url" not in whole, first
        assert not first.startswith("-"), first


def test_the_makefile_installs_with_hashes_only() -> None:
    installs = [
        line for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if "install" in line and "-r" in line
    ]
    assert installs
    assert all("--require-hashes" in line for line in installs if "requirements" in line), installs


PERMISSIVE = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|Zlib|Unlicense|ZPL|CC0|0BSD|HPND", re.I
)
KNOWN_LICENCES = {
    "psycopg": "LGPL-3.0, used as it is: docs/dependencies.md",
    "psycopg-binary": "the same",
}


def licences(name: str) -> str:
    """All that a package says about its licence: expression, classifiers, and the first words of the text."""
    said: Any = metadata.metadata(name)
    classifiers = [each for each in said.get_all("Classifier") or [] if each.startswith("License ::")]
    named = said.get_all("License-Expression") or []
    return " ".join([*named, *classifiers, *(text[:200] for text in said.get_all("License") or [])])


def test_what_users_install_is_permissively_licensed() -> None:
    """Of the core and all extras, with what they need themselves, as far as it is installed here."""
    waiting = ["undust"]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        for line in metadata.requires(name) or []:
            if name != "undust" and "extra ==" in line:
                continue
            needed = re.match(r"[A-Za-z0-9_.-]+", line)
            assert needed, line
            normal = re.sub(r"[-_.]+", "-", needed[0]).lower()
            if normal in seen:
                continue
            try:
                metadata.version(normal)
            except metadata.PackageNotFoundError:
                continue  # for another system or version of Python
            seen.add(normal)
            waiting.append(normal)
    assert {"pyarrow", "numba", "click"} <= seen
    unknown = {
        name: licences(name) for name in seen if name not in KNOWN_LICENCES and not PERMISSIVE.search(licences(name))
    }
    assert unknown == {}
