"""CENTER in a component that is too large for one task: in rounds, each of which decides what no earlier pair touches.

CENTER scans pairs by falling similarity. What becomes of a row depends on its first pairs only: two rows for both of
which their pair is the first that is undecided are a centre and its member; a row whose first undecided pair is with a
centre joins it. All such rows are decided at once, pairs that can change nothing any more are dropped, and so on until
no pair is left. The result is that of the scan.
"""

from typing import Any

from undust.errors import UndustError
from undust.spark.exchange import described, kept

MAX_ROUNDS = 1000

_ORDER = "struct(-similarity as falling, a, b)"


def center_in_rounds(pairs: Any) -> Any:
    """Give `row`, `center` and `similarity` of each row that has a pair."""

    # Whether an end is a centre already; an end that has joined a cluster has no pairs any more.
    left = kept(pairs.selectExpr("a", "b", "similarity", "false as a_center", "false as b_center"))
    rows = pairs.selectExpr("a as row").union(pairs.selectExpr("b as row")).distinct()
    joined = []
    for number in range(1, MAX_ROUNDS + 1):
        if left.isEmpty():
            break
        with described(pairs.sparkSession, f"CENTER of giants, round {number}"):
            fresh = kept(_joins(left))
            joined.append(fresh)
            left = kept(_undecided(left, fresh))
    else:
        raise UndustError(f"CENTER is not done after {MAX_ROUNDS} rounds; group by components, or raise the threshold")
    members = joined[0]
    for each in joined[1:]:
        members = members.union(each)
    others = rows.join(members.select("row"), "row", "left_anti")
    return members.union(others.selectExpr("row", "row as center", "cast(1 as float) as similarity"))


def _joins(left: Any) -> Any:
    """Give the rows that can be told now which centre they join."""
    from pyspark.sql import functions as sql

    ends = left.selectExpr("a as row", "a_center as is_center", f"{_ORDER} as place").union(
        left.selectExpr("b as row", "b_center as is_center", f"{_ORDER} as place")
    )
    first = ends.where("not is_center").groupBy("row").agg(sql.min("place").alias("first"))
    told = (
        left.selectExpr("*", f"{_ORDER} as place")
        .join(first.selectExpr("row as a", "first as a_first"), "a", "left")
        .join(first.selectExpr("row as b", "first as b_first"), "b", "left")
    )
    # A centre waits for nobody; of two rows that are nothing yet, the pair must be the first of both.
    ready = told.where("(a_center or a_first = place) and (b_center or b_first = place)")
    member, center = "if(a_center, b, if(b_center, a, b))", "if(a_center, a, if(b_center, b, a))"
    return ready.selectExpr(f"{member} as row", f"{center} as center", "similarity")


def _undecided(left: Any, fresh: Any) -> Any:
    """Drop the pairs of rows that have joined, and those of two centres."""
    from pyspark.sql import functions as sql

    gone = fresh.select("row")
    stay = left.join(gone.withColumnRenamed("row", "a"), "a", "left_anti")
    stay = stay.join(gone.withColumnRenamed("row", "b"), "b", "left_anti")
    centers = fresh.selectExpr("center as row", "true as now").distinct()
    for end in ("a", "b"):
        stay = stay.join(centers.selectExpr(f"row as {end}", f"now as {end}_now"), end, "left")
        stay = stay.withColumn(f"{end}_center", sql.col(f"{end}_center") | sql.coalesce(f"{end}_now", sql.lit(False)))
    return stay.where("not (a_center and b_center)").select("a", "b", "similarity", "a_center", "b_center")
