"""Runs a crawl on Scrapy, with the settings that its options ask for."""

from pathlib import Path
from typing import Any, NamedTuple

from undust.crawl.loop import Loop
from undust.crawl.options import Options
from undust.crawl.spider import CrawlSpider, LoopScheduler, Progress
from undust.errors import UndustError


def settings_of(options: Options) -> dict[str, Any]:
    """Give the settings of Scrapy for a crawl."""
    return {
        "SCHEDULER": LoopScheduler,
        "USER_AGENT": options.user_agent,
        "ROBOTSTXT_OBEY": options.robots,
        "ROBOTSTXT_USER_AGENT": options.user_agent.partition("/")[0],
        "CONCURRENT_REQUESTS": options.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.per_host,
        "DOWNLOAD_DELAY": options.delay,
        "AUTOTHROTTLE_ENABLED": options.throttle,
        "AUTOTHROTTLE_START_DELAY": max(options.delay, 0.5),
        "AUTOTHROTTLE_TARGET_CONCURRENCY": max(1.0, options.per_host / 2),
        "DOWNLOAD_TIMEOUT": options.timeout,
        "DOWNLOAD_MAXSIZE": options.max_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "COOKIES_ENABLED": options.cookies,
        "RETRY_ENABLED": False,  # the frontier does it, and remembers
        "METAREFRESH_ENABLED": False,
        "REFERER_ENABLED": False,
        "TWISTED_DNS_RESOLVER": "undust.crawl.guard.GuardedResolver",
        "UNDUST_ALLOW_PRIVATE": options.allow_private,
        "DOWNLOADER_MIDDLEWARES": {"undust.crawl.guard.Guard": 50},
        "DOWNLOAD_HANDLERS": {"data": None, "file": None, "ftp": None, "s3": None},
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "MEMUSAGE_ENABLED": False,
        "LOG_ENABLED": options.verbose,
        "LOG_LEVEL": "INFO",
        "LOG_INSTALL_ROOT_HANDLER": options.verbose,
        "LOGSTATS_INTERVAL": 0,
        "STATS_DUMP": options.verbose,
        "EXTENSIONS": {"scrapy.extensions.logstats.LogStats": None},
    }


class Ended(NamedTuple):
    """How a crawl ended."""

    problem: UndustError | None
    """What made it impossible to go on."""
    stopped: bool
    """Whether a signal ended it: Ctrl-C, for one."""


def run_here(loop: Loop, folder: Path, progress: Progress) -> Ended:
    """Run Scrapy in this process, once."""
    from scrapy.crawler import AsyncCrawlerProcess

    process = AsyncCrawlerProcess(settings_of(loop.options))
    spiders: list[CrawlSpider] = []

    class _Kept(CrawlSpider):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            spiders.append(self)

    process.crawl(_Kept, loop=loop, folder=folder, progress=progress)
    try:
        process.start()
    finally:
        for spider in spiders:
            spider.end_learning()
    return Ended(spiders[0].problem, spiders[0].stopped) if spiders else Ended(None, stopped=False)
