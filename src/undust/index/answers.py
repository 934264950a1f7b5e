"""What the index answers of pages, as a table: the page that each is a duplicate of, by which method, how similar."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.index.design import METHODS
from undust.kernels.index_rows import NONE

ANSWERS = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("duplicate_of", pa.string()),  # the page that is kept; null for a page that is new
        pa.field("method", pa.string()),
        pa.field("similarity", pa.float32()),
        pa.field("known", pa.bool_(), nullable=False),  # the index had the page already, and as it is
    ]
)

_NAMES = pa.array([None, *METHODS])  # by their numbers


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one page: what it is a duplicate of, by which method, how similar; or that it is new."""

    url: str
    duplicate_of: str | None = None
    method: str | None = None
    similarity: float | None = None
    known: bool = False
    """Whether the index had the page already, by its URL and with no more than small changes."""

    @property
    def is_new(self) -> bool:
        """Whether the index had nothing like the page, nor the page itself."""
        return self.duplicate_of is None and not self.known


class AnswerArrays:
    """Room for the answers of kernels, for so many pages."""

    def __init__(self, count: int) -> None:
        self.owns = np.full(count, NONE, dtype=np.uint32)
        self.names = np.full(count, NONE, dtype=np.uint32)
        self.methods = np.zeros(count, dtype=np.uint8)
        self.similarities = np.zeros(count, dtype=np.float32)

    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """Give the arguments of kernels."""
        return self.owns, self.names, self.methods, self.similarities

    def table(self, urls: pa.Array, names: pa.Array) -> pa.Table:
        """Make the table, given the URLs of the pages, and of those that they are duplicates of."""
        methods = _NAMES.take(pa.array(self.methods))
        similarities = pa.array(self.similarities, mask=self.names == NONE)
        known = pa.array(self.owns != NONE)
        return pa.table([urls.cast(pa.string()), names, methods, similarities, known], schema=ANSWERS)


def first_answer(answers: pa.Table) -> Answer:
    """Give the answer of a table that has one."""
    return Answer(**answers.slice(0, 1).to_pylist()[0])
