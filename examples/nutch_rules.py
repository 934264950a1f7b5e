# %% [markdown]
# # Nutch
#
# Rules for Apache Nutch go into `conf/regex-normalize.xml`; let `urlnormalizer-basic` run before
# `urlnormalizer-regex`.
#
# ```sh
# undust run crawl.warc.gz -o found
# undust export found/rules.json --to nutch -o conf/regex-normalize.xml
# ```
#
# The same in Python, and what the file does to URLs.

# %%
import re
from importlib import resources
from xml.etree import ElementTree

import undust

sample = resources.files("undust") / "data" / "sample.warc.gz"
with resources.as_file(sample) as crawl:
    found = undust.run(crawl, output="found")
exported = undust.export_rules(found.rules, "nutch", "regex-normalize.xml")
print(f"{exported.count('exported')} rules in full, {exported.share('exported'):.0%} of the savings")

# %% [markdown]
# A rule that Nutch's expressions cannot say is left out, named, and its share of the savings is told: nothing is
# exported that does more than the rules do. Here is what Nutch will do, read back from the file. (Java and Python
# agree about these expressions.)

# %%
rewritings = [
    (re.compile(rule.findtext("pattern") or ""), re.sub(r"\$(\d)", r"\\g<\1>", rule.findtext("substitution") or ""))
    for rule in ElementTree.parse("regex-normalize.xml").getroot()  # noqa: S314 - written above
]


def as_nutch_does(url: str) -> str:
    """Apply one expression after the other."""
    for pattern, substitution in rewritings:
        url = pattern.sub(substitution, url)
    return url


for url in (
    "http://blog.test:8180/2026/11/new/?replytocom=7",
    "http://mirror.files.test:8180/new/?C=S;O=D",
    "http://www.docs.test:8180/new/",
):
    print(url, "->", as_nutch_does(url))
    assert as_nutch_does(url) == found.rules.normalize(url)

# %% [markdown]
# StormCrawler reads the same expressions (`--to stormcrawler`), Heritrix has beans (`--to heritrix`): [all
# exports](../exports.md).
