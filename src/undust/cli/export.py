"""`undust export`: rules in the formats of other programs."""

from typing import TYPE_CHECKING

import click

from undust.cli.talk import json_option, print_json, quiet_option, say

if TYPE_CHECKING:
    from undust.rules.exports.fates import Exported

SHOWN = 8  # reasons that are named with an example; all are in --json


@click.command("export", short_help="Rules in the formats of other crawlers, proxies and servers.")
@click.argument("rules", metavar="RULES")
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help="dud, nutch, stormcrawler, heritrix, pywb, clearurls, adguard, clean-param, nginx, apache, regex or sql.",
)
@click.option("-o", "--output", required=True, metavar="FILE", help="File to write; - is stdout.")
@quiet_option
@json_option
def command(rules: str, to: str, output: str, quiet: bool, as_json: bool) -> None:
    """Write RULES in the format of another program.

    What the format cannot say is not exported: it is listed on stderr with the reason, and with its share of the URLs
    that the rules save. Nothing is exported that means more than the rules do. docs/exports.md says how each file is
    used.

    \b
    Examples:
      undust export rules.json --to nutch -o regex-normalize.xml
      undust export rules.json --to dud -o rules.dud.json
      undust export rules.json --to nginx -o undust.conf
    """
    from undust.exchange import export_rules
    from undust.rule_files import load_rules
    from undust.rules.exports.formats import require_format

    require_format(to)
    if as_json and output == "-":
        raise click.UsageError("--json and -o - both want stdout; write to a file")
    made = export_rules(load_rules(rules), to, None if output == "-" else output)
    if output == "-":
        click.echo(made.text, nl=False)
    if as_json:
        print_json({**made.to_dict(), "output": output})
        return
    for line in summary(made):
        say(line, quiet=quiet)


def summary(made: "Exported") -> list[str]:
    """Say what was exported, and what was not, in lines."""
    what = "savings" if any(fate.rule.statistics.merged for fate in made.fates) else "rules"
    lines = [
        f"{made.count('exported'):,} of {len(made.fates):,} rules exported in full ({made.share('exported'):.1%} of the"
        f" {what}), {made.count('in part'):,} in part ({made.share('in part'):.1%}),"
        f" {made.count('left out'):,} left out ({made.share('left out'):.1%})"
    ]
    reasons = made.reasons()
    for said, why, fates in reasons[:SHOWN]:
        merged, clusters = (
            sum(getattr(fate.rule.statistics, name) for fate in fates) for name in ("merged", "clusters")
        )
        saved = f", {merged:,} URLs saved in {clusters:,} clusters" if merged else ""
        lines.append(f"  {said}: {why} ({len(fates):,} rules{saved})")
        lines.append(f"    such as {fates[0].rule}")
    if len(reasons) > SHOWN:
        lines.append(f"  and {len(reasons) - SHOWN:,} more reasons; --json lists all")
    return lines
