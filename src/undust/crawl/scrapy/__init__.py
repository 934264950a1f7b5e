"""The add-on for Scrapy: `ADDONS = {"undust.crawl.scrapy.Addon": 500}` in settings.py gives a project both checks."""

from undust.errors import MissingExtraError

try:
    import scrapy  # noqa: F401 - to say what is missing, where it is
except ImportError as error:
    raise MissingExtraError("undust.crawl.scrapy: needs Scrapy: pip install 'undust[scrapy]'") from error

from undust.crawl.scrapy.addon import Addon
from undust.crawl.scrapy.dupefilter import DupeFilter
from undust.crawl.scrapy.fingerprinter import Fingerprinter
from undust.crawl.scrapy.pipeline import DuplicatesPipeline

__all__ = ["Addon", "DupeFilter", "DuplicatesPipeline", "Fingerprinter"]
