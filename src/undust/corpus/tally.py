"""What a read met: pages, records left out and why, damaged places."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from undust import settings


@dataclass(frozen=True, slots=True)
class Damage:
    """One place in a source that could not be used, and what is wrong with it."""

    source: str
    what: str
    offset: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = f"byte {self.offset}: " if self.offset is not None else ""
        place = f"line {self.line}: " if self.line is not None else place
        return f"{self.source}: {place}{self.what}"

    def to_dict(self) -> dict[str, str | int]:
        """The same as plain values, without the kind of place it does not have."""
        found: dict[str, str | int] = {"source": self.source, "what": self.what}
        if self.offset is not None:
            found["offset"] = self.offset
        if self.line is not None:
            found["line"] = self.line
        return found


@dataclass(slots=True)
class Tally:
    """Counts of a read; exact, while damaged places are listed only up to `settings.MAX_LISTED`.

    >>> tally = Tally(pages=2)
    >>> tally.skip("status 404")
    >>> tally.damage("a.jsonl", "not JSON", line=7)
    >>> print(tally.summary())
    2 pages of 4 records; skipped 1 (status 404: 1); damaged 1
      a.jsonl: line 7: not JSON
    """

    pages: int = 0
    bytes: int = 0
    """Bytes read from the inputs as they are on disk, for progress."""
    skipped: Counter[str] = field(default_factory=Counter)
    limited: Counter[str] = field(default_factory=Counter)
    """Pages kept without their body, by reason."""
    damaged: int = 0
    listed: list[Damage] = field(default_factory=list)

    @property
    def records(self) -> int:
        """Everything that was met: pages, what was skipped, what was damaged."""
        return self.pages + self.skipped.total() + self.damaged

    def skip(self, reason: str, count: int = 1) -> None:
        """Count records that are whole but no pages."""
        if count:
            self.skipped[reason] += count

    def limit(self, reason: str, count: int = 1) -> None:
        """Count pages that stay without their body."""
        if count:
            self.limited[reason] += count

    def damage(self, source: str, what: str, *, offset: int | None = None, line: int | None = None) -> None:
        """Count a place that could not be used, and list it while the list is short."""
        self.damaged += 1
        if len(self.listed) < settings.MAX_LISTED:
            self.listed.append(Damage(source, what, offset, line))

    def merge(self, others: "Iterable[Tally]") -> None:
        """Add what other reads met, for instance in other processes."""
        for other in others:
            self.pages += other.pages
            self.bytes += other.bytes
            self.skipped.update(other.skipped)
            self.limited.update(other.limited)
            self.damaged += other.damaged
            self.listed.extend(other.listed[: max(0, settings.MAX_LISTED - len(self.listed))])

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; reasons in the order of their names."""
        return {
            "records": self.records,
            "pages": self.pages,
            "bytes": self.bytes,
            "skipped": dict(sorted(self.skipped.items())),
            "limited": dict(sorted(self.limited.items())),
            "damaged": self.damaged,
            "damage": [damage.to_dict() for damage in self.listed],
        }

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> "Tally":
        """Take back what `to_dict` gave."""
        listed = [Damage(**damage) for damage in told["damage"]]
        skipped, limited = Counter(told["skipped"]), Counter(told["limited"])
        return cls(told["pages"], told["bytes"], skipped, limited, told["damaged"], listed)

    def advice(self) -> str:
        """What to do where nothing of all that was met is a page.

        >>> Tally(damaged=1).advice()
        'get a whole copy of it, or give another file'
        """
        if any(reason.startswith("status ") for reason in self.skipped):
            return "give files with pages of status 200, or --any-status to take these"
        if self.damaged:
            return "get a whole copy of it, or give another file"
        return "give files with pages in them"

    def summary(self, listed: int = 5) -> str:
        """A few lines for people; names at most `listed` damaged places."""
        parts = [f"{self.pages:,} pages of {self.records:,} records"]
        if self.skipped:
            parts.append(f"skipped {self.skipped.total():,} ({_reasons(self.skipped)})")
        if self.limited:
            parts.append(f"without body {self.limited.total():,} ({_reasons(self.limited)})")
        if self.damaged:
            parts.append(f"damaged {self.damaged:,}")
        lines = ["; ".join(parts), *(f"  {damage}" for damage in self.listed[:listed])]
        if self.damaged > len(lines) - 1:
            lines.append(f"  and {self.damaged - len(lines) + 1:,} more damaged")
        return "\n".join(lines)


def _reasons(counts: Counter[str]) -> str:
    return ", ".join(f"{reason}: {count:,}" for reason, count in sorted(counts.items(), key=lambda c: (-c[1], c[0])))
