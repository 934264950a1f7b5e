"""What tests share: the real data, and the system parts that some need."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("undust", deadline=None, print_blob=True)  # time never decides a test
settings.register_profile(
    "thorough", settings.get_profile("undust"), max_examples=20_000
)  # --hypothesis-profile thorough
# Where a change is judged, the same examples for everybody; at home, new ones each time.
settings.register_profile("ci", settings.get_profile("undust"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "undust")

# On a slow machine a line about progress would come between those that tests count.
os.environ["UNDUST_PROGRESS_SECONDS"] = "0"

SERVERS = os.pathsep.join(
    [os.environ.get("PATH", os.defpath), "/usr/sbin", *map(str, Path("/usr/lib/postgresql").glob("*/bin"))]
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SYSTEM_PARTS = {
    "java": (shutil.which("java"), "no Java runtime on this machine (Debian: openjdk-17-jre-headless)"),
    "chromium": (CHROMIUM, "no Chromium on this machine (Debian: chromium)"),
    "redis": (shutil.which("redis-server", path=SERVERS), "no Redis server on this machine (Debian: redis-server)"),
    "postgres": (shutil.which("postgres", path=SERVERS), "no PostgreSQL server on this machine (Debian: postgresql)"),
    "nginx": (shutil.which("nginx", path=SERVERS), "no nginx on this machine (Debian: nginx-light)"),
    "apache": (shutil.which("apache2", path=SERVERS), "no Apache on this machine (Debian: apache2)"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a missing system part, and say which."""
    for item in items:
        for part, (found, reason) in SYSTEM_PARTS.items():
            if item.get_closest_marker(part) and not found:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real crawls and URL lists, which is not part of the repository."""
    folder = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set UNDUST_SHARED to its folder")
    return folder


@pytest.fixture(scope="session")
def served_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the small crawl of `tests.serving`; to be copied by whoever changes it."""
    from tests.serving import make_run

    return make_run(tmp_path_factory.mktemp("served"))
