"""The binary form of rules: opened at once however many they are, and shared by all processes that map the file.

header    magic, version, sizes and places of what follows
words     the flat rules of all sites, for kernels (`undust.kernels.rules_layout`)
table     hash and place of each site
offsets   where each rule begins in the texts
texts     each rule as JSON, for people and for what kernels leave
about     what was said about the rules, as JSON
"""

import json
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash

from undust.errors import InputError
from undust.kernels import rules_layout as at
from undust.rules.files import dump_rule, load_rule
from undust.rules.flat_text import hash_host
from undust.rules.listed import ListedRules
from undust.rules.rule import Rule

if TYPE_CHECKING:
    from undust.rules.flat_tables import Compiled

MAGIC = b"\x00undust\n"
VERSION = 1
_ALIGNED = 64


class _Header(NamedTuple):
    """Sizes and places of sections in bytes; the sum is over those two by which sites and rules are found."""

    size: int
    sum: int
    rules: int
    keys: int
    names: int
    operations: int
    words: int
    words_size: int
    table: int
    table_size: int
    offsets: int
    offsets_size: int
    texts: int
    texts_size: int
    about: int
    about_size: int


_FORMAT = struct.Struct(f"<8sq{len(_Header._fields)}qQ")


def is_binary(start: bytes) -> bool:
    """Tell whether a file that begins so holds rules in binary form."""
    return start.startswith(MAGIC)


def dump_binary(rules: Iterable[Rule], about: Mapping[str, Any] | None = None) -> bytes:
    """Write rules in binary form; `MappedRules` reads it."""
    import numpy as np

    from undust.kernels.rules_validate import seal_sites

    listed = ListedRules(rules)
    compiled = listed.compiled()
    words = compiled.words.copy()
    seal_sites(words, words.view(np.uint8))
    texts = [dump_rule(rule) for rule in listed]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    sections = [
        words.tobytes(),
        compiled.sites.tobytes(),
        offsets.tobytes(),
        b"".join(texts),
        json.dumps(about or {}, ensure_ascii=False).encode(),
    ]
    spans: list[int] = []
    whole = bytearray(-(-_FORMAT.size // _ALIGNED) * _ALIGNED)
    for section in sections:
        spans += (len(whole), len(section))
        whole += section
        whole += bytes(-len(whole) % _ALIGNED)
    total = _sum(sections[1], sections[2])
    header = _Header(len(whole), total, len(listed), compiled.keys, compiled.names, compiled.operations, *spans)
    whole[: _FORMAT.size] = _FORMAT.pack(MAGIC, VERSION, *header, _sum(_pack(header)))
    return bytes(whole)


def _sum(*sections: Any) -> int:
    made = xxhash.xxh3_64()
    for section in sections:
        made.update(section)
    return made.intdigest() >> 1


def _pack(header: _Header) -> bytes:
    return struct.pack(f"<{len(header)}q", *header)


class MappedRules:
    """Rules in a buffer, such as a mapped file; each is made an object when it is asked for."""

    def __init__(self, buffer: Any, source: str = "rules") -> None:
        self._source = source
        self._buffer = memoryview(buffer).toreadonly()
        self._header = _read_header(self._buffer, source)
        self._words = self._section("words", "i")
        self._table = self._section("table", "q")
        self._offsets = self._section("offsets", "q")
        if _sum(self._table, self._offsets) != self._header.sum:
            raise self._damaged()
        self._compiled: Compiled | None = None
        self._lock = threading.Lock()

    @property
    def about(self) -> dict[str, Any]:
        """What was said about the rules when they were written."""
        try:
            return dict(json.loads(bytes(self._section("about", "B"))))
        except (ValueError, TypeError):
            raise self._damaged() from None

    def __len__(self) -> int:
        """Count the rules."""
        return self._header.rules

    def __iter__(self) -> Iterator[Rule]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> Rule:
        if not 0 <= place < len(self):
            raise self._damaged()
        start, end = self._offsets[place], self._offsets[place + 1]
        if not 0 <= start <= end <= self._header.texts_size:
            raise self._damaged()
        first = self._header.texts
        return load_rule(bytes(self._buffer[first + start : first + end]), self._source, place + 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (bytes(self._buffer), self._source)

    def of_site(self, site: str) -> tuple[int, tuple[Rule, ...]] | None:
        """Give the rules of a site, and the place of the first."""
        name = site.encode("utf-8", "surrogatepass")
        hashed = hash_host(name)
        slots = len(self._table) // 2
        slot = (hashed ^ hashed >> 32) & slots - 1
        for _ in range(slots):
            blob = self._table[2 * slot + 1]
            if blob == -1:
                break
            if self._table[2 * slot] & 2**64 - 1 == hashed:
                if not 0 <= blob <= len(self._words) - at.HEADER:
                    raise self._damaged()
                header = self._words[blob : blob + at.HEADER]
                start = self._header.words + 4 * blob + header[at.TEXTS]
                if self._buffer[start : start + header[at.NAME_SIZE]] == name:
                    first = header[at.FIRST]
                    return first, tuple(self[first + place] for place in range(header[at.RULES]))
            slot = slot + 1 & slots - 1
        return None

    def compiled(self) -> "Compiled":
        """Give the rules as kernels read them, straight from the buffer."""
        import numpy as np

        from undust.rules.flat_tables import Compiled

        with self._lock:
            if self._compiled is None:
                header = self._header
                self._compiled = Compiled(
                    np.frombuffer(self._words, np.int32),
                    np.frombuffer(self._table, np.int64).reshape(-1, 2),
                    header.keys,
                    header.names,
                    header.operations,
                    np.zeros(len(self._table) // 2, np.uint8),  # sites are proved when their first URL comes
                    self._source,
                )
            return self._compiled

    def _section(self, name: str, kind: str) -> "memoryview[Any]":
        start, size = getattr(self._header, name), getattr(self._header, f"{name}_size")
        return self._buffer[start : start + size].cast(kind)  # type: ignore[call-overload,no-any-return]

    def _damaged(self) -> InputError:
        return InputError(f"{self._source}: damaged rules: the file was changed; write it again")


def _read_header(buffer: "memoryview[int]", source: str) -> _Header:
    """Read the header and check that what it says can be."""
    if len(buffer) < _FORMAT.size or not is_binary(bytes(buffer[:8])):
        raise InputError(f"{source}: not a rule file in binary form")
    _, version, *fields, total = _FORMAT.unpack_from(buffer)
    header = _Header(*fields)
    if version != VERSION:
        raise InputError(f"{source}: rules of binary version {version}; this undust reads version {VERSION}")
    sections = (
        (header.words, header.words_size, 4),
        (header.table, header.table_size, 16),
        (header.offsets, header.offsets_size, 8),
        (header.texts, header.texts_size, 1),
        (header.about, header.about_size, 1),
    )
    slots = header.table_size // 16
    words = header.words_size // 4
    if (
        total != _sum(_pack(header))
        or header.size != len(buffer)
        or any(start < 0 or size < 0 or start + size > len(buffer) or size % unit for start, size, unit in sections)
        or any(start % _ALIGNED for start, _, _ in sections)
        or slots < 1
        or slots & slots - 1
        or header.offsets_size != 8 * (header.rules + 1)
        or any(not 0 <= most <= words for most in (header.keys, header.names, header.operations))
    ):
        raise InputError(f"{source}: damaged rules: the file is cut short or was changed; write it again")
    return header
