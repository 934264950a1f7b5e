"""Tables of keys in memory: those of the pages that came since the last run was written."""

import numpy as np
import numpy.typing as npt

from undust.kernels.index_tables import HINTS

_U64 = npt.NDArray[np.uint64]


class Memory:
    """One table of chained entries for each kind of key, with room for `room` entries each."""

    def __init__(self, tables: int, room: int) -> None:
        self.room = room
        slots = 1 << max(2 * room - 1, 1).bit_length()
        # Zeros cost nothing until they are written to: an index that is opened to look at a few pages stays small.
        self.slots: _U64 = np.zeros((tables, slots), dtype=np.uint64)
        self.tails = np.zeros((tables, slots), dtype=np.uint32)
        self.entries: _U64 = np.zeros((tables, room), dtype=np.uint64)
        self.nexts = np.zeros((tables, room), dtype=np.uint32)
        self.counts = np.zeros(tables, dtype=np.int64)
        self.hints: _U64 = np.zeros(HINTS, dtype=np.uint64)

    @property
    def used(self) -> int:
        """Entries of the fullest table."""
        return int(self.counts.max(initial=0))

    def sorted(self, table: int) -> _U64:
        """Give the entries of a table as a run has them."""
        return np.sort(self.entries[table, : self.counts[table]])

    def clear(self) -> None:
        """Forget all entries; a run has them."""
        self.slots[self.counts > 0] = 0
        self.counts[:] = 0
