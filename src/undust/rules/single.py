"""Applies rules to one URL at a time, at the speed of the kernel: for crawlers."""

import numpy as np

from undust.kernels.rules import DONE, apply_column
from undust.kernels.rules_bytes import SLACK
from undust.kernels.rules_scratch import Column
from undust.rules.flat_tables import Compiled
from undust.rules.work import Work
from undust.settings import MAX_URL_BYTES


class Single:
    """Applies compiled rules to single URLs in one thread.

    All memory is made beforehand, and written and read through views, which takes Python a fraction of what an array
    takes.
    """

    def __init__(self, compiled: Compiled) -> None:
        room = 4 * MAX_URL_BYTES + 4 * SLACK
        self._made = [bytearray(room), bytearray(room)]
        given = bytearray(MAX_URL_BYTES + SLACK)
        ends = [np.zeros(2, np.int32) for _ in range(3)]
        status = np.zeros(1, np.uint8)
        column = Column(
            np.frombuffer(given, np.uint8),
            ends[0],
            np.frombuffer(self._made[0], np.uint8),
            ends[1],
            np.frombuffer(self._made[1], np.uint8),
            ends[2],
            np.zeros(1, np.int32),
            status,
        )
        self._work = Work(compiled)
        self._address = self._work.prepare(column)
        self._given = memoryview(given)
        self._size, *self._ends = [memoryview(each.data) for each in ends]
        self._status = memoryview(status.data)

    def answer(self, url: str, which: int) -> str | None:
        """Give the URL to fetch (0) or the key (1) of a URL in standard form, or None where the kernel leaves it."""
        data = url.encode()
        size = len(data)
        self._given[:size] = data
        self._size[1] = size
        apply_column(self._address, 0)
        if self._status[0] != DONE:
            self._work.check(self._status[0])
            return None
        return self._made[which][: self._ends[which][1]].decode()
