"""`undust import`: hand-made lists as rules."""

import click

from undust.cli.talk import json_option, print_json, quiet_option, say

SHOWN = 8  # reasons that are named with examples; all are in --json


@click.command("import", short_help="Hand-made lists of other tools as rules.")
@click.argument("file", metavar="FILE")
@click.option(
    "--from", "from_", required=True, metavar="FORMAT", help="dud, clearurls, adguard, brave, clean-param or nutch."
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Rule file to write, such as rules.json.")
@click.option(
    "--sites",
    metavar="FILE",
    help="URLs of your sites: a .txt file with one on each line, or clusters. What a list says about every site becomes"
    " rules of these, and its regular expressions the names of arguments that occur in them.",
)
@quiet_option
@json_option
def command(file: str, from_: str, output: str, sites: str | None, quiet: bool, as_json: bool) -> None:
    """Turn a hand-made list into rules.

    Each rule says in its statistics which kind of list it is from (learner). What cannot be taken over is counted on
    stderr with the reason.

    \b
    Examples:
      undust import data.min.json --from clearurls -o curated.json
      undust import data.min.json --from clearurls --sites urls.txt -o curated.json
      undust import robots.txt --from clean-param --sites urls.txt -o curated.json
    """
    from undust.exchange import import_rules
    from undust.rules.ruleset import RuleSet

    made = import_rules(file, from_, sites)
    RuleSet(made.rules).save(output, {"source": {"format": from_, "file": file}})
    if as_json:
        print_json({**made.to_dict(), "output": output})
        return
    found = len({rule.site for rule in made.rules})
    say(f"{len(made.rules):,} rules for {found:,} sites, from {made.entries:,} entries of {file}", quiet=quiet)
    reasons = made.reasons()
    for why, what in list(reasons.items())[:SHOWN]:
        say(f"  left out {len(what):,}: {why}, such as {what[0]}", quiet=quiet)
    if len(reasons) > SHOWN:
        say(f"  and {len(reasons) - SHOWN:,} more reasons; --json lists all", quiet=quiet)
