"""Hashes and tables of texts, as the kernels that read flat rules compute them."""

from undust.kernels import rules_layout as at

_WORD = 2**64 - 1


def hash_text(text: bytes, seed: int = 0) -> int:
    """Hash a text to 64 bits, eight bytes at a time."""
    made = (len(text) + seed) * at.GOLDEN & _WORD
    for place in range(0, len(text), 8):
        made = (made ^ int.from_bytes(text[place : place + 8], "little")) * at.PRIME & _WORD
        made ^= made >> 29
    return made


def hash_host(name: bytes) -> int:
    """Hash a host name from its end, so that the hashes of its parents come along."""
    made = 0
    for byte in reversed(name):
        made = (made ^ byte) * at.PRIME & _WORD
    return made


def borders(text: bytes) -> list[int]:
    """Give for each start of a text how much of it is also its end, for a search that never steps back (KMP).

    >>> borders(b"aabaaa")
    [0, 1, 0, 1, 2, 2]
    """
    made = [0] * len(text)
    size = 0
    for place in range(1, len(text)):
        while size and text[place] != text[size]:
            size = made[size - 1]
        size += text[place] == text[size]
        made[place] = size
    return made
