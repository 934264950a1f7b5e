"""The rules in force: read from the file when it changes, swapped whole, and written when people decide on a rule."""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from undust.errors import InputError, UndustError
from undust.rule_files import load_rules
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.rules.withdrawn import Withdrawn
from undust.serve.answers import refuse
from undust.serve.review import decided, reviews

Stamp = tuple[int, int, int] | None

_log = logging.getLogger("undust.serve")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Rules as they were at one moment. It never changes: who has begun to answer with it ends with it."""

    rules: RuleSet
    number: int
    """Counts how often rules were read, from 1."""
    stamp: Stamp
    read_at: float
    by_id: Mapping[str, tuple[int, Rule]]
    """Each rule in force by its short name, with its place."""
    withdrawn: Mapping[str, Withdrawn]
    states: Mapping[str, str] = field(default_factory=dict)
    """`accepted`, for rules that somebody accepted."""

    def state(self, name: str) -> str:
        """Say what was decided on a rule: `accepted`, `withdrawn`, or `open`."""
        if name in self.by_id:
            return self.states.get(name, "open")
        return "withdrawn"


class LiveRules:
    """Holds what is in force. `current` is one reference, which is read once for each question."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem: str | None = None
        """Why the file could not be read when it changed; the rules read before stay in force."""
        self._refused: Stamp = None
        self._lines: tuple[int, dict[str, str]] = (0, {})
        self._lock = threading.Lock()
        self.current = self._load(_stamp(path), 1)

    def refresh(self) -> bool:
        """Read the file if it has changed; tell whether other rules are in force now."""
        stamp = _stamp(self.path)
        if stamp in (self.current.stamp, self._refused) and (stamp is not None or self.current.stamp is None):
            return False
        with self._lock:
            return self._refresh()

    def lines(self, now: Loaded) -> dict[str, str]:
        """Give each rule on one line in small letters, to be searched; made when somebody searches."""
        number, lines = self._lines
        if number != now.number:
            lines = {name: str(rule).lower() for name, (_, rule) in now.by_id.items()}
            lines |= {name: str(each.rule).lower() for name, each in now.withdrawn.items() if name not in lines}
            self._lines = now.number, lines
        return lines

    def decide(self, name: str, state: str, reason: str, today: str) -> tuple[str, str]:
        """Write down what somebody decided on a rule; give what was decided before, and what is now."""
        with self._lock:
            self._refresh()  # what somebody else wrote meanwhile is not lost
            now = self.current
            if name not in now.by_id and name not in now.withdrawn:
                refuse(404, "no_rule", f"no rule {name[:40]!r}; GET /rules lists those that there are")
            before = now.state(name)
            if before != state:
                decided(now.rules, name, state, reason, today).save(str(self.path))
                self._refresh()
            return before, state

    def _refresh(self) -> bool:
        stamp = _stamp(self.path)
        if stamp == self.current.stamp:
            self.problem = self._refused = None
            return False
        try:
            if stamp is None:
                raise InputError(f"{self.path.name}: is gone; the rules read before stay in force")
            self.current = self._load(stamp, self.current.number + 1)
        except UndustError as error:
            self.problem, self._refused = str(error), stamp
            _log.warning("%s", error)
            return False
        self.problem = self._refused = None
        return True

    def _load(self, stamp: Stamp, number: int) -> Loaded:
        rules = RuleSet() if stamp is None else load_rules(self.path)
        rules.normalize_many(["http://a.test/"])  # compiles them before they are in force
        known = list(rules)
        by_id = {rule.id: (place, rule) for place, rule in enumerate(known)}
        gone = {each.rule.id: each for each in rules.withdrawn}
        return Loaded(rules, number, stamp, time.time(), by_id, gone, reviews(rules))


def _stamp(path: Path) -> Stamp:
    """Tell a state of a file from another."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def about_rule(loaded: Loaded, name: str) -> dict[str, Any]:
    """Give what is known of a rule, in short."""
    from undust.run.words import in_words

    gone = loaded.withdrawn.get(name) if name not in loaded.by_id else None
    rule = gone.rule if gone is not None else loaded.by_id[name][1]
    known = rule.statistics
    return {
        "id": name,
        "site": rule.site,
        "line": str(rule),
        "words": in_words(rule),
        "state": loaded.state(name),
        "reason": "" if gone is None else gone.reason,
        "place": None if gone is not None else loaded.by_id[name][0],
        "coverage": known.coverage,
        "merged": known.merged,
        "saves": known.saves,
        "clusters": known.clusters,
        "fpr": known.fpr,
        "precision": known.precision,
        "learner": known.learner,
    }
