"""An item pipeline that knows which contents were seen: items with one of them are dropped, or marked."""

from collections.abc import MutableMapping
from typing import Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from undust.crawl.scrapy.session import session_of
from undust.errors import UndustError, UrlError
from undust.urls.normalize import normalize

Fields = MutableMapping[str, Any]


class DuplicatesPipeline:
    """Compares the content of items with that of all items before, in this crawl and those with the same store.

    An item without a URL or without content passes. One that is fetched again is no duplicate of itself.
    """

    def __init__(self, crawler: Any) -> None:
        self._session = session_of(crawler)
        self._options = self._session.options
        self._stats = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Any) -> "DuplicatesPipeline":
        """Make it for a crawl, as Scrapy does."""
        return cls(crawler)

    def process_item(self, item: Any, spider: Any = None) -> Any:  # spider: Scrapy 2.13 hands it over
        """Let an item pass, mark it, or drop it."""
        fields = item if type(item) is dict else ItemAdapter(item)
        url, content = self._url(fields), self._content(fields)
        signature = None if url is None or content is None else self._session.content(content)
        if url is None or signature is None:
            self._stats.inc_value("undust/items/not_compared")
            return item
        first = self._session.firsts.of(signature, url)
        self._stats.inc_value("undust/items/unique" if first is None else "undust/items/duplicates")
        if first is None:
            return item
        if self._options.duplicates == "drop":
            raise DropItem(f"the content of {url} is that of {first}")
        try:
            fields[self._options.mark_field] = first
        except KeyError as error:
            raise UndustError(
                f"{type(item).__name__} has no field {self._options.mark_field!r} for the mark; add it, or name another"
                " as UNDUST_MARK_FIELD"
            ) from error
        return item

    def close_spider(self, spider: Any = None) -> None:
        """Write what the store does not know yet."""
        self._session.firsts.write()

    def _url(self, fields: Fields) -> str | None:
        try:
            return normalize(str(fields[self._options.url_field]))
        except (KeyError, UrlError):
            return None

    def _content(self, fields: Fields) -> bytes | str | None:
        values = [fields[name] for name in self._options.content_fields if fields.get(name) is not None]
        if not values:
            return None
        if len(values) == 1 and isinstance(values[0], bytes | str):
            return values[0]
        return repr(values)
