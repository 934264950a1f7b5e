"""Applies rules to a column of URLs in standard form, as far as flat rules can say what to do.

A row that needs more (user information, odd hosts, sites left to the scalar functions) is punted: `PUNT` in `status`.
What is not punted is what `RuleSet` gives for the one URL.
"""

from typing import Any

import numpy as np

from undust.kernels.compiling import kernel, part
from undust.kernels.rules_bytes import SLACK, prefetch, put, same
from undust.kernels.rules_drops import drops_any, leaves_plain
from undust.kernels.rules_hosts import (
    BROKEN,
    HOST,
    HOST_END,
    HOST_HASH,
    NO_RULES,
    ODD,
    PORT,
    SITE,
    SITE_END,
    SITE_HASH,
    find_host,
    find_rules,
    probe,
    slot_of,
)
from undust.kernels.rules_layout import (
    DROPS,
    FIRST,
    FLAGS,
    KEYED,
    LEFT,
    ON_PATH_FROM,
    ON_QUERY_FROM,
    RESTS,
    SORTED,
)
from undust.kernels.rules_match import decide
from undust.kernels.rules_scratch import BLOCK, column_at, rules_at, scratch_at, table_at
from undust.kernels.rules_split import END, START, split
from undust.kernels.rules_values import NO_ROOM, make_values
from undust.kernels.rules_write import write
from undust.kernels.urls import normalize_one
from undust.settings import MAX_URL_BYTES

DONE, PUNT, DAMAGED = 0, 1, 2

_LINES, _AHEAD = 12, 6  # of memory that are asked for, and so many rows before they are read


@part
def _find_words(address: int, data: Any, host: Any, hashes: Any, rules: Any) -> Any:
    """Find the words of a host, else those of its site."""
    blob = np.int64(NO_RULES)
    for which in range(2):
        at, end = (host[HOST], host[HOST_END]) if which == HOST_HASH else (host[SITE], host[SITE_END])
        blob = find_rules(address, data, at, end, hashes[which], rules)
        if blob != NO_RULES:
            break
    return blob


@part
def _find_hosts(data: Any, offsets: Any, first: int, last: int, rules: Any, s: Any) -> None:
    """Find the hosts of some rows, and ask for their places in the table of sites; `odd` tells which to punt."""
    for row in range(first, last):
        r = row - first
        s.odd[r] = not find_host(
            data, offsets[row], offsets[row + 1], s.hosts[r], s.hashes[r], s.starts, s.parents,
            rules.suffixes, rules.suffix_texts,
        )  # fmt: skip
        if not s.odd[r]:
            prefetch(rules.sites, 2 * slot_of(s.hashes[r, HOST_HASH], rules.sites))
            prefetch(rules.sites, 2 * slot_of(s.hashes[r, SITE_HASH], rules.sites))


@part
def _ask_ahead(r: int, rules: Any, s: Any) -> None:
    """Ask for the words of a row that will be read soon."""
    if not s.odd[r]:
        blob = probe(s.hashes[r, HOST_HASH], rules.sites)
        if blob < 0:
            blob = probe(s.hashes[r, SITE_HASH], rules.sites)
        if blob >= 0:
            for line in range(_LINES):
                prefetch(rules.words, blob + 16 * line)


@part
def _once(src: Any, size: int, blob: int, rules: Any, s: Any, fetch: Any, key: Any, only_query: bool) -> Any:
    """Apply the rules of a site once: place and words of the rule that decides, -1 for none that can be carried out.

    Then the sizes of the URL to fetch and of the key, which is in `fetch` too if the rule is not `KEYED`; `NO_ROOM` for
    a row to punt.
    """
    s.url[START], s.url[END] = 0, size
    if not split(src, rules, blob, s, only_query):
        return -1, -1, NO_ROOM, NO_ROOM
    place, rule = decide(src, rules, blob, s)
    if rule < 0:
        return -1, -1, size, size
    if rules.words[rule] & (DROPS | SORTED | KEYED) == DROPS and not drops_any(rules.words, rule, s):
        put(fetch, 0, src, 0, size)
        return place, rule, size, size
    used = make_values(src, rules, blob, rule, s)
    fetched = keyed = used
    if used >= 0:
        for form in range(2 if rules.words[rule] & KEYED else 1):
            keyed = write(src, rules, blob, rule, form, used, s, key if form == 1 else fetch)
            if form == 0:
                fetched = keyed
            if keyed < 0:
                break
    if fetched == NO_ROOM or keyed == NO_ROOM:
        return -1, -1, NO_ROOM, NO_ROOM
    if fetched < 0 or keyed < 0:
        return -1, -1, size, size
    return place, rule, fetched, keyed


@part
def _decide(address: int, size: int, blob: int, rules: Any, s: Any) -> Any:
    """Apply rules to the URL in `given`, unless that would need a second step (`RuleSet` says why).

    Gives place of the rule, sizes of what is in `fetch` and `key`, and whether the key is not the URL to fetch.
    A place of `NO_RULES`: the URL stays as it is; of `ODD`: a row to punt; of `BROKEN`: damaged rules.
    """
    nothing = np.int64(NO_RULES), np.int64(size), np.int64(size), False
    odd = np.int64(ODD), np.int64(0), np.int64(0), False
    first, fetched, keyed, has_key = np.int64(-1), np.int64(0), np.int64(0), False
    src, fetch, key = s.given, s.fetch, s.key
    only_query = False
    for turn in range(2):
        place, rule, fetch_size, key_size = _once(src, size, blob, rules, s, fetch, key, only_query)
        if fetch_size == NO_ROOM:
            return odd
        if turn == 1:
            # A rule that does nothing, or none, leaves URL and key as they are.
            second, second_key = (fetch, key if rules.words[rule] & KEYED else fetch) if rule >= 0 else (src, src)
            first_key = s.key if has_key else s.fetch
            if (
                fetch_size != fetched
                or key_size != keyed
                or not same(second, 0, s.fetch, 0, fetched)
                or not same(second_key, 0, first_key, 0, keyed)
            ):
                return nothing
            break
        if rule < 0:
            return nothing
        first, fetched, keyed, has_key = place, fetch_size, key_size, rules.words[rule] & KEYED != 0
        if fetched == size and same(s.fetch, 0, s.given, 0, size):
            break
        if rules.words[rule] & RESTS and leaves_plain(rules.words, rule, s):
            break  # the rules were looked at beforehand: none of them would change it again
        if fetched > MAX_URL_BYTES:
            return nothing
        if rules.words[rule] & DROPS == 0:
            normal = normalize_one(s.fetch, 0, fetched, s.again, 0)
            if normal < 0:
                return odd
            if normal != fetched or not same(s.again, 0, s.fetch, 0, fetched):
                return nothing
        only_query = rules.words[rule + ON_QUERY_FROM] == 0
        src, fetch, key = s.fetch, s.again, s.key_again
        if rules.words[rule + ON_PATH_FROM] > 0:  # scheme, port or host may be others
            if not find_host(
                s.fetch, 0, fetched, s.host, s.hashes[BLOCK], s.starts, s.parents, rules.suffixes, rules.suffix_texts
            ):
                return odd
            blob = _find_words(address, s.fetch, s.host, s.hashes[BLOCK], rules)
            if blob == BROKEN:
                return np.int64(BROKEN), np.int64(0), np.int64(0), False
            if blob < 0:
                if keyed != fetched or (has_key and not same(s.key, 0, s.fetch, 0, fetched)):
                    return nothing
                break
            if rules.words[blob + FLAGS] & LEFT:
                return odd
        size = fetched
    return first, fetched, keyed, has_key


@part
def _copy(out: Any, o: int, data: Any, at: int, end: int) -> Any:
    """Copy a span of an array that may have no bytes to spare at its end."""
    if end + 8 <= len(data):
        return put(out, o, data, at, end)
    for i in range(at, end):
        out[o] = data[i]
        o += 1
    return o


@kernel("int64(int64, int64)")
def apply_column(address: Any, first_row: Any) -> Any:
    """Apply rules to the URLs from `first_row` on; give the first row for which there was no room.

    `address` is that of a table of the rules, the column and the memory to work in (`rules_scratch`). Writes the URLs
    to fetch and the keys, if they are wanted, and the places of the rules that decided, -1 for none.
    """
    table = table_at(address)
    rules, column, s = rules_at(table), column_at(table), scratch_at(table)
    data, offsets = column.data, column.offsets
    want_fetch, want_keys = len(column.fetch) > 0, len(column.keys) > 0
    f, k = np.int64(column.fetch_offsets[first_row]), np.int64(column.key_offsets[first_row])
    rows = len(offsets) - 1
    for first in range(first_row, rows, BLOCK):
        last = min(first + BLOCK, rows)
        _find_hosts(data, offsets, first, last, rules, s)
        for row in range(first - _AHEAD, last):
            if row + _AHEAD < last:
                _ask_ahead(row + _AHEAD - first, rules, s)
            if row < first:
                continue
            start, end = offsets[row], offsets[row + 1]
            r = row - first
            blob = np.int64(ODD) if s.odd[r] else _find_words(address, data, s.hosts[r], s.hashes[r], rules)
            place, fetched, keyed, has_key = np.int64(blob), np.int64(end - start), np.int64(end - start), False
            if end - start > MAX_URL_BYTES or (blob >= 0 and rules.words[blob + FLAGS] & LEFT):
                place = np.int64(ODD)
            elif blob >= 0:
                for which in range(9):
                    s.host[which] = s.hosts[r, which] - start
                if s.hosts[r, PORT] < 0:
                    s.host[PORT] = -1
                _copy(s.given, 0, data, start, end)
                place, fetched, keyed, has_key = _decide(address, fetched, blob, rules, s)
            if (want_fetch and f + fetched + SLACK > len(column.fetch)) or (
                want_keys and k + keyed + SLACK > len(column.keys)
            ):
                return row
            column.status[row] = DONE
            column.places[row] = -1
            if place == ODD:
                column.status[row] = PUNT
            elif place == BROKEN:
                column.status[row] = DAMAGED
            elif place == NO_RULES:
                if want_fetch:
                    f = _copy(column.fetch, f, data, start, end)
                if want_keys:
                    k = _copy(column.keys, k, data, start, end)
            else:
                column.places[row] = rules.words[blob + FIRST] + place
                if want_fetch:
                    f = put(column.fetch, f, s.fetch, 0, fetched)
                if want_keys:
                    k = put(column.keys, k, s.key if has_key else s.fetch, 0, keyed)
            column.fetch_offsets[row + 1] = f
            column.key_offsets[row + 1] = k
    return rows
