"""Whatever the index has acknowledged is there after `kill -9` at any moment; what was not is whole or absent.

`UNDUST_KILLS=200 pytest tests/test_index_crash.py` kills as often as that.
"""

import contextlib
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

from tests.index_load import MADE, METHODS, THRESHOLD, Change, change, work
from tests.index_oracle import Answer, Oracle
from undust.index.online import Index

ROUNDS = int(os.environ.get("UNDUST_KILLS", "10"))
START = multiprocessing.get_context("forkserver")  # children are forks of a process that has imported all
START.set_forkserver_preload(["tests.index_load"])
URLS = [f"http://a.test/{n}" for n in range(2000)]
State = list[Answer | None]


def told(oracle: Oracle, done: Change) -> None:
    kind, pages = done
    for url, content in pages:
        if kind == "add":
            oracle.add(url, content)
        elif kind == "remove":
            oracle.remove(url)


def state(index: Index) -> State:
    rows = index.get_many(URLS).to_pylist()
    return [(row["duplicate_of"], row["method"], row["similarity"]) if row["known"] else None for row in rows]


def killed_child(folder: Path, seed: int, first: int, changes: int, seconds: float) -> int:
    """Let a process do some changes, kill it a moment later, and tell how many it has acknowledged."""
    hears, tells = START.Pipe(duplex=False)
    child = START.Process(target=work, args=(folder, seed, first, tells))
    child.start()
    tells.close()  # so that what the child has is the last one, and its death the end of what it tells
    with hears:
        assert hears.recv_bytes() == b"open"
        for _ in range(changes):  # however slow the machine is
            assert hears.recv_bytes() == b"done"
        time.sleep(seconds)  # the moment to kill it, not a wait for something
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        done = changes
        with contextlib.suppress(EOFError, ConnectionResetError):  # a half of a message is none
            while hears.recv_bytes() == b"done":
                done += 1
    return done


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    seed = 1
    chance = random.Random(seed)
    oracle = Oracle(METHODS, MADE, threshold=THRESHOLD, distance=3, max_sentences=2)
    done = total = 0
    for turn in range(ROUNDS):
        if turn % 40 == 0 and turn:  # the oracle compares with everything, so it begins anew from time to time
            seed, done = seed + 1, 0
            oracle = Oracle(METHODS, MADE, threshold=THRESHOLD, distance=3, max_sentences=2)
        folder = tmp_path / f"index{seed}"
        acknowledged = done + killed_child(folder, seed, done, chance.randrange(8), chance.uniform(0.0, 0.1))
        total += acknowledged - done
        while done < acknowledged:
            told(oracle, change(seed, done))
            done += 1
        with Index(folder, read_only=True) as reader:
            found = state(reader)
        if found != [oracle.get(url) for url in URLS]:
            # The process may have been killed after a change was written and before it said so: then all of it is
            # there. A batch is one record, as it fits into the memory of this index.
            told(oracle, change(seed, done))
            done += 1
            assert found == [oracle.get(url) for url in URLS]
        if turn % 10 == 0:
            with Index(folder) as index:
                index.check()
                assert state(index) == found
    print(f"{ROUNDS} kills, {total} changes acknowledged, none lost")
