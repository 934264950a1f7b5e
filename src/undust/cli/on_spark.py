"""The verbs that run on Spark: each opens a session, calls one function, and gives back what the verb prints."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from undust.cli.engine import session

if TYPE_CHECKING:
    from undust.corpus import Tally
    from undust.detect.pages import PageFingerprints
    from undust.evaluate.report import Report
    from undust.learn.methods import Options
    from undust.rules.ruleset import RuleSet


def fingerprint(
    master: str | None, inputs: Sequence[str], output: str, made: "PageFingerprints", reading: dict[str, Any]
) -> "Tally":
    """Write the fingerprints of files as a folder of Parquet parts."""
    from undust.corpus import Tally
    from undust.pipeline import require_pages
    from undust.spark import pages
    from undust.spark.files import require_parquet, write

    require_parquet(output)
    tally = Tally()
    with session(master) as opened:
        frame = pages.fingerprint(opened, inputs, made, **reading)
        write(frame, output, made.schema, tally, check=lambda: require_pages(tally, inputs))
    return tally


def cluster(
    master: str | None,
    inputs: Sequence[str],
    output: str,
    made: "PageFingerprints",
    reading: dict[str, Any],
    options: dict[str, Any],
) -> tuple["Tally", dict[str, Any]]:
    """Write clusters as a folder of Parquet parts; fingerprint first what is no fingerprints yet."""
    import tempfile

    from undust.corpus import Tally
    from undust.pipeline import require_pages
    from undust.spark import clusters, pages
    from undust.spark.files import list_files, require_parquet, staging, write
    from undust.tables import CLUSTERS

    require_parquet(output)
    clusters.require_method(options["method"])
    tally = Tally()
    with session(master) as opened, tempfile.TemporaryDirectory(prefix="undust-", dir=staging(output)) as folder:
        files = list_files(inputs)
        ready = [file for file in files if pages.is_ready(file)]
        raw = [file for file in files if file not in ready]
        tally.pages += pages.count(ready)
        tally.bytes += sum(Path(file).stat().st_size for file in ready)
        if raw:
            aside = f"{folder}/fingerprints.parquet"
            write(pages.fingerprint(opened, raw, made, **reading), aside, made.schema, tally)
            ready += list_files([aside])
        require_pages(tally, inputs)
        frame = clusters.cluster(opened, ready, **options).persist()
        write(frame, output, CLUSTERS if options["method"] == "exact" else clusters.MADE)
        return tally, clusters.count_clusters(frame)


def learn(master: str | None, path: str, output: str, method: str, options: "Options", hosts: bool) -> "RuleSet":
    """Learn rules from a table of clusters. Whether there is a folder for them is asked before hours of work."""
    from undust.errors import InputError
    from undust.spark import sites, tables
    from undust.spark.files import staging

    staging(output)
    with session(master) as opened:
        clusters = tables.read_clusters(opened, path)
        if clusters.isEmpty():
            raise InputError(f"{path}: no rows with url and cluster; give a table of clusters")
        return sites.learn(opened, clusters, sites.Learning(method, options, hosts))


def evaluate(master: str | None, rules: "RuleSet", path: str) -> "Report":
    """Measure rules on a table of clusters."""
    from undust.spark import evaluation, tables

    with session(master) as opened:
        return evaluation.evaluate(rules, tables.read_clusters(opened, path))


def normalize(master: str | None, rules: "RuleSet", inputs: Sequence[str], output: str) -> int:
    """Write what rules make of the URLs in files as a folder of Parquet parts; give how many there are."""
    from undust.spark import normalization, tables
    from undust.spark.files import require_parquet, write

    require_parquet(output)
    with session(master) as opened:
        frame = normalization.normalize(tables.read_urls(opened, tuple(inputs)), rules)
        return write(frame, output, normalization.MADE)
