"""What a store must know to tell whether a URL was asked for before, whatever the rules were then."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import xxhash

from undust.crawl.signatures import signature
from undust.crawl.store import Store
from undust.rules.ruleset import RuleSet
from undust.urls.normalize import normalize
from undust.urls.parse import split

MAX_PLACES = 100_000
"""Hosts for which the digest of their rules is kept: about 100 bytes each."""


class Asked(NamedTuple):
    """The signatures of one URL under the rules in force.

    Three spellings stand for a page: the URL itself in standard form, the one that the rules would fetch, and the key.
    It was asked for before if any of `known` is in the store. If not, `remembered` goes there: what is fetched now, and
    the key. The spelling that the rules would fetch does not, as nobody has fetched it.
    """

    standard: str
    key: str
    known: tuple[bytes, ...]
    remembered: tuple[bytes, ...]


Sign = Callable[[str, int], bytes]


class UrlSigner:
    """Makes the signatures of URLs under rules.

    Keys are salted with what the rules of their site say. So when these change, or are withdrawn, keys of before no
    longer hold for anything, and need not be found and forgotten; URLs that were fetched stay known by their own
    signature; URLs that were skipped were never remembered, and are new again.
    """

    def __init__(self, rules: RuleSet | None = None, salt: int = 0) -> None:
        self._rules = rules if rules is not None and len(rules) else None
        self._salt = salt
        self._digests: dict[str, int] = {}

    def of(self, url: str, sign: Sign = signature) -> Asked:
        """Give the signatures of a URL; `UrlError` if it cannot be parsed.

        `sign` makes them of a spelling of the URL and a salt.
        """
        standard = normalize(url)
        own = sign(standard, self._salt)
        if self._rules is None:
            return Asked(standard, standard, (own,), (own,))
        fetch, key = self._rules.spellings(standard)
        by_key = sign(key, self._salt ^ self._digest(key, self._rules))
        if key == standard:
            return Asked(standard, key, (own, by_key), (own,))
        spellings = dict.fromkeys((fetch, key))
        fetched = (sign(spelling, self._salt) for spelling in spellings)
        return Asked(standard, key, (own, by_key, *fetched), (own, by_key))

    def _digest(self, key: str, rules: RuleSet) -> int:
        """Give the digest of what the rules say for the place of a key: the same for all URLs that have the key."""
        place = key.split("/", 3)[2]
        found = self._digests.get(place)
        if found is None:
            parts = split(key)
            lines = "\n".join(["rules", *map(str, rules.rules_of(parts.host, parts.port))])
            found = xxhash.xxh3_64_intdigest(lines.encode("utf-8", "surrogatepass"))
            if len(self._digests) >= MAX_PLACES:
                self._digests = {}
            self._digests[place] = found
        return found


def known(store: Store, asked: Sequence[Asked]) -> list[bool]:
    """Tell which URLs were asked for before."""
    answers = iter(store.known_urls([signature for one in asked for signature in one.known]))
    return [any([next(answers) for _ in one.known]) for one in asked]  # noqa: C419 - all of them are to be taken


def ask(store: Store, asked: Sequence[Asked]) -> list[bool]:
    """Tell which URLs were asked for before, one after the other, and remember the others."""
    seen = known(store, asked)
    here: set[bytes] = set()  # what this very call is to remember
    for place, one in enumerate(asked):
        seen[place] = seen[place] or not here.isdisjoint(one.known)
        if not seen[place]:
            here.update(one.remembered)
    wanted = [place for place in range(len(asked)) if not seen[place]]
    new = iter(store.add_urls([signature for place in wanted for signature in asked[place].remembered]))
    late = []
    for place in wanted:
        own, *rest = asked[place].remembered
        own_is_new, rest_is_new = next(new), [next(new) for _ in rest]
        if not (own_is_new and all(rest_is_new)):  # somebody else asked for the page since we looked
            seen[place] = True
            late += [own] if own_is_new else []
    if late:  # so it is not we who fetch these
        store.forget_urls(late)
    return seen
