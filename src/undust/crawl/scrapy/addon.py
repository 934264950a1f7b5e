"""The add-on itself: puts fingerprinter, dupe filter and item pipeline in their places, and keeps what was there."""

import logging
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from undust.crawl.scrapy.dupefilter import DupeFilter
from undust.crawl.scrapy.fingerprinter import Fingerprinter
from undust.crawl.scrapy.options import read_options
from undust.crawl.scrapy.pipeline import DuplicatesPipeline

_log = logging.getLogger(__name__)

PIPELINE_PLACE = 100
"""Early: what is dropped needs no further work. Later ones see the URLs and contents that spiders made."""


class Addon:
    """Both checks of undust for a Scrapy project, in one line of its settings."""

    def update_settings(self, settings: Any) -> None:
        """Take the place of the default components; those that the project has chosen stay in use."""
        # An error stops the crawl. With NotConfigured Scrapy would go on, without the rules that were asked for.
        options = read_options(settings)
        priority = SETTINGS_PRIORITIES["addon"]
        current = settings.get("REQUEST_FINGERPRINTER_CLASS")
        if load_object(current) is not Fingerprinter:
            settings.set("UNDUST_FALLBACK_REQUEST_FINGERPRINTER_CLASS", current, priority)
            there = settings.getpriority("REQUEST_FINGERPRINTER_CLASS")
            settings.set("REQUEST_FINGERPRINTER_CLASS", Fingerprinter, max(there or 0, priority))
        if not settings.getpriority("DUPEFILTER_CLASS"):  # nobody has chosen one
            settings.set("DUPEFILTER_CLASS", DupeFilter, priority)
        elif load_object(settings["DUPEFILTER_CLASS"]) is not DupeFilter:
            _log.warning("DUPEFILTER_CLASS is %s and stays: nothing is remembered", settings["DUPEFILTER_CLASS"])
        if options.duplicates != "off":
            _add_pipeline(settings)


def _add_pipeline(settings: Any) -> None:
    pipelines = dict(settings.getdict("ITEM_PIPELINES"))
    if not any(load_object(one) is DuplicatesPipeline for one in pipelines):
        pipelines[DuplicatesPipeline] = PIPELINE_PLACE
        settings.set(
            "ITEM_PIPELINES", pipelines, max(settings.getpriority("ITEM_PIPELINES") or 0, SETTINGS_PRIORITIES["addon"])
        )
