"""`undust learn`: clusters in, rules out."""

import click

from undust.cli.talk import json_option, print_json, quiet_option, say


@click.command("learn", short_help="URL rules from clusters of duplicates.")
@click.argument("clusters", metavar="CLUSTERS")
@click.option("-o", "--output", required=True, metavar="FILE", help="Rule file to write, such as rules.json.")
@click.option(
    "--method",
    default="both",
    show_default=True,
    metavar="NAME",
    help="How to learn: both, tree, pairwise, rewrite or dust.",
)
@click.option(
    "--max-fpr",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Share of false pairs among the pairs that a rule may make one.",
)
@click.option(
    "--site",
    "scope",
    type=click.Choice(["domain", "host"]),
    default="domain",
    show_default=True,
    help="What rules are learned for: each registrable domain, or each host.",
)
@click.option(
    "--selection",
    type=click.Choice(["graph", "naive"]),
    default="graph",
    show_default=True,
    help="How the method tree chooses among the rules it has found.",
)
@click.option("--show-tree", is_flag=True, help="Print the pattern tree of each site on stdout.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Keep this share of the clusters out of learning, and report on them.",
)
@click.option("--seed", default=0, show_default=True, help="Which clusters --holdout keeps.")
@quiet_option
@json_option
def command(
    clusters: str,
    output: str,
    method: str,
    max_fpr: float,
    scope: str,
    selection: str,
    show_tree: bool,
    holdout: float | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Learn URL rules from clusters of duplicate pages.

    CLUSTERS is what `undust cluster` wrote, or any Parquet, JSONL, CSV or TSV file with the columns url and cluster. A
    URL without duplicates is a cluster of one, and counts: it is what keeps rules from going too far.

    \b
    Examples:
      undust learn clusters.parquet -o rules.json
      undust learn clusters.tsv -o rules.json --holdout 0.5
      undust learn clusters.tsv -o rules.json --method tree --show-tree
    """
    from undust import corpus, pipeline
    from undust.cli.evaluate import describe

    table = corpus.read_clusters(clusters)
    learned, kept = (table, None) if holdout is None else pipeline.split_clusters(table, 1 - holdout, seed)
    rules = pipeline.learn(learned, method=method, max_fpr=max_fpr, site=scope, selection=selection)
    rules.save(output)
    if show_tree:
        for tree in pipeline.draw_trees(learned, site=scope):
            click.echo(tree, err=as_json)
    report = None if kept is None else pipeline.evaluate(rules, kept)
    if as_json:
        print_json({"rules": len(rules), "output": output, "holdout": None if report is None else report.to_dict()})
        return
    for rule in rules:
        say(str(rule), quiet=quiet)
    say(f"{len(rules):,} rules" if len(rules) else "no rules: no duplicates that URLs explain", quiet=quiet)
    if report is not None:
        say(f"On clusters that were kept out:\n{describe(report)}", quiet=quiet)
