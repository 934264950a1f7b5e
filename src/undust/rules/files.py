"""Rule files: versioned JSON that people can read, checked when it is loaded."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any, NamedTuple
from urllib.parse import quote

import xxhash

from undust.errors import InputError, UndustError
from undust.rules.line import write_line
from undust.rules.rule import Rule, Statistics
from undust.rules.spelling import site_fault, unescaped
from undust.rules.values import (
    ABSENT,
    DROP,
    KINDS,
    THROUGH,
    Absent,
    Copy,
    Drop,
    Ignore,
    Match,
    Operation,
    Pattern,
    Piece,
    Slot,
)
from undust.urls.keys import Key

VERSION = 1
_TEXTS = ("learner", "learned_at", "expires")
ID_SIZE = 10
"""Letters of a short name, of 5 bits each: among a million rules, two share one with a chance of 1 to 2,000."""
_OPERATIONS = ("keep", "copy", "ignore", "drop", "compose")
_HOLE = re.compile(r"\{([a-z]*+)\}")


class BadRuleError(Exception):
    """What is wrong with a rule; whoever reads it adds the place."""


class Document(NamedTuple):
    """What a rule file says."""

    rules: list[Rule]
    about: dict[str, Any]
    """All that is said beside the rules, as JSON."""


def dumps(rules: Iterable[Rule], about: Mapping[str, Any] | None = None) -> str:
    """Write rules as JSON; `loads` reads them. `about` is kept beside them."""
    document = {"version": VERSION, **(about or {}), "rules": [rule_to_json(rule) for rule in rules]}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def loads(text: str | bytes, source: str = "rules") -> list[Rule]:
    """Read rules from JSON; where they are wrong, `InputError` names the source, the rule and the reason."""
    return load_document(text, source).rules


def load_document(text: str | bytes, source: str = "rules") -> Document:
    """Read rules from JSON, and what is said beside them."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not a rule file: {error}; write it again with undust learn") from error
    if not isinstance(document, dict) or not isinstance(document.get("rules"), list) or "version" not in document:
        raise InputError(f"{source}: not a rule file: it needs version and rules; write it again with undust learn")
    if document["version"] != VERSION:
        raise InputError(f"{source}: rules of version {document['version']!r}; this undust reads version {VERSION}")
    rules = []
    for place, item in enumerate(document["rules"], 1):
        try:
            rules.append(rule_from_json(item))
        except (BadRuleError, UndustError) as error:
            raise InputError(f"{source}: rule {place}: {error}") from error
    return Document(rules, {name: value for name, value in document.items() if name not in ("version", "rules")})


def name_of(rule: Rule) -> str:
    """Give the short name of a rule: a hash of all that it says, whatever order it is said in."""
    made = _said(rule)
    context = sorted(made["context"].items())
    operations = sorted(made["operations"], key=lambda operation: str(operation["key"]))
    said = json.dumps([rule.site, context, operations, rule.sort_query], sort_keys=True)
    return base64.b32encode(xxhash.xxh3_64_digest(said.encode()))[:ID_SIZE].decode().lower()


def dump_rule(rule: Rule) -> bytes:
    """Write one rule as JSON without white space; `load_rule` reads it."""
    return json.dumps(_said(rule), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def load_rule(text: bytes, source: str, place: int) -> Rule:
    """Read one rule, the one at a place of the source counted from 1."""
    try:
        return rule_from_json(json.loads(text.decode("utf-8", "surrogatepass")))
    except (ValueError, RecursionError, BadRuleError, UndustError) as error:
        raise InputError(f"{source}: rule {place}: {error}") from error


def rule_to_json(rule: Rule) -> dict[str, Any]:
    """Give a rule as plain values."""
    return {"id": name_of(rule), "line": write_line(rule), **_said(rule)}  # the first two for people; not read back


def _said(rule: Rule) -> dict[str, Any]:
    made: dict[str, Any] = {
        "site": rule.site,
        "context": {str(key): _match_to_json(match) for key, match in rule.context.items()},
        "operations": [{"key": str(key), **_operation_to_json(op)} for key, op in rule.operations.items()],
    }
    if rule.sort_query:
        made["sort_query"] = True
    if rule.statistics != Statistics():
        statistics = asdict(rule.statistics)
        made["statistics"] = {**statistics, "fpr": rule.statistics.fpr, "precision": rule.statistics.precision}
    return made


def _match_to_json(match: Match) -> str | None:
    if isinstance(match, Absent):
        return None
    return "".join(
        part if isinstance(part, str) else f"{{{'' if part.kind == 'any' else part.kind}}}" for part in match.parts
    )


def _operation_to_json(operation: Operation) -> dict[str, Any]:
    if isinstance(operation, Drop):
        return {"op": "drop"}
    if len(operation) == 1:
        return _piece_to_json(operation[0])
    if not operation:
        return {"op": "keep", "value": ""}
    return {"op": "compose", "parts": [_piece_to_json(piece) for piece in operation]}


def _piece_to_json(piece: Piece) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"op": "keep", "value": piece}
    if isinstance(piece, Ignore):
        return {"op": "ignore"} if piece.usual is None else {"op": "ignore", "usual": piece.usual}
    made: dict[str, Any] = {"op": "copy", "from": str(piece.source)}
    if piece.slot:
        made["slot"] = piece.slot
    if piece.through:
        made["through"] = piece.through
    return made


def rule_from_json(item: Any) -> Rule:
    """Make a rule of plain values; `BadRuleError` says what is wrong with them."""
    item = _object(item, "a rule")
    if unknown := set(item) - {"id", "line", "site", "context", "operations", "sort_query", "statistics"}:
        raise BadRuleError(f"unknown field {min(unknown)!r}")
    context = {
        _key(name): _match_from_json(name, match) for name, match in _object(item.get("context", {}), "context").items()
    }
    operations: dict[Key, Operation] = {}
    for entry in _list(item.get("operations", []), "operations"):
        key = _key(_string(_object(entry, "an operation").get("key"), "key"))
        if key in operations:
            raise BadRuleError(f"two operations on {key}")
        operations[key] = _operation_from_json(entry, context)
    sort_query = item.get("sort_query", False)
    if not isinstance(sort_query, bool):
        raise BadRuleError("sort_query must be true or false")
    site = _string(item.get("site"), "site")
    if not site:
        raise BadRuleError("no site")
    if (fault := site_fault(site)) is not None:
        raise BadRuleError(f"site is {site[:80]!r}: {fault}")
    return Rule(site, context, operations, sort_query, _statistics(item.get("statistics", {})))


def _match_from_json(name: str, match: Any) -> Match:
    if match is None:
        return ABSENT
    text = _string(match, name)
    parts: list[str | Slot] = []
    at = 0
    for hole in _HOLE.finditer(text):
        if hole.start() > at:
            parts.append(_literal(text[at : hole.start()], name))
        if (hole[1] or "any") not in KINDS:
            raise BadRuleError(f"{name}: unknown kind {hole[1]!r}; one of {', '.join(KINDS)}")
        parts.append(Slot(hole[1] or "any"))  # type: ignore[arg-type] # one of the kinds
        at = hole.end()
    if at < len(text):
        parts.append(_literal(text[at:], name))
    return Pattern(tuple(parts))


def _operation_from_json(entry: dict[str, Any], context: Mapping[Key, Match]) -> Operation:
    name = entry.get("op")
    if name not in _OPERATIONS:
        raise BadRuleError(f"unknown operation {name!r}; one of {', '.join(_OPERATIONS)}")
    if name == "drop":
        return DROP
    if name == "compose":
        return tuple(_piece_from_json(_object(part, "a part"), context) for part in _list(entry.get("parts"), "parts"))
    piece = _piece_from_json(entry, context)
    return () if piece == "" else (piece,)


def _piece_from_json(entry: dict[str, Any], context: Mapping[Key, Match]) -> Piece:
    match entry.get("op"):
        case "keep":
            return _literal(entry.get("value"), "value")
        case "ignore":
            return Ignore(None if entry.get("usual") is None else _literal(entry["usual"], "usual"))
        case "copy":
            through, slot, source = (
                entry.get("through", ""),
                entry.get("slot", 0),
                _key(_string(entry.get("from"), "from")),
            )
            if through not in THROUGH:
                raise BadRuleError(f"unknown conversion {through!r}; one of {', '.join(filter(None, THROUGH))}")
            match = context.get(source)
            slots = sum(isinstance(part, Slot) for part in match.parts) if isinstance(match, Pattern) else 1
            if not isinstance(slot, int) or not 0 <= slot < max(slots, 1):
                raise BadRuleError(f"copy from {source}: slot {slot!r} of {slots}")
            return Copy(source, slot, through)
        case other:
            raise BadRuleError(f"unknown operation {other!r}; one of keep, copy, ignore")


def _statistics(values: Any) -> Statistics:
    known = {field.name for field in fields(Statistics)}
    given = {name: value for name, value in _object(values, "statistics").items() if name in known}
    examples = given.pop("examples", [])
    for name, value in given.items():
        if not isinstance(value, str if name in _TEXTS else int):
            raise BadRuleError(f"statistics: {name} is {value!r}")
    pairs = [_list(pair, "an example") for pair in _list(examples, "examples")]
    if any(len(pair) != 2 or not all(isinstance(url, str) for url in pair) for pair in pairs):
        raise BadRuleError("statistics: an example is a pair of URLs")
    return Statistics(**given, examples=tuple((a, b) for a, b in pairs))


def _key(name: str) -> Key:
    key = Key.parse(name)
    if key.part in ("userinfo", "fragment"):
        raise BadRuleError(f"{key.part} is no key for rules")
    if isinstance(key.name, str):
        _literal(key.name, f"the name in {name}")
    return key


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRuleError(f"{what} must be an object")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadRuleError(f"{what} must be a list")
    return value


def _string(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise BadRuleError(f"{what} must be a text")
    return value


def _literal(value: Any, what: str) -> str:
    text = _string(value, what)
    if (letter := unescaped(text)) is not None:
        raise BadRuleError(
            f"{what} is {text[:40]!r}: {letter!r} is escaped in URLs; write {quote(letter, errors='replace')}"
        )
    return text
