"""Counts what becomes one when URLs get other keys: rightly, in a cluster, and wrongly, across clusters."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part

_MIX_1, _MIX_2, _GOLDEN = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15)


@part
def _mix(x: Any) -> Any:
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@kernel("void(Array(int32, 1, 'C', readonly=True), uint64, uint64[::1])")
def add_hashes(codes: Any, seed: Any, sums: Any) -> None:
    """Add to each row's sum the hash of its code; an absent value (0) adds nothing."""
    for i in range(len(codes)):
        if codes[i] != 0:
            sums[i] += _mix(np.uint64(codes[i]) * _GOLDEN + seed)


@kernel("void(Array(uint64, 1, 'C', readonly=True), int64[::1], int32[::1], int32[::1])")
def number(hashes: Any, table: Any, numbers: Any, counts: Any) -> None:
    """Number equal hashes alike, in the order in which they come first; `counts` has the size of each group.

    `table` has a power of two places, at least twice as many as there are hashes, each -1.
    """
    last = np.uint64(len(table) - 1)
    groups = 0
    for i in range(len(hashes)):
        at = _mix(hashes[i]) & last
        while table[at] >= 0 and hashes[table[at]] != hashes[i]:
            at = (at + np.uint64(1)) & last
        if table[at] < 0:
            table[at] = i
            numbers[i] = groups
            counts[groups] = 1
            groups += 1
        else:
            numbers[i] = numbers[table[at]]
            counts[numbers[i]] += 1
    if groups < len(counts):
        counts[groups] = 0


@kernel(
    "void(Array(uint64, 1, 'C', readonly=True), Array(uint64, 1, 'C', readonly=True),"
    "Array(int64, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), int64[::1], int64[::1], uint8[::1],"
    "Array(int64, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True), Array(int32, 1, 'C', readonly=True),"
    "Array(boolean, 1, 'C', readonly=True), int32[:, ::1], int64[:, ::1], int64[::1], boolean[::1], boolean[::1])"
)
def count_merges(
    hashes: Any,
    new_hashes: Any,
    changed: Any,
    table: Any,
    groups: Any,
    links: Any,
    flags: Any,
    offsets: Any,
    clusters: Any,
    weights: Any,
    strangers: Any,
    seen: Any,
    lists: Any,
    counts: Any,
    right: Any,
    wrong: Any,
) -> None:
    """Count what becomes one when some keys get other hashes, as `undust.learn.state.Merges` tells.

    `hashes` are those of all keys, `new_hashes` those of the `changed` ones; `table` finds keys by their hash (see
    `number`). The clusters of key k are `clusters[offsets[k]:offsets[k+1]]`, with how many URLs each has there, and
    whether it is a stranger in its cluster. `right` and `wrong` are told for each key, where not empty.

    Room to work in: `groups`, a power of two, at least twice as many places as changed keys, each -1; `links`, a place
    for each of them; `flags`, a place for each key, `seen`, four for each cluster, all 0 before and after; `lists`, two
    places for each cluster.
    """
    touched, fewer = lists[0], lists[1]
    last, mask = np.uint64(len(table) - 1), np.uint64(len(groups) - 1)
    for i in range(len(changed)):
        flags[changed[i]] = 1
        at = _mix(new_hashes[i]) & mask
        while groups[at] >= 0 and new_hashes[groups[at]] != new_hashes[i]:
            at = (at + np.uint64(1)) & mask
        links[i] = groups[at]
        groups[at] = i
    count_fewer = 0
    for at in range(len(groups)):
        first = groups[at]
        if first < 0:
            continue
        # A key that has the hash already, and keeps it, joins the group.
        old = np.int64(-1)
        spot = _mix(new_hashes[first]) & last
        while table[spot] >= 0:
            if hashes[table[spot]] == new_hashes[first]:
                if flags[table[spot]] == 0:
                    old = table[spot]
                break
            spot = (spot + np.uint64(1)) & last
        if links[first] < 0 and old < 0:
            continue
        # How many URLs and keys each cluster has here.
        distinct, items, mixed, doubtful = 0, 0, 0, 0
        member, i = old, first
        if member < 0:
            member, i = changed[first], links[first]
        while True:
            start, end = offsets[member], offsets[member + 1]
            mixed += end - start - 1
            items += end - start
            if end - start == 1 and weights[start] == 1:
                doubtful += 1
            for item in range(start, end):
                cluster = clusters[item]
                if seen[cluster, 1] == 0:
                    touched[distinct] = cluster
                    distinct += 1
                seen[cluster, 0] += weights[item]
                seen[cluster, 1] += 1
                if strangers[item]:
                    seen[cluster, 2] += 1
            if i < 0:
                break
            member, i = changed[i], links[i]
        excess = max(distinct - 1 - mixed, 0)
        best, alone = touched[0], 0
        for k in range(distinct):
            cluster = touched[k]
            if seen[cluster, 0] > seen[best, 0] or (seen[cluster, 0] == seen[best, 0] and cluster < best):
                best = cluster
            if seen[cluster, 0] == 1 and seen[cluster, 2] == 1:
                alone += 1
            if seen[cluster, 1] > 1 and seen[cluster, 3] == 0:
                seen[cluster, 3] = 1
                fewer[count_fewer] = cluster
                count_fewer += 1
        counts[0] += items - distinct
        counts[1] += excess
        counts[2] += min(excess, alone)
        counts[3] += items
        counts[4] += doubtful
        counts[6] += 1
        if excess > 0:
            counts[7] += 1
        if len(right) > 0:
            member, i = old, first
            if member < 0:
                member, i = changed[first], links[first]
            while True:
                for item in range(offsets[member], offsets[member + 1]):
                    if seen[clusters[item], 1] > 1:
                        right[member] = True
                    if excess > 0 and clusters[item] != best:
                        wrong[member] = True
                if i < 0:
                    break
                member, i = changed[i], links[i]
        for k in range(distinct):
            seen[touched[k], 0] = 0
            seen[touched[k], 1] = 0
            seen[touched[k], 2] = 0
    counts[5] += count_fewer
    for k in range(count_fewer):
        seen[fewer[k], 3] = 0
    for i in range(len(changed)):
        flags[changed[i]] = 0
