"""Numbers as people read them: shares, counts, sizes and times."""

from collections.abc import Sequence


def percent(share: float, digits: int = 1) -> str:
    """Write a share.

    >>> percent(0.1234), percent(0.00004, 2), percent(0.0), percent(1.0)
    ('12.3%', '<0.01%', '0%', '100%')
    """
    if share in (0, 1):
        return f"{share:.0%}"
    least = 10.0 ** -(digits + 2)
    if 0 < share < least:
        return f"<{least:.{digits}%}"
    if 1 - least < share < 1:
        return f">{1 - least:.{digits}%}"
    return f"{share:.{digits}%}"


def between(interval: Sequence[float], digits: int = 1) -> str:
    """Write an interval of shares.

    >>> between((0.0, 0.037))
    '0–3.7%'
    """
    low, high = (percent(share, digits) for share in interval)
    return f"{low.removesuffix('%')}–{high}"


def count(number: float) -> str:
    """Write a count with its thousands apart.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{number:,.0f}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """Write a count and what is counted.

    >>> plural(1, "page"), plural(2000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: float) -> str:
    """Write a number of bytes.

    >>> size(532), size(1_500_000), size(2_340_000_000)
    ('532 B', '1.5 MB', '2.3 GB')
    """
    for unit, worth in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= worth:
            return f"{number / worth:.1f} {unit}"
    return f"{number:.0f} B"


def duration(seconds: float) -> str:
    """Write a time.

    >>> duration(0.042), duration(7.25), duration(83), duration(7325)
    ('0.04 s', '7.2 s', '1 min 23 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s"
    return f"{minutes // 60} h {minutes % 60} min"
