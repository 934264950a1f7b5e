"""Rule files, in either form, become sets of rules, if what they say is sound."""

from collections.abc import Sequence
from typing import Any

from undust.errors import InputError
from undust.rules.binary import MAGIC, MappedRules, is_binary
from undust.rules.check import find_fault
from undust.rules.files import load_document
from undust.rules.listed import ListedRules
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.rules.withdrawn import load_withdrawn


def read_rules(data: Any, source: str = "rules") -> RuleSet:
    """Read a set of rules from a rule file's text, or from a buffer with the binary form, such as a mapped file."""
    store: ListedRules | MappedRules
    if is_binary(b"" if isinstance(data, str) else bytes(data[: len(MAGIC)])):
        store = mapped = MappedRules(data, source)
        about = mapped.about
    else:
        rules, about = load_document(data, source)
        store = ListedRules(rules)
        _require_sound(rules, source)
    return RuleSet(store, withdrawn=load_withdrawn(about.pop("withdrawn", []), source), about=about)


def _require_sound(rules: Sequence[Rule], source: str) -> None:
    """Refuse rules that can never be used, may take too long, or go in circles."""
    sites: dict[str, list[int]] = {}
    for place, rule in enumerate(rules):
        sites.setdefault(rule.site, []).append(place)
    for places in sites.values():
        fault = find_fault([rules[place] for place in places])
        if fault is not None:
            numbers = [str(places[place] + 1) for place in fault.rules]
            named = f"rule {numbers[0]}" if len(numbers) == 1 else f"rules {', '.join(numbers[:-1])} and {numbers[-1]}"
            raise InputError(f"{source}: {named} {fault.why}; take one out")
