"""A process that adds to an index, and says so of each batch that was acknowledged, until somebody kills it."""

import random
from multiprocessing.connection import Connection
from pathlib import Path

from tests.index_oracle import Content, table
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.index.online import Index

MADE = SignatureParameters(minhash_values=32)
METHODS = ("exact", "minhash", "simhash")
THRESHOLD = 0.6
Change = tuple[str, list[tuple[str, Content]]]


def change(seed: int, number: int) -> Change:
    """What is done as number so-and-so: mostly pages that are added, some again and changed; some are removed."""
    chance = random.Random(f"{seed} {number}")
    kind = chance.choices(["add", "remove", "compact"], [90, 9, 1])[0]
    count = chance.choice([1, 1, 3, 20, 200]) if kind == "add" else chance.choice([1, 10])
    return kind, [(f"http://a.test/{chance.randrange(2000)}", _content(chance)) for _ in range(count)]


def _content(chance: random.Random) -> Content:
    about = random.Random(chance.randrange(400))  # pages of one subject are alike
    values = [about.randrange(1, 2**60) for _ in range(MADE.minhash_values)]
    shingles = {about.randrange(2**32) for _ in range(40)}
    simhash = about.randrange(2**64)
    if chance.random() < 0.7:
        for _ in range(3):
            values[chance.randrange(len(values))] = chance.randrange(1, 2**60)
            simhash ^= 1 << chance.randrange(64)
        shingles ^= {chance.randrange(2**32) for _ in range(chance.randrange(12))}
    digest = chance.randrange(1, 2**100) if chance.random() < 0.8 else about.randrange(1, 2**100)
    return Content(digest, simhash, 1, (), tuple(values), frozenset(shingles))


def apply(index: Index, done: Change) -> None:
    """Do a change."""
    kind, pages = done
    if kind == "add":
        index.add_many(table(pages, MADE))
    elif kind == "remove":
        index.remove_many([url for url, _ in pages])
    else:
        index.compact()


def work(folder: Path, seed: int, first: int, told: Connection) -> None:
    """Open the index, then do one change after the other, and tell of each that it is done."""
    index = Index(folder, methods=METHODS, threshold=THRESHOLD, buffer_pages=256)
    told.send_bytes(b"open")
    number = first
    while True:
        apply(index, change(seed, number))
        told.send_bytes(b"done")
        number += 1
