"""Runs benchmarks and prints them as a table: python -m benchmarks [NAME...] [--json]."""

import argparse
import importlib
import json
import platform

from rich.console import Console
from rich.table import Table

NAMES = (
    "urls",
    "corpus",
    "text",
    "fingerprints",
    "duplicates",
    "index",
    "topical",
    "learn",
    "normalize",
    "store",
    "scrapy_overhead",
    "crawl",
    "spark",
    "serve",
)


def main() -> None:
    """Run the benchmarks named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none is given")
    parser.add_argument("--json", action="store_true", help="one JSON object for each row")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no benchmark {min(unknown)!r}; one of {', '.join(NAMES)}")
    table = Table("job : peer", "undust", "peer", "ratio", "target", "", title=f"Python {platform.python_version()}")
    for name in options.names or NAMES:
        for row in importlib.import_module(f"benchmarks.{name}").run():
            if options.json:
                print(json.dumps({"benchmark": name, **row}), flush=True)
            mark = "ok" if row["met"] else "MISSED"
            table.add_row(row["job"], row["ours"], row["peer"], f"{row['ratio']:.2f}", row["target"], mark)
    if not options.json:
        Console(width=130).print(table)


if __name__ == "__main__":
    main()
