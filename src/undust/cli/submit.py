"""What `spark-submit` runs: `spark-submit … submit.py learn clusters.parquet -o rules.json` is `undust learn` there."""

import sys

from undust.cli import main


def run(arguments: list[str]) -> int:
    """Run a verb on the session of `spark-submit`."""
    return main([*arguments[:1], "--engine", "spark", *arguments[1:]])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
