"""The memory in which a thread applies rules: made once, and told to the kernel by one address."""

import numpy as np

from undust.errors import InputError
from undust.kernels.rules import DAMAGED, apply_column
from undust.kernels.rules_bytes import SLACK
from undust.kernels.rules_scratch import COLUMN_AT, RULES_AT, SCRATCH_AT, TABLE_SIZE, Bytes, Column, Int32s, enter
from undust.rules.flat_tables import Compiled
from undust.settings import MAX_URL_BYTES


class Work:
    """Applies compiled rules, in one thread at a time."""

    def __init__(self, compiled: Compiled) -> None:
        self._source = compiled.source
        self._kept = [compiled.flat, compiled.scratch()]  # the table holds nothing but their addresses
        self._table = np.zeros(TABLE_SIZE, np.int64)
        enter(self._table, RULES_AT, self._kept[0])
        enter(self._table, SCRATCH_AT, self._kept[1])

    def prepare(self, column: Column) -> int:
        """Get ready for a column; give the address that the kernel needs."""
        self._kept[2:] = [column]
        enter(self._table, COLUMN_AT, column)
        return int(self._table.ctypes.data)

    def apply(self, data: Bytes, offsets: Int32s, *, fetch: bool, keys: bool) -> Column:
        """Apply rules to the bytes of a column, and give the column filled in."""
        rows = len(offsets) - 1
        room = [len(data) + len(data) // 8 + 4 * SLACK if wanted else 0 for wanted in (fetch, keys)]
        column = Column(
            data,
            offsets,
            np.empty(room[0], np.uint8),
            np.zeros(rows + 1, np.int32),
            np.empty(room[1], np.uint8),
            np.zeros(rows + 1, np.int32),
            np.empty(rows, np.int32),
            np.empty(rows, np.uint8),
        )
        row = 0
        while row < rows:
            row = apply_column(self.prepare(column), row)
            if row < rows:
                column = column._replace(
                    fetch=_grown(column.fetch, column.fetch_offsets[row]),
                    keys=_grown(column.keys, column.key_offsets[row]),
                )
        self.check(int(column.status.max(initial=0)))
        return column

    def check(self, status: int) -> None:
        """Refuse rules that turned out to be damaged."""
        if status == DAMAGED:
            raise InputError(f"{self._source}: damaged rules: the file was changed; write it again")


def _grown(data: Bytes, used: int) -> Bytes:
    if not len(data):
        return data
    larger = np.empty(2 * len(data) + 4 * MAX_URL_BYTES, np.uint8)
    larger[:used] = data[:used]
    return larger
