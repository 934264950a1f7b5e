"""Grows the tree of a site's URL patterns (Lei et al., 2010, algorithm 1) on columns of codes.

A node is a range of `rows`, which is put in order as the tree grows. How often each value occurs is counted anew only
for the smaller children of a node; the largest takes over what is left of its parent's counts. So a row is counted at
most log n times for each key, however deep the tree is.
"""

import math
from typing import Any

from undust.kernels.compiling import kernel, part

ROOT, ABSENT, PRESENT, IS, OTHER = 0, 1, 2, 3, 4
"""What the URLs of a node have in common that those of its parent have not: a key is absent, is there, has one value,
or has none of the values of its siblings."""

PARENT, START, END, KIND, KEY, VALUE, SPLIT = 0, 1, 2, 3, 4, 5, 6
"""Columns of the table of nodes. `SPLIT` is the key that a node's children differ in, -1 for a leaf."""
COLUMNS = 7

MAX_CHILDREN = 64
"""Salient values of one key at one node. A key with more has no words, but ids."""

_LOG_2 = math.log(2.0)
_CLOSE = 1e-9


@kernel("int64(Array(int32, 1, 'C', readonly=True), int32[::1], int32[::1], int32[::1])")
def localize(codes: Any, known: Any, local: Any, values: Any) -> int:
    """Number the codes of a column from 1 in the order in which they come; 0 (absent) stays 0. Returns how many.

    `known` has a place for each code, 0 before and after; `values` gets the code of each number.
    """
    count = 0
    for i in range(len(codes)):
        code = codes[i]
        if code == 0:
            local[i] = 0
            continue
        if known[code] == 0:
            count += 1
            known[code] = count
            values[count] = code
        local[i] = known[code]
    for number in range(1, count + 1):
        known[values[number]] = 0
    return count


@part
def _grown(count: Any) -> Any:
    """Give what one more occurrence adds to the sum of v log v, which has `count` after it."""
    if count < 2:
        return 0.0
    return count * math.log(count) - (count - 1) * math.log(count - 1)


@part
def _count(codes: Any, offsets: Any, rows: Any, start: Any, end: Any, counts: Any, sums: Any) -> None:
    for k in range(len(sums)):
        sums[k] = 0.0
        base = offsets[k]
        for i in range(start, end):
            counts[base + codes[k, rows[i]]] += 1
        for i in range(start, end):
            sums[k] += math.log(counts[base + codes[k, rows[i]]])


@part
def _uncount(codes: Any, offsets: Any, rows: Any, start: Any, end: Any, counts: Any, sums: Any) -> None:
    for k in range(len(sums)):
        base = offsets[k]
        for i in range(start, end):
            at = base + codes[k, rows[i]]
            sums[k] -= _grown(counts[at])
            counts[at] -= 1


@part
def _forget(codes: Any, offsets: Any, rows: Any, start: Any, end: Any, counts: Any) -> None:
    for k in range(len(offsets)):
        base = offsets[k]
        for i in range(start, end):
            counts[base + codes[k, rows[i]]] = 0


@part
def _least_entropy(size: Any, sums: Any, done: Any) -> Any:
    """Give the key whose values are least spread, of those that are not done; constant ones are done. -1 for none."""
    best = -1
    least = 0.0
    for k in range(len(sums)):
        if done[k]:
            continue
        entropy = math.log(size) - sums[k] / size
        if entropy < _CLOSE:
            done[k] = 1
        elif best < 0 or entropy < least - _CLOSE:
            best, least = k, entropy
    return best


@part
def _salient(frequencies: Any, common: Any, below: Any, distinct: Any, size: Any) -> Any:
    """Give how many of the commonest values stand out, `frequencies` falling: those before the largest drop of log f.

    After the last common value comes the most frequent of the others; if there are no others and the key has few
    values, a value that occurs once is thought to follow. Where no value is half as frequent as the one before it, the
    curve is flat: all stand out if the key has few values, none if many.
    """
    few = distinct * distinct <= size
    best, largest = 0, _LOG_2 - _CLOSE
    for i in range(min(common, MAX_CHILDREN)):
        after = frequencies[i + 1] if i + 1 < common else below if below else 1 if few else frequencies[i]
        drop = math.log(frequencies[i]) - math.log(after)
        if drop > largest:
            best, largest = i + 1, drop
    if best == 0 and few and common <= MAX_CHILDREN:
        return common
    return best


@part
def _common(codes: Any, base: Any, rows: Any, counts: Any, least: Any, frequencies: Any, values: Any) -> Any:
    """List the values that at least `least` rows have, by falling frequency.

    Gives how many they are, how many values there are in all, and how often the commonest occurs that is not listed.
    """
    common, distinct, below = 0, 0, 0
    for i in range(len(rows)):
        here = counts[base + codes[rows[i]]]
        if here > 0 and codes[rows[i]] != 0:
            counts[base + codes[rows[i]]] = -here  # has been looked at
            distinct += 1
            if here < least:
                below = max(below, here)
                continue
            j = common
            while j > 0 and frequencies[j - 1] < here:
                frequencies[j], values[j] = frequencies[j - 1], values[j - 1]
                j -= 1
            frequencies[j], values[j] = here, codes[rows[i]]
            common += 1
    for i in range(len(rows)):
        counts[base + codes[rows[i]]] = abs(counts[base + codes[rows[i]]])
    return common, distinct, below


@part
def _children(nodes: Any, made: Any, key: Any, salient: Any, values: Any, left: Any) -> Any:
    """Add the children of a node: one for each salient value, and one for all the others."""
    for i in range(salient):
        nodes[made, KIND], nodes[made, KEY], nodes[made, VALUE] = IS, key, values[i]
        made += 1
    if left > 0:
        nodes[made, KIND], nodes[made, KEY], nodes[made, VALUE] = OTHER, key, 0
        made += 1
    return made


@part
def _split(
    codes: Any, offsets: Any, rows: Any, node: Any, least: Any, most: Any, nodes: Any, made: Any, done: Any,
    counts: Any, sums: Any, frequencies: Any, values: Any,
) -> Any:  # fmt: skip
    """Add the children of a node, if it has a key to split it by. Returns the number of nodes."""
    start, end = nodes[node, START], nodes[node, END]
    size = end - start
    while made + MAX_CHILDREN + 1 <= most:
        k = _least_entropy(size, sums, done[node])
        if k < 0:
            return made
        base = offsets[k]
        absent = counts[base]
        if size - absent >= least and absent >= least:
            for kind in (ABSENT, PRESENT):
                nodes[made, KIND], nodes[made, KEY], nodes[made, VALUE] = kind, k, 0
                made += 1
            return made
        done[node, k] = 1
        if size - absent < least:
            continue  # hardly ever there
        common, distinct, below = _common(codes[k], base, rows[start:end], counts, least, frequencies, values)
        salient = _salient(frequencies, common, below, distinct, size)
        if salient == 0:
            return made  # all are trivial
        left = size
        for i in range(salient):
            left -= frequencies[i]
        if salient > 1 or left >= least:
            return _children(nodes, made, k, salient, values, left)
        # One value, but for a few rows: the next key.
    return made


@part
def _arrange(codes: Any, base: Any, rows: Any, scratch: Any, nodes: Any, first: Any, made: Any, child_of: Any) -> None:
    """Put the rows of a node in the order of its children, and otherwise leave them in their order."""
    start, end = nodes[nodes[first, PARENT], START], nodes[nodes[first, PARENT], END]
    last = made - first - 1  # takes what has no child of its own
    for child in range(first, made):
        if nodes[child, KIND] == IS or nodes[child, KIND] == ABSENT:
            child_of[base + nodes[child, VALUE]] = child - first - last
    for i in range(start, end):
        nodes[first + last + child_of[base + codes[rows[i]]], END] += 1
    place = start
    for child in range(first, made):
        nodes[child, START] = place
        place += nodes[child, END]
        nodes[child, END] = nodes[child, START]
    for i in range(start, end):
        child = first + last + child_of[base + codes[rows[i]]]
        scratch[nodes[child, END]] = rows[i]
        nodes[child, END] += 1
    for i in range(start, end):
        rows[i] = scratch[i]
    for child in range(first, made):
        child_of[base + nodes[child, VALUE]] = 0


@kernel(
    "int64(Array(int32, 2, 'C', readonly=True), int64[::1], int32[::1], int32[::1], int64, int64, int64[:, ::1],"
    " uint8[:, ::1], int32[::1], int32[::1], float64[::1], int64[::1], int64[::1], int64[:, ::1])"
)
def grow(
    codes: Any, offsets: Any, rows: Any, scratch: Any, least: int, most: int, nodes: Any, done: Any, counts: Any,
    child_of: Any, sums: Any, frequencies: Any, values: Any, waiting: Any,
) -> int:  # fmt: skip
    """Split the rows top-down, at each node by the key with the least entropy. Returns the number of nodes.

    `codes` has a line for each key; the counts of key k begin at `offsets[k]`. A value of fewer than `least` rows never
    has a node of its own. At most `most` nodes: `nodes`, `done` and `waiting` have room for them; `frequencies` and
    `values` for the values of a key that are common. `counts` and `child_of` are 0 before and after.
    """
    nodes[0, PARENT], nodes[0, START], nodes[0, END], nodes[0, KIND] = -1, 0, len(rows), ROOT
    nodes[0, KEY], nodes[0, VALUE], nodes[0, SPLIT] = -1, 0, -1
    waiting[0, 0], waiting[0, 1] = 0, 0
    made, top = 1, 1
    while top > 0:
        top -= 1
        node, counted = waiting[top, 0], waiting[top, 1]
        start, end = nodes[node, START], nodes[node, END]
        first = made
        if end - start >= 2 * least:
            if not counted:
                _count(codes, offsets, rows, start, end, counts, sums)
                counted = 1
            made = _split(codes, offsets, rows, node, least, most, nodes, made, done, counts, sums, frequencies, values)
        if made == first:
            if counted:
                _forget(codes, offsets, rows, start, end, counts)
            continue
        key = nodes[first, KEY]
        nodes[node, SPLIT] = key
        largest = first
        for child in range(first, made):
            nodes[child, PARENT], nodes[child, SPLIT], nodes[child, END] = node, -1, 0
            for other in range(len(sums)):
                done[child, other] = done[node, other]
        _arrange(codes[key], offsets[key], rows, scratch, nodes, first, made, child_of)
        for child in range(first + 1, made):
            if nodes[child, END] - nodes[child, START] > nodes[largest, END] - nodes[largest, START]:
                largest = child
        for child in range(first, made):
            if child != largest:
                _uncount(codes, offsets, rows, nodes[child, START], nodes[child, END], counts, sums)
                waiting[top, 0], waiting[top, 1] = child, 0
                top += 1
        waiting[top, 0], waiting[top, 1] = largest, 1
        top += 1
    return made
