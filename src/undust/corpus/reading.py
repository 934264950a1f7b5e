"""What every reader is told: limits, what counts as a page, and where to count the rest."""

from dataclasses import dataclass

from undust import settings
from undust.corpus.batches import too_long
from undust.corpus.tally import Tally


@dataclass(frozen=True, slots=True)
class Reading:
    """The terms of one read."""

    tally: Tally
    max_body_bytes: int = settings.MAX_BODY_BYTES
    any_status: bool = False
    """Keep pages whatever their HTTP status; otherwise only those with status 200 or none."""
    base_url: str | None = None
    """URL that the names of files in a folder are relative to."""

    @property
    def body_over(self) -> str:
        """The reason to count a body by that is too large."""
        return too_long("body", self.max_body_bytes)
