"""Learners side by side, on the same clusters: what each saves and loses on pages that it never saw."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from undust.compare.learners import Tell, compare_learners, require_duplicates
from undust.compare.papers import compare_as_papers
from undust.compare.report import LearnerReport
from undust.tables import one_row_each
from undust.urls.batch import normalize_many, split_many

__all__ = ["LearnerReport", "compare", "joined"]


def joined(tables: Sequence[tuple[str, pa.Table]]) -> pa.Table:
    """Take several tables of clusters, each with its name, as one: clusters of the same name are not the same page."""
    several = len(tables) > 1
    made = []
    for name, table in tables:
        clusters = table["cluster"].cast(pa.string())
        named = pc.binary_join_element_wise(pa.scalar(name), clusters, "\t") if several else clusters
        made.append(pa.table({"url": table["url"].cast(pa.string()), "cluster": named}))
    return pa.concat_tables(made)


def compare(
    clusters: pa.Table,
    *,
    seeds: Sequence[int] = (0,),
    only: Sequence[str] = (),
    max_fpr: float = 0.01,
    papers: bool = True,
    tell: Tell = lambda doing: None,
) -> LearnerReport:
    """Compare all learners, or some, on clusters (`url`, `cluster`); with `papers` as two papers do, too.

    `seeds` say how clusters are parted into what is learned from and what is tested on; the papers' tables take the
    first of them.
    """
    distinct = one_row_each(clusters)
    require_duplicates(distinct)
    normal = normalize_many(distinct["url"]).urls.drop_null()
    sites = len(split_many(normal.combine_chunks() if isinstance(normal, pa.ChunkedArray) else normal).sites().unique())
    fared = compare_learners(distinct, seeds=seeds, max_fpr=max_fpr, only=only, tell=tell)
    told = compare_as_papers(distinct, seed=seeds[0], tell=tell) if papers else None
    count = len(distinct["cluster"].unique())
    return LearnerReport(len(distinct), count, sites, tuple(seeds), fared, told)
