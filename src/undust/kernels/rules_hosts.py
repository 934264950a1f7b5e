"""The site of a URL in standard form, and the rules it has: by hash tables of public suffixes and of sites."""

from typing import Any

import numpy as np

from undust.kernels.compiling import part
from undust.kernels.rules_layout import EXCEPTION, NAME_SIZE, PRIME, SUFFIX, TEXTS, WILDCARD
from undust.kernels.rules_validate import validate_site

_PRIME = np.uint64(PRIME)
_HALF = np.uint64(32)
_MAX_LABELS = 10  # as `SuffixList.registrable` looks at

# Where the parts of an authority are, where the registrable domain begins, and what its site is called.
SCHEME_END, HOST, HOST_END, PORT, PORT_END, PATH, OWN, SITE, SITE_END = range(9)
HOST_HASH, SITE_HASH = range(2)

NO_RULES, ODD, BROKEN = -1, -2, -3  # instead of the place of a site's words


@part
def slot_of(hashed: np.uint64, table: Any) -> Any:
    """Where a hash should be in a table."""
    return np.int64((hashed ^ (hashed >> _HALF)) & np.uint64(len(table) - 1))


@part
def _says(data: Any, at: int, end: int, hashed: np.uint64, suffixes: Any, texts: Any) -> Any:
    """What the list of public suffixes says of a name: flags, or -1 where it knows no name that ends so."""
    slot = slot_of(hashed, suffixes)
    while suffixes[slot, 1] != -1:
        entry = suffixes[slot, 1]
        if np.uint64(suffixes[slot, 0]) == hashed and (entry >> 8) & 255 == end - at:
            equal = True
            for k in range(end - at):
                if data[at + k] != texts[(entry >> 16) + k]:
                    equal = False
                    break
            if equal:
                return entry & 255
        slot = (slot + 1) & (len(suffixes) - 1)
    return -1


@part
def _span_authority(data: Any, start: int, end: int, host: Any) -> Any:
    """Find host and port; tell whether there is a path after them."""
    i = start
    while i < end and data[i] != 58:
        i += 1
    if i + 3 >= end or data[i + 1] != 47 or data[i + 2] != 47:
        return False
    host[SCHEME_END] = i
    i += 3
    host[HOST] = i
    colon = -1
    while i < end:
        c = data[i]
        if c == 47:
            host[HOST_END] = i if colon < 0 else colon
            host[PORT] = -1 if colon < 0 else colon + 1
            host[PORT_END] = host[PATH] = i
            return True
        if c == 64:
            host[HOST] = i + 1
            colon = -1
        elif c == 58:
            colon = i
        elif c == 93:
            colon = -1
        elif c == 63 or c == 35:
            return False
        i += 1
    return False


@part
def _whole(data: Any, host: Any, hashes: Any) -> None:
    """An address or a bare name is a site with its port."""
    host[OWN] = host[HOST]
    host[SITE], host[SITE_END] = host[HOST], host[PORT_END]
    hashed = np.uint64(0)
    for i in range(host[PORT_END] - 1, host[HOST] - 1, -1):
        hashed = (hashed ^ np.uint64(data[i])) * _PRIME
    hashes[SITE_HASH] = hashes[HOST_HASH] = hashed  # without its port the name is that of another site


@part
def _registrable(data: Any, host: Any, hashes: Any, starts: Any, parents: Any, suffixes: Any, texts: Any) -> Any:
    """Find the registrable domain of a name with dots; False if it has an empty label."""
    first, end = host[HOST], host[HOST_END]
    if data[end - 1] == 46:
        end -= 1
    labels, best = 0, 1
    exception, wild, known = False, False, True
    hashed = np.uint64(0)
    i = end - 1
    last = end  # where the label begins that was read last, or its dot
    while i >= first - 1:
        if i < first or data[i] == 46:
            if i + 1 == last:
                return False
            last = i
            if labels < _MAX_LABELS:
                labels += 1
                starts[labels], parents[labels] = i + 1, hashed
                said = _says(data, i + 1, end, hashed, suffixes, texts) if known else -1
                known = said >= 0
                if known and said & EXCEPTION:
                    best, exception = labels, True
                elif wild or (known and said & SUFFIX):
                    best, exception = labels, False
                wild = known and said & WILDCARD != 0
        if i >= first:
            hashed = (hashed ^ np.uint64(data[i])) * _PRIME
        i -= 1
    own = best if exception else min(best + 1, labels)
    host[OWN] = host[SITE] = starts[own]
    host[SITE_END] = end
    hashes[SITE_HASH] = parents[own]
    if end < host[HOST_END]:  # a full stop at the end is a part of the host
        hashed = (np.uint64(0) ^ np.uint64(46)) * _PRIME
        for i in range(end - 1, first - 1, -1):
            hashed = (hashed ^ np.uint64(data[i])) * _PRIME
    hashes[HOST_HASH] = hashed
    return True


@part
def find_host(
    data: Any, start: int, end: int, host: Any, hashes: Any, starts: Any, parents: Any, suffixes: Any, texts: Any
) -> Any:
    """Find host, port and site of a URL in standard form; False if that is for the scalar functions."""
    if not _span_authority(data, start, end, host):
        return False
    first, stop = host[HOST], host[HOST_END]
    if stop <= first:
        return False
    dots = False
    digits = 0  # of the last label
    for i in range(first, stop):
        c = data[i]
        if c == 46:
            if i + 1 < stop:
                dots = True
            digits = 0
        elif digits >= 0 and 48 <= c <= 57:
            digits += 1
        else:
            digits = -1
    if not dots or digits > 0 or data[first] == 91:
        _whole(data, host, hashes)
        return True
    return _registrable(data, host, hashes, starts, parents, suffixes, texts)


@part
def probe(hashed: np.uint64, sites: Any) -> Any:
    """Where the words of a site with this hash are, if there is one, without a look at them; for `prefetch` only."""
    slot = slot_of(hashed, sites)
    if np.uint64(sites[slot, 0]) == hashed:
        return sites[slot, 1]
    slot = (slot + 1) & (len(sites) - 1)
    return sites[slot, 1] if np.uint64(sites[slot, 0]) == hashed else -1


@part
def find_rules(address: int, data: Any, at: int, end: int, hashed: np.uint64, rules: Any) -> Any:
    """Find the first word of a site's rules, or `NO_RULES`, or `BROKEN` where the words are damaged."""
    words, sites = rules.words, rules.sites
    slot = slot_of(hashed, sites)
    for _ in range(len(sites)):
        blob = sites[slot, 1]
        if blob == -1:
            break
        if np.uint64(sites[slot, 0]) == hashed:
            if rules.checked[slot] == 0:
                if validate_site(address, blob) == 0:
                    return BROKEN
                rules.checked[slot] = 1
            if words[blob + NAME_SIZE] == end - at:
                text = 4 * blob + words[blob + TEXTS]
                equal = True
                for k in range(end - at):
                    if data[at + k] != rules.texts[text + k]:
                        equal = False
                        break
                if equal:
                    return blob
        slot = (slot + 1) & (len(sites) - 1)
    return NO_RULES
