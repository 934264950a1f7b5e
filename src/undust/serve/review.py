"""What people decide on rules: accepted, withdrawn, or neither again; noted in the rule file, so that it lasts."""

from collections.abc import Iterable, Mapping
from typing import Any

from undust.errors import InputError
from undust.rules.care import GUARD, drop, restore, withdraw
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet

NOTE = "review"
"""What the notes are called in a rule file: for each short name of a rule what was decided, and when."""

ORDER = "review_order"
"""What the order of rules is called there: for each site with withdrawn rules, the short names of all."""


def reviews(rules: RuleSet) -> dict[str, str]:
    """Give the short names of the rules that somebody accepted."""
    return {name: "accepted" for name, note in _notes(rules).items() if note.get("state") == "accepted"}


def decided(rules: RuleSet, name: str, state: str, reason: str, today: str) -> RuleSet:
    """Give the rules after a decision on one of them.

    A rule that is withdrawn stays so, whatever is learned, until somebody takes that back here: then it stands again
    where it stood.
    """
    in_force = {rule.id: rule for rule in rules}
    notes, orders = _notes(rules), _orders(rules)
    notes.pop(name, None)
    if state == "withdrawn":
        site = in_force[name].site
        orders[site] = _order(rules, site, orders.get(site, []))
        rules = withdraw(rules, [name], reason, withdrawn_at=today)
    elif name not in in_force:
        rules = _put_back(rules, name, orders)
    if state != "open":
        notes[name] = {"state": state, "at": today}
    gone = {each.rule.site for each in rules.withdrawn}
    about = {each: value for each, value in rules.about.items() if each not in (NOTE, ORDER)}
    about |= {NOTE: notes} if notes else {}
    about |= {ORDER: kept} if (kept := {site: names for site, names in orders.items() if site in gone}) else {}
    return RuleSet(list(rules), about=about, withdrawn=rules.withdrawn)


def _notes(rules: RuleSet) -> dict[str, dict[str, Any]]:
    found = rules.about.get(NOTE)
    if not isinstance(found, Mapping):
        return {}
    return {str(name): dict(note) for name, note in found.items() if isinstance(note, Mapping)}


def _orders(rules: RuleSet) -> dict[str, list[str]]:
    found = rules.about.get(ORDER)
    if not isinstance(found, Mapping):
        return {}
    return {str(site): [str(name) for name in names] for site, names in found.items() if isinstance(names, list)}


def _order(rules: RuleSet, site: str, known: list[str]) -> list[str]:
    """Give the short names of the rules of a site, those withdrawn where they stood; a guard stands for the one."""
    withdrawn = [each.rule for each in rules.withdrawn if each.rule.site == site]
    names = []
    for rule in rules:
        if rule.site == site:
            stands_for = _guarded(rule, withdrawn)
            names.append((stands_for or rule).id)
    made, there = list(known), set(known)
    for place, name in enumerate(names):
        if name not in there:
            following = next((other for other in names[place + 1 :] if other in there), None)
            made.insert(len(made) if following is None else made.index(following), name)
            there.add(name)
    return made


def _put_back(rules: RuleSet, name: str, orders: Mapping[str, list[str]]) -> RuleSet:
    """Put a withdrawn rule back where it stood. The guards of those that stay withdrawn are set anew."""
    back = next((each.rule for each in rules.withdrawn if each.rule.id == name), None)
    if back is None:
        raise InputError(f"no rule {name} among those withdrawn; look at them with undust rules list")
    order = _order(rules, back.site, orders.get(back.site, []))
    known = {each: place for place, each in enumerate(order)}
    of_site = [each.rule for each in rules.withdrawn if each.rule.site == back.site and each.rule.id in known]
    missing = of_site if back in of_site else [*of_site, back]
    made = [rule for rule in rules if rule.site == back.site and _guarded(rule, missing) is None]
    for rule in sorted(missing, key=lambda each: known.get(each.id, len(known)), reverse=True):
        after = set(order[known.get(rule.id, len(order)) + 1 :])
        place = next((at for at, other in enumerate(made) if other.id in after), len(made))
        made.insert(place, rule)
    others = [rule for rule in rules if rule.site != back.site]
    still = [rule for rule in missing if rule != back]
    return restore(drop(rules.with_rules([*others, *made]), still).rules, [name])


def _guarded(rule: Rule, withdrawn: Iterable[Rule]) -> Rule | None:
    """Give the withdrawn rule for which a guard stands; nothing for any other rule."""
    if rule.statistics.learner != GUARD:
        return None
    return next((each for each in withdrawn if each.context == rule.context), None)
