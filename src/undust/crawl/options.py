"""What a crawl can be told, with the defaults and the reasons for them."""

from dataclasses import asdict, dataclass
from typing import Any

from undust import __version__
from undust.errors import UsageError

USER_AGENT = f"undust/{__version__} (+https://undust.invalid/crawler; duplicate-avoiding crawler)"
"""Says who asks. People who crawl the public web should say how they can be reached: `--user-agent`."""

DUPLICATES = ("exact", "text", "near")
SCOPES = ("site", "host")


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a crawl; they are kept in its folder, so that it goes on as it began."""

    scope: str = "site"
    """`site`: the registrable domains of the start URLs; `host`: their hosts only."""
    extra_hosts: tuple[str, ...] = ()
    duplicates: str = "text"
    """What a duplicate is: the same body (`exact`), the same text in whatever order of lines (`text`), or
    text alike (`near`)."""
    threshold: float = 0.9
    """How much alike the texts of near duplicates are: the share of runs of five words that they share."""
    learn: bool = False
    explore: float = 0.05
    """Share of the URLs that would be skipped which are fetched all the same, to check what skips them."""
    max_pages: int = 0
    """Requests after which to stop; 0 for no limit."""
    max_seconds: float = 0
    max_depth: int = 0
    max_bytes: int = 10 * 2**20
    """Longer bodies are cut off. Pages are shorter; what is longer is no page, or has no end."""
    max_url_bytes: int = 2000
    """Longer URLs are traps: servers and browsers have long agreed on about 2,000."""
    delay: float = 0.0
    """Seconds between two requests to a host, at the least."""
    throttle: bool = True
    """Ask no faster than the server answers."""
    per_host: int = 4
    concurrency: int = 16
    timeout: float = 30.0
    retries: int = 2
    robots: bool = True
    sitemaps: bool = False
    cookies: bool = False
    allow_private: bool = False
    """Also fetch from addresses that are not public: this machine, the local network, the cloud's own services."""
    user_agent: str = USER_AGENT
    verbose: bool = False

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise UsageError(f"unknown scope {self.scope!r}; one of {', '.join(SCOPES)}")
        if self.duplicates not in DUPLICATES:
            raise UsageError(f"unknown kind of duplicates {self.duplicates!r}; one of {', '.join(DUPLICATES)}")
        if not 0 < self.threshold <= 1:
            raise UsageError("threshold: more than 0, at most 1")
        if not 0 <= self.explore <= 1:
            raise UsageError("explore: a share from 0 to 1")
        for name in ("max_pages", "max_seconds", "max_depth", "delay", "retries"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name}: 0 or more")
        for name in ("max_bytes", "max_url_bytes", "per_host", "concurrency", "timeout"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name}: more than 0")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Options":
        """Read what `to_dict` gave; names that this version does not know are left out."""
        known = {name: value for name, value in values.items() if name in cls.__dataclass_fields__}
        known["extra_hosts"] = tuple(known.get("extra_hosts", ()))
        return cls(**known)
