"""Connected components of pairs on Spark: large-star and small-star in turn (Kiveris et al., 2014).

Each round brings every row nearer to the smallest row of its component; their number grows with the logarithm of the
largest distance in it. Nothing but a count of what changed goes through the driver.
"""

from typing import Any

from undust.errors import UndustError
from undust.spark.exchange import described, kept

MAX_ROUNDS = 100
"""Far more than any graph takes; a bound all the same."""


def components(edges: Any) -> Any:
    """Give for each row that has an edge (`a`, `b`) the smallest row of its component: `row`, `root`."""
    from pyspark.sql import functions as sql

    pairs = edges.selectExpr("greatest(a, b) as high", "least(a, b) as low").where("high != low")
    current, before = kept(pairs.distinct()), (-1, 0)
    for number in range(1, MAX_ROUNDS + 1):
        with described(edges.sparkSession, f"components, round {number}"):
            current = kept(_small_star(_large_star(current)))
            after = _state(current)
        if after == before:
            roots = current.select(sql.col("low").alias("row")).distinct().withColumn("root", sql.col("row"))
            return current.selectExpr("high as row", "low as root").union(roots)
        before = after
    raise UndustError(
        f"components are not done after {MAX_ROUNDS} rounds; this is an error of undust, please report it"
    )


def _state(edges: Any) -> tuple[int, int]:
    """Count the edges and add up a hash of each: equal when nothing has changed."""
    from pyspark.sql import functions as sql

    found = edges.agg(sql.count("*").alias("count"), sql.expr("bit_xor(xxhash64(high, low))").alias("mixed")).first()
    return int(found["count"]), int(found["mixed"] or 0)


def _large_star(edges: Any) -> Any:
    """Connect the larger neighbours of each row with the smallest of its neighbours and itself."""
    from pyspark.sql import functions as sql

    both = edges.selectExpr("high as row", "low as other").union(edges.selectExpr("low as row", "high as other"))
    least = both.groupBy("row").agg(sql.least(sql.min("other"), sql.col("row")).alias("least"))
    # Every row has as many larger neighbours as it has edges to them: the join is as large as the edges.
    made = edges.selectExpr("low as row", "high as other").join(least, "row")
    return made.selectExpr("other as high", "least as low").where("high != low").distinct()


def _small_star(edges: Any) -> Any:
    """Connect the smaller neighbours of each row, and itself, with the smallest of them."""
    from pyspark.sql import functions as sql

    least = edges.groupBy("high").agg(sql.min("low").alias("least"))
    neighbours = edges.join(least, "high").selectExpr("low as high", "least as low")
    return neighbours.union(least.selectExpr("high", "least as low")).where("high != low").distinct()
