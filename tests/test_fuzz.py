"""Replays the seeds of the fuzzer and some hundred mutations of them, the same ones every time."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.seeds import seeds
from tests.fuzz.targets import CORPUS, TARGETS

MUTATIONS = {"url": 4000, "body": 4000, "html": 300, "http": 300}
"""How many for each target; files cost more."""

TOKENS = [
    b"",
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b'"',
    b",",
    b"\t",
    b" ",
    b"%",
    b"..",
    b"WARC/1.0\r\n",
    b"HTTP/1.1 200 OK\r\n",
]
TOKENS += [
    b"Content-Length: 99999\r\n",
    b"\r\n\r\n",
    b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"url",
    b"9" * 20,
]


def files_of(target: str) -> list[Path]:
    return sorted((CORPUS / target).iterdir())


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A few of the things that go wrong on disks and wires, and in heads."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(changed))
        size = chance.choice([0, 1, 1, 2, 4, 16, 200])
        match chance.randint(0, 3):
            case 0:
                changed[at : at + size] = chance.randbytes(size)
            case 1:
                del changed[at : at + size]
            case 2:
                changed[at : at + chance.randint(0, 2)] = chance.choice(TOKENS)
            case _:
                start = chance.randint(0, len(changed))
                changed[at:at] = changed[start : start + size]
    return bytes(changed)


@pytest.fixture(autouse=True)
def _stdin() -> Iterator[None]:
    before = sys.stdin
    yield
    sys.stdin = before


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_keep_the_laws(target: str) -> None:
    for path in files_of(target):
        TARGETS[target](path.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_mutations_of_seeds_keep_the_laws(target: str) -> None:
    chance = random.Random(target)
    files = [path.read_bytes() for path in files_of(target)]
    for _ in range(MUTATIONS.get(target, 400)):
        data = mutated(chance.choice(files), chance)
        try:
            TARGETS[target](data)
        except Exception as error:
            error.add_note(f"target {target!r}, input {data!r}")
            raise


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_few_and_small_and_hold_our_own(target: str) -> None:
    files = files_of(target)
    assert len(files) <= 100
    assert sum(path.stat().st_size for path in files) <= 200_000
    assert {path.name for path in files} >= set(seeds()[target])
