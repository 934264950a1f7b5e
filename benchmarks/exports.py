"""How far exports agree with the rules on real sites: learned, exported, loaded in their targets, compared.

`python -m benchmarks.exports [FORMAT]...` prints the tables of docs/exports.md, from the shared data (UNDUST_SHARED).
"""

import os
import sys
from pathlib import Path

from tests import export_targets as targets

import undust
from undust.rules.ruleset import RuleSet

SITES = ("docs", "autoindex", "wordpress", "dokuwiki", "dokuwiki_sid")
TARGETS: dict[str, targets.Target] = {
    "regex": targets.by_python,
    "sql": targets.by_duckdb,
    "nutch": targets.by_nutch,
    "stormcrawler": targets.by_stormcrawler,
    "heritrix": targets.by_heritrix,
    "nginx": targets.by_nginx,
    "apache": targets.by_apache,
    "dud": targets.by_dud,
    "clearurls": targets.by_clearurls,
    "adguard": targets.by_adguard,
    "clean-param": targets.by_clean_param,
}


def compare(rules: RuleSet, urls: list[str], to: str) -> str:
    """Give a row: how many URLs get our answer, how much is saved by both, how many pages only the target makes one."""
    exported = undust.export_rules(rules, to)
    ours = rules.normalize_many(urls)
    theirs = TARGETS[to](exported.text, urls)
    same = sum(mine == other for mine, other in zip(ours, theirs, strict=True))
    merged: dict[str, set[str]] = {}
    for mine, other in zip(ours, theirs, strict=True):
        merged.setdefault(other, set()).add(mine)
    too_much = sum(len(each) > 1 for each in merged.values())
    saved = (len(urls) - len(merged)) / max(1, len(urls) - len(set(ours)))
    counts = "/".join(str(exported.count(said)) for said in ("exported", "in part", "left out"))
    return f"| {to} | {counts} | {same / len(urls):.1%} | {saved:.1%} | {too_much} |"


def main(formats: list[str]) -> None:
    """Print the rows of each site."""
    folder = Path(os.environ.get("UNDUST_SHARED", Path(__file__).parents[2] / "shared" / "data")) / "webapps"
    for site in SITES:
        clusters = undust.read_clusters(str(folder / f"{site}.clusters.tsv"))
        rules = undust.learn(clusters)
        urls = [undust.normalize(url) for url in clusters["url"].to_pylist()]
        print(f"\n{site}: {len(urls):,} URLs, {len(rules)} rules\n")
        print("| format | rules in full / in part / left out | same URL | savings kept | made one too much |")
        print("|---|---|--:|--:|--:|")
        for to in formats or TARGETS:
            print(compare(rules, urls, to), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
