"""How much of a page was not seen before: a bitmap of the lines of all pages."""

import numpy as np

from undust.crawl.evidence import LINES, Lines
from undust.crawl.frontier import Frontier

_BITS = 26
"""8 MB; with ten million lines, one in seven new ones looks known. It decides the order only, not what is kept."""


class Novelty:
    """Lines that were seen, by some bits of their hashes."""

    def __init__(self, frontier: Frontier | None = None) -> None:
        self._seen = np.zeros(1 << (_BITS - 3), np.uint8)
        if frontier is not None:
            for (raw,) in frontier.execute("SELECT lines FROM pages WHERE lines IS NOT NULL"):
                self.take(np.frombuffer(raw, LINES))

    def take(self, lines: Lines) -> tuple[int, float]:
        """Take in the lines of a page; give how many characters of them are new, and what share of the page that is."""
        if not len(lines):
            return 0, 0.0
        places = (lines["hash"] >> np.uint64(64 - _BITS)).astype(np.int64)
        bytes_, bits = places >> 3, (1 << (places & 7)).astype(np.uint8)
        new = (self._seen[bytes_] & bits) == 0
        np.bitwise_or.at(self._seen, bytes_, bits)
        chars = int(lines["chars"][new].sum())
        return chars, chars / max(int(lines["chars"].sum()), 1)
