# %% [markdown]
# # Scrapy
#
# You have a Scrapy project, and an archive of an earlier crawl of the same sites. Learn rules from the archive once;
# from then on no request is made for a page that another URL has led to already.
#
# ```sh
# pip install 'undust[scrapy]'
# undust run last-crawl.warc.gz -o found
# ```
#
# Then three lines in `settings.py`:
#
# ```python
# ADDONS = {"undust.crawl.scrapy.Addon": 500}
# UNDUST_RULES = "found/rules.json"
# UNDUST_STORE = "seen.store"
# ```
#
# The rest of this page shows it at work: a small site, rules learned from its log, a spider with and without the
# add-on.

# %%
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa

import undust

# %% [markdown]
# A shop of 40 articles. Whoever comes gets a new session in each link.

# %%
fetched: list[str] = []


class Shop(BaseHTTPRequestHandler):
    """Serves an article for each number, whatever else its URL says."""

    def do_GET(self) -> None:
        """Answer with an article and links to all others."""
        fetched.append(self.path)
        article = self.path.partition("?")[0]
        links = "".join(f"<a href='/article/{n}?session={len(fetched)}x{n}'>{n}</a>" for n in range(40))
        body = f"<h1>{article}</h1>{links}".encode()
        self.send_response(200 if article == "/" or article.startswith("/article/") else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
threading.Thread(target=server.serve_forever, daemon=True).start()
shop = f"http://127.0.0.1:{server.server_port}"

# %% [markdown]
# What an earlier crawl has found: URLs, and which of them led to the same page. Usually this comes from `undust run
# crawl.warc.gz`.

# %%
known = [(f"{shop}/article/{n}?session={s}x{n}", f"article {n}") for n in range(20) for s in (1, 2, 3)]
clusters = pa.table({"url": [url for url, _ in known], "cluster": [page for _, page in known]})
rules = undust.learn(clusters)
print(*rules)
rules.save("rules.json")

# %% [markdown]
# A spider that follows every link.

# %%
Path("spider.py").write_text(f'''
import scrapy

class ShopSpider(scrapy.Spider):
    name = "shop"
    start_urls = ["{shop}/"]

    def parse(self, response):
        yield {{"url": response.url, "title": response.css("h1::text").get()}}
        yield from response.follow_all(css="a")
''')


def crawl(*settings: str) -> int:
    """Run the spider for at most 200 requests; say how many there were."""
    fetched.clear()
    limits = ("CLOSESPIDER_PAGECOUNT=200", "ROBOTSTXT_OBEY=0", "LOG_LEVEL=ERROR", "TELNETCONSOLE_ENABLED=0")
    options = [word for setting in (*limits, *settings) for word in ("-s", setting)]
    subprocess.run([sys.executable, "-m", "scrapy", "runspider", "spider.py", *options], check=True)
    return len(fetched)


plain = crawl()
with_rules = crawl('ADDONS={"undust.crawl.scrapy.Addon": 500}', "UNDUST_RULES=rules.json")
print(f"requests without: {plain} and counting; with undust: {with_rules}")
assert plain >= 200
assert with_rules == 41  # the start page, and 40 articles of which rules had seen 20
server.shutdown()
server.server_close()

# %% [markdown]
# Statistics at the end of a crawl name the rules and what each has skipped; settings, stores and what happens to
# items: [for people with a crawler](../seen.md).
