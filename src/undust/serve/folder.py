"""What a folder that `undust run` wrote holds; it need not hold all of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from undust.errors import InputError
from undust.run.flow import CLUSTERS, EVALUATION, PAGES, RULES
from undust.run.state import STATE

_MAX_JSON_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder with a run. No name that comes from outside is ever joined to its path."""

    path: Path

    @property
    def pages(self) -> Path:
        """Fingerprints of the pages."""
        return self.path / PAGES

    @property
    def clusters(self) -> Path:
        """Which URLs lead to the same page."""
        return self.path / CLUSTERS

    @property
    def rules(self) -> Path:
        """The rules, which are also written."""
        return self.path / RULES

    def found(self) -> list[str]:
        """Name the files of a run that there are."""
        return [name for name in (PAGES, CLUSTERS, RULES, EVALUATION) if (self.path / name).is_file()]

    def evaluation(self) -> dict[str, Any] | None:
        """Give what rules save and lose, if it was measured."""
        return self._json(EVALUATION)

    def steps(self) -> dict[str, Any]:
        """Give what the steps of the run told."""
        steps = (self._json(STATE) or {}).get("steps")
        told = {name: step.get("told") for name, step in steps.items()} if isinstance(steps, dict) else {}
        return {name: each for name, each in told.items() if isinstance(each, dict)}

    def _json(self, name: str) -> dict[str, Any] | None:
        try:
            file = self.path / name
            found = orjson.loads(file.read_bytes()) if file.stat().st_size <= _MAX_JSON_BYTES else None
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def open_folder(path: str) -> RunFolder:
    """Open the folder of a run; `InputError` where there is none."""
    folder = Path(path)
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise InputError(f"{path}: {what}; give the folder that undust run -o wrote")
    found = RunFolder(folder.resolve())
    if not found.found():
        raise InputError(
            f"{path}: not a folder of undust run: no {PAGES}, {CLUSTERS} or {RULES} there; give what run -o wrote"
        )
    return found
