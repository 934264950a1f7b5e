"""Every knob, its default, and the reason for the default."""

MAX_URL_BYTES = 65_536
"""Longer URLs are refused. Servers and crawlers stop at 2 to 16 kB; the rest are traps and data in disguise."""

MAX_BODY_BYTES = 32 * 2**20
"""Larger bodies are not read into memory. Common Crawl cuts at 1 MiB, browsers' archives rarely pass 10 MiB."""

MAX_LINE_BYTES = 64 * 2**20
"""Longer lines of JSONL, CSV and CDX files are skipped: a body of the largest size still fits when JSON escapes it."""

BATCH_BYTES = 16 * 2**20
"""A batch of pages is handed on when it holds this much: large enough for kernels, small enough for many at once."""

BATCH_ROWS = 65_536
"""The same in rows, for inputs without bodies, such as CDX."""

MAX_LISTED = 100
"""How many damaged records or unusable URLs a summary names one by one; all of them are counted."""

MAX_ARGUMENTS = 256
"""A query (or the parameters of a path) with more is taken as one value: no page has so many, traps do."""

MAX_TRIES = 2_000
"""Rule files by which one URL may have to be held against more structures and patterns are refused: no site that was
learned needs more than 200, and the time of a URL must be bounded whoever wrote the rules."""
