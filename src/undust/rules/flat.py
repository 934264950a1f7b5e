"""Rules of a site as flat words that kernels read (`undust.kernels.rules_layout`): no object is left of them."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from undust.kernels import rules_layout as at
from undust.rules.flat_text import borders, hash_text
from undust.rules.matcher import Group, Reached, group_rules, tie_groups
from undust.rules.rest import rests
from undust.rules.rule import Rule
from undust.rules.values import ANY, KINDS, THROUGH, Copy, Drop, Ignore, Operation, Pattern, Piece, Slot
from undust.urls.keys import Key

_POSITIONS = {"scheme": at.ON_SCHEME, "port": at.ON_PORT, "host": at.ON_HOST, "path": at.ON_PATH}
_USES = {"host": at.USES_HOST, "path": at.USES_PATH, "param": at.USES_PARAMS, "query": at.USES_QUERY}
_KINDS = {kind: getattr(at, kind.upper()) for kind in KINDS}
_ORDER = ("scheme", "port", "host", "path", "param", "query")
_NAMED = {"param": at.OF_PARAM, "query": at.OF_ARGUMENT}


class _InexpressibleError(Exception):
    """Words cannot say this. No rule that comes from a file is so."""


def compile_site(name: str, rules: Sequence[Rule]) -> "array[int]":
    """Write the rules of a site as words. A site whose rules words cannot say is marked as left to others."""
    try:
        return _Site(name, rules).words
    except (_InexpressibleError, UnicodeEncodeError, OverflowError):
        return _Site(name, (), at.LEFT).words


class _Site:
    """The words of one site, in the making."""

    def __init__(self, name: str, rules: Sequence[Rule], flags: int = 0) -> None:
        self._rules = rules
        self._texts = bytearray(name.encode("utf-8", "surrogatepass"))
        self._known: dict[bytes, int] = {}
        self._patterns: dict[Pattern, int] = {}
        self._flags = flags
        self.words = array("i", bytes(4 * at.HEADER))
        name_size = len(self._texts)
        used = dict.fromkeys(_used_keys(rules))
        positions = [key for key in used if key.part not in _NAMED]
        named = sorted((key for key in used if key.part in _NAMED), key=lambda key: (key.part, str(key.name), key.nth))
        self._keys = {key: number for number, key in enumerate([*positions, *named])}
        self._names: dict[tuple[str, str | int], list[Key]] = {}
        for key in named:
            self._names.setdefault(key[:2], []).append(key)
        for rule in rules:
            for key in rule.operations:
                if key.part in _NAMED:
                    self._names.setdefault(key[:2], [])
        self._numbers = {name: number for number, name in enumerate(self._names)}
        tied = tie_groups(group_rules(rules))
        places = {key: [self._write_group(group) for group in groups] for key, groups in tied.items()}
        self._write_names({key: self._put(len(groups), *groups) for key, groups in places.items()})
        words = self.words
        words[at.NAME_SIZE], words[at.FLAGS], words[at.TEXTS] = name_size, self._flags, 4 * len(words)
        words.frombytes(bytes(self._texts) + bytes(-len(self._texts) % 4))
        words[at.SIZE] = len(words)

    def _put(self, *words: int) -> int:
        place = len(self.words)
        self.words.extend(words)
        return place

    def _text(self, text: str) -> tuple[int, int]:
        data = text.encode()
        if data not in self._known:
            self._known[data] = len(self._texts)
            self._texts += data
        return self._known[data], len(data)

    def _write_group(self, group: Group) -> int:
        """Write a group and its rules; give its place."""
        keys = [[self._keys[key] for key in keys] for keys in group[:3]]
        present, absent, literal = map(len, keys)
        if max(present, absent, literal) > at.MAX_COUNT:
            raise _InexpressibleError
        places = {texts: self._write_bucket(texts, reached) for texts, reached in group.buckets.items()}
        if literal:
            place = self._write_table([(_hash_literals(texts), bucket) for texts, bucket in places.items()])
        else:
            (place,) = places.values()
        counts = present | absent << at.COUNT_BITS | literal << 2 * at.COUNT_BITS
        return self._put(group.first, counts, place, *(key for some in keys for key in some))

    def _write_table(self, entries: list[tuple[int, int]]) -> int:
        """Write a hash table with open addressing, at most half full; of one entry, only its value."""
        if len(entries) == 1:
            return self._put(0, entries[0][1])
        mask = (1 << (2 * len(entries) - 1).bit_length()) - 1
        table = [0] * (2 * mask + 2)
        for hashed, value in entries:
            slot = hashed & mask
            while table[2 * slot + 1]:
                slot = slot + 1 & mask
            table[2 * slot : 2 * slot + 2] = hashed, value
        return self._put(mask, *table)

    def _write_bucket(self, texts: tuple[str, ...], reached: list[Reached]) -> int:
        lines: list[int] = []
        for place, patterns in reached:
            conditions = [word for key, pattern in patterns for word in (self._keys[key], self._pattern(pattern))]
            written = self._put(len(patterns), *conditions) if patterns else 0
            lines += (place, self._write_rule(self._rules[place]), written)
        literals = [word for text in texts for word in self._text(text)]
        return self._put(*literals, len(reached), *lines)

    def _pattern(self, pattern: Pattern) -> int:
        if pattern not in self._patterns:
            parts = pattern.parts
            wide = [place for place, part in enumerate(parts) if part == Slot("any")]
            made: list[int] = []
            for place, part in enumerate(parts):
                if isinstance(part, Slot):
                    made += (_KINDS[part.kind], 0, 0, 0)
                    continue
                searched = len(wide) > 1 and place - 1 in wide
                made += (at.TEXT, *self._text(part), self._put(*borders(part.encode())) if searched else 0)
            slots = sum(isinstance(part, Slot) for part in parts)
            self._patterns[pattern] = self._put(len(parts), slots, wide[0] if len(wide) == 1 else -1, *made)
        return self._patterns[pattern]

    def _write_rule(self, rule: Rule) -> int:
        ordered = sorted(rule.operations.items(), key=lambda item: _place(item[0]))
        leaves = [_leaves(key, operation) for key, operation in ordered]
        flags = at.SORTED if rule.sort_query else 0
        if rule.sort_query:
            self._flags |= at.USES_QUERY
        if any(_ignores(operation) and not gone for gone, (_, operation) in zip(leaves, ordered, strict=True)):
            flags |= at.KEYED
        if all(gone and key.part == "query" for gone, (key, _) in zip(leaves, ordered, strict=True)):
            flags |= at.DROPS
            if rests(rule, self._rules):
                flags |= at.RESTS
        firsts = [sum(_ORDER.index(key.part) < place for key, _ in ordered) for place in range(2, 6)]
        lines: list[int] = []
        for gone, (key, operation) in zip(leaves, ordered, strict=True):
            lines += (*self._target(key), 0 if gone else self._write_pieces(rule, operation))
        return self._put(flags, len(ordered), *firsts, *lines)

    def _target(self, key: Key) -> tuple[int, int]:
        """Give place or name of the key of an operation, and which of that name."""
        self._flags |= _USES.get(key.part, 0)
        if key.part in _NAMED:
            return self._numbers[key[:2]], key.nth
        _require_position(key)
        if key.part == "host" and _number(key) < 1:
            raise _InexpressibleError
        return _POSITIONS[key.part] if key.part in ("scheme", "port") else _number(key), 1

    def _write_pieces(self, rule: Rule, operation: Operation) -> int:
        pieces = [] if isinstance(operation, Drop) else [self._piece(rule, piece) for piece in operation]
        return self._put(len(pieces), *(word for piece in pieces for word in piece))

    def _piece(self, rule: Rule, piece: Piece) -> tuple[int, int, int, int, int]:
        if isinstance(piece, str):
            return at.LITERAL, *self._text(piece), 0, 0
        if isinstance(piece, Ignore):
            return at.IGNORED, *self._text(piece.usual or ""), 0, 0
        match = rule.context.get(piece.source)
        slots = sum(isinstance(part, Slot) for part in match.parts) if isinstance(match, Pattern) else 0
        pattern = self._pattern(match) if isinstance(match, Pattern) and piece.slot < slots and match != ANY else 0
        return at.COPIED, self._keys[piece.source], pattern, piece.slot, THROUGH.index(piece.through)

    def _write_names(self, lists: Mapping[Key | None, int]) -> None:
        """Write names and keys, with the lists of groups that are tied to them."""
        names: list[int] = []
        hashes: list[tuple[int, int]] = []
        for (part, name), keys in self._names.items():
            if not isinstance(name, str):
                raise _InexpressibleError
            of = _NAMED[part]
            hashed = hash_text(name.encode(), of << 32) >> at.HASH_SHIFT
            text, size = self._text(name)
            names += (hashed, size << 1 | of, text, self._keys[keys[0]] if keys else 0, len(keys))
            hashes.append((hashed, len(hashes) + 1))
        keyed: list[int] = []
        for key in self._keys:
            self._flags |= _USES.get(key.part, 0)
            if key.part in _NAMED:
                keyed += (at.ON_NAME | key.nth << at.PART_BITS, lists.get(key, 0))
            else:
                _require_position(key)
                keyed += (_POSITIONS[key.part] | 1 << at.PART_BITS, _number(key))
        words = self.words
        words[at.COMMON] = lists[None]
        words[at.NAME_COUNT], words[at.KEY_COUNT] = len(self._names), len(self._keys)
        words[at.NAMES], words[at.KEYS] = self._put(*names), self._put(*keyed)
        words[at.TABLE] = self._write_table(hashes) if len(hashes) > at.FEW_NAMES else 0


def _used_keys(rules: Iterable[Rule]) -> Iterator[Key]:
    """Give the keys whose values rules look at."""
    for rule in rules:
        yield from rule.context
        for operation in rule.operations.values():
            if not isinstance(operation, Drop):
                yield from (piece.source for piece in operation if isinstance(piece, Copy))


def _hash_literals(texts: tuple[str, ...]) -> int:
    made = 0
    for text in texts:
        made = hash_text(text.encode(), made)
    return made >> at.HASH_SHIFT


def _leaves(key: Key, operation: Operation) -> bool:
    """Tell whether an operation takes its key away whatever the URL: it is left out where it does not matter."""
    if isinstance(operation, Drop):
        return True
    return key.part in _NAMED and len(operation) == 1 and isinstance(operation[0], Ignore)


def _ignores(operation: Operation) -> bool:
    return not isinstance(operation, Drop) and any(isinstance(piece, Ignore) for piece in operation)


def _place(key: Key) -> tuple[int, bool, int]:
    """Order operations as they are carried out: labels from the left, segments from the start, then from the end."""
    if key.part not in _ORDER:
        raise _InexpressibleError
    place = _number(key)
    return _ORDER.index(key.part), key.part == "path" and place < 0, -place if key.part == "host" else place


def _number(key: Key) -> int:
    return key.name if isinstance(key.name, int) else 0


def _require_position(key: Key) -> None:
    """Refuse keys that no URL has, but a rule made by hand could name."""
    if key.part not in _POSITIONS or key.nth != 1 or isinstance(key.name, str) != (key.part in ("scheme", "port")):
        raise _InexpressibleError
