"""Signatures of URLs and contents: 128 bits of XXH3, salted by a number of the store's own."""

import secrets

import xxhash

from undust.crawl.store import Store


def signature(data: bytes | str, salt: int = 0) -> bytes:
    """Give the 16 bytes that stand for a URL, a key or a content.

    >>> signature("http://a.test/").hex() == signature(b"http://a.test/").hex()
    True
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return xxhash.xxh3_128_digest(raw, seed=salt)


def salt_of(store: Store) -> int:
    """Give the salt of a store, made when it is first asked for.

    XXH3 is no secret: without a salt, people could make pages whose signatures are those of other pages.
    """
    return int(store.settle("salt", str(secrets.randbits(64))))
