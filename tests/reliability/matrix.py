"""Tries one verb with every fault: after each, outputs are those of before or those of after; a rerun finishes."""

import json
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.reliability.children import Child, End, Fault, try_first
from tests.reliability.verbs import VARYING, Verb
from undust.index.manifest import read_manifest

View = dict[str, bytes]
"""What is in a folder, by path."""

FULL = (0, 40, 400, 4_000)
"""Bytes after which a disk is full."""


@dataclass(slots=True)
class Tried:
    """What was done to a verb, and what was wrong after it."""

    kills: int = 0
    full: int = 0
    refused: int = 0
    pairs: int = 0
    wrong: list[str] = field(default_factory=list)


class Case:
    """One verb in a folder of its own, with what it makes of the older and of the newer inputs."""

    def __init__(self, verb: Verb, world: Path, folder: Path) -> None:
        self.verb = verb
        self.folder = folder
        self.tried = Tried()
        self._before = folder.with_name(f"{folder.name}.before")
        shutil.copytree(world, folder)
        for name in ("out", "tmp"):
            (folder / name).mkdir()
        (folder / "tmp").chmod(0o777)
        self.nothing = self._view()
        self._must(try_first(lambda: verb.call("old"), folder))
        self.old = self._view()
        shutil.copytree(folder, self._before, copy_function=shutil.copy2)
        begun = time.monotonic()
        self.changes = self._must(self._run("new")).changes
        self.seconds = time.monotonic() - begun
        self.new = self._view()
        # Once more from nothing: the same outputs, or they could not be told from half ones.
        self._reset(fresh=True)
        self._must(self._run("new"))
        self._expect(self._view() == self.new or self.verb.name == "index", "two runs differ")

    def kill_everywhere(self) -> None:
        """Kill it before each change of a file, with and without older outputs."""
        for at in range(self.changes):
            self._kill_at(at, fresh=False)
            self._kill_at(at, fresh=True)

    def kill_here_and_there(self, points: int) -> None:
        """Kill it before so many of its changes: the first, the last and some between, in turns on older outputs."""
        for number in range(points):
            self._kill_at(number * (self.changes - 1) // (points - 1), fresh=number % 2 == 1)

    def _kill_at(self, at: int, *, fresh: bool) -> None:
        self._reset(fresh=fresh)
        end = self._run("new", Fault(kill_at=at))
        self.tried.kills += end.code < 0
        self._judge(f"killed before change {at} of {self.changes}, fresh={fresh}", fresh=fresh)

    def kill_at_random(self, times: int, seed: int) -> None:
        """Kill it at any moment."""
        chance = random.Random(seed)
        for _ in range(times):
            fresh = chance.random() < 0.3
            self._reset(fresh=fresh)
            child = Child(lambda: self.verb.call("new"), self.folder)
            time.sleep(chance.uniform(0, 1.1 * self.seconds))  # the moment to kill it, not a wait for something
            child.kill()
            self.tried.kills += child.end().code < 0
            self._judge("killed at random", fresh=fresh)

    def fill_the_disk(self, sizes: Sequence[int] = FULL) -> None:
        """Let no file become longer than so much."""
        for most in sizes:
            self._reset()
            end = self._run("new", Fault(most_bytes=most))
            self.tried.full += end.code != 0
            self._one_line(end, f"no room after {most} bytes")
            self._judge(f"no room after {most} bytes", leftovers=False)

    def refuse(self) -> None:
        """Let it work where it may read but not write."""
        self._reset()
        (self.folder / "out").chmod(0o555)
        end = self._run("new", Fault(stranger=True))
        (self.folder / "out").chmod(0o755)
        self.tried.refused += 1
        self._one_line(end, "no right to write")
        self._expect(self._view() == self.old, "no right to write: something was written")

    def pair(self) -> None:
        """Let two do the same at once."""
        self._reset()
        ends = [child.end() for child in [Child(lambda: self.verb.call("new"), self.folder) for _ in range(2)]]
        self.tried.pairs += 1
        told = " | ".join(end.said.strip()[-200:] for end in ends)
        self._expect(any(end.code == 0 for end in ends), f"two at once: neither ended well: {told}")
        if self.verb.shares:
            self._expect(all(end.code == 0 for end in ends), f"two at once: one failed: {told}")
        for end in ends:
            self._one_line(end, "two at once")
        self._judge("two at once", leftovers=False)

    # ------------------------------------------------------------ what must hold

    def _judge(self, what: str, *, fresh: bool = False, leftovers: bool = True) -> None:
        before = self.nothing if fresh else self.old
        found = self._view()
        for path in before.keys() | self.new.keys():
            if _index_of(self.verb, path):
                continue  # many files are one index: it is the rerun that shows whether it is whole
            whole = (before.get(path), self.new.get(path))
            self._expect(found.get(path) in whole, f"{what}: {path} is neither the old nor the new one")
        if not leftovers:
            extra = {path for path in found.keys() - before.keys() - self.new.keys() if not _kept(self.verb, path)}
            self._expect(not extra, f"{what}: left {extra}")
        end = self._run("new")
        self._expect(end.code == 0, f"{what}: the rerun failed: {end.said[-300:]}")
        found = self._view()
        if self.verb.name == "index":
            named = {f"out/index/{name}" for name in read_manifest(self.folder / "out" / "index").files()}
            self._expect(named >= found.keys(), f"{what}: after the rerun there is {found.keys() - named}")
            return
        self._expect(found.keys() == self.new.keys(), f"{what}: after the rerun {found.keys() ^ self.new.keys()}")
        wrong = [path for path in self.new if found.get(path) != self.new[path]]
        self._expect(not wrong, f"{what}: after the rerun {wrong} differ")

    def _one_line(self, end: End, what: str) -> None:
        lines = end.said.strip().splitlines() or [""]
        good = not end.code or (end.code in (1, 2) and lines[-1].startswith("undust: ") and "Traceback" not in end.said)
        self._expect(good, f"{what}: exit code {end.code}, {end.said.strip()[-600:]!r}")

    def _expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.tried.wrong.append(f"{self.verb.name}: {what}")

    def _must(self, end: End) -> End:
        assert end.code == 0, f"{self.verb.name}: {end.said}"
        return end

    def _run(self, state: str, fault: Fault = Fault()) -> End:  # noqa: B008 - it is frozen
        return Child(lambda: self.verb.call(state), self.folder, fault).end()

    def _reset(self, *, fresh: bool = False) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self._before, self.folder, copy_function=shutil.copy2)
        if fresh:
            shutil.rmtree(self.folder / "out")
            (self.folder / "out").mkdir()

    def _view(self) -> View:
        files = (path for place in ("out", "tmp") for path in (self.folder / place).rglob("*") if not path.is_dir())
        return {str(path.relative_to(self.folder)): _whole(path) for path in files}


def _whole(path: Path) -> bytes:
    """Give what a file holds; of those that tell when they were made, whether they are whole."""
    data = path.read_bytes()
    if path.name not in VARYING:
        return data
    if path.suffix == ".json":
        json.loads(data)
    elif path.suffix == ".html":
        assert data.rstrip().endswith(b"</html>"), path
    return b"whole"


def _kept(verb: Verb, path: str) -> bool:
    """Tell whether a file may be there after a failure: what a rerun goes on with."""
    return ".parts/" in path or _index_of(verb, path)


def _index_of(verb: Verb, path: str) -> bool:
    return verb.name == "index" and path.startswith("out/index/")
