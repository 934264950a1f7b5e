"""What Spark jobs are made of, without a JVM: how columns travel, how sites are packed, drawn and proofed."""

import socket
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import corpus
from undust.cli import VERBS, main, submit, undust
from undust.detect.pairs_hamming import block_masks, near_rows
from undust.errors import UndustError
from undust.learn.columns import site_tables
from undust.learn.large import Draw, draw_site, drawn
from undust.spark import hamming
from undust.spark.exchange import packed, partitions_for
from undust.spark.failures import _ours
from undust.spark.files import list_files, pieces_of
from undust.spark.session import _require_master
from undust.spark.stages import STAGES, seconds_by_stage
from undust.spark.wire import from_wire, to_wire, together, wire_schema
from undust.synth.web import Web

COLUMNS = {
    "uint64": pa.array([0, 2**64 - 1, None], pa.uint64()),
    "bytes": pa.array([b"x" * 16, None, b"y" * 16], pa.binary(16)),
    "numbers": pa.array([[1, 2**32 - 1], [], None], pa.large_list(pa.uint32())),
    "small numbers": pa.array([[7], None, [1, 2, 3]], pa.large_list(pa.uint16())),
    "words": pa.array([["a"], None, []], pa.list_(pa.string())),
    "time": pa.array([1, None, 2], pa.timestamp("s", tz="UTC")),
    "text": pa.array(["ä", None, ""]),
    "count": pa.array([1, 2, None], pa.int16()),
}


@pytest.mark.parametrize("start", [0, 1])
def test_what_travels_comes_back_as_it_was(start: int) -> None:
    batch = pa.RecordBatch.from_pydict(COLUMNS).slice(start)
    sent = to_wire(batch)
    assert sent.schema.types == wire_schema(batch.schema).types
    back = from_wire(sent, batch.schema)
    assert back.equals(batch)
    back.validate(full=True)


@given(st.dictionaries(st.text(), st.integers(1, 1000), max_size=30), st.integers(1, 300))
def test_no_task_gets_more_than_its_share_unless_one_site_is_more(sizes: dict[str, int], capacity: int) -> None:
    bins = packed(sizes, 5, capacity)
    loads: dict[int, list[int]] = {}
    for name, place in bins.items():
        loads.setdefault(place, []).append(sizes[name])
    assert sorted(loads) == list(range(5, 5 + len(loads)))
    assert all(sum(load) <= capacity or len(load) == 1 for load in loads.values())
    assert sum(map(sum, loads.values())) == sum(sizes.values())


def test_there_are_enough_tasks_for_all_cores() -> None:
    assert [partitions_for(rows, 4, 100) for rows in (0, 399, 401, 1000)] == [4, 4, 5, 10]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=300), st.integers(1, 50), st.randoms(use_true_random=False))
def test_the_part_that_is_drawn_does_not_depend_on_order_or_pieces(names: list[int], most: int, chance: object) -> None:
    urls = pa.array([f"http://a.test/{number}" for number in range(len(names))])
    clusters = pa.array([f"c{name}" for name in names])
    draw, whole = draw_site(urls, clusters, most)
    sizes = {name: names.count(name) for name in set(names)}
    large = {f"c{name}": size for name, size in sizes.items() if size > draw.cap}
    assert draw == Draw(most, sum(min(size, draw.cap) for size in sizes.values()))
    order = list(range(len(names)))
    chance.shuffle(order)  # type: ignore[attr-defined] # a random.Random
    cut = len(order) // 2
    pieces = [
        drawn(urls.take(some), clusters.take(some), draw, large.get)
        for some in (pa.array(order[:cut], pa.int64()), pa.array(order[cut:], pa.int64()))
    ]
    assert np.concatenate(pieces).tolist() == whole[order].tolist()


def test_of_a_large_site_about_as_many_urls_are_drawn_as_asked_for_and_few_of_a_giant_cluster() -> None:
    urls = pa.array([f"http://a.test/{number}" for number in range(40_000)])
    clusters = pa.array([f"c{number // 2}" if number < 20_000 else "giant" for number in range(40_000)])
    _, chosen = draw_site(urls, clusters, 4000)
    assert 3000 < chosen.sum() < 5000
    assert chosen[20_000:].sum() < 400


def test_site_tables_are_in_order_and_each_url_is_there_once() -> None:
    rows = [("http://b.test/2", "x"), ("http://a.test/1", "y"), ("HTTP://b.test/2", "x"), ("http://b.test/1", "z")]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})
    found = [(name, rows["url"].to_pylist()) for name, rows in site_tables(table)]
    assert found == [("a.test", ["http://a.test/1"]), ("b.test", ["http://b.test/1", "http://b.test/2"])]


def test_the_stages_of_the_paper_are_named_as_in_the_docs_and_are_what_a_learner_does() -> None:
    from undust.learn.columns import encode_table
    from undust.learn.pairwise import Pairwise

    page = (Path(__file__).parents[1] / "docs" / "scale.md").read_text()
    for stage in STAGES:
        steps = ", ".join(f"`{step}`" for step in stage.steps)
        assert f"| {stage.name} | {stage.grouped_by} | {steps} |" in page
    ((name, rows),) = site_tables(Web(sites=1, urls=400).table())
    seconds = seconds_by_stage(encode_table(name, rows), Pairwise())
    assert [name for name, spent in seconds.items() if spent <= 0] == []
    assert list(seconds)[:-1] == [stage.name for stage in STAGES]


def test_what_a_task_raises_on_purpose_keeps_its_kind() -> None:
    error = _ours("An exception was thrown:\nTraceback\nundust.errors.OutputError: x: no room; make some\n\tat org")
    assert (type(error).__name__, str(error)) == ("OutputError", "x: no room; make some")
    assert "see the logs" in str(_ours("something else"))


def test_a_folder_of_parts_is_read_as_its_parts(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    for part in ("part-00001.parquet", "part-00000.parquet"):
        pq.write_table(pa.table({"url": ["a", "b", "c"]}), tmp_path / part, row_group_size=2)
    files = list_files([tmp_path])
    assert [Path(file).name for file in files] == ["part-00000.parquet", "part-00001.parquet"]
    assert [(piece.start, piece.stop) for piece in pieces_of(files)] == [(0, 2), (0, 2)]
    assert all(piece.whole for piece in pieces_of(files, cut=False))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["learn", "c.tsv", "-o", "r.json", "--engine", "spark"], 1, "install undust[spark]"),
        (["learn", "c.tsv", "-o", "r.json", "--master", "local"], 2, "--engine spark"),
        (["learn", "c.tsv", "-o", "r.json", "--engine", "spark", "--show-tree"], 2, "--show-tree"),
        (["cluster", "p.parquet", "-o", "c.tsv", "--engine", "spark"], 2, ".parquet"),
        (["cluster", "p.parquet", "-o", "c.parquet", "--method", "topical", "--engine", "spark"], 2, "topical"),
        (["normalize", "--engine", "spark", "u.txt"], 2, "-r RULES"),
        (["learn", "c.tsv", "-o", "no/r.json", "--engine", "spark"], 1, "no such folder"),
    ],
)
def test_what_is_missing_or_does_not_go_together_is_said_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it was not installed
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.tsv").write_text("url\tcluster\nhttp://a.test/\t1\n")
    assert main(arguments) == code
    told = capsys.readouterr().err
    assert said in told
    assert len([line for line in told.splitlines() if line.startswith(("undust:", "Error:"))]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["c.tsv"]


@pytest.mark.parametrize("arguments", [[], ["dedup", "c.tsv"], ["--help"]])
def test_spark_submit_of_another_verb_says_which_there_are(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert submit.run(arguments) == 2
    assert "give one of fingerprint, cluster, learn, evaluate, normalize" in capsys.readouterr().err


def test_the_verbs_of_spark_submit_are_those_that_have_an_engine() -> None:
    verbs = {verb: undust.get_command(click.Context(undust), verb) for verb in VERBS}
    told = {verb: [option.name for option in command.params] for verb, command in verbs.items() if command is not None}
    assert tuple(verb for verb in VERBS if "engine" in told[verb]) == submit.VERBS


@pytest.mark.parametrize(
    ("master", "said"),
    [
        ("spark://127.0.0.1:{free}", "no master answers (127.0.0.1:"),
        ("spark://127.0.0.1:{free},127.0.0.1:{free}", "Connection refused; 127.0.0.1:"),
        ("spark://127.0.0.1", "give spark://HOST:PORT"),
        ("spark://host:port", "give spark://HOST:PORT"),
    ],
)
def test_a_master_that_is_not_there_is_said_at_once(master: str, said: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # and does not listen
        place = master.replace("{free}", str(bound.getsockname()[1]))
        with pytest.raises(UndustError) as raised:
            _require_master(place)
    assert said in str(raised.value)


@pytest.mark.parametrize("master", ["spark://127.0.0.1:{port}", "spark://[::1]:1,127.0.0.1:{port}", "yarn", "local[2]"])
def test_a_master_that_answers_or_is_asked_in_another_way_is_left_to_spark(master: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        _require_master(master.replace("{port}", str(server.getsockname()[1])))


def test_a_missing_java_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    (tmp_path / "c.tsv").write_text("url\tcluster\nhttp://a.test/\t1\n")
    run = "import sys; from undust.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["learn", "c.tsv", "-o", "r.json", "--engine", "spark"]
    environment = {"PATH": "", "PYTHONPATH": ":".join(sys.path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", run, *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("install Java 17 (Debian: openjdk-17-jre-headless)")
    assert "Traceback" not in done.stderr


def test_the_embedded_engine_reads_a_folder_of_parts_as_one_table(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    for part in range(3):
        made = pa.table({"url": [f"http://a.test/{part}"], "cluster": ["c"]})
        pq.write_table(made, tmp_path / f"part-{part:05d}.parquet")
    assert corpus.read_clusters(tmp_path)["url"].to_pylist() == [f"http://a.test/{part}" for part in range(3)]


@pytest.mark.parametrize("hot", [{}, "all"])
def test_salted_buckets_give_all_pairs_that_the_embedded_index_finds(hot: object) -> None:
    chance = np.random.default_rng(4)
    base = chance.integers(0, 2**63, 20, np.uint64)
    flips = np.uint64(1) << chance.integers(0, 64, 400).astype(np.uint64)
    low = np.unique(base[chance.integers(0, 20, 400)] ^ flips)
    count = len(low)
    modes, levels = chance.integers(0, 2, count), chance.integers(0, 4, count).astype(np.int32)
    columns = [np.arange(count), low, np.zeros(count, np.uint64), modes, levels]
    batch = pa.RecordBatch.from_arrays(list(map(pa.array, columns)), schema=hamming.SIGNED)
    near = hamming.Near(64, 3, 2, gap=1)
    masks = block_masks(64, 3, count)
    keyed = pa.Table.from_batches(hamming.key_rows(iter([to_wire(batch)]), masks, {}, 10))
    sizes = keyed.group_by(["table", "key"]).aggregate([([], "count_all")]).to_pylist()
    known = {(row["table"], row["key"]): row["count_all"] for row in sizes if row["count_all"] > 10} if hot else {}
    assert bool(known) == bool(hot)
    made = hamming.key_rows(iter([to_wire(batch)]), masks, known, 10)
    table = together(made, hamming.KEYED)
    places = table["part"].to_numpy()
    found = set()
    for part in np.unique(places).tolist():  # what is never together in a task, is not together here
        some = table.filter(pa.array(places == part))
        found |= {(row["a"], row["b"], row["similarity"]) for row in hamming.compare_buckets(some, near).to_pylist()}
    packed, distances = near_rows(
        low.reshape(-1, 1), bits=64, distance=3, groups=modes.astype(np.uint32), levels=levels, gap=1
    )
    similarities = (1.0 - distances / 64).astype(np.float32)
    pairs = [(int(pair >> np.uint64(32)), int(pair & np.uint64(2**32 - 1))) for pair in packed]
    expected = {(min(pair), max(pair), float(same)) for pair, same in zip(pairs, similarities, strict=True)}
    assert found == expected
    assert len(expected) > 100
