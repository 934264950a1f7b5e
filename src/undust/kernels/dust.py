"""Envelopes: what is before and after a piece of a URL, for every piece of a few tokens (Bar-Yossef et al.)."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.hashing import splitmix64

MAX_TOKENS = 64
"""Tokens of a URL, from the start; what follows is one more."""

_BYTES, _INTS = "Array(uint8, 1, 'C', readonly=True)", "Array(int32, 1, 'C', readonly=True)"
_PRIME, _BASIS = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)


@part
def _is_word(c: Any) -> Any:
    return 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122 or c >= 128


@kernel(
    f"int64({_BYTES}, {_INTS}, int64, int64[::1], uint64[::1], uint64[::1], uint64[::1], uint64[::1], int32[:, ::1])"
)
def write_envelopes(
    data: Any, offsets: Any, most: Any, places: Any, heads: Any, tails: Any, envelopes: Any, pieces: Any, spans: Any
) -> Any:
    """Write for each piece of up to `most` tokens, also of none, a hash of its envelope and of itself.

    `spans` gets its row, start and end. Tokens are runs of letters and digits, and single other characters. `places`,
    `heads` and `tails` are scratch for the bounds of a URL's tokens. Gives the number of pieces; rows for which there
    is no room are left out.
    """
    count = 0
    for row in range(len(offsets) - 1):
        start, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        bounds = 0
        i = start
        digest = _BASIS
        while True:
            places[bounds] = i
            heads[bounds] = digest
            bounds += 1
            if i == end:
                break
            j = i + 1
            if bounds == MAX_TOKENS:
                j = end
            elif _is_word(data[i]):
                while j < end and _is_word(data[j]):
                    j += 1
            for at in range(i, j):
                digest = (digest ^ np.uint64(data[at])) * _PRIME
            i = j
        digest = _BASIS
        at = end
        for bound in range(bounds - 1, -1, -1):
            while at > places[bound]:
                at -= 1
                digest = (digest ^ np.uint64(data[at])) * _PRIME
            tails[bound] = digest
        if count + bounds * (most + 1) > len(envelopes):
            break
        for first in range(bounds):
            digest = _BASIS
            for last in range(first, min(first + most + 1, bounds)):
                if last > first:
                    for at in range(places[last - 1], places[last]):
                        digest = (digest ^ np.uint64(data[at])) * _PRIME
                envelopes[count] = splitmix64(splitmix64(heads[first]) + tails[last])
                pieces[count] = splitmix64(digest)
                spans[count, 0] = row
                spans[count, 1] = places[first] - start
                spans[count, 2] = places[last] - start
                count += 1
    return count
