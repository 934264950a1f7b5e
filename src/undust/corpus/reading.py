"""What every reader is told: limits, what counts as a page, and where to count the rest."""

from dataclasses import dataclass

from undust import settings
from undust.corpus.batches import too_long
from undust.corpus.tally import Tally
from undust.errors import UsageError

MAX_BODY_LIMIT = 2**30
"""The columns of a batch have 32-bit offsets, and a batch holds some bodies."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The terms of one read."""

    tally: Tally
    max_body_bytes: int = settings.MAX_BODY_BYTES
    any_status: bool = False
    """Keep pages whatever their HTTP status; otherwise only those with status 200 or none."""
    base_url: str | None = None
    """URL that the names of files in a folder are relative to."""

    def __post_init__(self) -> None:
        if not 0 <= self.max_body_bytes <= MAX_BODY_LIMIT:
            raise UsageError(f"max_body_bytes is {self.max_body_bytes:,}; it must be between 0 and {MAX_BODY_LIMIT:,}")

    @property
    def body_over(self) -> str:
        """The reason to count a body by that is too large."""
        return too_long("body", self.max_body_bytes)
