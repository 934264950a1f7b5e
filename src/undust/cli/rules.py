"""`undust rules`: care of rule files: list, show, drop, restore, merge, diff."""

import datetime
from typing import TYPE_CHECKING, Any

import click

from undust.cli.talk import json_option, print_json, quiet_option, say

if TYPE_CHECKING:
    from undust.rules.rule import Rule
    from undust.rules.ruleset import RuleSet

SORTS = ("order", "coverage", "support", "fpr", "precision", "merged", "clusters", "learned_at")

_rules_argument = click.argument("rules", metavar="RULES")
_output_option = click.option(
    "-o", "--output", metavar="FILE", help="Rule file to write.  [default: RULES itself, whole or not at all]"
)
_date = click.DateTime(["%Y-%m-%d"])


@click.group("rules", short_help="Care of rule files: list, show, drop, merge, diff.")
def command() -> None:
    """Care of rule files.

    Rules are named by their number in the file, or by their id, of which the first four letters will do if no other
    id begins so. Each of these takes --quiet, and --json where a program would read it.

    \b
    Examples:
      undust rules list rules.json --site example.com --sort coverage
      undust rules show rules.json 3 nj4hc67igp
      undust rules drop rules.json --below-precision 0.95 -o better.json
      undust rules drop rules.json nj4h --withdraw --reason 'two pages'
      undust rules merge old.json new.json -o rules.json
      undust rules diff old.json new.json --urls urls.txt
    """


@command.command("list")
@_rules_argument
@click.option("--site", metavar="SITE", help="Only the rules of this site.")
@click.option("--sort", type=click.Choice(SORTS), default="order", show_default=True, help="Largest first.")
@click.option("--withdrawn", is_flag=True, help="List the rules that were withdrawn instead.")
@quiet_option
@json_option
def list_rules(rules: str, site: str | None, sort: str, withdrawn: bool, quiet: bool, as_json: bool) -> None:
    """List the rules of each site, with what is known of them."""
    from undust.rule_files import load_rules

    known = load_rules(rules)
    if withdrawn:
        _list_withdrawn(known, site, as_json)
        return
    numbered = [(number, rule) for number, rule in enumerate(known, 1) if site in (None, rule.site)]
    if sort != "order":
        numbered.sort(key=lambda item: getattr(item[1].statistics, sort), reverse=True)
    if as_json:
        print_json({"rules": [{"number": number, **_told(rule)} for number, rule in numbered]})
        return
    of = ""
    for number, rule in numbered:
        if rule.site != of:
            of = rule.site
            click.echo(of)
        click.echo(f"  {number:>4}  {rule.id}  {_figures(rule)}  {str(rule).removeprefix(of).strip()}")
    say(f"{len(numbered):,} rules of {len({rule.site for _, rule in numbered}):,} sites", quiet=quiet)


def _list_withdrawn(rules: "RuleSet", site: str | None, as_json: bool) -> None:
    from undust.rules.withdrawn import dump_withdrawn

    chosen = [each for each in rules.withdrawn if site in (None, each.rule.site)]
    if as_json:
        print_json({"withdrawn": dump_withdrawn(chosen)})
        return
    for number, each in enumerate(chosen, 1):
        click.echo(f"{number:>4}  {each.rule.id}  {each.withdrawn_at or '-':<10}  {each.rule}  {each.reason}")


@command.command("show")
@_rules_argument
@click.argument("names", nargs=-1, required=True, metavar="RULE...")
@quiet_option
@json_option
def show(rules: str, names: tuple[str, ...], quiet: bool, as_json: bool) -> None:
    """Show all that is known of a rule: what it asks, what it does, what speaks for it."""
    from undust.rule_files import load_rules
    from undust.rules.care import find_rules
    from undust.rules.words import evidence_in_words, match_in_words, operations_in_words

    found = find_rules(load_rules(rules), names)
    if as_json:
        print_json({"rules": [_told(rule) for rule in found]})
        return
    for rule in found:
        click.echo(f"{rule.id}  {rule}")
        asked = [match_in_words(key, match) for key, match in rule.context.items()]
        for label, lines in (
            ("holds if", asked or [f"always, on {rule.site}"]),
            ("does", operations_in_words(rule)),
            ("evidence", evidence_in_words(rule)),
            ("such as", [f"{a}  =  {b}" for a, b in rule.statistics.examples]),
        ):
            for line in lines:
                click.echo(f"  {label:<9} {line}")


@command.command("drop")
@_rules_argument
@click.argument("names", nargs=-1, metavar="[RULE]...")
@click.option("--site", metavar="SITE", help="Rules of this site.")
@click.option("--below-precision", type=click.FloatRange(0, 1), metavar="SHARE", help="Rules of less precision.")
@click.option("--below-coverage", type=click.IntRange(0), metavar="N", help="Rules that hold for fewer URLs.")
@click.option("--older-than", type=_date, metavar="DATE", help="Rules learned before DATE, or nobody knows when.")
@click.option("--expired", is_flag=True, help="Rules that expire today or did so before.")
@click.option("--withdraw", is_flag=True, help="For good: no learning or merging brings them back.")
@click.option("--reason", default="", metavar="TEXT", help="With --withdraw: why, to be kept with it.")
@_output_option
@quiet_option
@json_option
def drop_rules(
    rules: str,
    names: tuple[str, ...],
    site: str | None,
    below_precision: float | None,
    below_coverage: int | None,
    older_than: datetime.datetime | None,
    expired: bool,
    withdraw: bool,
    reason: str,
    output: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Take rules out of RULES: those for which all that is given holds.

    Their URLs keep their standard form, and nothing changes for others: where a rule after them would take their URLs
    over, one without operations stays in their place as a guard.
    """
    from undust.rule_files import load_rules
    from undust.rules import care

    oldest = None if older_than is None else older_than.date().isoformat()
    today = datetime.date.today().isoformat()
    choice = care.Choice(names, site, below_precision, below_coverage, oldest, today if expired else None)
    if choice == care.Choice():
        raise click.UsageError("say which rules: by RULE, --site, --below-…, --older-than or --expired")
    if reason and not withdraw:
        raise click.UsageError("--reason goes with --withdraw")
    known = load_rules(rules)
    done = care.drop(known, choice.of(known))
    left = done.rules
    if withdraw:
        left = care.withdraw(known, [rule.id for rule in done.dropped], reason, withdrawn_at=today)
    left.save(output or rules)
    if as_json:
        print_json({"dropped": [_told(rule) for rule in done.dropped], "guards": len(done.guards), "rules": len(left)})
        return
    for rule in done.dropped:
        say(f"{'withdrawn' if withdraw else 'dropped'}  {rule.id}  {rule}", quiet=quiet)
    guards = f"; {len(done.guards):,} stay as guards, without operations" if done.guards else ""
    say(f"{len(done.dropped):,} rules dropped, {len(left):,} left{guards}", quiet=quiet)


@command.command("restore")
@_rules_argument
@click.argument("names", nargs=-1, required=True, metavar="RULE...")
@_output_option
@quiet_option
def restore(rules: str, names: tuple[str, ...], output: str | None, quiet: bool) -> None:
    """Strike rules off the list of those withdrawn (`rules list --withdrawn`), so that they may be learned again."""
    from undust.rule_files import load_rules
    from undust.rules import care

    known = load_rules(rules)
    left = care.restore(known, names)
    left.save(output or rules)
    say(f"{len(known.withdrawn) - len(left.withdrawn):,} may be learned again", quiet=quiet)


@command.command("merge")
@click.argument("rules", nargs=-1, required=True, metavar="RULES RULES...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Rule file to write.")
@quiet_option
@json_option
def merge_rules(rules: tuple[str, ...], output: str, quiet: bool, as_json: bool) -> None:
    """Make one rule file of several: a new run and an old one, learned rules and those made by hand.

    Where two rules hold for a URL, both are carried out if they go together; else the one that more speaks for. What
    one file has withdrawn no other brings back.
    """
    from undust.rule_files import load_rules
    from undust.rules.merge import merge

    if len(rules) < 2:
        raise click.UsageError("give two rule files or more")
    merged = load_rules(rules[0])
    told = []
    for path in rules[1:]:
        done = merge(merged, load_rules(path))
        merged = done.rules
        told.append({"file": path, **done.to_dict()})
        say_merged(path, done.to_dict(), quiet=quiet or as_json)
    merged.save(output)
    if as_json:
        print_json({"rules": len(merged), "output": output, "merged": told})
    else:
        say(f"{len(merged):,} rules, {len(merged.withdrawn):,} withdrawn", quiet=quiet)


def say_merged(path: str, told: dict[str, Any], *, quiet: bool) -> None:
    """Say what was decided when a rule file was merged."""
    for each in told["barred"]:
        say(f"stays withdrawn  {each['rule']['rule']}", quiet=quiet)
    for each in told["conflicts"]:
        say(f"conflict  {each['kept']['rule']}\n  over    {each['lost']['rule']}\n  as      {each['why']}", quiet=quiet)
    for one, other in told["together"]:
        say(f"together  {one['rule']}\n  and     {other['rule']}", quiet=quiet)
    for site in told["whole"]:
        say(f"{site}: too many rules to merge one by one; those with more evidence stay", quiet=quiet)
    for a, b in told["lost_examples"]:
        say(f"no longer one  {a}  {b}", quiet=quiet)
    counts = f"{len(told['conflicts']):,} conflicts, {len(told['together']):,} together"
    say(f"{path}: {counts}, {len(told['barred']):,} stay withdrawn", quiet=quiet)


@command.command("diff")
@click.argument("before", metavar="RULES")
@click.argument("after", metavar="RULES")
@click.option("--urls", metavar="FILE", help="Also which of these URLs change their key: lines of a .txt, or clusters.")
@click.option(
    "-n", "--number", type=click.IntRange(min=0), default=20, show_default=True, help="URLs to list, at most."
)
@quiet_option
@json_option
def diff_rules(before: str, after: str, urls: str | None, number: int, quiet: bool, as_json: bool) -> None:
    """Say what differs between two rule files: rules added and removed, other figures, other keys of URLs."""
    from undust.rule_files import load_rules
    from undust.rules.diff import changed_keys, changes, diff

    sets = load_rules(before), load_rules(after)
    found = diff(*sets)
    keys = None if urls is None else changed_keys(*sets, _urls(urls))
    if as_json:
        told = found.to_dict()
        if keys is not None:
            told["urls"] = {
                "urls": keys.urls,
                "keys_before": keys.keys_before,
                "keys_after": keys.keys_after,
                "changed": len(keys.table),
                "listed": keys.table.slice(0, number).to_pylist(),
            }
        print_json(told)
        return
    for mark, rules in (("-", found.removed), ("+", found.added)):
        for rule in rules:
            click.echo(f"{mark} {rule.id}  {_figures(rule)}  {rule}")
    for rule, other in found.changed:
        shown = {name: pair for name, pair in changes(rule, other).items() if name != "examples"}
        click.echo(f"~ {rule.id}  {rule}")
        click.echo("             " + (", ".join(f"{name} {a} → {b}" for name, (a, b) in shown.items()) or "examples"))
    for site in found.moved:
        click.echo(f"~ {site}: the same rules in another order")
    if keys is not None:
        click.echo(
            f"{len(keys.table):,} of {keys.urls:,} URLs change their key;"
            f" {keys.keys_before:,} keys before, {keys.keys_after:,} after"
        )
        for row in keys.table.slice(0, number).to_pylist():
            click.echo(f"  {row['url']}\n    {row['before']}\n    {row['after']}")


def _urls(path: str) -> Any:
    if path == "-" or path.endswith(".txt"):
        with click.open_file(path, encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file if line.strip()]
    from undust import corpus

    return corpus.read_clusters(path)["url"]


def _told(rule: "Rule") -> dict[str, Any]:
    from undust.rules.files import rule_to_json

    return rule_to_json(rule)


def _figures(rule: "Rule") -> str:
    known = rule.statistics
    if not known.coverage:
        return f"{'by hand' if not known.learner else known.learner:<38}"
    return f"{known.coverage:>8,} URLs {known.merged:>8,} fewer  fpr {known.fpr:>6.2%}"
