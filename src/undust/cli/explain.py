"""`undust explain`: which rule decides a URL, and why two URLs are the same or not."""

import click

from undust.cli.talk import json_option, print_json, quiet_option


@click.command("explain", short_help="Which rule decides a URL, and why.")
@click.argument("urls", nargs=-1, required=True, metavar="URL [URL]")
@click.option("-r", "--rules", required=True, metavar="RULES", help="Rule file.")
@quiet_option
@json_option
def command(urls: tuple[str, ...], rules: str, quiet: bool, as_json: bool) -> None:
    """Say which rule decides URL, which parts of it matched, and what it becomes; of two, whether they are one page.

    \b
    Examples:
      undust explain -r rules.json 'http://example.com/a?sid=1'
      undust explain -r rules.json http://example.com/a http://www.example.com/a
    """
    from undust import pipeline

    if len(urls) > 2:
        raise click.UsageError("give one URL or two")
    rule_set = pipeline.load_rules(rules)
    told = [rule_set.explain(url) for url in urls]
    if as_json:
        print_json({"explanations": [one.to_dict() for one in told], "same": len({one.key for one in told}) == 1})
        return
    if quiet:
        return
    for one in told:
        click.echo(str(one))
    if len(told) == 2:
        same = told[0].key == told[1].key
        click.echo("the same page: equal keys" if same else "not known to be the same page: the keys differ")
