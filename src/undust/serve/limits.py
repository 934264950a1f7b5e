"""What one question may cost: sizes, counts and seconds, and why."""

MAX_BODY_BYTES = 16 * 2**20
"""Larger bodies are refused (413). A batch of 100,000 ordinary URLs has 8 MB."""

MAX_BATCH = 100_000
"""URLs, or pairs of URLs, in one question."""

MAX_EXPLAINED = 1_000
"""URLs that one question may have explained: an explanation is a thousand times as dear as a normalized URL."""

INLINE_BYTES = 256 * 2**10
"""Bodies up to this are answered where they arrive, in about a millisecond; larger ones by a thread."""

ROWS, MAX_ROWS = 50, 1_000
"""Rows of a list in one answer: if nobody says, and at most."""

MAX_TEXT = 8_192
"""Characters of a question about a URL, a site or a name, in the address."""

BODY_SECONDS = 10.0
"""A body that takes longer to arrive is not waited for (408)."""

WORK_SECONDS = 30.0
"""An answer that takes longer is given up (503)."""

HEAD_SECONDS = 15.0
"""A connection on which no question is complete by then is closed; so is one that is idle for as long."""

THREADS = 8
"""Questions that are worked on at once; others wait."""

MAX_CONNECTIONS = 1_000
"""Connections at once; more are turned away (503)."""

WATCH_SECONDS = 1.0
"""How often the rule file is looked at."""

TREE_URLS = 20_000
"""URLs of a site that its tree is grown from; of larger sites whole clusters, until there are so many."""

TREES = 16
"""Trees that are kept, the last ones asked for."""

SEARCH_SECONDS = 0.5
"""A search through the URLs ends after this, with what it has."""

TEXT_BYTES = 4 * 2**30
"""Bytes of crawl files that are read for the texts of two pages, …"""

TEXT_SECONDS = 20.0
"""… and seconds."""

MAX_SHOWN_CHARACTERS = 200_000
"""Characters of a page that are compared; the rest is said to be left out."""

MAX_LINES = 2_000
"""Lines of a page that are compared."""

TEXTS = 32
"""Texts of pages that are kept, the last ones compared."""
