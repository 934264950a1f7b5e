"""Rules by site, held as objects."""

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from undust.rules.rule import Rule

if TYPE_CHECKING:
    from undust.rules.flat_tables import Compiled


class ListedRules:
    """Rules by site, in the order of the sites' names; those of a site in the order they came."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        sites: dict[str, list[Rule]] = {}
        for rule in rules:
            sites.setdefault(rule.site, []).append(rule)
        self._sites: dict[str, tuple[int, tuple[Rule, ...]]] = {}
        self._all: list[Rule] = []
        for site in sorted(sites):
            self._sites[site] = len(self._all), tuple(sites[site])
            self._all += sites[site]
        self._compiled: Compiled | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Count the rules."""
        return len(self._all)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._all)

    def __getitem__(self, place: int) -> Rule:
        return self._all[place]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._all,)

    def of_site(self, site: str) -> tuple[int, tuple[Rule, ...]] | None:
        """Give the rules of a site, and the place of the first."""
        return self._sites.get(site)

    def compiled(self) -> "Compiled":
        """Give the rules as kernels read them; compiled once."""
        from undust.rules.flat_tables import compile_rules

        with self._lock:
            if self._compiled is None:
                self._compiled = compile_rules({site: rules for site, (_, rules) in self._sites.items()})
            return self._compiled
