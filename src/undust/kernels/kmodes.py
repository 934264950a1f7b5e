"""K-modes over sets of keywords: which mode shares the most keywords with a page, through an index of the modes."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel


@kernel(
    "int64(Array(uint64, 2, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True),"
    "Array(int64, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True), int32[::1], int32[::1], int32[::1])"
)
def assign(keywords: Any, terms: Any, starts: Any, modes: Any, shared: Any, touched: Any, labels: Any) -> int:
    """Give each page the mode with which it shares the most keywords, of equals the first; -1 if it shares none.

    The keyword `terms[t]`, in rising order, is in `modes[starts[t]:starts[t + 1]]`. `shared` is zeros, one a mode.
    Returns the number of shared keywords in all.
    """
    total = 0
    for i in range(len(keywords)):
        count = 0
        for k in range(keywords.shape[1]):
            word = keywords[i, k]
            if word == np.uint64(0):
                continue
            at = np.searchsorted(terms, word)
            if at == len(terms) or terms[at] != word:
                continue
            for m in range(starts[at], starts[at + 1]):
                mode = modes[m]
                if shared[mode] == 0:
                    touched[count] = mode
                    count += 1
                shared[mode] += 1
        best, most = np.int32(-1), 0
        for t in range(count):
            mode = touched[t]
            if shared[mode] > most or (shared[mode] == most and mode < best):
                best, most = mode, shared[mode]
            shared[mode] = 0
        labels[i] = best
        total += most
    return total


@kernel(
    "int64(Array(uint64, 2, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True),"
    "Array(int64, 1, 'C', readonly=True), boolean[::1], int64[::1])"
)
def spread(keywords: Any, terms: Any, order: Any, used: Any, chosen: Any) -> int:
    """Choose pages, in order, of whose keywords fewer than half are in pages chosen before; as many as fit.

    `terms` are all keywords in rising order, `used` as many times False. Returns how many were chosen.
    """
    count = 0
    for i in range(len(order)):
        if count == len(chosen):
            break
        row = order[i]
        size, old = 0, 0
        for k in range(keywords.shape[1]):
            if keywords[row, k] != np.uint64(0):
                size += 1
                old += np.int64(used[np.searchsorted(terms, keywords[row, k])])
        if size == 0 or 2 * old >= size:
            continue
        for k in range(keywords.shape[1]):
            if keywords[row, k] != np.uint64(0):
                used[np.searchsorted(terms, keywords[row, k])] = True
        chosen[count] = row
        count += 1
    return count
