"""Writes a URL anew with the values that a rule made."""

from typing import Any

from undust.kernels.compiling import part
from undust.kernels.rules_bytes import SLACK, put
from undust.kernels.rules_drops import STAYS, find_operation
from undust.kernels.rules_hosts import HOST, HOST_END, OWN, PATH, PORT_END, SCHEME_END
from undust.kernels.rules_layout import (
    NAME,
    NAMES,
    ON_HOST_FROM,
    ON_PARAMS_FROM,
    ON_PATH_FROM,
    ON_PORT,
    ON_QUERY_FROM,
    ON_SCHEME,
    OPERATION,
    OPERATIONS,
    RULE,
    SORTED,
    TEXTS,
)
from undust.kernels.rules_split import (
    ARGUMENTS,
    END,
    FIRST_PARAM,
    KNOWN,
    LABELS,
    NAME_AT,
    NAME_END,
    NTH,
    QUERY,
    SEGMENTS,
    SEPARATOR,
    SPLIT_TURN,
    START,
    TEXT_AT,
    TEXT_END,
    TURN,
    VALUE_AT,
    VALUE_END,
    count,
)
from undust.kernels.rules_values import CANNOT, NO_ROOM

_GOES = -2  # instead of the number of an operation, as `STAYS`


@part
def _value(s: Any, k: int, form: int, out: Any, o: int) -> Any:
    return put(out, o, s.values, s.results[k, 2 * form], s.results[k, 2 * form + 1])


@part
def _host(src: Any, words: Any, rule: int, form: int, s: Any, out: Any, o: int) -> Any:
    """Write labels from the left, then the registrable domain. Labels that are empty or ⊥ are left out."""
    operations = rule + RULE
    k, last = words[rule + ON_HOST_FROM], words[rule + ON_PATH_FROM]
    place = s.url[LABELS]
    while k < last or place > 0:
        start = o
        if k < last and words[operations + OPERATION * k] >= place:
            if words[operations + OPERATION * k] == place:
                place -= 1
            if s.results[k, 2 * form] >= 0:
                o = _value(s, k, form, out, o)
            k += 1
        else:
            o = put(out, o, src, s.labels[place, 0], s.labels[place, 1])
            place -= 1
        if o > start:
            out[o] = 46
            o += 1
    return put(out, o, src, s.host[OWN] if s.url[LABELS] > 0 else s.host[HOST], s.host[HOST_END])


@part
def _change_segments(words: Any, rule: int, form: int, url: Any, results: Any, made: Any) -> Any:
    """Give each segment its operation: made[place] has the segment whose parameters it keeps, and the operation.

    Gives how many places there are then, or `CANNOT`.
    """
    operations = rule + RULE
    segments = url[SEGMENTS]
    n = segments
    for m in range(n):
        made[m, 0], made[m, 1] = m, STAYS
    for k in range(words[rule + ON_PATH_FROM], words[rule + ON_PARAMS_FROM]):
        place = words[operations + OPERATION * k]
        there = results[k, 2 * form] >= 0
        to = place if place >= 0 else segments + place
        if place >= 0 and to == n:
            if there:
                made[n, 0], made[n, 1] = -1, k
                n += 1
        elif to < 0 or to >= n:
            if there:
                return CANNOT
        else:
            if made[to, 1] == _GOES:
                made[to, 0] = -1
            made[to, 1] = k if there else _GOES
    return n


@part
def _path(src: Any, words: Any, rule: int, form: int, s: Any, out: Any, o: int) -> Any:
    url, segments, params, made = s.url, s.segments, s.params, s.made
    n = _change_segments(words, rule, form, url, s.results, made)
    if n < 0:
        return CANNOT
    url[TURN] += 1  # parameters are counted anew, over the segments that stay
    start = o
    for m in range(n):
        source, k = made[m, 0], made[m, 1]
        if k == _GOES:
            continue
        out[o] = 47
        o += 1
        if k >= 0:
            o = _value(s, k, form, out, o)
        else:
            o = put(out, o, src, segments[source, TEXT_AT], segments[source, TEXT_END])
        if source < 0:
            continue
        for p in range(segments[source, FIRST_PARAM], segments[source + 1, FIRST_PARAM]):
            change = STAYS
            if params[p, KNOWN] >= 0:
                nth = count(params[p, KNOWN], s.counts, url[TURN])
                change = find_operation(words, rule, ON_PARAMS_FROM, ON_QUERY_FROM, params[p, KNOWN], nth)
            if change == STAYS:
                o = put(out, o, src, params[p, NAME_AT] - 1, params[p, VALUE_END])
            elif s.results[change, 2 * form] >= 0:
                o = put(out, o, src, params[p, NAME_AT] - 1, params[p, VALUE_AT])
                o = _value(s, change, form, out, o)
    if o == start:
        out[o] = 47
        o += 1
    return o


@part
def _choose_arguments(words: Any, rule: int, form: int, s: Any) -> Any:
    """List the arguments that there will be: made[place] has the argument, -1 for a new one, and the operation."""
    arguments, counts, results, made = s.arguments, s.counts, s.results, s.made
    operations = rule + RULE
    first, last = words[rule + ON_QUERY_FROM], words[rule + OPERATIONS]
    n = 0
    for m in range(s.url[ARGUMENTS]):
        k = STAYS
        if arguments[m, KNOWN] >= 0:
            k = find_operation(words, rule, ON_QUERY_FROM, OPERATIONS, arguments[m, KNOWN], arguments[m, NTH])
        if k == STAYS or results[k, 2 * form] >= 0:
            made[n, 0], made[n, 1] = m, k
            n += 1
    for k in range(first, last):
        name, nth = words[operations + OPERATION * k], words[operations + OPERATION * k + 1]
        there = counts[name, 1] if counts[name, 0] == s.url[SPLIT_TURN] else 0
        if results[k, 2 * form] >= 0 and nth > there:
            made[n, 0], made[n, 1] = -1, k
            n += 1
    return n


@part
def _name_span(words: Any, blob: int, rule: int, arguments: Any, argument: int, k: int) -> Any:
    """Where the name of an argument is: in the URL, or, if it is a new one, in the texts of the site."""
    if argument >= 0:
        return arguments[argument, NAME_AT], arguments[argument, NAME_END]
    name = words[rule + RULE + OPERATION * k]
    entry = blob + words[blob + NAMES] + NAME * name
    text = 4 * blob + words[blob + TEXTS] + words[entry + 2]
    return text, text + (words[entry + 1] >> 1)


@part
def _sort(src: Any, texts: Any, words: Any, blob: int, rule: int, arguments: Any, made: Any, n: int) -> None:
    """Sort arguments by name; those of one name stay in order."""
    for m in range(1, n):
        argument, k = made[m, 0], made[m, 1]
        at, end = _name_span(words, blob, rule, arguments, argument, k)
        place = m
        while place > 0:
            other = made[place - 1, 0]
            other_at, other_end = _name_span(words, blob, rule, arguments, other, made[place - 1, 1])
            size, other_size = end - at, other_end - other_at
            sooner = size < other_size
            for i in range(min(size, other_size)):
                a = src[at + i] if argument >= 0 else texts[at + i]
                b = src[other_at + i] if other >= 0 else texts[other_at + i]
                if a != b:
                    sooner = a < b
                    break
            if not sooner:
                break
            made[place, 0], made[place, 1] = other, made[place - 1, 1]
            place -= 1
        made[place, 0], made[place, 1] = argument, k


@part
def _only_semicolons(arguments: Any, n: int) -> Any:
    for m in range(1, n):
        if arguments[m, SEPARATOR] != 59:
            return False
    return n > 1


@part
def _query(src: Any, words: Any, texts: Any, blob: int, rule: int, form: int, s: Any, out: Any, o: int) -> Any:
    arguments, made = s.arguments, s.made
    n = _choose_arguments(words, rule, form, s)
    mark = 0  # the separator between all; 0: as they were
    if words[rule] & SORTED:
        _sort(src, texts, words, blob, rule, arguments, made, n)
        mark = 59 if _only_semicolons(arguments, s.url[ARGUMENTS]) else 38
    for place in range(n):
        m, k = made[place, 0], made[place, 1]
        separator = 38
        if mark != 0:
            separator = mark
        elif m >= 0 and arguments[m, SEPARATOR] != 0:
            separator = arguments[m, SEPARATOR]
        out[o] = separator if place > 0 else 63
        o += 1
        at, end = _name_span(words, blob, rule, arguments, m, k)
        if m >= 0:
            if k == STAYS:
                o = put(out, o, src, at if at >= 0 else arguments[m, VALUE_AT], arguments[m, VALUE_END])
                continue
            o = put(out, o, src, at, end)
            nameless = at < 0
        else:
            o = put(out, o, texts, at, end)
            nameless = at == end
        if not nameless:
            out[o] = 61
            o += 1
        o = _value(s, k, form, out, o)
    return o


@part
def _room(words: Any, blob: int, rule: int, url: Any, used: int) -> Any:
    """The most that a URL can need: what it has, all values that were made, and the names of new arguments."""
    room = url[END] - url[START] + used + SLACK
    for k in range(words[rule + OPERATIONS]):
        room += 2
        if k >= words[rule + ON_QUERY_FROM]:
            name = words[rule + RULE + OPERATION * k]
            room += words[blob + words[blob + NAMES] + NAME * name + 1] >> 1
    return room


@part
def write(src: Any, rules: Any, blob: int, rule: int, form: int, used: int, s: Any, out: Any) -> Any:
    """Write the URL to fetch (form 0) or the key (form 1) to `out`; give its size, `CANNOT` or `NO_ROOM`.

    `used` is what `make_values` gave.
    """
    words, host, url, results = rules.words, s.host, s.url, s.results
    if _room(words, blob, rule, url, used) > len(out):
        return NO_ROOM
    operations = rule + RULE
    o = 0
    port = STAYS
    scheme = STAYS
    for k in range(words[rule + ON_HOST_FROM]):
        if words[operations + OPERATION * k] == ON_SCHEME:
            scheme = k
        elif words[operations + OPERATION * k] == ON_PORT:
            port = k
    if scheme >= 0 and results[scheme, 2 * form + 1] > results[scheme, 2 * form] >= 0:
        o = _value(s, scheme, form, out, o)
    else:
        o = put(out, o, src, url[START], host[SCHEME_END])
    o = put(out, o, src, host[SCHEME_END], host[HOST])
    if words[rule + ON_PATH_FROM] > words[rule + ON_HOST_FROM]:
        o = _host(src, words, rule, form, s, out, o)
    else:
        o = put(out, o, src, host[HOST], host[HOST_END])
    if port == STAYS:
        o = put(out, o, src, host[HOST_END], host[PORT_END])
    elif results[port, 2 * form] >= 0:
        out[o] = 58
        o = _value(s, port, form, out, o + 1)
    query = url[QUERY]
    if words[rule + ON_QUERY_FROM] > words[rule + ON_PATH_FROM]:
        o = _path(src, words, rule, form, s, out, o)
        if o < 0:
            return CANNOT
    else:
        o = put(out, o, src, host[PATH], url[END] if query < 0 else query - 1)
    if words[rule + OPERATIONS] > words[rule + ON_QUERY_FROM] or (words[rule] & SORTED and 0 <= query < url[END]):
        o = _query(src, words, rules.texts, blob, rule, form, s, out, o)
    elif query >= 0:
        o = put(out, o, src, query - 1, url[END])
    return o
