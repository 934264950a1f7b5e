"""Numbers for texts: the same text always gets the same code, in the order in which texts come first.

Texts are told apart by 64 bits of hash; among a million of them two share one with a chance of one in ten million.
"""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel
from undust.kernels.hashing import splitmix64

_BYTES, _INTS = "Array(uint8, 1, 'C', readonly=True)", "Array(int32, 1, 'C', readonly=True)"
_PRIME, _BASIS = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)


@kernel(f"void({_BYTES}, {_INTS}, uint64[::1])")
def hash_texts(data: Any, offsets: Any, hashes: Any) -> None:
    """Hash the text between each two offsets."""
    for row in range(len(offsets) - 1):
        digest = _BASIS
        for at in range(offsets[row], offsets[row + 1]):
            digest = (digest ^ np.uint64(data[at])) * _PRIME
        hashes[row] = splitmix64(digest)


@kernel("int64(Array(uint64, 1, 'C', readonly=True), int32[::1], uint64[::1], int64, int32[::1])")
def give_codes(hashes: Any, table: Any, known: Any, count: Any, codes: Any) -> Any:
    """Give each hash its code, a new one if it has none; tell how many codes there are then.

    `known[code]` is the hash of a code, for `count` of them. `table` has a power of two places, more than twice as many
    as codes can become, each 0 or a code. Code 0 is nobody's.
    """
    last = np.uint64(len(table) - 1)
    for row in range(len(hashes)):
        at = hashes[row] & last
        while table[at] != 0 and known[table[at]] != hashes[row]:
            at = (at + np.uint64(1)) & last
        if table[at] == 0:
            table[at] = count
            known[count] = hashes[row]
            count += 1
        codes[row] = table[at]
    return count
