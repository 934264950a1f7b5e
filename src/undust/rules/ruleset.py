"""A set of rules at work: the URL to fetch, the key that duplicates share, and why."""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.errors import UrlError, UsageError
from undust.outputs import write_whole
from undust.rules.apply import Applied, apply
from undust.rules.binary import MappedRules, dump_binary
from undust.rules.files import dumps
from undust.rules.listed import ListedRules
from undust.rules.matcher import Decision
from undust.rules.rule import Rule
from undust.rules.withdrawn import Withdrawn, dump_withdrawn
from undust.urls.keys import keys
from undust.urls.normalize import normalize
from undust.urls.parse import Url, split
from undust.urls.site import places_of, site_of

if TYPE_CHECKING:
    from undust.rules.batch import Applications
    from undust.rules.explain import Explanation, PairExplanation
    from undust.rules.single import Single

Store = ListedRules | MappedRules

COLD = 100
"""URLs that are decided without the kernels, which take a moment to load."""

MAX_DECISIONS = 10_000
"""Sites whose rules are kept ready for that."""


class Decided(NamedTuple):
    """What a set of rules makes of many URLs."""

    keys: Any
    """Arrow column of keys."""
    rules: Any
    """Place of the rule that decided each, in the order of the set; -1 for none."""


class RuleSet:
    """Rules by site. For each URL at most one of them decides: the first of its site whose context holds.

    It can be shared between threads, and pickled.

    >>> from undust.rules.line_reader import read_line
    >>> rules = RuleSet([read_line("php.net  //{?}.php.net/…?sid={?}  →  //{*=www}.php.net/…")])
    >>> rules.normalize("http://de.php.net/manual/?sid=1"), rules.key("http://us.php.net/manual/")
    ('http://www.php.net/manual/', 'http://*.php.net/manual/')
    """

    def __init__(
        self,
        rules: Iterable[Rule] | Store = (),
        *,
        about: Mapping[str, Any] | None = None,
        withdrawn: Iterable[Withdrawn] = (),
    ) -> None:
        self._store: Store = rules if isinstance(rules, ListedRules | MappedRules) else ListedRules(rules)
        self._about = dict(about or {})
        self._withdrawn = tuple(withdrawn)
        self._decisions: dict[str, tuple[int, Decision] | None] = {}
        self._asked = 0
        self._own = threading.local()

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSet) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # a set of rules is compared by what is in it

    def __getitem__(self, place: int) -> Rule:
        """Give the rule at a place, in the order of the set; `decide_many` speaks of places."""
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self._store[place]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rule_set, (self._store, self._about, self._withdrawn)

    @property
    def about(self) -> dict[str, Any]:
        """What is said about the rules beside them, as plain values for JSON."""
        return dict(self._about)

    @property
    def withdrawn(self) -> tuple[Withdrawn, ...]:
        """Rules that are not to come back (`undust.rules.care.withdraw`)."""
        return self._withdrawn

    def with_rules(self, rules: Iterable[Rule]) -> "RuleSet":
        """Give a set of other rules, with the same list of those withdrawn."""
        return RuleSet(rules, about=self._about, withdrawn=self._withdrawn)

    def with_withdrawn(self, withdrawn: Iterable[Withdrawn]) -> "RuleSet":
        """Give the same rules with another list of those withdrawn."""
        return RuleSet(self._store, about=self._about, withdrawn=withdrawn)

    def normalize(self, url: str) -> str:
        """Give the URL to fetch: one of those that lead to the same page. `UrlError` if it cannot be parsed."""
        return self._answer(normalize(url), 0)

    def key(self, url: str) -> str:
        """Give what all URLs of the page share, with `*` for what does not matter. Not always a URL to fetch."""
        return self._answer(normalize(url), 1)

    def save(self, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
        """Write the rules to a file, whole or not at all; `undust.load_rules` reads them.

        JSON, or, if the name ends in `.bin`, the binary form, which is opened at once however many rules there are.
        `about` is written beside them, and what was withdrawn.
        """
        said = self._about | dict(about or {})
        if self._withdrawn:
            said["withdrawn"] = dump_withdrawn(self._withdrawn)
        write_whole(path, dump_binary(self, said) if str(path).endswith(".bin") else dumps(self, said).encode())

    def same(self, a: str, b: str) -> bool:
        """Tell whether two URLs lead to the same page, as far as the rules know."""
        return self.key(a) == self.key(b)

    def explain(self, url: str) -> "Explanation":
        """Say which rule decided a URL, and why."""
        from undust.rules.explain import Explanation

        standard = normalize(url)
        applied, place = self._decide(standard)
        parts = split(standard)
        values = keys(parts)
        rule = None if place < 0 else self._store[place]
        matched = [] if rule is None else [(str(key), values.get(key, "⊥")) for key in rule.context]
        return Explanation(
            url,
            standard,
            applied.url,
            applied.key,
            site_of(parts.host, parts.port),
            rule,
            tuple(matched),
            None if place < 0 else place + 1,
            self._unused(standard) if rule is None else None,
        )

    def explain_pair(self, a: str, b: str) -> "PairExplanation":
        """Say why two URLs are one page or not: which rules decided them, what they ignored, what still differs."""
        from undust.rules.explain import explain_pair

        return explain_pair(self.explain(a), self.explain(b))

    def _unused(self, standard: str) -> tuple[Rule, str] | None:
        """Give the rule that holds for a URL and does not decide it, and why."""
        parts = split(standard)
        found = self._decision_for(parts)
        place = -1 if found is None else found[1].find(keys(parts))
        if found is None or place < 0:
            return None
        rule = found[1].rules[place]
        once, _ = self.apply_once(standard)
        if apply(rule, parts, keys(parts)) is None:
            return rule, "it cannot be carried out on this URL"
        return rule, f"it makes {once.url} of it, which rules would change again or which is no URL in standard form"

    def spellings(self, standard: str) -> tuple[str, str]:
        """Give the URL to fetch and the key of a URL that is in standard form already."""
        return self._answer(standard, 0), self._answer(standard, 1)

    def rules_of(self, host: str, port: str | None) -> tuple[Rule, ...]:
        """Give the rules that are for a host itself, and then those for its site."""
        found = [self._store.of_site(place) for place in places_of(host, port)]
        return tuple(rule for one in found if one is not None for rule in one[1])

    def normalize_many(self, urls: Any) -> Any:
        """Give the URL to fetch for each of a column (list, NumPy, Arrow, pandas, Polars), as a column of that kind.

        Null where a URL cannot be parsed. All cores work on it.
        """
        return self._like(urls, self._apply(urls, fetch=True).urls)

    def key_many(self, urls: Any) -> Any:
        """Give the key for each URL of a column, as a column of the same kind; null where a URL cannot be parsed."""
        return self._like(urls, self._apply(urls, key=True).keys)

    def same_many(self, a: Any, b: Any) -> Any:
        """Tell for each row of two columns whether the URLs lead to the same page; null where one cannot be parsed."""
        import pyarrow.compute as pc

        keys = [self._apply(urls, key=True).keys for urls in (a, b)]
        if len(keys[0]) != len(keys[1]):  # type: ignore[arg-type] # they were wanted
            raise UsageError("two columns of different lengths; give one URL beside each")
        return self._like(a, pc.equal(*keys))

    def decide_many(self, urls: Any) -> Decided:
        """Give keys and the rules that decided, for a list or column of URLs in standard form."""
        made = self._apply(urls, key=True, standard=True)
        return Decided(made.keys, made.rules)

    def _like(self, given: Any, made: Any) -> Any:
        from undust.rules.columns import like

        return like(given, made)

    def _apply(
        self, urls: Any, *, fetch: bool = False, key: bool = False, standard: bool = False, threads: int | None = None
    ) -> "Applications":
        from undust.rules.batch import apply_rules

        compiled = self._store.compiled()
        return apply_rules(compiled, self._decide, urls, fetch=fetch, key=key, standard=standard, threads=threads)

    def _answer(self, standard: str, which: int) -> str:
        """Give the URL to fetch (0) or the key (1)."""
        try:
            single: Single | None = self._own.single
        except AttributeError:
            single = self._warm()
        if single is not None:
            answer = single.answer(standard, which)
            if answer is not None:
                return answer
        return self._decide(standard)[0][which]

    def _warm(self) -> "Single | None":
        """Give the fast way to apply rules to one URL, once there have been so many that it pays to load it."""
        self._asked += 1
        if self._asked <= COLD:
            return None
        from undust.rules.single import Single

        single = self._own.single = Single(self._store.compiled())
        return single

    def _decide(self, standard: str) -> tuple[Applied, int]:
        """Apply the rule of a URL in standard form, unless that would need a second step; give its place, -1 for none.

        A result that the rules would change again, or give another key, is no form to rest in: the URL is then left as
        it is. That makes normalizing idempotent whatever the rules say.
        """
        applied, place = self.apply_once(standard)
        if applied.url == standard or self._rests(applied):
            return applied, place
        return Applied(standard, standard), -1

    def _rests(self, applied: Applied) -> bool:
        try:
            return normalize(applied.url) == applied.url and self.apply_once(applied.url)[0] == applied
        except UrlError:  # a copied value that is no host label, for one
            return False

    def apply_once(self, standard: str) -> tuple[Applied, int]:
        """Apply the rule of a URL in standard form, whether or not the result is one to rest in; give its place."""
        parts = split(standard)
        found = self._decision_for(parts)
        if found is not None:
            first, decision = found
            values = keys(parts)
            place = decision.find(values)
            applied = None if place < 0 else apply(decision.rules[place], parts, values)
            if applied is not None:  # the first rule that holds decides, even where it cannot be carried out
                return applied, first + place
        return Applied(standard, standard), -1

    def _decision_for(self, parts: Url) -> tuple[int, Decision] | None:
        """Give what decides the URLs of a host: its own rules, else those of its site."""
        for place in places_of(parts.host, parts.port):
            if (found := self._decision(place)) is not None:
                return found
        return None

    def _decision(self, site: str) -> tuple[int, Decision] | None:
        known = self._decisions
        if site in known:
            return known[site]
        found = self._store.of_site(site)
        decision = None if found is None else (found[0], Decision(found[1]))
        if len(known) >= MAX_DECISIONS:
            known = self._decisions = {}  # other threads may be reading the old one
        known[site] = decision
        return decision


def _rule_set(store: Store, about: Mapping[str, Any], withdrawn: Iterable[Withdrawn]) -> RuleSet:
    return RuleSet(store, about=about, withdrawn=withdrawn)
