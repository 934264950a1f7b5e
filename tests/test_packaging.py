"""What users install: a wheel with all that it needs and nothing else, whose core works without any extra."""

import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_BYTES = 5_000_000

ALONE = """
import importlib.abc, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError("not installed: " + name, name=name)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, {wheel!r})
import undust
assert undust.__file__.startswith({wheel!r}), undust.__file__
from undust.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True, capture_output=True
    )
    (found,) = folder.glob("*.whl")
    (source,) = folder.glob("*.tar.gz")
    assert source.stat().st_size < MOST_BYTES
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    return folder


def test_a_wheel_is_small_and_has_types_sample_and_pages(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert {"undust/py.typed", "undust/data/sample.warc.gz"} <= set(names)
    assert any(re.fullmatch(r"undust/serve/page/.*\.js", name) for name in names)
    assert any(re.fullmatch(r"undust/run/html/assets/.*\.css", name) for name in names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"undust"}
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]


def test_the_version_is_that_of_the_metadata(wheel: Path) -> None:
    version = re.match(r"undust-([^-]+)-", wheel.name)
    assert version is not None
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", version[1])


def core_only() -> frozenset[str]:
    """Modules that whoever installs undust without extras does not have."""
    core = set(re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements" / "core.txt").read_text(), re.MULTILINE))
    return frozenset(
        module
        for module, packages in metadata.packages_distributions().items()
        if not {name.lower().replace("_", "-") for name in packages} & {*core, "undust", "numpy"}
    )


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["--version"], "undust "),
        (["normalize", "HTTP://h.com/a/../?b=1"], "http://h.com/?b=1\n"),
        (["normalize", "-r", "rules.json", "http://h.com/?sid=1"], "http://h.com/\n"),
        (["export", "rules.json", "--to", "regex", "-o", "-"], "pattern,replacement"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_the_core_works_without_extras_and_compiles_nothing_for_one_url(
    installed: Path, tmp_path: Path, arguments: list[str], printed: str
) -> None:
    (tmp_path / "rules.json").write_text(
        '{"version": 1, "rules": [{"site": "h.com", "context": {}, "operations": [{"key": "?sid", "op": "drop"}]}]}'
    )
    code = ALONE.format(missing=core_only() | {"numba"}, wheel=str(installed))
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed)
