"""What `spark-submit` runs: `spark-submit … submit.py learn clusters.parquet -o rules.json` is `undust learn` there."""

import sys

import click

from undust.cli import main

VERBS = ("fingerprint", "cluster", "learn", "evaluate", "normalize")
"""Those that run on Spark."""


def run(arguments: list[str]) -> int:
    """Run a verb on the session of `spark-submit`."""
    if not arguments or arguments[0] not in VERBS:
        named = f"{arguments[0]} does not run on Spark" if arguments else "no verb"
        click.echo(f"undust: {named}; give one of {', '.join(VERBS)}", err=True)
        return 2
    return main([*arguments[:1], "--engine", "spark", *arguments[1:]])


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
