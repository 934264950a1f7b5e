"""Numbers to text by the column: words, titles, ids and codes for pages that are only a number so far.

All that names a page is one-to-one: two numbers never get the same text.
"""

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.uint64]

VOCABULARY = 2048
_ONSETS = [*"bcdfghjklmnprstvw", "br", "cr", "dr", "fl", "gr", "pl", "pr", "sh", "sl", "st", "tr", "th"]
_VOWELS = [*"aeiou", "ai", "ea", "oo"]
_CODAS = ["", "", "", "n", "r", "s", "l", "t", "ck", "nd"]
_TITLES_END = 10**9  # three words of the first thousand
_CODES_END = 36**6
_ALPHABET = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)
_UPPER = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)


@functools.cache
def vocabulary() -> pa.StringArray:
    """Make words that nobody has written, but could read out; always the same ones."""
    chance = np.random.default_rng(20100426)
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        syllables = [
            f"{chance.choice(_ONSETS)}{chance.choice(_VOWELS)}{chance.choice(_CODAS)}"
            for _ in range(int(chance.integers(1, 4)))
        ]
        if len("".join(syllables)) > 3:
            found["".join(syllables)] = None
    return pa.array(list(found), pa.string())


def mix(numbers: npt.NDArray[np.integer], seed: int) -> Numbers:
    """Scatter numbers over 64 bits, one-to-one for a seed (splitmix64)."""
    offset = np.uint64((seed * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**64)
    value = numbers.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03) + offset
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))


def chosen(numbers: npt.NDArray[np.integer], seed: int, texts: "tuple[str, ...] | pa.StringArray") -> pa.StringArray:
    """Give each number one of some texts, by chance that the seed decides."""
    listed = texts if isinstance(texts, pa.StringArray) else pa.array(texts, pa.string())
    return listed.take(pa.array(mix(numbers, seed) % np.uint64(len(listed))))


def joined(*columns: "pa.StringArray | str") -> pa.StringArray:
    """Write columns and constants behind one another; null where one is."""
    return pc.binary_join_element_wise(*columns, "")


def decimal(numbers: npt.NDArray[np.integer]) -> pa.StringArray:
    """Write numbers out."""
    return pa.array(numbers).cast(pa.string())


def _three(numbers: Numbers, seed: int) -> tuple[pa.StringArray, ...]:
    # Odd and not divisible by five: one-to-one up to a billion.
    scattered = (numbers * np.uint64(387_420_489) + np.uint64(seed * 7919 % _TITLES_END)) % np.uint64(_TITLES_END)
    words = vocabulary().slice(seed % 1000, 1000)
    digits = (
        scattered % np.uint64(1000),
        scattered // np.uint64(1000) % np.uint64(1000),
        scattered // np.uint64(10**6),
    )
    return tuple(words.take(pa.array(digit)) for digit in digits)


def _title(numbers: Numbers, seed: int) -> pa.StringArray:
    return joined(*(piece for word in _three(numbers, seed) for piece in ("_", pc.utf8_capitalize(word))))


def _slug(numbers: Numbers, seed: int) -> pa.StringArray:
    one, two, three = _three(numbers, seed)
    return joined(one, "-", two, "-", three)


def _name(numbers: Numbers, seed: int) -> pa.StringArray:
    """Give words, then words with a number behind."""
    place = (numbers * np.uint64(997) + np.uint64(seed)) % np.uint64(VOCABULARY)
    round_ = numbers // np.uint64(VOCABULARY)
    return joined(vocabulary().take(pa.array(place)), pc.if_else(pa.array(round_ == 0), "", decimal(round_)))


def _id(numbers: Numbers, seed: int) -> pa.StringArray:
    first = np.uint64(seed % 90_000 + 100)
    return decimal(first + numbers * np.uint64(7) + mix(numbers, seed) % np.uint64(7))


def _code(numbers: Numbers, seed: int) -> pa.StringArray:
    scattered = (numbers * np.uint64(1_000_000_007) + np.uint64(seed)) % np.uint64(_CODES_END)
    return joined("B000", _written(scattered, 6, 36, _UPPER))


def _token(numbers: Numbers, seed: int) -> pa.StringArray:
    return _written(mix(numbers, seed), 11, 62, _ALPHABET)


def _hex(numbers: Numbers, seed: int) -> pa.StringArray:
    digits = _ALPHABET[:16]
    return joined(_written(mix(numbers, seed), 16, 16, digits), _written(mix(numbers, seed + 1), 16, 16, digits))


def _date(numbers: Numbers, seed: int) -> pa.StringArray:
    day = mix(numbers, seed) % np.uint64(4000)
    months = day // np.uint64(28)
    return joined(
        decimal(np.uint64(2004) + months // np.uint64(12)),
        "/",
        _padded(np.uint64(1) + months % np.uint64(12)),
        "/",
        _padded(np.uint64(1) + day % np.uint64(28)),
    )


def _padded(numbers: Numbers) -> pa.StringArray:
    return pc.utf8_lpad(decimal(numbers), 2, "0")


def _written(numbers: Numbers, width: int, base: int, digits: npt.NDArray[np.uint8]) -> pa.StringArray:
    """Write numbers with so many digits, which lie in one block without gaps."""
    letters = np.empty((len(numbers), width), np.uint8)
    left = numbers.copy()
    for place in range(width - 1, -1, -1):
        letters[:, place] = digits[(left % np.uint64(base)).astype(np.intp)]
        left //= np.uint64(base)
    offsets = np.arange(0, width * len(numbers) + 1, width, dtype=np.int32)
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(letters))


IDENTITIES: dict[str, Callable[[Numbers, int], pa.StringArray]] = {
    "title": lambda numbers, seed: pc.utf8_slice_codeunits(_title(numbers, seed), 1),
    "slug": _slug,
    "name": _name,
    "id": _id,
    "code": _code,
    "token": _token,
    "hex": _hex,
}
"""What can name a page: one-to-one from numbers."""

ATTRIBUTES: dict[str, Callable[[Numbers, int], pa.StringArray]] = {
    "date": _date,
    "category": lambda numbers, seed: chosen(numbers, seed, vocabulary().slice(seed % 1900, 14)),
    "forum": lambda numbers, seed: decimal(np.uint64(1) + mix(numbers, seed) % np.uint64(18)),
    "dir": lambda numbers, seed: joined(
        chosen(numbers, seed, vocabulary().slice(seed % 1900, 9)),
        "/",
        chosen(numbers, seed + 1, vocabulary().slice(seed % 1800, 40)),
    ),
}
"""What a page has, but shares with others."""
