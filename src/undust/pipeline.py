"""READ FIRST: the whole flow as function calls, from files to pages to fingerprints to clusters.

    read_pages ──> usable_urls ──> PageFingerprints ──> cluster_exact, clustered    ──> learn    ──> RuleSet
    files          pages           fingerprints         clusters                         rules       normalized URLs

Each step goes from table to table; this module only puts them in a row. How they are spread over threads and processes
is `parallel`'s business.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from undust import corpus, parallel
from undust.clustering import clustered, count_clusters
from undust.corpus import Tally
from undust.corpus.fingerprints import FingerprintFiles, as_parquet
from undust.detect.captures import Fingerprints, TableFingerprints
from undust.detect.exact import cluster_exact
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.pages import PageFingerprints
from undust.detect.removals import keepers_of
from undust.errors import InputError, UsageError
from undust.evaluate.report import evaluate
from undust.evaluate.split import by_cluster as split_clusters
from undust.learn.columns import SiteUrls, by_site, site_tables
from undust.learn.large import MOST, learn_table
from undust.learn.methods import Options
from undust.learn.methods import method as learning_method
from undust.learn.tree.forms import forms_of
from undust.learn.tree.pattern_tree import grow
from undust.learn.tree.text import draw
from undust.memory import working_bytes
from undust.rule_files import load_rules
from undust.rules.rule import Rule
from undust.rules.ruleset import RuleSet
from undust.topical_clustering import choose_topical, cluster_topical
from undust.urls.batch import normalize_many

Input = str | os.PathLike[str]
Progress = Callable[[Tally], None]
Moved = Callable[[int, int], None]
"""Is told how much is done, and of how much."""

METHODS = ("exact", "simhash", "minhash", "bag", "cascade")

__all__ = [
    "cluster",
    "count_clusters",
    "draw_trees",
    "evaluate",
    "fingerprint",
    "fingerprint_batches",
    "learn",
    "load_rules",
    "open_fingerprints",
    "require_pages",
    "split_clusters",
]


def fingerprint(
    *inputs: Input,
    content: str = "all",
    exact_only: bool = False,
    links: bool = False,
    parameters: SignatureParameters | None = None,
    jobs: int | None = None,
    tally: Tally | None = None,
    any_status: bool = False,
    base_url: str | None = None,
) -> pa.Table:
    """Read pages from files and give their fingerprints as one table.

    `content` says which part of a page counts (`all` or `main`); with `exact_only` only bodies are looked at, with
    `links` the words around links are kept, too. `tally`, if given, is told what was read, skipped and damaged. `jobs`
    is how many cores are used.
    """
    made = PageFingerprints(content, exact_only, parameters or SignatureParameters(), links)
    batches = fingerprint_batches(
        inputs,
        made,
        tally=Tally() if tally is None else tally,
        jobs=jobs,
        any_status=any_status,
        base_url=base_url,
    )
    return pa.Table.from_batches(batches, made.schema)


def fingerprint_batches(
    inputs: Sequence[Input],
    made: PageFingerprints | None = None,
    *,
    tally: Tally,
    jobs: int | None = None,
    any_status: bool = False,
    base_url: str | None = None,
    progress: Progress = lambda tally: None,
    keep: Path | None = None,
) -> Iterator[pa.RecordBatch]:
    """Give the same in batches, in the order of the inputs, in memory that does not grow with them.

    Several files go to several processes, one file to several threads. `keep` is a folder for what is done of several
    files, from which a run that was interrupted goes on.
    """
    files = corpus.list_inputs(inputs)
    cores = jobs or os.cpu_count() or 1
    options: dict[str, Any] = {"made": made or PageFingerprints(), "any_status": any_status, "base_url": base_url}
    if len(files) > 1 and "-" not in files:
        yield from parallel.in_processes(
            fingerprint_file, files, options, min(cores, len(files)), tally, progress, keep
        )
        return
    for file in files:
        for batch in fingerprint_file(file, tally, **options, threads=cores):
            yield batch
            progress(tally)


def fingerprint_file(
    file: str,
    tally: Tally,
    made: PageFingerprints,
    any_status: bool = False,
    base_url: str | None = None,
    threads: int = 1,
) -> Iterator[pa.RecordBatch]:
    """Read the pages of one input and give their fingerprints."""
    pages = corpus.read_one(file, tally=tally, any_status=any_status, base_url=base_url)
    usable = (usable_urls(batch, tally) for batch in pages)
    yield from parallel.in_threads(made.of, usable, 1 if made.exact_only else threads)


def _require_alike(schemas: Sequence[pa.Schema]) -> None:
    """Refuse tables whose signatures were made differently: comparing them would mean nothing."""
    all_made = [SignatureParameters.from_metadata(schema.metadata, "fingerprints") for schema in schemas]
    for made in all_made[1:]:
        all_made[0].require_same(made, "one input", "another")


def open_fingerprints(
    inputs: Sequence[Input],
    folder: Path,
    *,
    tally: Tally,
    made: PageFingerprints,
    jobs: int | None = None,
    any_status: bool = False,
    base_url: str | None = None,
    progress: Progress = lambda tally: None,
) -> FingerprintFiles:
    """Give the signatures of inputs as files that need not fit into memory: those that hold some, as they are.

    Those of the pages in other inputs are made and written into `folder`; tables of digests that are no Parquet, too.
    """
    files = [part for path in corpus.list_inputs(inputs) for part in corpus.parts_of(path)]
    ready = [file for file in files if corpus.is_fingerprints(file)]
    raw = [file for file in files if file not in ready]
    ready = [as_parquet(file, folder, digests=made.exact_only) for file in ready]
    if raw:
        written = folder / "fingerprints.parquet"
        with corpus.TableWriter(written, made.schema) as writer:
            for batch in fingerprint_batches(
                raw, made, tally=tally, jobs=jobs, any_status=any_status, base_url=base_url, progress=progress
            ):
                writer.write(batch)
    tally.pages += FingerprintFiles(tuple(ready)).count()
    tally.bytes += sum(os.path.getsize(file) for file in ready)  # noqa: PTH202 - paths as the user gave them
    found = FingerprintFiles((*ready, *([str(written)] if raw else [])))
    if len(found.paths) > 1 and not made.exact_only:
        _require_alike(found.schemas)
    return found


def cluster(
    fingerprints: pa.Table | Fingerprints,
    *,
    method: str = "exact",
    by: str = "center",
    threshold: float | None = None,
    distance: int = 3,
    bags: str = "content",
    uncrawled: bool = False,
    keep: str | Sequence[str] | None = None,
    memory: str | int | None = None,
    folder: Path | None = None,
) -> pa.Table:
    """Group the URLs of duplicate pages (`url`, `cluster`); a page without duplicates is a group of one.

    `method` is `exact` (equal bodies), `simhash` (within `distance` bits), `minhash` (shingles with a Jaccard
    similarity of at least `threshold`, 0.8 if nobody says), `bag` (words in any order, 0.9) or `cascade`; all but the
    first also tell the `similarity` to the centre. With `keep`, policies in order of weight, the `keeper` of each
    cluster is named too. Up to `memory` is used, such as `2GB`; what has no room goes to files in `folder`.
    `topical` groups pages about the same things instead, with their `topic` (`undust.detect.topical.Topical`).
    """
    if method not in (*METHODS, "topical"):
        raise UsageError(f"unknown method {method!r}; one of {', '.join(METHODS)}, topical")
    source = TableFingerprints(fingerprints) if isinstance(fingerprints, pa.Table) else fingerprints
    if method == "topical":
        wanted = choose_topical(bags, threshold, uncrawled, keep)
        return cluster_topical(source, wanted, by=by, memory=memory, folder=folder)
    options: dict[str, Any] = {"by": by, "threshold": threshold, "distance": distance, "folder": folder}
    working_bytes(memory, 0, "pages")
    if method == "exact" and keep is None:
        return cluster_exact(source)
    with clustered(source, method=method, memory=memory, **options) as found:
        table = cluster_exact(source) if method == "exact" else found.table()
        if keep is None:
            return table
        keepers = keepers_of(source, found.captures, found.rows, keep)
        return table.append_column("keeper", found.captures.url_column(keepers))


def learn(
    clusters: pa.Table,
    *,
    method: str = "both",
    max_fpr: float = 0.01,
    site: str = "domain",
    selection: str = "graph",
    most: int = MOST,
    moved: Moved = lambda done, of: None,
    min_coverage: int | None = None,
) -> RuleSet:
    """Learn how sites spell one page in several ways, from a table of clusters (`url`, `cluster`).

    `method` is one of `learn.methods.METHODS`; `selection` says how `tree` chooses among rules: `graph` or `naive`.
    Of a site of more than `most` URLs a part is learned from (`learn.large`), and rules are proofed on all.
    `moved` is told, site by site, how many URLs were learned from.
    What is learned has to hold for `min_coverage` URLs: if nobody says how many, for 10, or a tenth of a small site.
    """
    if min_coverage is not None and min_coverage < 0:
        raise UsageError(f"min_coverage: {min_coverage} is less than 0; give a number of URLs")
    options = Options(max_fpr, selection, min_coverage)
    chosen = learning_method(method, options)
    tables = site_tables(clusters, hosts=_by_hosts(site))

    def learned() -> Iterator[Rule]:
        done = 0
        for name, rows in tables:
            yield from learn_table(chosen, name, rows, options, most)
            done += len(rows)
            moved(done, clusters.num_rows)

    return RuleSet(learned())


def draw_trees(clusters: pa.Table, *, site: str = "domain") -> Iterator[str]:
    """Draw the pattern tree of each site in a table of clusters, as text."""
    return (draw(grow(forms_of(urls))) for urls in _sites(clusters, site))


def _sites(clusters: pa.Table, site: str) -> Iterator[SiteUrls]:
    return by_site(clusters, hosts=_by_hosts(site))


def _by_hosts(site: str) -> bool:
    if site not in ("domain", "host"):
        raise UsageError(f"unknown site {site!r}; one of domain, host")
    return site == "host"


def usable_urls(pages: pa.RecordBatch, tally: Tally) -> pa.RecordBatch:
    """Leave out pages whose URL cannot be parsed; they are counted as damaged, and the first of them listed."""
    normal = normalize_many(pages["url"])
    if not normal.unusable:
        return pages
    sources = pages["source"]
    for row, why in normal.problems:
        tally.damage(sources[row].as_py(), why)
    tally.damaged += normal.unusable - len(normal.problems)
    tally.pages -= normal.unusable
    return pages.filter(normal.urls.is_valid().combine_chunks())


def require_pages(tally: Tally, inputs: Sequence[Input]) -> None:
    """Refuse a read that gave nothing: an empty result would hide that the input was the wrong one."""
    if not tally.pages:
        names = ", ".join(os.fspath(path) for path in inputs[:3]) + (", …" if len(inputs) > 3 else "")
        raise InputError(f"{names}: no pages found: {tally.summary()}; {tally.advice()}")
