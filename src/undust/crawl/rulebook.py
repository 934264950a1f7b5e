"""Rules at work in a crawl: keys, what is skipped by which rule, checks of rules, and rules that are withdrawn.

Of the URLs that a rule would skip, a share is fetched all the same. A rule that turns out to hide pages is withdrawn,
stays withdrawn, and what it had skipped is fetched.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from undust.crawl.frontier import DONE, PENDING, SKIPPED, Frontier, Link
from undust.crawl.signatures import signature
from undust.rules.files import dumps, loads
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet

TOLERANCE = 0.01
"""Share of wrongly skipped pages that a rule may have."""

DOUBT = 0.05
"""A rule is withdrawn when so many misses would be less likely than this if it were within the tolerance."""

FIRST_CHECKS = 5
"""Checks of each rule that come at once: a wrong rule should be found before it skips much."""

LAST_CHECKS = 20
"""Checks of each rule before a crawl is over, whatever the share."""

MAX_DEAD = 3
"""URLs of one key that fail before the key is given up: if one is gone, another may do."""


@dataclass(slots=True)
class InForce:
    """A rule at work."""

    number: int
    checks: int = 0
    misses: int = 0


def refuted(checks: int, misses: int) -> bool:
    """Tell whether misses are too many for a rule within the tolerance (exact binomial test).

    >>> refuted(1, 1), refuted(20, 1), refuted(100, 4)
    (True, False, True)
    """
    if not misses:
        return False
    at_most = sum(math.comb(checks, k) * TOLERANCE**k * (1 - TOLERANCE) ** (checks - k) for k in range(misses))
    return 1 - at_most < DOUBT


class Rulebook:
    """The rules in force, and what is known about them."""

    def __init__(self, frontier: Frontier, salt: int, given: RuleSet) -> None:
        self._frontier, self._salt = frontier, salt
        before = frontier.get("given")
        self._given = list(given) if before is None else loads(before, str(frontier.path))
        frontier.set("given", dumps(self._given))
        text = frontier.get("rules")
        self.rules = given if text is None else RuleSet(loads(text, str(frontier.path)))
        self._in_force = self._book(self.rules)
        self.skipped_by: dict[tuple[int, int], int] = {}
        self.checked_in: dict[tuple[int, int], int] = {}
        self.recount()

    def _book(self, rules: Iterable[Rule]) -> list[InForce]:
        self._frontier.execute("UPDATE rules SET state = 'replaced' WHERE state = 'in force'")
        made = []
        for rule in rules:
            self._frontier.execute(
                "INSERT INTO rules (line, state) VALUES (?, 'in force')"
                " ON CONFLICT (line) DO UPDATE SET state = 'in force'",
                (str(rule),),
            )
            row = self._frontier.execute("SELECT number, checks, misses FROM rules WHERE line = ?", (str(rule),))
            made.append(InForce(*row.fetchone()))
        return made

    def recount(self) -> None:
        """Count anew what each rule skips, by pattern."""
        rows = self._frontier.execute(
            "SELECT rule, pattern, count(*) FROM urls WHERE state = 3 AND rule IS NOT NULL GROUP BY rule, pattern"
        )
        self.skipped_by = {(rule, pattern): count for rule, pattern, count in rows}
        rows = self._frontier.execute(
            "SELECT checking, pattern, count(*) FROM urls WHERE checking > 0 GROUP BY checking, pattern"
        )
        self.checked_in = {(rule, pattern): count for rule, pattern, count in rows}

    def decide(self, urls: Sequence[str]) -> list[tuple[bytes, int | None]]:
        """Give the signature of the key of each URL in standard form, and the number of the rule that made it."""
        if not len(self.rules) or not urls:
            return [(signature(url, self._salt), None) for url in urls]
        decided = self.rules.decide_many(list(urls))
        places = [int(place) for place in decided.rules]
        keys = decided.keys.to_pylist()
        return [
            (signature(key, self._salt), None if place < 0 else self._in_force[place].number)
            for key, place in zip(keys, places, strict=True)
        ]

    def withdrawn(self) -> set[str]:
        """Give the lines of rules that were withdrawn."""
        return {row[0] for row in self._frontier.execute("SELECT line FROM rules WHERE state = 'withdrawn'")}

    def replace(self, learned: Iterable[Rule], busy: Iterable[int]) -> None:
        """Put learned rules in force, but for those that were withdrawn, and sort all URLs anew."""
        gone = self.withdrawn()
        merged = {str(rule): rule for rule in (*self._given, *learned)}
        rules = RuleSet(rule for line, rule in merged.items() if line not in gone)
        if [str(rule) for rule in rules] == [str(rule) for rule in self.rules]:
            return
        self.rules = rules
        self._in_force = self._book(self.rules)
        self._frontier.set("rules", dumps(rules))
        self._sort_anew(set(busy))

    def withdraw(self, number: int, why: str, busy: Iterable[int]) -> None:
        """Take a rule out of force for good; what it had skipped is to be fetched."""
        self._frontier.execute("UPDATE rules SET state = 'withdrawn', why = ? WHERE number = ?", (why, number))
        line = self._frontier.execute("SELECT line FROM rules WHERE number = ?", (number,)).fetchone()[0]
        self.rules = RuleSet(rule for rule in self.rules if str(rule) != line)
        self._in_force = self._book(self.rules)
        self._frontier.set("rules", dumps(self.rules))
        self._sort_anew(set(busy))

    def _sort_anew(self, busy: set[int]) -> None:
        """Give all URLs their keys under the rules in force, and decide anew which are skipped."""
        rows = self._frontier.execute(
            "SELECT u.id, u.url, u.state, u.seed, coalesce(p.status, 200) FROM urls u LEFT JOIN pages p ON p.id = u.id"
            " ORDER BY u.state != 1, u.state != 0, u.id"
        ).fetchall()
        decided = self.decide([row[1] for row in rows])
        held: dict[bytes, int | None] = {}
        dead: dict[bytes, int] = {}
        changes = []
        for (number, _, state, seed, status), (key, rule) in zip(rows, decided, strict=True):
            now, by = state, None
            if state == DONE or number in busy:
                if status < 400:
                    held.setdefault(key, rule)
                else:
                    dead[key] = dead.get(key, 0) + 1
            elif state in (PENDING, SKIPPED):
                if (key in held or dead.get(key, 0) >= MAX_DEAD) and not seed:
                    now, by = SKIPPED, rule if rule is not None else held.get(key)
                else:
                    now = PENDING
                    held.setdefault(key, rule)
            changes.append((key, now, by, number))
        self._frontier.execute_many("UPDATE urls SET key = ?, state = ?, rule = ? WHERE id = ?", changes)
        self.recount()

    # ------------------------------------------------------------ checks

    def next_check(self, explore: float, *, last: bool) -> Link | None:
        """Give a URL that a rule skips and that is to be fetched to check the rule; None if none is due."""
        skipped: Counter[int] = Counter()
        checked: Counter[int] = Counter()
        for (rule, _), count in self.skipped_by.items():
            skipped[rule] += count
        for (rule, _), count in self.checked_in.items():
            checked[rule] += count
        due = []
        for (rule, pattern), count in self.skipped_by.items():
            wanted = max(LAST_CHECKS if last else FIRST_CHECKS, explore * skipped[rule])
            if count > 0 and checked[rule] < wanted:
                due.append(((self.checked_in.get((rule, pattern), 0) + 1) / count, rule, pattern))
        for _, rule, pattern in sorted(due)[:4]:
            link = self._skipped_one(rule, pattern)
            if link is not None:
                self.checked_in[rule, pattern] = self.checked_in.get((rule, pattern), 0) + 1
                self.skipped_by[rule, pattern] -= 1
                return link
        return None

    def _skipped_one(self, rule: int, pattern: int) -> Link | None:
        """Choose by chance, the same one each time, a skipped URL that can be compared."""
        row = self._frontier.execute(
            "SELECT s.id FROM urls s WHERE s.rule = ? AND s.state = 3 AND s.pattern = ? AND EXISTS (SELECT 1 FROM urls"
            " r JOIN pages p ON p.id = r.id WHERE r.key = s.key AND r.state = 1 AND p.status = 200)"
            " ORDER BY s.own LIMIT 1",
            (rule, pattern),
        ).fetchone()
        if row is None:
            return None
        self._frontier.execute("UPDATE urls SET state = 0, checking = ? WHERE id = ?", (rule, row[0]))
        return self._frontier.link(row[0])

    def record(self, number: int, *, missed: bool, busy: Iterable[int]) -> bool:
        """Take in the result of a check; True if the rule is withdrawn for it."""
        self._frontier.execute(
            "UPDATE rules SET checks = checks + 1, misses = misses + ? WHERE number = ?", (missed, number)
        )
        state, checks, misses = self._frontier.execute(
            "SELECT state, checks, misses FROM rules WHERE number = ?", (number,)
        ).fetchone()
        if state != "in force" or not missed or not refuted(checks, misses):
            return False
        self.withdraw(number, f"{misses} of {checks} checks found pages that it would have hidden", busy)
        return True
