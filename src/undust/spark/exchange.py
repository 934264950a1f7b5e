"""How rows come to tasks: functions over Arrow batches, whole groups in one task, tasks of even size."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from undust.errors import UndustError
from undust.spark.session import quiet_about_pandas
from undust.spark.wire import Work, sent, spark_schema, together

Step = Callable[[pa.Table], pa.Table]
"""A step of the embedded engine: a plain function from table to table."""

PARTITION_ROWS = 250_000
"""Rows that a task gets: enough for kernels, few enough for the memory of many tasks side by side."""

MAX_PARTITIONS = 100_000


def partitions_for(rows: int, at_once: int, size: int = PARTITION_ROWS) -> int:
    """Tell how many tasks rows should go to: some for each core, so that one that takes longer holds up nobody.

    >>> partitions_for(10, 2), partitions_for(10_000_000, 2), partitions_for(10**12, 2)
    (2, 40, 100000)
    """
    return max(at_once, min(MAX_PARTITIONS, -(-rows // size)))


def mapped(frame: Any, work: Work, schema: pa.Schema) -> Any:
    """Run a function over the batches of each task. `schema` is what it makes, of our types."""
    with quiet_about_pandas():
        return frame.mapInArrow(work, spark_schema(schema))


def gathered(
    frame: Any, keys: Sequence[str], count: int, step: Step, given: pa.Schema, made: pa.Schema, *, first: Any = None
) -> Any:
    """Run a step on whole groups: rows with equal keys are in one table. Many groups share it, so that small ones are
    cheap; their order in it says nothing. `first` does the exchange in another way.
    """
    spread = frame.repartition(count, *keys) if first is None else first
    return mapped(spread, _on_table(step, given), made)


def _on_table(step: Step, given: pa.Schema) -> Work:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = together(batches, given)
        if len(table):
            yield from sent(step(table))

    return work


def placed(session: Any, frame: Any, bins: str, count: int) -> Any:
    """Bring the rows of each bin, numbered from 0 in a column, to a task of their own.

    Spark spreads rows by a hash of what it is told; so each bin is told as a number that hashes to the bin.
    """
    from pyspark.sql import functions as sql

    known = session.range(0, 20 * count + 200).select("id", sql.pmod(sql.hash("id"), sql.lit(count)).alias("bin"))
    numbers = {row["bin"]: row["id"] for row in known.groupBy("bin").agg(sql.min("id").alias("id")).collect()}
    if len(numbers) < count:  # hardly: a bin that none of so many numbers falls into
        return frame.repartition(count, bins)
    table = session.createDataFrame(sorted(numbers.items()), f"{bins} int, told long")
    told = frame.join(sql.broadcast(table), bins)
    return told.repartition(count, "told").drop("told", bins)


def packed(sizes: Mapping[str, int], first: int, capacity: int) -> dict[str, int]:
    """Put large groups into bins, numbered from `first`, the largest first, each where it fits.

    >>> packed({"a": 70, "b": 50, "c": 40, "d": 20}, 3, 100)
    {'a': 3, 'b': 4, 'c': 4, 'd': 3}
    """
    import heapq

    bins: list[tuple[int, int]] = []
    found = {}
    for name, size in sorted(sizes.items(), key=lambda each: (-each[1], each[0])):
        if bins and bins[0][0] + size <= capacity:
            load, place = heapq.heappop(bins)
        else:
            load, place = 0, first + len(bins)
        found[name] = place
        heapq.heappush(bins, (load + size, place))
    return found


def kept(frame: Any) -> Any:
    """Compute rows once and forget the way that led to them, or plans would grow with every round.

    They are in Spark's checkpoint folder where one is set (`spark.checkpoint.dir`), and outlast a machine that is lost;
    else on the machines that made them.
    """
    durable = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    return frame.checkpoint() if durable else frame.localCheckpoint()


@contextlib.contextmanager
def described(session: Any, what: str) -> Iterator[None]:
    """Name the jobs that are run meanwhile, in Spark's pages and metrics, which else show a line of our code."""
    session.sparkContext.setJobDescription(f"undust: {what}")
    try:
        yield
    finally:
        session.sparkContext.setJobDescription(None)


def task() -> tuple[int, int]:
    """Tell in a task which part of the rows it has, and the number of this attempt at it."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise UndustError("no task of Spark; this is an error of undust, please report it")
    return int(context.partitionId()), int(context.taskAttemptId())


def cores(session: Any) -> int:
    """Tell how many tasks run at once."""
    return int(session.sparkContext.defaultParallelism)
