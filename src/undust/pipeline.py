"""READ FIRST: the whole flow as function calls, from files to pages to fingerprints to clusters.

    read_pages ──> usable_urls ──> PageFingerprints ──> cluster_exact, near_clusters ──> Learner ──> RuleSet
    files          pages           fingerprints         clusters                         rules       normalized URLs

Each step goes from table to table; this module only puts them in a row. How they are spread over threads and processes
is `parallel`'s business.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from undust import corpus, parallel
from undust.corpus import Tally
from undust.detect.exact import cluster_exact
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.detect.near import near_clusters
from undust.detect.pages import PageFingerprints
from undust.errors import InputError, UsageError
from undust.evaluate.report import evaluate
from undust.evaluate.split import by_cluster as split_clusters
from undust.learn.learner import Learner
from undust.rules.files import loads
from undust.rules.ruleset import RuleSet
from undust.urls.batch import normalize_many

Input = str | os.PathLike[str]
Progress = Callable[[Tally], None]

METHODS = ("exact", "simhash", "minhash", "cascade")

__all__ = [
    "cluster",
    "count_clusters",
    "evaluate",
    "fingerprint",
    "fingerprint_batches",
    "learn",
    "load_rules",
    "read_fingerprints",
    "require_pages",
    "split_clusters",
]


def fingerprint(
    *inputs: Input,
    content: str = "all",
    exact_only: bool = False,
    parameters: SignatureParameters | None = None,
    jobs: int | None = None,
    tally: Tally | None = None,
    any_status: bool = False,
    base_url: str | None = None,
) -> pa.Table:
    """Read pages from files and give their fingerprints as one table.

    `content` says which part of a page counts (`all` or `main`); with `exact_only` only bodies are looked at. `tally`,
    if given, is told what was read, skipped and damaged. `jobs` is how many cores are used.
    """
    made = PageFingerprints(content, exact_only, parameters or SignatureParameters())
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


def read_fingerprints(
    inputs: Sequence[Input],
    *,
    tally: Tally,
    exact_only: bool = True,
    jobs: int | None = None,
    any_status: bool = False,
    base_url: str | None = None,
    progress: Progress = lambda tally: None,
) -> pa.Table:
    """Take the fingerprints out of files that hold some, and make those of the pages in the other files."""
    files = corpus.list_inputs(inputs)
    ready = [file for file in files if corpus.is_fingerprints(file)]
    raw = [file for file in files if file not in ready]
    read = corpus.read_fingerprints if exact_only else corpus.read_signatures
    found = [read(file, tally=tally) for file in ready]
    if raw:
        made = PageFingerprints(exact_only=exact_only)
        batches = fingerprint_batches(
            raw, made, tally=tally, jobs=jobs, any_status=any_status, base_url=base_url, progress=progress
        )
        found.append(pa.Table.from_batches(batches, made.schema))
    if not exact_only:
        _require_alike(found)
    return pa.concat_tables(found)


def _require_alike(tables: Sequence[pa.Table]) -> None:
    """Refuse tables whose signatures were made differently: comparing them would mean nothing."""
    all_made = [SignatureParameters.from_metadata(table.schema.metadata, "fingerprints") for table in tables]
    for made in all_made[1:]:
        all_made[0].require_same(made, "one input", "another")


def cluster(
    fingerprints: pa.Table, *, method: str = "exact", by: str = "center", threshold: float = 0.8, distance: int = 3
) -> pa.Table:
    """Group the URLs of duplicate pages (`url`, `cluster`); a page without duplicates is a group of one.

    `method` is `exact` (equal bodies), `simhash` (within `distance` bits), `minhash` (shingles with a Jaccard
    similarity of at least `threshold`) or `cascade`; the last three also tell the `similarity` to the centre.
    """
    if method not in METHODS:
        raise UsageError(f"unknown method {method!r}; one of {', '.join(METHODS)}")
    if method == "exact":
        return cluster_exact(fingerprints)
    return near_clusters(fingerprints, method, by=by, threshold=threshold, distance=distance)


def count_clusters(clusters: pa.Table) -> dict[str, int | float]:
    """Count URLs, clusters and duplicates: the URLs that a crawler could have spared itself."""
    sizes = pc.value_counts(clusters["cluster"]).field("counts")
    urls = clusters.num_rows
    return {
        "urls": urls,
        "clusters": len(sizes),
        "duplicates": urls - len(sizes),
        "duplicate_rate": (urls - len(sizes)) / urls if urls else 0.0,
        "largest": pc.max(sizes).as_py() or 0,
    }


def learn(clusters: pa.Table, *, max_fpr: float = 0.01, site: str = "domain") -> RuleSet:
    """Learn how sites spell one page in several ways, from a table of clusters (`url`, `cluster`)."""
    if site not in ("domain", "host"):
        raise UsageError(f"unknown site {site!r}; one of domain, host")
    return RuleSet(Learner(max_fpr=max_fpr, hosts=site == "host").learn(clusters))


def load_rules(path: Input) -> RuleSet:
    """Read a rule file."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; give a rule file") from error
    return RuleSet(loads(text, os.fspath(path)))


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
        raise InputError(f"{names}: no pages found: {tally.summary()}; give files with pages of status 200")
