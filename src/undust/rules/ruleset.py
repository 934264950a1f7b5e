"""A set of rules at work: the URL to fetch, the key that duplicates share, and why."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from undust.errors import UrlError
from undust.outputs import write_whole
from undust.rules.apply import Applied, apply, fit
from undust.rules.files import dumps
from undust.rules.matcher import Decision
from undust.rules.rule import Rule
from undust.urls.keys import keys
from undust.urls.normalize import normalize
from undust.urls.parse import Url, split
from undust.urls.site import site_of


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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "given": self.given,
            "standard": self.standard,
            "url": self.url,
            "key": self.key,
            "site": self.site,
            "rule": None if self.rule is None else str(self.rule),
            "matched": dict(self.matched),
        }

    def __str__(self) -> str:
        lines = [self.given, f"  site      {self.site}", f"  standard  {self.standard}"]
        if self.rule is None:
            lines.append("  rule      none: the standard form is all")
        else:
            lines.append(f"  rule      {self.rule}")
            lines += [f"  because   {key} is {value}" for key, value in self.matched]
        return "\n".join([*lines, f"  key       {self.key}", f"  fetch     {self.url}"])


class Decided(NamedTuple):
    """What a set of rules makes of many URLs."""

    keys: list[str]
    rules: Any
    """Place of the rule that decided each, in the order of the set; -1 for none."""


class RuleSet:
    """Rules by site. For each URL at most one of them decides: the first of its site whose context holds.

    >>> from undust.rules.line_reader import read_line
    >>> rules = RuleSet([read_line("php.net  //{?}.php.net/…?sid={?}  →  //{*=www}.php.net/…")])
    >>> rules.normalize("http://de.php.net/manual/?sid=1"), rules.key("http://us.php.net/manual/")
    ('http://www.php.net/manual/', 'http://*.php.net/manual/')
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        sites: dict[str, list[Rule]] = {}
        for rule in rules:
            sites.setdefault(rule.site, []).append(rule)
        self._sites = {site: Decision(sites[site]) for site in sorted(sites)}

    def __iter__(self) -> Iterator[Rule]:
        return (rule for decision in self._sites.values() for rule in decision.rules)

    def __len__(self) -> int:
        return sum(len(decision.rules) for decision in self._sites.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSet) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # a set of rules is compared by what is in it

    def normalize(self, url: str) -> str:
        """Give the URL to fetch: one of those that lead to the same page. `UrlError` if it cannot be parsed."""
        return self._decide(normalize(url))[0].url

    def key(self, url: str) -> str:
        """Give what all URLs of the page share, with `*` for what does not matter. Not always a URL to fetch."""
        return self._decide(normalize(url))[0].key

    def save(self, path: str, about: Mapping[str, Any] | None = None) -> None:
        """Write the rules to a file, whole or not at all; `undust.load_rules` reads them."""
        write_whole(path, dumps(self, about).encode())

    def same(self, a: str, b: str) -> bool:
        """Tell whether two URLs lead to the same page, as far as the rules know."""
        return self.key(a) == self.key(b)

    def explain(self, url: str) -> Explanation:
        """Say which rule decided a URL, and why."""
        standard = normalize(url)
        applied, rule = self._decide(standard)
        values = keys(split(standard))
        matched = [] if rule is None else [(str(key), values.get(key, "⊥")) for key in rule.context]
        parts = split(standard)
        return Explanation(
            url, standard, applied.url, applied.key, site_of(parts.host, parts.port), rule, tuple(matched)
        )

    def normalize_many(self, urls: Any) -> Any:
        """Give the URL to fetch for each of a column (Arrow, NumPy, Polars, pandas, list): Arrow, null if unusable."""
        return self._many(urls, 0)

    def key_many(self, urls: Any) -> Any:
        """Give the key for each URL of a column: Arrow, null if unusable."""
        return self._many(urls, 1)

    def decide_many(self, urls: Any) -> "Decided":
        """Give keys and the rules that decided, for a list or column of URLs in standard form."""
        import numpy as np

        places = {id(rule): place for place, rule in enumerate(self)}
        decided = [self._decide(str(url)) for url in urls]
        rules = [-1 if rule is None else places[id(rule)] for _, rule in decided]
        return Decided([applied.key for applied, _ in decided], np.array(rules, np.int32))

    def _many(self, urls: Any, which: int) -> Any:
        import pyarrow as pa

        from undust.urls.batch import normalize_many

        coded = normalize_many(urls).urls.combine_chunks().dictionary_encode()
        answers = [self._decide(url)[0][which] for url in coded.dictionary.to_pylist()]
        return pa.array(answers, pa.string()).take(coded.indices)

    def _decide(self, standard: str) -> tuple[Applied, Rule | None]:
        """Apply the rule of a URL in standard form, unless that would need a second step.

        A result that the rules would change again, or give another key, is no form to rest in: the URL is then left as
        it is. That makes normalizing idempotent whatever the rules say.
        """
        parts = split(standard)
        decision = self._decision(parts)
        if decision is not None:
            applied, rule = _once(decision, standard, parts)
            if applied.url == standard or self._rests(applied):
                return applied, rule
        return Applied(standard, standard), None

    def _rests(self, applied: Applied) -> bool:
        try:
            if normalize(applied.url) != applied.url:
                return False
        except UrlError:  # a copied value that is no host label, for one
            return False
        parts = split(applied.url)
        decision = self._decision(parts)
        again = Applied(applied.url, applied.url) if decision is None else _once(decision, applied.url, parts)[0]
        return again == applied

    def _decision(self, parts: Url) -> Decision | None:
        return self._sites.get(parts.host) or self._sites.get(site_of(parts.host, parts.port))


def _once(decision: Decision, standard: str, parts: Url) -> tuple[Applied, Rule | None]:
    values = keys(parts)
    for place in decision.candidates(values):
        rule = decision.rules[place]
        if fit(rule.context, values) is not None:
            applied = apply(rule, parts, values)
            # The first rule that holds decides, even where it cannot be carried out.
            return (Applied(standard, standard), None) if applied is None else (applied, rule)
    return Applied(standard, standard), None
