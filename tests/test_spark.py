"""Spark gives what the embedded engine gives, byte for byte: rules, reports, fingerprints and clusters."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from undust import corpus, pipeline
from undust.cli import main
from undust.corpus import Tally
from undust.detect.clusters import cluster_pairs
from undust.detect.fingerprints import from_column
from undust.detect.pages import PageFingerprints
from undust.detect.pairs import to_table
from undust.detect.pairs_minhash import minhash_pairs
from undust.detect.shingles import from_column as sets_from_column
from undust.detect.sketches import Bands, gather_sketches
from undust.errors import InputError, UndustError
from undust.learn.methods import Options
from undust.rules.files import dumps
from undust.synth.web import Web

pytest.importorskip("pyspark")

SAMPLE = str(Path(pipeline.__file__).parent / "data" / "sample.warc.gz")

pytestmark = pytest.mark.java


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from undust.spark.session import open_session

    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",
        # Small tables: what it takes to compile for speed would be most of the time.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.memory": "1g",
    }
    session = open_session("local[2,3]", settings=settings)  # a task may fail twice
    yield session
    session.stop()


def write_rows(folder: Path) -> list[str]:
    """Write the same few pages as JSONL and as Parquet, under other hosts."""
    texts = [f"<p>{' '.join(f'word{(number + at) % 40}' for at in range(30))}</p>" for number in range(8)]
    for name in ("jsonl", "parquet"):
        rows = [{"url": f"http://{name}.test/{number}", "html": text} for number, text in enumerate(texts)]
        if name == "jsonl":
            lines = [json.dumps(row) for row in rows]
            (folder / "rows.jsonl").write_text("\n".join([*lines, "no row", ""]))
        else:
            pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet", row_group_size=3)
    return [str(folder / "rows.jsonl"), str(folder / "rows.parquet")]


@pytest.fixture(scope="session")
def pages(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fingerprints of WARC, JSONL and Parquet, as Spark writes them: those of the embedded engine."""
    from undust.spark.files import write
    from undust.spark.pages import fingerprint

    made = PageFingerprints()
    target = tmp_path_factory.mktemp("pages") / "pages.parquet"
    inputs = [SAMPLE, *write_rows(target.parent)]
    tally, embedded = Tally(), Tally()
    write(fingerprint(spark, inputs, made), str(target), made.schema, tally)
    table = pipeline.fingerprint(*inputs, tally=embedded)
    corpus.write_table(table, target.parent / "embedded.parquet")
    written, expected = pq.read_table(target), pq.read_table(target.parent / "embedded.parquet")
    assert written.equals(expected)
    assert written.schema.equals(expected.schema, check_metadata=True)
    assert tally.to_dict() == embedded.to_dict()
    assert tally.to_dict()["damaged"] == 1
    return target


def shown(frame: Any, schema: pa.Schema, folder: Path) -> pa.Table:
    from undust.spark.files import write

    write(frame, str(folder / "made.parquet"), schema)
    return pq.read_table(folder / "made.parquet")


@pytest.mark.parametrize(
    ("method", "by"),
    [("exact", "center"), ("minhash", "center"), ("bag", "components"), ("simhash", "star"), ("cascade", "components")],
)
def test_clusters_are_those_of_the_embedded_engine(
    spark: Any, pages: Path, tmp_path: Path, method: str, by: str
) -> None:
    from undust.spark.clusters import MADE, cluster
    from undust.spark.files import list_files
    from undust.tables import CLUSTERS

    found = cluster(spark, list_files([pages]), method=method, by=by)
    table = shown(found, CLUSTERS if method == "exact" else MADE, tmp_path)
    expected = pipeline.cluster(pq.read_table(pages), method=method, by=by)
    assert table.combine_chunks().equals(expected.combine_chunks())
    assert len(set(table["cluster"].to_pylist())) < len(table)


def shared(folder: Path) -> pa.Table:
    names = ("docs", "wordpress")
    return pa.concat_tables([corpus.read_clusters(folder / "webapps" / f"{name}.clusters.tsv") for name in names])


@pytest.mark.parametrize(("source", "file"), [("shared", "clusters.jsonl"), ("generated", "clusters.parquet")])
def test_rules_and_report_are_those_of_the_embedded_engine(
    spark: Any, request: pytest.FixtureRequest, tmp_path: Path, source: str, file: str
) -> None:
    from undust.spark.evaluation import evaluate
    from undust.spark.sites import Learning, learn
    from undust.spark.tables import read_clusters

    table = shared(request.getfixturevalue("shared_data")) if source == "shared" else Web(sites=4, urls=1200).table()
    table = table.select(["url", "cluster"])
    method = "both" if source == "shared" else "pairwise"
    corpus.write_table(table, tmp_path / file)
    frame = read_clusters(spark, str(tmp_path / file))
    expected = pipeline.learn(table, method=method)
    rules = learn(spark, frame, Learning(method, Options(), partition_rows=400))
    assert len(rules)
    assert dumps(rules) == dumps(expected)
    # Rules one by one are counted by the embedded engine only.
    assert evaluate(rules, frame) == replace(pipeline.evaluate(expected, table), by_rule=[])


@pytest.mark.parametrize(
    ("method", "options", "hosts"),
    [("rewrite", Options(), True), ("dust", Options(), False), ("tree", Options(0.05, "naive", 5), False)],
)
def test_each_method_and_option_gives_the_rules_of_the_embedded_engine(
    spark: Any, method: str, options: Options, hosts: bool
) -> None:
    from undust.spark.sites import Learning, learn

    table = Web(sites=3, urls=900, seed=2).table().select(["url", "cluster"])
    weighed = table.append_column("importance", pa.array(np.arange(len(table)) % 7 / 7))
    expected = pipeline.learn(
        weighed,
        method=method,
        max_fpr=options.max_fpr,
        selection=options.selection,
        min_coverage=options.min_coverage,
        site="host" if hosts else "domain",
    )
    rules = learn(spark, spark.createDataFrame(weighed), Learning(method, options, hosts, partition_rows=200))
    assert len(rules)
    assert dumps(rules) == dumps(expected)


def test_a_giant_site_is_learned_from_a_part_and_proofed_on_all_by_both_engines(spark: Any) -> None:
    from undust.spark.sites import Learning, learn

    table = Web(sites=1, urls=6000, seed=3).table().select(["url", "cluster"])
    expected = pipeline.learn(table, method="tree", most=2000)
    assert len(expected)
    assert all(rule.statistics.trained_on > 5000 for rule in expected)
    frame = spark.createDataFrame(table)
    rules = learn(spark, frame, Learning("tree", Options(), most=2000))
    assert dumps(rules) == dumps(expected)


def test_pairs_of_large_and_of_hot_buckets_are_those_of_the_embedded_engine(spark: Any, pages: Path) -> None:
    from undust.spark.pairs import Lsh, lsh_pairs
    from undust.spark.rows import ROW
    from undust.spark.wire import to_wire

    table = pq.read_table(pages, columns=["minhash", "shingles"]).combine_chunks()
    values = from_column(table["minhash"], 8)
    bands = Bands(1, 2)  # so few that templates make large buckets
    sketches = gather_sketches([(values, sets_from_column(table["shingles"]))], bands)
    expected = minhash_pairs(sketches, threshold=0.5, max_bucket=5)
    batch = pa.RecordBatch.from_arrays(
        [pa.array(np.arange(len(table))), table["minhash"].chunk(0), table["shingles"].chunk(0)],
        names=[ROW.name, "minhash", "shingles"],
    )
    frame = spark.createDataFrame(pa.Table.from_batches([to_wire(batch)]))
    assert max(np.unique(keys, return_counts=True)[1].max() for _, keys in sketches.band(0)) > 15
    found = lsh_pairs(spark, frame, Lsh(bands, 0.5, 8, 2, max_bucket=5, hot_rows=15)).distinct().toArrow()
    packed = found["a"].to_numpy().astype(np.uint64) << np.uint64(32) | found["b"].to_numpy().astype(np.uint64)
    assert to_table(packed, found["similarity"].to_numpy()).equals(expected)


def random_pairs(seed: int, rows: int, count: int) -> pa.Table:
    chance = np.random.default_rng(seed)
    ends = np.sort(chance.integers(0, rows, (count, 2)), axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    packed = np.unique(ends[:, 0].astype(np.uint64) << np.uint64(32) | ends[:, 1].astype(np.uint64))
    chain = (np.arange(40, dtype=np.uint64) + np.uint64(rows)) << np.uint64(32) | (
        np.arange(40, dtype=np.uint64) + np.uint64(rows + 1)
    )
    packed = np.concatenate([packed, chain])
    return to_table(packed, chance.integers(1, 4, len(packed)).astype(np.float32) / np.float32(4))


@pytest.mark.parametrize("by", ["center", "star", "components"])
def test_components_of_any_size_give_the_clusters_of_one_scan(
    spark: Any, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from undust.spark import components
    from undust.spark.centers import cluster_rows

    rounds, state = [], components._state

    def counted(edges: Any) -> tuple[int, int]:
        rounds.append(edges)
        return state(edges)

    monkeypatch.setattr(components, "_state", counted)
    pairs, count = random_pairs(5, 200, 150), 241
    frame = spark.createDataFrame(
        pairs.cast(pa.schema([("a", pa.int64()), ("b", pa.int64()), ("similarity", pa.float32())]))
    )
    expected = cluster_pairs(pairs, count, by=by)
    found = cluster_rows(frame, by, 2, max_pairs=30).toArrow().to_pylist()  # the largest component is a giant
    assert 2 < len(rounds) <= 8  # a chain of 40 pairs, whose logarithm is 5.3; to walk along it takes 40
    rows = np.arange(count)
    for row in found:
        rows[row["row"]] = row["center"]
    assert rows.tolist() == expected.rows.tolist()
    if by != "components":
        assert {row["row"]: row["similarity"] for row in found} == {
            row: float(expected.similarities[row]) for row in {each["row"] for each in found}
        }


def test_normalized_urls_are_those_of_the_rules(spark: Any, tmp_path: Path) -> None:
    from undust.rules.line_reader import read_line
    from undust.rules.ruleset import RuleSet
    from undust.spark.normalization import MADE, normalize
    from undust.spark.tables import read_urls

    rules = RuleSet([read_line("a.test  //a.test/…?sid={?}  →  //a.test/…")])
    urls = ["http://a.test/x?sid=1", "HTTP://b.test", "nothing"]
    (tmp_path / "urls.txt").write_text("\n".join(urls))
    pq.write_table(pa.table({"n": range(3), "url": urls}), tmp_path / "urls.parquet", row_group_size=2)
    inputs = (str(tmp_path / "urls.txt"), str(tmp_path / "urls.parquet"))
    table = shown(normalize(read_urls(spark, inputs), rules), MADE, tmp_path)
    assert table["url"].to_pylist() == urls * 2
    assert table["normalized"].to_pylist() == ["http://a.test/x", "http://b.test/", None] * 2
    assert table["key"].to_pylist() == ["http://a.test/x", "http://b.test/", None] * 2


def test_the_verbs_say_and_write_the_same_on_spark(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "urls.txt").write_text("http://a.test/x\n")
    told: dict[Any, Any] = {}
    for engine, at in (("embedded", "e"), ("spark", "s")):
        here = ["--engine", engine]
        assert main(["cluster", SAMPLE, "-o", f"{at}.parquet", "--json", *here]) == 0
        assert main(["learn", "e.parquet", "-o", f"{at}.json", "--json", *here]) == 0
        told[engine] = capfd.readouterr().out.replace('"s.', '"e.')
        assert main(["evaluate", f"{at}.json", f"{at}.parquet", "--json", *here]) == 0
        told[engine, "report"] = {**json.loads(capfd.readouterr().out), "by_rule": None}
    assert told["spark"] == told["embedded"]
    assert told["spark", "report"] == told["embedded", "report"]
    assert (tmp_path / "s.json").read_bytes() == (tmp_path / "e.json").read_bytes()
    assert pq.read_table("s.parquet").equals(pq.read_table("e.parquet"))
    (tmp_path / "none.tsv").write_text("url\tcluster\n")
    assert main(["learn", "none.tsv", "-o", "none.json", "--engine", "spark"]) == 1
    assert "none.tsv: no rows with url and cluster" in capfd.readouterr().err
    assert main(["normalize", "-r", "s.json", "urls.txt", "-o", "n.parquet", "--engine", "spark"]) == 0
    assert pq.read_table("n.parquet").to_pylist()[0]["normalized"] == "http://a.test/x"


def test_a_task_that_dies_is_done_again_and_the_output_is_complete(spark: Any, tmp_path: Path) -> None:
    from undust.spark.exchange import mapped
    from undust.spark.files import write

    schema, marks = pa.schema([("row", pa.int64())]), str(tmp_path)

    def dies_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import os
        from pathlib import Path

        from undust.spark.exchange import task

        mark = Path(marks) / f"died-{task()[0]}"
        for batch in batches:
            yield pa.RecordBatch.from_arrays(batch.columns, names=["row"])
            if not mark.exists():
                mark.touch()
                os._exit(9)

    frame = mapped(spark.range(0, 1000, 1, 2), dies_once, schema)
    assert write(frame, str(tmp_path / "out.parquet"), schema) == 1000
    assert len(list(tmp_path.glob("died-*"))) == 2
    assert sorted(pq.read_table(tmp_path / "out.parquet")["row"].to_pylist()) == list(range(1000))
    assert [path.name for path in sorted((tmp_path / "out.parquet").iterdir())] == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]


def test_an_output_that_fails_leaves_what_was_there(spark: Any, tmp_path: Path) -> None:
    from undust.spark.failures import named
    from undust.spark.files import write
    from undust.spark.pages import fingerprint

    made = PageFingerprints(exact_only=True)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    target = tmp_path / "out.parquet"
    target.mkdir()
    (target / "part-00000.parquet").touch()
    with pytest.raises(UndustError) as raised, named():
        write(fingerprint(spark, [str(tmp_path / "bad.parquet")], made), str(target), made.schema, Tally())
    assert isinstance(raised.value, InputError)
    assert "bad.parquet" in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.parquet", "out.parquet"]
    assert [path.name for path in target.iterdir()] == ["part-00000.parquet"]
