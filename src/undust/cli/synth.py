"""`undust synth`: a generated web with planted duplicates, and the truth about them."""

import click

from undust.cli.talk import json_option, print_json, quiet_option, say, working


@click.command("synth", short_help="A generated web with planted duplicates and their truth.")
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder to write into.")
@click.option("--sites", type=click.IntRange(min=1), default=200, show_default=True, help="How many sites.")
@click.option(
    "--urls", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="URLs of all sites together."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which web.")
@click.option(
    "--spread",
    type=click.FloatRange(0, 4),
    default=0.88,
    show_default=True,
    help="How unlike the sizes of sites are: 0 all alike, 0.88 as on the web, 1.75 from 20 URLs to a hundred thousand.",
)
@click.option(
    "--families",
    metavar="LIST",
    help="Plant only these families of duplicates, on every site; names with commas between.  [default: all]",
)
@click.option(
    "--noise",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share of the URLs that are put into a wrong cluster.",
)
@click.option("--pages", type=click.Choice(["warc", "jsonl"]), help="Write a page for each URL too.")
@click.option(
    "--edits",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Share of the pages that differ a little from their duplicates.",
)
@click.option("--canonical", is_flag=True, help="Pages name the canonical URL of their cluster.")
@quiet_option
@json_option
def command(
    output: str,
    sites: int,
    urls: int,
    seed: int,
    spread: float,
    families: str | None,
    noise: float,
    pages: str | None,
    edits: float,
    canonical: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write a generated web into DIR: clusters.parquet, truth.json, and pages if they are asked for.

    Sites are like those of real web software (wikis, forums, shops …). They spell one page in many ways, each in its
    own: session ids, mirrors, print views, default values, index files … truth.json says which. Other pages look as
    if they did and do not. The same options give the same web.

    \b
    Examples:
      undust synth -o web
      undust synth -o web --sites 20 --urls 20000 --pages warc --edits 0.3
      undust synth -o web --families 'session,www' --noise 0.1
    """
    from undust.synth.write import synth

    listed = [name.strip() for name in families.split(",")] if families else []
    written = 0
    with working("writing", quiet=quiet) as moved:

        def count(some: int) -> None:
            nonlocal written
            written += some
            moved(written, urls)

        truth = synth(
            output,
            sites=sites,
            urls=urls,
            seed=seed,
            noise=noise,
            families=listed,
            spread=spread,
            pages=pages,
            edits=edits,
            canonical=canonical,
            progress=count,
        )
    if as_json:
        print_json({key: value for key, value in truth.items() if key != "sites"} | {"sites": len(truth["sites"])})
        return
    say(
        f"{truth['urls']:,} URLs of {truth['clusters']:,} pages on {len(truth['sites']):,} sites;"
        f" {truth['duplicate_rate']:.1%} duplicates: {output}",
        quiet=quiet,
    )
