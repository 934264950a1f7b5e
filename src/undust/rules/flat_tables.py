"""Flat rules of many sites put together, with the hash tables by which a host finds its own."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from undust.kernels import rules_layout as at
from undust.kernels.rules_bytes import SLACK
from undust.kernels.rules_scratch import FlatRules, Scratch, make_scratch
from undust.rules.flat import compile_site
from undust.rules.flat_text import hash_host
from undust.rules.rule import Rule
from undust.urls.site import bundled

Words = npt.NDArray[np.int32]
Table = npt.NDArray[np.int64]

_EMPTY = -1


@dataclass(frozen=True, slots=True)
class Compiled:
    """The rules of all sites, ready for kernels."""

    words: Words
    sites: Table
    keys: int
    """Most keys of a site, as of the next two."""
    names: int
    operations: int
    checked: npt.NDArray[np.uint8]
    """Of each slot of the table: 1 if the words are known to be whole, 0 if the kernel is to look at them first."""
    source: str = "rules"

    @property
    def flat(self) -> FlatRules:
        """What kernels read."""
        suffixes, texts = suffix_table()
        return FlatRules(self.words, self.words.view(np.uint8), self.sites, suffixes, texts, self.checked)

    def scratch(self) -> Scratch:
        """Make what kernels write, for one thread."""
        return make_scratch(self.keys, self.names, self.operations)


def compile_rules(sites: Mapping[str, Sequence[Rule]]) -> Compiled:
    """Compile rules by site; the place of a rule is counted through all sites in their order."""
    pieces: list[array[int]] = []
    entries: list[tuple[int, int]] = []
    keys = names = operations = place = first = 0
    for name, rules in sites.items():
        words = compile_site(name, rules)
        words[at.FIRST], words[at.RULES] = first, len(rules)
        entries.append((hash_host(name.encode("utf-8", "surrogatepass")), place))
        pieces.append(words)
        keys, names = max(keys, words[at.KEY_COUNT]), max(names, words[at.NAME_COUNT])
        operations = max(operations, max((len(rule.operations) for rule in rules), default=0))
        place += len(words)
        first += len(rules)
    whole = np.zeros(place + SLACK // 4 * 2, np.int32)
    end = 0
    for words in pieces:
        whole[end : end + len(words)] = words
        end += len(words)
    whole.flags.writeable = False
    table = hash_table(entries)
    return Compiled(whole, table, keys, names, operations, np.ones(len(table), np.uint8))


def hash_table(entries: Sequence[tuple[int, int]]) -> Table:
    """Make a table with open addressing, at most half full, of hashes and values."""
    size = 1 << (2 * len(entries)).bit_length()
    table = np.zeros((size, 2), np.uint64)
    hashes: list[int] = [0] * size
    values: list[int] = [_EMPTY] * size
    for hashed, value in entries:
        slot = (hashed ^ hashed >> 32) & size - 1
        while values[slot] != _EMPTY:
            slot = slot + 1 & size - 1
        hashes[slot], values[slot] = hashed, value
    table[:, 0] = hashes
    made: Table = table.view(np.int64)
    made[:, 1] = values
    made.flags.writeable = False
    return made


@cache
def suffix_table() -> tuple[Table, npt.NDArray[np.uint8]]:
    """Give the public suffix list as a table for kernels, and the names in it."""
    known = bundled()
    says: dict[str, int] = {}
    for flag, names in (
        (at.SUFFIX, known.suffixes),
        (at.WILDCARD, known.wildcards),
        (at.EXCEPTION, known.exceptions),
    ):
        for name in names:
            says[name] = says.get(name, 0) | flag
    for name in list(says):
        for parent in _parents(name):  # a host is looked at label by label, so the way to each name must be there
            says.setdefault(parent, 0)
    texts = bytearray()
    entries = []
    for name, flags in sorted(says.items()):
        text = name.encode()
        entries.append((hash_host(text), len(texts) << 16 | len(text) << 8 | flags))
        texts += text
    return hash_table(entries), np.frombuffer(bytes(texts) + bytes(SLACK), np.uint8)


def _parents(name: str) -> Iterable[str]:
    while "." in name:
        _, _, name = name.partition(".")
        yield name
