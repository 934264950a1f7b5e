"""A process that works on a store until it is killed, and says after each call that it was acknowledged.

python -m tests.crawl_load PLACE FIRST
"""

import random
import sys

from undust.crawl.store import Store, open_store

NUMBERS = 600
"""Signatures that it adds and forgets; few, so that they meet each other."""


def signature(number: int) -> bytes:
    return (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128).to_bytes(16, "big")


Step = tuple[str, list[int]]


def step(number: int) -> Step:
    """Give the n-th step of all such processes."""
    chance = random.Random(number)
    kind = chance.choice(("add", "add", "add", "forget", "page"))
    return kind, chance.sample(range(NUMBERS), chance.choice((1, 5, 40)))


def carry_out(store: Store, number: int) -> None:
    kind, numbers = step(number)
    signatures = [signature(one) for one in numbers]
    if kind == "add":
        store.add_urls(signatures)
    elif kind == "forget":
        store.forget_urls(signatures)
    else:
        store.add_pages(signatures, [f"http://a.test/{number}"] * len(signatures))


def main(place: str, first: int) -> None:
    with open_store(place) as store:
        print("open", flush=True)
        while True:
            carry_out(store, first)
            print(first, flush=True)
            first += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
