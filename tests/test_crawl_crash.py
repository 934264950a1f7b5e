"""Whatever a store has acknowledged is there after `kill -9` at any moment; what was not is whole or absent.

`UNDUST_KILLS=200 pytest tests/test_crawl_crash.py` kills as often as that.
"""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.crawl_load import NUMBERS, signature, step
from tests.crawl_servers import postgres_server, redis_server
from undust.crawl.store import Store, open_store

ROUNDS = int(os.environ.get("UNDUST_KILLS", "4"))
ROOT = Path(__file__).parents[1]
EVERY = [signature(number) for number in range(NUMBERS)]
URLS = st.sampled_from([f"http://a.test/{n}" for n in range(5)])
FEW = st.lists(st.integers(0, 12).map(signature), max_size=8)


class Plain:
    """What a store should be, in ten obvious lines."""

    def __init__(self) -> None:
        self.urls: set[bytes] = set()
        self.pages: dict[bytes, str] = {}

    def carry_out(self, number: int) -> None:
        kind, numbers = step(number)
        for one in map(signature, numbers):
            if kind == "add":
                self.urls.add(one)
            elif kind == "forget":
                self.urls.discard(one)
            else:
                self.pages.setdefault(one, f"http://a.test/{number}")


def holds(store: Store, plain: Plain) -> bool:
    """Compare all; a page is asked for as its own first one, so that nothing changes."""
    firsts = [plain.pages.get(one) for one in EVERY]
    there = [one for one, first in zip(EVERY, firsts, strict=True) if first is not None]
    return store.known_urls(EVERY) == [one in plain.urls for one in EVERY] and store.add_pages(
        there, ["http://other.test/"] * len(there)
    ) == [first for first in firsts if first is not None]


def killed_child(place: str, first: int, moment: int) -> int:
    """Let a process work on the store, kill it when it has said so much, and tell what it has acknowledged."""
    command = [sys.executable, "-m", "tests.crawl_load", place, str(first)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        for _ in range(moment):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        lines = child.stdout.read().split("\n")
    return first + moment + len(lines) - 1


def assert_nothing_is_lost(place: str, rounds: int) -> None:
    chance = random.Random(rounds)
    plain, done = Plain(), 0
    for _ in range(rounds):
        acknowledged = killed_child(place, done, chance.choice((0, 1, 30, chance.randrange(400))))
        while done < acknowledged:
            plain.carry_out(done)
            done += 1
        with open_store(place) as store:
            if not holds(store, plain):
                # It may have been killed after a step was done and before it said so: then all of it is there.
                plain.carry_out(done)
                done += 1
                assert holds(store, plain)
    print(f"{rounds} kills, {done} calls acknowledged, none lost")


def test_the_embedded_store_loses_nothing_when_the_process_is_killed(tmp_path: Path) -> None:
    assert_nothing_is_lost(str(tmp_path / "seen.store"), ROUNDS)


@pytest.mark.redis
def test_redis_loses_nothing_when_the_crawler_is_killed() -> None:
    with redis_server() as address:
        assert_nothing_is_lost(address, min(ROUNDS, 10))


@pytest.mark.postgres
def test_postgresql_loses_nothing_when_the_crawler_is_killed() -> None:
    with postgres_server() as address:
        assert_nothing_is_lost(address, min(ROUNDS, 10))


@pytest.mark.redis
def test_redis_that_is_killed_itself_has_what_it_acknowledged(tmp_path: Path) -> None:
    options = ("--appendonly", "yes", "--appendfsync", "always", "--dir", str(tmp_path))
    with redis_server(*options) as address, open_store(address) as store:
        store.add_urls(EVERY)
        kill_redis(address)
    with redis_server(*options) as address, open_store(address) as store:
        assert all(store.known_urls(EVERY))


def kill_redis(address: str) -> None:
    import redis

    with redis.Redis.from_url(address) as base:
        os.kill(int(base.info()["process_id"]), signal.SIGKILL)


class StoreBesidePlain(RuleBasedStateMachine):
    """Any calls in any order, and closing in between: the store says what sets and dicts say."""

    place: str

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(self.folder) / f"{next(self.numbers)}.store"
        self.store: Store = open_store(self.path)
        self.plain = Plain()

    folder: str
    numbers = iter(range(10**9))

    @rule(given=FEW)
    def add(self, given: list[bytes]) -> None:
        expected = []
        for one in given:
            expected.append(one not in self.plain.urls)
            self.plain.urls.add(one)
        assert self.store.add_urls(given) == expected

    @rule(given=FEW)
    def look(self, given: list[bytes]) -> None:
        assert self.store.known_urls(given) == [one in self.plain.urls for one in given]

    @rule(given=FEW)
    def forget(self, given: list[bytes]) -> None:
        assert self.store.forget_urls(given) == len(self.plain.urls & set(given))
        self.plain.urls -= set(given)

    @rule(pairs=st.lists(st.tuples(st.integers(0, 6).map(signature), URLS), max_size=6))
    def add_pages(self, pairs: list[tuple[bytes, str]]) -> None:
        firsts = [self.plain.pages.setdefault(one, url) for one, url in pairs]
        expected = [None if first == url else first for first, (_, url) in zip(firsts, pairs, strict=True)]
        assert self.store.add_pages([one for one, _ in pairs], [url for _, url in pairs]) == expected

    @precondition(lambda self: len(self.plain.urls) > 3)
    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = open_store(self.path)

    @rule()
    def flush(self) -> None:
        self.store.flush()

    def teardown(self) -> None:
        self.store.close()


def test_the_embedded_store_is_like_sets_and_dicts(tmp_path: Path) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    StoreBesidePlain.folder = str(tmp_path)
    run_state_machine_as_test(StoreBesidePlain, settings=settings(max_examples=40, stateful_step_count=25))
