"""The settings of the add-on, read and checked when a crawl starts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.utils.job import job_dir

from undust.crawl.contents import CONTENTS
from undust.errors import UsageError

NAMES = (
    "UNDUST_RULES",
    "UNDUST_STORE",
    "UNDUST_REMEMBER",
    "UNDUST_DUPLICATES",
    "UNDUST_URL_FIELD",
    "UNDUST_CONTENT_FIELDS",
    "UNDUST_CONTENT",
    "UNDUST_MARK_FIELD",
    "UNDUST_FALLBACK_REQUEST_FINGERPRINTER_CLASS",
)
_REMEMBER = ("fetched", "asked")
_DUPLICATES = ("drop", "mark", "off")
_CONTENT_FIELDS = ["body", "html", "content", "text"]


@dataclass(frozen=True, slots=True)
class Options:
    """What the settings say."""

    rules: str | None
    """Path of a rule file."""
    store: str
    remember: str
    """Whether a URL is remembered for other crawls when it was `fetched`, or when it is `asked` for."""
    duplicates: str
    """What becomes of items whose content was seen: `drop`, `mark` or `off`."""
    url_field: str
    content_fields: tuple[str, ...]
    content: str
    mark_field: str


def read_options(settings: Any) -> Options:
    """Read the settings; `UsageError` names the one that is wrong."""
    unknown = {name for name in settings if str(name).startswith("UNDUST_")} - set(NAMES)
    if unknown:
        raise UsageError(f"unknown setting {min(unknown)}; one of {', '.join(NAMES[:-1])}")
    rules = settings.get("UNDUST_RULES")
    if rules is not None and not Path(rules).is_file():
        raise UsageError(f"UNDUST_RULES: there is no file {rules}; give one that undust learn has written")
    store = str(settings.get("UNDUST_STORE") or _default_store(settings))
    shared = "://" in store
    return Options(
        rules=None if rules is None else str(rules),
        store=store,
        remember=_one_of(settings, "UNDUST_REMEMBER", _REMEMBER, "asked" if shared else "fetched"),
        duplicates=_one_of(settings, "UNDUST_DUPLICATES", _DUPLICATES, "drop"),
        url_field=str(settings.get("UNDUST_URL_FIELD", "url")),
        content_fields=tuple(settings.getlist("UNDUST_CONTENT_FIELDS", _CONTENT_FIELDS)),
        content=_one_of(settings, "UNDUST_CONTENT", CONTENTS, "body"),
        mark_field=str(settings.get("UNDUST_MARK_FIELD", "duplicate_of")),
    )


def _default_store(settings: Any) -> str:
    folder = job_dir(settings)  # which makes it
    return str(Path(folder, "undust.store")) if folder else ":memory:"


def _one_of(settings: Any, name: str, known: tuple[str, ...], default: str) -> str:
    value = settings.get(name, default)
    if value not in known:
        raise UsageError(f"{name}: {value!r} is none of {', '.join(known)}")
    return str(value)
