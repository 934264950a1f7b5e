"""Counts what speaks for a change of forms and what against it. Rows are always in the order of their clusters."""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part

_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

GAINED, CAPPED, CLUSTERS, WRONG, GROUPS, CONTEXTS, RIGHT_PAIRS, PAIRS, LOST = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Places of the counts: forms fewer within clusters; the same with a limit for each cluster; clusters that gain;
clusters that were apart and are no longer; distinct forms; those in which something is gained; pairs of URLs that
become one within clusters, and at all; clusters that have the majority of no form."""
COUNTS = 9


@part
def _place(hashed: Any, last: Any) -> Any:
    mixed = (hashed ^ (hashed >> np.uint64(30))) * _MIX_1
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_2
    return (mixed ^ (mixed >> np.uint64(31))) & last


@kernel(
    "void(uint64[::1], Array(int32, 1, 'C', readonly=True), uint64[::1], int32[::1], uint8[::1], int64, int64[::1])"
)
def count_merges(hashes: Any, clusters: Any, keys: Any, stamps: Any, gains: Any, most: int, counts: Any) -> None:
    """Count merges, gained and wrong, in one pass over rows whose forms were all different within their cluster.

    `stamps` is -1 everywhere, `gains` 0; they and `keys` have a power of two places, at least twice as many as there
    are rows. Of a cluster at most `most` merges go into `CAPPED`.
    """
    last = np.uint64(len(keys) - 1)
    gained, capped, gaining, wrong, groups, contexts, of_cluster = 0, 0, 0, 0, 0, 0, 0
    for i in range(len(hashes)):
        if i > 0 and clusters[i] != clusters[i - 1]:
            capped += min(of_cluster, most)
            gaining += of_cluster > 0
            of_cluster = 0
        at = _place(hashes[i], last)
        while stamps[at] >= 0 and keys[at] != hashes[i]:
            at = (at + np.uint64(1)) & last
        if stamps[at] == clusters[i]:
            gained += 1
            of_cluster += 1
            contexts += not gains[at]
            gains[at] = 1
            continue
        if stamps[at] < 0:
            groups += 1
            keys[at] = hashes[i]
        else:
            wrong += 1
        stamps[at] = clusters[i]
    counts[GAINED], counts[CAPPED] = gained, capped + min(of_cluster, most)
    counts[CLUSTERS], counts[WRONG] = gaining + (of_cluster > 0), wrong
    counts[GROUPS], counts[CONTEXTS] = groups, contexts


@kernel(
    "void(int32[::1], Array(int32, 1, 'C', readonly=True), Array(int64, 1, 'C', readonly=True), int64[:, ::1],"
    " uint8[::1], int64[::1])"
)
def count_pairs(groups: Any, clusters: Any, weights: Any, of_group: Any, kept: Any, counts: Any) -> None:
    """Count pairs of URLs by the sizes of groups, and the clusters that would be lost.

    A row stands for `weights` URLs. `of_group` has a line for each group, with room for its size, the cluster it was
    last seen in and its size in there (-1 and 0 before), and the cluster with most of its URLs and how many. `kept` has
    a place for each cluster, 0 before.
    """
    right, pairs, lost = 0, 0, 0
    for i in range(len(groups) + len(of_group)):
        # After the last row, every group has to be closed.
        g = groups[i] if i < len(groups) else i - len(groups)
        line = of_group[g]
        if i >= len(groups) or line[1] != clusters[i]:
            right += line[2] * (line[2] - 1) // 2
            line[0] += line[2]
            if line[2] > line[4]:
                line[3], line[4] = line[1], line[2]
            line[2] = 0
        if i < len(groups):
            line[1] = clusters[i]
            line[2] += weights[i]
    for g in range(len(of_group)):
        pairs += of_group[g, 0] * (of_group[g, 0] - 1) // 2
        kept[of_group[g, 3]] = 1
    for i in range(len(clusters)):
        if (i == 0 or clusters[i] != clusters[i - 1]) and not kept[clusters[i]]:
            lost += 1
    for i in range(len(clusters)):
        kept[clusters[i]] = 0
    counts[RIGHT_PAIRS], counts[PAIRS], counts[LOST] = right, pairs, lost


@kernel("int64(Array(uint64, 1, 'C', readonly=True), int32[::1])")
def index(hashes: Any, table: Any) -> int:
    """Put rows into a table by their hashes; returns how many are distinct.

    The table has a power of two places, twice as many as rows at least, all -1.
    """
    last = np.uint64(len(table) - 1)
    distinct = 0
    for i in range(len(hashes)):
        at = _place(hashes[i], last)
        new = 1
        while table[at] >= 0:
            if hashes[table[at]] == hashes[i]:
                new = 0
            at = (at + np.uint64(1)) & last
        table[at] = i
        distinct += new
    return distinct


@kernel("void(uint64[::1], Array(uint64, 1, 'C', readonly=True), int32[::1], uint8[::1])")
def look_up(wanted: Any, hashes: Any, table: Any, found: Any) -> None:
    """Mark the rows whose hash is wanted."""
    last = np.uint64(len(table) - 1)
    for i in range(len(wanted)):
        at = _place(wanted[i], last)
        while table[at] >= 0:
            if hashes[table[at]] == wanted[i]:
                if found[table[at]]:
                    break  # and with it all others of this hash
                found[table[at]] = 1
            at = (at + np.uint64(1)) & last


@kernel("int64(int32[::1], int64, int32[::1], int64[::1])")
def thin(groups: Any, most: int, counts: Any, kept: Any) -> int:
    """List the first `most` rows of each group, in their order; returns how many. `counts` is 0 for each group."""
    found = 0
    for i in range(len(groups)):
        if counts[groups[i]] < most:
            counts[groups[i]] += 1
            kept[found] = i
            found += 1
    return found
