"""Patterns of URLs, and how much new content each has given: what decides which URL is fetched next.

A pattern is a host, the form of a path and the names of arguments, with those values that are few for their place:
`doku.php?do=edit&id=*`. Each URL gets its pattern when it is found, and keeps it.
"""

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field

from undust.urls.keys import split_path, split_query
from undust.urls.parse import split

MAX_VALUES = 24
"""Values that a place may have to be told apart: sections and actions are few, titles and numbers many."""

MAX_PATTERNS = 4000
"""Beyond, new URLs get the pattern of their host and the names of their arguments only."""

PRIOR_FETCHES = 4.0
"""How many fetches of a pattern weigh as much as what its features say of it."""

POOR = 0.5
"""Pages of a pattern that are worth less than this on the average say hardly anything."""

POOR_FETCHES = 3
"""Fetches of a pattern before it can be called poor."""

_LONG = 24
_NUMBER = re.compile(r"(?<=[=/])[0-9]+(?=[&/?]|$)")
_VALUE = re.compile(r"=[^&]*")
_DIGITS = re.compile(r"[0-9]+")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,5}$")


@dataclass(slots=True)
class Pattern:
    """A pattern, and what its URLs have given so far."""

    number: int
    name: str
    host: str
    features: tuple[str, ...]
    fetched: int = 0
    fresh: int = 0
    """Pages with content that was new."""
    worth: float = 0.0
    """The sum of what they were worth, 0 to 1 each."""
    dry: int = 0
    """Fetches in a row without new content."""
    waiting: int = 0
    """URLs that are to be fetched."""

    @property
    def without_numbers(self) -> str:
        """The same for `?y=2026&m=11` and `?y=2027&m=1`."""
        return _NUMBER.sub("{n}", self.name)

    @property
    def form(self) -> tuple[str, int, str]:
        """The same for all URLs of a host with as many segments and the same arguments."""
        path, _, query = self.name.partition("?")
        return self.host, path.count("/"), _VALUE.sub("", query)

    @property
    def poor(self) -> bool:
        """Whether its pages have turned out to say hardly anything."""
        return self.fetched >= POOR_FETCHES and self.worth < POOR * self.fetched

    def goes_on_from(self, before: "Pattern") -> bool:
        """Tell whether a link from a page of `before` only leads on: to the next number, or to more that says nothing.

        A calendar has a pattern for each month, and links from one to the next.
        """
        return (
            self is before or self.without_numbers == before.without_numbers or (self.poor and self.form == before.form)
        )


@dataclass(slots=True)
class _Values:
    """Values that were seen at a place, until there are too many."""

    seen: set[str] = field(default_factory=set)

    def literal(self, value: str) -> str:
        if len(value) <= _LONG:
            if value in self.seen:
                return value
            if len(self.seen) < MAX_VALUES:
                self.seen.add(value)
                return value
        return "{n}" if value.isdigit() else "*"


class Patterns:
    """All patterns of a crawl, by number."""

    def __init__(self) -> None:
        self.all: list[Pattern] = []
        self._by_name: dict[str, Pattern] = {}
        self._values: defaultdict[tuple[str, ...], _Values] = defaultdict(_Values)
        self._model = _Model()
        self._changed: set[int] = set()

    def changed(self) -> list[Pattern]:
        """Give the patterns that are new or have changed since this was last asked."""
        changed, self._changed = self._changed, set()
        return [self.all[number] for number in sorted(changed)]

    def add(self, name: str, host: str, features: tuple[str, ...]) -> Pattern:
        """Give the pattern of a name, made if it is new."""
        found = self._by_name.get(name)
        if found is None:
            found = Pattern(len(self.all), name, host, features)
            self.all.append(found)
            self._by_name[name] = found
            self._changed.add(found.number)
        return found

    def remember(self, url: str) -> None:
        """Take note of the values of a URL that was found in an earlier run."""
        self._describe(url)

    def of(self, url: str) -> Pattern:
        """Give the pattern of a URL in standard form."""
        name, host, features = self._describe(url)
        if name not in self._by_name and len(self.all) >= MAX_PATTERNS:
            names = next((one for one in features if one.startswith("args ")), "args")
            name, features = f"{host} {names}", (f"host {host}", names)
        return self.add(name, host, features)

    def learn(self, pattern: Pattern, worth: float, *, fresh: bool) -> None:
        """Take in what a fetch was worth."""
        self._changed.add(pattern.number)
        pattern.fetched += 1
        pattern.worth += worth
        pattern.fresh += fresh
        pattern.dry = 0 if fresh else pattern.dry + 1
        self._model.learn(pattern.features, worth)

    def relearn(self) -> None:
        """Bring back what was learned in an earlier run, from the sums."""
        for pattern in self.all:
            for _ in range(min(pattern.fetched, 8)):
                self._model.learn(pattern.features, pattern.worth / pattern.fetched)

    def score(self, pattern: Pattern) -> float:
        """Say what the next URL of a pattern may be worth; those hardly tried get the benefit of the doubt."""
        expected = self._model.expect(pattern.features)
        mean = (pattern.worth + PRIOR_FETCHES * expected) / (pattern.fetched + PRIOR_FETCHES)
        return mean + 0.15 / math.sqrt(pattern.fetched + 1)

    def _describe(self, url: str) -> tuple[str, str, tuple[str, ...]]:
        parts = split(url)
        host = parts.host if parts.port is None else f"{parts.host}:{parts.port}"
        segments = [segment.text for segment in split_path(parts.path)]
        last = len(segments) - 1 if parts.query is None else -1  # the name of a script is no title
        form = [self._segment(host, place, text, last=place == last) for place, text in enumerate(segments)]
        if len(form) > 5:
            form = [*form[:3], "…", form[-1]]
        path = "/" + "/".join(form)
        features = [f"host {host}", f"path {path}", f"first {host} {form[0] if form else ''}", f"depth {len(segments)}"]
        query = ""
        if parts.query is None:
            features.append("static")
        else:
            spelled, names = [], []
            for argument in split_query(parts.query):
                name = argument.name or ""
                value = self._values[host, "?" + name].literal(argument.value or "")
                spelled.append(f"{name}={value}")
                names.append(name)
                features.append(f"arg {name}")
                if value != "*":
                    features.append(f"value {name}={value}")
            query = "?" + "&".join(sorted(spelled)[:8])
            together = "&".join(sorted(set(names))[:8])
            features += [f"args {together}", f"args {host}{path}?{together}"]
        return f"{host}{path}{query}", host, tuple(features[:24])

    def _segment(self, host: str, place: int, text: str, *, last: bool) -> str:
        if not text:
            return ""
        if not last and place < 2:
            return self._values[host, "/", str(place)].literal(text)
        if last:
            found = _EXTENSION.search(text)
            if found:
                return "*" + found.group()
        return "{n}" if _DIGITS.fullmatch(text) else "*"


class _Model:
    """Says from features of a pattern what a fetch is worth: logistic regression, one example after the other."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._squares: dict[str, float] = {}
        self._bias = 1.0

    def expect(self, features: tuple[str, ...]) -> float:
        weights = self._weights
        total = self._bias + sum(weights.get(one, 0.0) for one in features)
        return 1 / (1 + math.exp(-max(min(total, 30.0), -30.0)))

    def learn(self, features: tuple[str, ...], worth: float) -> None:
        error = worth - self.expect(features)
        self._bias += 0.02 * error
        for one in features:
            square = self._squares[one] = self._squares.get(one, 1.0) + error * error
            self._weights[one] = self._weights.get(one, 0.0) + 0.3 * error / math.sqrt(square)
