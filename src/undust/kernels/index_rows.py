"""The rows of the online index, read where they lie in mapped files: what a row holds, and the keys made from it.

A row takes whole units of 64 bytes; its number is the place of its first unit, so numbers rise with time. Words (of 32
bits) of a row: 0 units, 1 flags, 2 bytes of the URL, 3 words of evidence, 4 key of the URL, 5 number of the group,
6 similarity, 7 sentences, 8 label, 9 free. A duplicate has its URL from word 10 on. The founder of a group has its
fingerprint: 10 text digest (4 words), 14 simhash (4 words), then band keys, evidence, and the URL.

Files can be damaged, so every number that leads somewhere is checked before it is followed.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import GOLDEN, load64, splitmix64

UNIT = 64
SEGMENT_BITS = 24  # units of a file of rows, as bits: 1 GiB
NONE = 0xFFFFFFFF  # no row

HAS_DIGEST, HAS_SIMHASH, HAS_BANDS, IS_DUPLICATE = 1, 2, 4, 8
METHOD_SHIFT = 8
DUPLICATE_WORDS, FOUNDER_WORDS = 10, 18  # before the URL, before the band keys

# The plan: numbers that an index was set up with.
SALT, BLOCK_TABLE, BLOCKS, BAND_TABLE, BANDS = 0, 1, 2, 3, 4
BITS, DISTANCE, MAX_SENTENCES, EVIDENCE = 5, 6, 7, 8
VALUES, MAX_BUCKET, MAX_HUBS, MAX_TRIES = 9, 10, 11, 12
PLAN_SIZE = 13
SHINGLES, SIGNATURE = 1, 2  # kinds of evidence

PLAN = "int64[::1]"
# Mapped files (address, bytes that count); rows that are not in a file yet (address, first number, units); trouble.
ROWS = "Tuple((int64[:, ::1], int64[::1], int64[::1]))"

_MASK = (1 << SEGMENT_BITS) - 1
_HALF = np.uint64(32)


@intrinsic
def peek8(typing: Any, address: Any) -> Any:
    """Read a byte at an address. The caller knows that it is there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))

    return types.uint8(types.int64), generate


@intrinsic
def peek32(typing: Any, address: Any) -> Any:
    """Read 32 bits at an address. The caller knows that they are there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(32).as_pointer()), align=1)

    return types.uint32(types.int64), generate


@intrinsic
def peek64(typing: Any, address: Any) -> Any:
    """Read 64 bits at an address. The caller knows that they are there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), align=1)

    return types.uint64(types.int64), generate


@part
def word(address: int, at: int) -> Any:
    """Read a word of a row as a number."""
    return np.int64(peek32(address + 4 * at))


@part
def url_word(flags: Any, evidence: Any, bands: Any) -> Any:
    """Tell the word that the URL of a row begins with."""
    if flags & IS_DUPLICATE:
        return DUPLICATE_WORDS
    return FOUNDER_WORDS + evidence + (bands if flags & HAS_BANDS else 0)


@kernel(f"int64({PLAN}, {ROWS}, int64)")
def row_at(plan: Any, rows: Any, number: int) -> Any:
    """Give the address of a row, checked to lie within its file; 0, and trouble noted, if it does not."""
    segments, pending, trouble = rows
    if number >= pending[1] and number < pending[1] + pending[2]:
        address = pending[0] + UNIT * (number - pending[1])
        room = UNIT * (pending[1] + pending[2] - number)
    else:
        segment, offset = number >> SEGMENT_BITS, UNIT * (number & _MASK)
        if segment >= len(segments) or offset + UNIT > segments[segment, 1]:
            trouble[0] = 1 + number
            return 0
        address = segments[segment, 0] + offset
        room = segments[segment, 1] - offset
    size = UNIT * word(address, 0)
    need = 4 * url_word(word(address, 1), word(address, 3), plan[BANDS]) + word(address, 2)
    if size == 0 or size > room or need > size:
        trouble[0] = 1 + number
        return 0
    return address


@part
def founder_at(plan: Any, rows: Any, number: int, needed: int) -> Any:
    """Give the address of a row that tables say has some fingerprint; 0, and trouble noted, if it has not."""
    address = row_at(plan, rows, number)
    if address != 0 and word(address, 1) & (needed | IS_DUPLICATE) != needed:
        rows[2][0] = 1 + number
        return 0
    return address


@part
def url_key(data: Any, start: int, stop: int, salt: Any) -> Any:
    """Hash a URL. With a salt of the index's own, so that nobody can prepare URLs that share a key."""
    h = salt ^ (np.uint64(stop - start) * GOLDEN)
    at = start
    while at + 8 <= stop:
        h = splitmix64(h ^ load64(data, at))
        at += 8
    rest = np.uint64(0)
    while at < stop:
        rest = (rest << np.uint64(8)) | np.uint64(data[at])
        at += 1
    return splitmix64(splitmix64(h ^ rest) + GOLDEN) >> _HALF


@part
def same_url(address: int, url_at: int, data: Any, start: int, stop: int) -> bool:
    """Tell whether a row has this URL."""
    if word(address, 2) != stop - start:
        return False
    here = address + 4 * url_at - start
    at = start
    while at + 8 <= stop:
        if peek64(here + at) != load64(data, at):
            return False
        at += 8
    while at < stop:
        if peek8(here + at) != data[at]:
            return False
        at += 1
    return True


@part
def digest_key(low: Any, high: Any, salt: Any) -> Any:
    """Key of a text digest."""
    return splitmix64(splitmix64(low ^ salt) + high) >> _HALF


@part
def number_key(number: int) -> Any:
    """Key of the number of a row."""
    return splitmix64(np.uint64(number) + GOLDEN) >> _HALF


@part
def block_shift(plan: Any, block: int) -> Any:
    """Bits of a block's key that do not belong to the block itself."""
    bits, blocks = plan[BITS], plan[BLOCKS]
    return max(32 - (bits * (block + 1) // blocks - bits * block // blocks), 0)


@part
def block_key(plan: Any, block: int, low: Any, high: Any, label: int) -> Any:
    """Make the key of a simhash in the table of a block: the bits of the block, then those below, round and round.

    Pages of another label (K-modes cluster) are kept apart by changing the bits of the block.
    """
    bits, blocks = plan[BITS], plan[BLOCKS]
    top = bits * (block + 1) // blocks  # the bit above the block
    key = np.uint64(0)
    for i in range(32):
        place = top - 1 - i
        if place < top - bits:
            key = key << np.uint64(32 - i)
            break
        if place < 0:
            place += bits
        half = low if place < 64 else high
        key = (key << np.uint64(1)) | ((half >> np.uint64(place & 63)) & np.uint64(1))
    shift = np.uint64(block_shift(plan, block))
    if plan[MAX_SENTENCES] >= 0:
        salted = splitmix64(np.uint64(label + 1) + GOLDEN) >> _HALF
        key ^= (salted >> shift) << shift
    return key


@kernel(f"int64({PLAN}, {ROWS}, Array(uint32, 1, 'C', readonly=True), int64[::1], uint8[::1])")
def gather_urls(plan: Any, rows: Any, numbers: Any, offsets: Any, data: Any) -> int:
    """Copy the URLs of rows one after the other; `NONE` has none. Returns their bytes; with empty `data` it counts."""
    total = 0
    for i in range(len(numbers)):
        offsets[i] = total
        if numbers[i] != np.uint32(NONE):
            address = row_at(plan, rows, np.int64(numbers[i]))
            if address == 0:
                return -1
            size = word(address, 2)
            if len(data):
                here = address + 4 * url_word(word(address, 1), word(address, 3), plan[BANDS])
                for k in range(size):
                    data[total + k] = peek8(here + k)
            total += size
    offsets[len(numbers)] = total
    return total


@kernel("void(Array(uint64, 2, 'C', readonly=True), uint32[:, ::1])")
def fold_signatures(signatures: Any, folded: Any) -> None:
    """Fold each value of a signature to 16 bits, two a word. Unequal values agree by chance once in 65,536."""
    values = signatures.shape[1]
    for i in range(len(signatures)):
        for v in range(folded.shape[1]):
            low = splitmix64(signatures[i, 2 * v]) >> np.uint64(48)
            high = splitmix64(signatures[i, 2 * v + 1]) >> np.uint64(48) if 2 * v + 1 < values else np.uint64(0)
            folded[i, v] = np.uint32(high << np.uint64(16) | low)
