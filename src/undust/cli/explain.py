"""`undust explain`: which rule decides a URL, why two URLs are the same or not, and what two pages have in common."""

import click

from undust.cli.talk import announce_compiling, json_option, print_json, quiet_option


@click.command("explain", short_help="Which rule decides a URL, and why.")
@click.argument("urls", nargs=-1, required=True, metavar="URL [URL]")
@click.option("-r", "--rules", metavar="RULES", help="Rule file.")
@click.option(
    "--pages",
    multiple=True,
    metavar="INPUT",
    help="Compare the two pages themselves: a crawl, which has their texts, or what `undust fingerprint` wrote, which"
    " has their signatures. May be given several times.",
)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="With --pages: how many words and sentences of one page only to list, at most.",
)
@quiet_option
@json_option
def command(
    urls: tuple[str, ...], rules: str | None, pages: tuple[str, ...], number: int, quiet: bool, as_json: bool
) -> None:
    """Say which rule decides URL, which parts of it matched, and what it becomes; of two, whether they are one page.

    \b
    Examples:
      undust explain -r rules.json 'http://example.com/a?sid=1'
      undust explain -r rules.json http://example.com/a http://www.example.com/a
      undust explain --pages crawl.warc.gz http://example.com/a http://www.example.com/a
    """
    if pages and rules is None:
        _explain_pages(pages, urls, number, quiet, as_json)
        return
    if rules is None or pages:
        raise click.UsageError("give one of --rules and --pages")
    from undust.rule_files import load_rules

    if len(urls) > 2:
        raise click.UsageError("give one URL or two")
    rule_set = load_rules(rules)
    if len(urls) == 2:
        pair = rule_set.explain_pair(*urls)
        told, shown = pair.to_dict(), str(pair)
    else:
        one = rule_set.explain(*urls)
        told, shown = {"explanations": [one.to_dict()], "same": True}, str(one)
    if as_json:
        print_json(told)
    elif not quiet:
        click.echo(shown)


def _explain_pages(pages: tuple[str, ...], urls: tuple[str, ...], number: int, quiet: bool, as_json: bool) -> None:
    if len(urls) != 2:
        raise click.UsageError("give two URLs to compare")
    announce_compiling(quiet=quiet)
    from undust.page_explanation import explain_pages

    told = explain_pages(pages, *urls)
    if as_json:
        print_json(told.to_dict(number))
    elif not quiet:
        click.echo(told.to_text(number))
