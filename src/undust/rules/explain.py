"""Why a URL becomes what it is, and why two are one page or not: rule, matched parts, operations, evidence."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from undust.rules.rule import Rule
from undust.rules.values import ABSENT, Absent, Drop, Ignore
from undust.rules.words import evidence_in_words, key_in_words, match_in_words, operations_in_words
from undust.urls.keys import Key, keys
from undust.urls.parse import split

GONE = "⊥"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a URL became what it is."""

    given: str
    standard: str
    """The URL in standard form."""
    url: str
    key: str
    site: str
    rule: Rule | None
    matched: tuple[tuple[str, str], ...]
    """Keys of the rule's context, and the values that they have in this URL; ⊥ where they have none."""
    number: int | None = None
    """Number of the rule in the set, counted from 1."""
    unused: tuple[Rule, str] | None = None
    """The rule that holds and is not used all the same, and why."""

    @property
    def ignored(self) -> tuple[tuple[str, str], ...]:
        """Keys that the rule takes out of the comparison, and the values that they have in this URL."""
        values = keys(split(self.standard))
        operations = {} if self.rule is None else self.rule.operations
        return tuple(
            (str(key), values[key])
            for key, operation in operations.items()
            if key in values and (isinstance(operation, Drop) or any(isinstance(part, Ignore) for part in operation))
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rule = self.rule
        return {
            "given": self.given,
            "standard": self.standard,
            "url": self.url,
            "key": self.key,
            "site": self.site,
            "rule": None if rule is None else str(rule),
            "id": None if rule is None else rule.id,
            "number": self.number,
            "matched": dict(self.matched),
            "conditions": [] if rule is None else [match_in_words(*condition) for condition in rule.context.items()],
            "operations": [] if rule is None else operations_in_words(rule),
            "ignored": dict(self.ignored),
            "statistics": None if rule is None else _statistics(rule),
            "unused": None if self.unused is None else {"rule": str(self.unused[0]), "why": self.unused[1]},
        }

    def __str__(self) -> str:
        return "\n".join([self.given, *(f"  {label:<9} {text}" for label, text in self._lines())])

    def _lines(self) -> Iterator[tuple[str, str]]:
        yield "site", self.site
        yield "standard", self.standard
        if self.unused is not None:
            yield "rule", f"{self.unused[0]}"
            yield "not used", self.unused[1]
        elif self.rule is None:
            yield "rule", "none: the standard form is all"
        else:
            yield "rule", f"{self.number}, {self.rule.id}: {self.rule}"
            found = dict(self.matched)
            for key, match in self.rule.context.items():
                here = "" if match == ABSENT or found[str(key)] == _only(match) else f": {found[str(key)]}"
                yield "because", match_in_words(key, match) + here
            if not self.rule.context:
                yield "because", f"it holds for all URLs of {self.site}"
            yield from (("does", each) for each in operations_in_words(self.rule))
            yield from (("evidence", each) for each in evidence_in_words(self.rule))
            yield from (("such as", f"{a}  =  {b}") for a, b in self.rule.statistics.examples)
        yield "key", self.key
        yield "fetch", self.url


class Differing(NamedTuple):
    """A key whose values differ between two URLs; ⊥ where one has none."""

    key: Key
    values: tuple[str, str]

    def __str__(self) -> str:
        return f"{key_in_words(self.key)}: {self.values[0] or 'empty'} and {self.values[1] or 'empty'}"


@dataclass(frozen=True, slots=True)
class PairExplanation:
    """Why two URLs are one page or not, as far as the rules know."""

    urls: tuple[Explanation, Explanation]
    differing: tuple[Differing, ...]
    """What differs between their keys."""
    settled: tuple[Differing, ...]
    """What differs between the URLs in standard form, and no longer between their keys."""

    @property
    def same(self) -> bool:
        """Whether their keys are equal."""
        return self.urls[0].key == self.urls[1].key

    @property
    def needs(self) -> tuple[str, ...]:
        """What would have to be equal, or not matter, for them to be one page."""
        if self.same:
            return ()
        if self.urls[0].site != self.urls[1].site:
            return (f"the site: {self.urls[0].site} and {self.urls[1].site}; rules never make pages of two sites one",)
        return tuple(map(str, self.differing)) or ("the order or the spelling of the arguments",)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "explanations": [each.to_dict() for each in self.urls],
            "same": self.same,
            "differing": [{"key": str(each.key), "values": list(each.values)} for each in self.differing],
            "settled": [{"key": str(each.key), "values": list(each.values)} for each in self.settled],
            "needs": list(self.needs),
        }

    def __str__(self) -> str:
        return "\n".join([*map(str, self.urls), *self._verdict()])

    def _verdict(self) -> Iterator[str]:
        if self.same:
            yield "the same page: equal keys"
            yield from (f"  does not matter  {each}" for each in self.settled)
            return
        yield "not known to be the same page: the keys differ"
        yield from (f"  does not matter  {each}" for each in self.settled)
        yield from (f"  would have to be equal, or be ignored by a rule  {each}" for each in self.needs)
        rules = [None if each.rule is None else each.rule.id for each in self.urls]
        if rules[0] != rules[1]:
            told = ["no rule" if rule is None else f"rule {rule}" for rule in rules]
            yield f"  decided by  {told[0]} and {told[1]}"


def explain_pair(a: Explanation, b: Explanation) -> PairExplanation:
    """Compare what became of two URLs."""
    differing = _differing(a.key, b.key)
    still = {each.key for each in differing}
    settled = tuple(each for each in _differing(a.standard, b.standard) if each.key not in still)
    return PairExplanation((a, b), differing, settled)


def _differing(a: str, b: str) -> tuple[Differing, ...]:
    values = [_values(url) for url in (a, b)]
    names = dict.fromkeys([*values[0], *values[1]])
    told = (Differing(key, (values[0].get(key, GONE), values[1].get(key, GONE))) for key in names)
    return tuple(each for each in told if each.values[0] != each.values[1])


def _values(url: str) -> Mapping[Key, str]:
    """Give the values of a URL, segments from the start only."""
    return {
        key: value for key, value in keys(split(url)).items() if not (key.part == "path" and str(key.name)[0] == "-")
    }


def _only(match: Any) -> str | None:
    return None if isinstance(match, Absent) else match.literal


def _statistics(rule: Rule) -> dict[str, Any]:
    known = rule.statistics
    return {**asdict(known), "fpr": known.fpr, "precision": known.precision}
