"""What a crawl came to: the summary of the paper, and what was saved by which rule."""

from dataclasses import asdict, dataclass, field
from typing import Any

from undust.crawl.frontier import FAILED, PENDING, SKIPPED, Frontier
from undust.crawl.loop import Counts


@dataclass(frozen=True, slots=True)
class RuleUse:
    """What a rule did in a crawl."""

    rule: str
    state: str
    skipped: int
    checks: int
    misses: int
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of a crawl."""

    output: str
    links: int
    """URLs that were found within the scope."""
    requests: int
    unique: int
    duplicates: int
    """Pages that were fetched and were there already."""
    skipped: int
    """URLs that were not fetched, as a rule says that another URL leads to the same page."""
    waiting: int
    """URLs that are still to be fetched."""
    failed: int
    checks: int
    bytes: int
    bytes_saved: int
    """The skipped URLs by the mean size of an answer."""
    seconds: float
    learnings: int
    failed_learnings: int
    rules: tuple[RuleUse, ...] = ()
    refused: dict[str, int] = field(default_factory=dict)
    """Links that were not followed, by reason."""
    failures: dict[str, int] = field(default_factory=dict)
    stopped: bool = False
    """Whether a signal ended the crawl: Ctrl-C, for one."""

    @property
    def nothing(self) -> str | None:
        """Say why there is no page at all; None if there is one, or may be one day."""
        if self.unique or self.waiting or self.stopped:
            return None
        return ", ".join([*self.failures, *self.refused]) or "no answer with status 200"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"Total links      {self.links:,}",
            f"Unique links     {self.unique:,}",
            f"Duplicate links  {self.duplicates + self.skipped:,}"
            f" ({self.duplicates:,} fetched, {self.skipped:,} skipped before the fetch)",
            f"Time taken       {self.seconds:,.1f} seconds",
            f"Requests         {self.requests:,}, of which {self.checks:,} to check rules; {self.bytes:,} bytes",
        ]
        if self.skipped:
            lines.append(f"Saved            {self.skipped:,} requests, about {self.bytes_saved:,} bytes")
        lines += [f"  {use.skipped:,} by {use.rule} ({use.checks:,} checks)" for use in self.rules if use.skipped]
        lines += [f"  withdrawn: {use.rule}: {use.why}" for use in self.rules if use.state == "withdrawn"]
        if self.failed:
            listed = ", ".join(f"{why}: {count:,}" for why, count in list(self.failures.items())[:5])
            lines.append(f"Failed           {self.failed:,} ({listed})")
        if self.failed_learnings:
            lines.append(f"Learning failed  {self.failed_learnings:,} times; --verbose says why")
        if self.refused:
            lines.append("Not followed     " + ", ".join(f"{why}: {count:,}" for why, count in self.refused.items()))
        if self.waiting:
            lines.append(f"Waiting          {self.waiting:,}; go on with --resume {self.output}")
        return "\n".join(lines)


def summarize(frontier: Frontier, counts: Counts, output: str) -> Summary:
    """Count what is in the frontier."""
    (links,) = frontier.execute("SELECT count(*) FROM urls").fetchone()
    skipped = frontier.count(SKIPPED)
    uses = frontier.execute(
        "SELECT r.line, r.state, (SELECT count(*) FROM urls u WHERE u.rule = r.number AND u.state = 3), r.checks,"
        " r.misses, r.why FROM rules r WHERE r.state != 'replaced' ORDER BY 3 DESC, r.number"
    )
    failures = frontier.execute(
        "SELECT coalesce(p.error, 'status ' || p.status) why, count(*) FROM pages p JOIN urls u ON u.id = p.id"
        " WHERE p.status >= 400 OR u.state = ? GROUP BY why ORDER BY 2 DESC, 1",
        (FAILED,),
    )
    failed = dict(failures.fetchall())
    return Summary(
        output=output,
        links=links,
        requests=counts.requests,
        unique=counts.unique,
        duplicates=counts.duplicates,
        skipped=skipped,
        waiting=frontier.count(PENDING),
        failed=sum(failed.values()),
        checks=counts.checks,
        bytes=counts.bytes,
        bytes_saved=round(skipped * counts.bytes / max(counts.requests, 1)),
        seconds=round(counts.seconds, 3),
        learnings=counts.learnings,
        failed_learnings=counts.failed_learnings,
        rules=tuple(RuleUse(*row) for row in uses),
        refused=dict(frontier.execute("SELECT why, count FROM refused ORDER BY count DESC, why").fetchall()),
        failures=failed,
    )
