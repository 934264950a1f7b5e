"""Rules that were withdrawn: they stay so, also where they are learned again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from undust.errors import InputError, UndustError, UrlError
from undust.rules.apply import apply
from undust.rules.files import BadRuleError, rule_from_json, rule_to_json
from undust.rules.overlap import may_meet
from undust.rules.rule import Rule
from undust.urls.keys import keys
from undust.urls.normalize import normalize
from undust.urls.parse import split
from undust.urls.site import places_of

_FIELDS = {"reason", "withdrawn_at", "counterexamples"}


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A rule that is not to come back, and why."""

    rule: Rule
    reason: str = ""
    withdrawn_at: str = ""
    """Date, such as 2026-03-01."""
    counterexamples: tuple[tuple[str, str], ...] = ()
    """Pairs of URLs that it made one, and that are two pages."""

    def bars(self, rule: Rule) -> bool:
        """Tell whether another rule would do again what this one did.

        So it is if, for some URL that this one held for, it carries out all of its operations; or if it makes one of
        the counterexamples one.
        """
        if rule.site != self.rule.site:
            return False
        again = (
            self.rule.acts
            and all(rule.operations.get(key) == operation for key, operation in self.rule.operations.items())
            and rule.sort_query >= self.rule.sort_query
            and may_meet(rule, self.rule)
        )
        return again or any(_makes_one(rule, *pair) for pair in self.counterexamples)


def barred(rule: Rule, withdrawn: Iterable[Withdrawn]) -> Withdrawn | None:
    """Give what was withdrawn that a rule would bring back, or nothing."""
    return next((each for each in withdrawn if each.bars(rule)), None)


def dump_withdrawn(withdrawn: Iterable[Withdrawn]) -> list[dict[str, Any]]:
    """Write what was withdrawn as plain values; `load_withdrawn` reads them."""
    made = []
    for each in withdrawn:
        entry = rule_to_json(each.rule) | {"reason": each.reason}
        if each.withdrawn_at:
            entry["withdrawn_at"] = each.withdrawn_at
        if each.counterexamples:
            entry["counterexamples"] = [list(pair) for pair in each.counterexamples]
        made.append(entry)
    return made


def load_withdrawn(values: Any, source: str) -> tuple[Withdrawn, ...]:
    """Read what was withdrawn; where it is wrong, `InputError` names the source, the place and the reason."""
    if not isinstance(values, list):
        raise InputError(f"{source}: withdrawn must be a list of rules; write it again with undust rules")
    made = []
    for place, item in enumerate(values, 1):
        try:
            made.append(_read(item))
        except (BadRuleError, UndustError) as error:
            raise InputError(f"{source}: withdrawn rule {place}: {error}") from error
    return tuple(made)


def _read(item: Any) -> Withdrawn:
    if not isinstance(item, dict):
        raise BadRuleError("a rule must be an object")
    more = {name: item[name] for name in _FIELDS & item.keys()}
    rule = rule_from_json({name: value for name, value in item.items() if name not in more})
    pairs = more.pop("counterexamples", [])
    if any(not isinstance(text, str) for text in more.values()):
        raise BadRuleError("reason and withdrawn_at must be texts")
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(url, str) for url in pair) for pair in pairs
    ):
        raise BadRuleError("counterexamples must be pairs of URLs")
    return Withdrawn(rule, **more, counterexamples=tuple((a, b) for a, b in pairs))


def united(*lists: Sequence[Withdrawn]) -> tuple[Withdrawn, ...]:
    """Put lists together: each rule once, as it was withdrawn first, with the counterexamples of all."""
    made: dict[Rule, Withdrawn] = {}
    for each in (entry for entries in lists for entry in entries):
        first = made.setdefault(each.rule, each)
        pairs = tuple(dict.fromkeys(first.counterexamples + each.counterexamples))
        made[each.rule] = Withdrawn(first.rule, first.reason or each.reason, first.withdrawn_at, pairs)
    return tuple(made.values())


def _makes_one(rule: Rule, a: str, b: str) -> bool:
    """Tell whether a rule alone gives two URLs one key, which they did not have without it."""
    try:
        standard = [normalize(url) for url in (a, b)]
    except UrlError:
        return False
    return standard[0] != standard[1] and len({_key(rule, url) for url in standard}) == 1


def _key(rule: Rule, url: str) -> str:
    parts = split(url)
    if rule.site not in places_of(parts.host, parts.port):
        return url
    applied = apply(rule, parts, keys(parts))
    return url if applied is None else applied.key
