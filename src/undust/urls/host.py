"""The one spelling of a host name or address, as browsers find it (WHATWG URL, host parsing)."""

import re
from ipaddress import AddressValueError, IPv6Address
from urllib.parse import unquote_to_bytes

import idna

from undust.errors import UrlError

# WHATWG "forbidden domain code points": with one of them a host can be confused with another part of the URL.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f#/:<>?@\[\\\]^|%]")
_PLAIN = re.compile(r"[a-z0-9_\-.]++")
_MAX_NAME = 253  # what DNS allows
_NUMBER = re.compile(r"(?:0x[0-9a-f]*+|[0-9]++)")


def normalize_host(host: str) -> str:
    """Lower-case a host, decode its escapes, write names in ASCII (IDNA) and addresses in their short form.

    >>> normalize_host("BÜCHER.example"), normalize_host("0x7f.1"), normalize_host("[2001:DB8:0::1]")
    ('xn--bcher-kva.example', '127.0.0.1', '[2001:db8::1]')
    """
    if host.startswith("["):
        return _ipv6(host)
    name = host.lower() if host.isascii() else host
    if not _PLAIN.fullmatch(name):
        name = _ascii_name(name)
    labels = name.removesuffix(".").rsplit(".", 1)
    if not labels[-1] and not name.strip("."):
        raise UrlError("the host is empty")
    return _ipv4(name) if _NUMBER.fullmatch(labels[-1]) else name


def is_address(host: str) -> bool:
    """Tell whether a normalized host is an IP address rather than a name."""
    return host.startswith("[") or host.rsplit(".", 1)[-1].isdigit()


def _ascii_name(host: str) -> str:
    try:
        name = unquote_to_bytes(host).decode("utf-8") if "%" in host else host
        name = name.lower() if name.isascii() else _idna(name)
    except (UnicodeError, idna.IDNAError) as error:
        raise UrlError(f"the host {host[:80]!r} is not a valid name: {error}") from None
    if found := _FORBIDDEN.search(name):
        raise UrlError(f"the host {host[:80]!r} has the character {found[0]!r}")
    return name


def _idna(name: str) -> str:
    """Map letters as UTS 46 does (case, full-width forms, other dots), then write labels in punycode.

    No stricter test follows: emoji and names that IDNA 2008 would refuse are in DNS, and are being fetched.
    """
    if len(name) > _MAX_NAME:  # punycode takes quadratic time
        raise UrlError(f"the host {name[:80]!r} is longer than {_MAX_NAME} characters")
    mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii") for label in mapped.split(".")
    )


def _ipv4(name: str) -> str:
    """Read an address as browsers do: decimal, octal or hexadecimal; the last number fills what is left."""
    numbers = [_number(part) for part in name.removesuffix(".").split(".")]
    *head, tail = numbers
    if len(numbers) > 4 or any(number > 255 for number in head) or tail >= 256 ** (5 - len(numbers)):
        raise UrlError(f"the host {name[:80]!r} is not a valid IPv4 address")
    value = tail + sum(number << 8 * (3 - place) for place, number in enumerate(head))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(part: str) -> int:
    if not _NUMBER.fullmatch(part) or len(part) > 64:
        raise UrlError(f"the host ends in a number but {part[:80]!r} is not one")
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    try:
        return int(part, 8) if len(part) > 1 and part[0] == "0" else int(part)
    except ValueError:
        raise UrlError(f"the host ends in a number but {part[:80]!r} is not one") from None


def _ipv6(host: str) -> str:
    try:
        if "%" in host or not host.endswith("]"):
            raise AddressValueError(host)
        packed = IPv6Address(host[1:-1]).packed
    except AddressValueError:
        raise UrlError(f"the host {host[:80]!r} is not a valid IPv6 address") from None
    # Written out here because how Python spells ::ffff:1.2.3.4 changed between its versions.
    groups = [f"{packed[i] << 8 | packed[i + 1]:x}" for i in range(0, 16, 2)]
    start, length = _longest_zeros(groups)
    if length < 2:
        return f"[{':'.join(groups)}]"
    return f"[{':'.join(groups[:start])}::{':'.join(groups[start + length :])}]"


def _longest_zeros(groups: list[str]) -> tuple[int, int]:
    best = (0, 0)
    start = 0
    for place, group in enumerate([*groups, "end"]):
        if group != "0":
            if place - start > best[1]:
                best = (start, place - start)
            start = place + 1
    return best
