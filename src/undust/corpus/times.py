"""Reads the times of captures: ISO 8601 (WARC), 14 digits (CDX), seconds since 1970."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

TIME = pa.timestamp("s", tz="UTC")

# Years, or any finer part of a date, as WARC 1.1 allows; fractions of seconds are dropped.
_ISO = re.compile(
    rb"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,]\d+)?)?)?)?)?)?"
    rb"(?:Z|([+-]\d\d):?(\d\d))?"
)
_DIGITS = re.compile(rb"(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:\d{3})?)?)?)?()()")
_EPOCH = re.compile(rb"(\d{9,10})(?:\.\d+)?|(\d{10})\d{3}")  # the last three of 13 digits are milliseconds
_FIRST, _LAST = -62135596800, 253402300799
"""The years 1 to 9999, all that Python knows and ISO 8601 can write; other times are damage."""


def parse_time(value: bytes) -> int | None:
    """Seconds since 1970, or nothing where the value is no time.

    >>> parse_time(b"2020-01-01T02:30:00+02:30") == parse_time(b"20200101000000") == parse_time(b"1577836800")
    True
    """
    value = value.strip()
    if epoch := _EPOCH.fullmatch(value):
        return int(epoch[1] or epoch[2])
    match = _DIGITS.fullmatch(value) or _ISO.fullmatch(value)
    if match is None:
        return None
    year, month, day, hour, minute, second, hours, minutes = (int(part) if part else 0 for part in match.groups())
    try:
        # A leap second has no place in a timestamp; the second before it has.
        moment = datetime(year, month or 1, day or 1, hour, minute, 59 if second == 60 else second, tzinfo=UTC)
    except ValueError:
        return None
    behind = -60 * minutes if (match[7] or b"").startswith(b"-") else 60 * minutes
    return int(moment.timestamp()) - 3600 * hours - behind


def times(values: Sequence[bytes | None]) -> pa.Array:
    """A column of times; null where a value is missing or no time."""
    column = pa.array(values, pa.binary())
    try:
        # Nearly every WARC spells all its dates in the one form that Arrow reads by itself.
        return column.cast(pa.string()).cast(TIME)
    except pa.ArrowInvalid:
        return pa.array([None if v is None else parse_time(v) for v in values], pa.int64()).cast(TIME)


def time_column(column: pa.Array) -> pa.Array:
    """Times out of a column of any type that can hold them."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        seconds = column.cast(pa.timestamp("s", tz=getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        known = pc.and_(pc.greater_equal(seconds, _FIRST), pc.less_equal(seconds, _LAST))
        return pc.if_else(known, seconds, pa.scalar(None, pa.int64())).cast(TIME)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        column = column.cast(pa.int64(), safe=False).cast(pa.string())
    return times(column.cast(pa.binary()).to_pylist())
