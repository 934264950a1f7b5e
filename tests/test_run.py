"""A run: all outputs, nothing done twice, nothing lost by an interruption, and a report that says what is true."""

import json
import os
import shutil
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import undust
from undust import cli, corpus, pipeline
from undust.errors import InputError, UsageError
from undust.evaluate.split import by_cluster
from undust.rules.line_reader import read_line
from undust.run.inputs import holds_clusters
from undust.run.state import STATE, State, input_stamps
from undust.run.words import in_words

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")
OUTPUTS = {
    "pages.parquet",
    "clusters.parquet",
    "rules.json",
    "evaluation.json",
    "report.html",
    "report.json",
    "report.txt",
    STATE,
}
STEPS = ("pages", "clusters", "similarity", "rules", "evaluation", "tradeoff", "report")
OF_CLUSTERS = ("clusters", "rules", "evaluation", "tradeoff", "report")


def clusters_table() -> pa.Table:
    """Forty pages, each with and without a session, on one site; and twenty without duplicates on another."""
    rows = [(f"http://a.example/p{i}{s}", f"a{i}") for i in range(40) for s in ("", f"?sid={i}", f"?sid={i + 7}")]
    rows += [(f"http://b.example/{i}", f"b{i}") for i in range(20)]
    return pa.table({"url": [url for url, _ in rows], "cluster": [cluster for _, cluster in rows]})


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    file = tmp_path / "given.tsv"
    corpus.write_table(clusters_table(), file)
    return file


def test_all_is_written_and_a_second_run_does_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "found"
    first = undust.run(SAMPLE, output=folder)
    assert {path.name for path in folder.iterdir()} == OUTPUTS
    assert first.steps == dict.fromkeys(STEPS, "done")
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    second = undust.run(SAMPLE, output=folder)
    assert second.steps == dict.fromkeys(STEPS, "kept")
    assert second.told == first.told
    assert second.rules == first.rules
    for name, (changed, data) in before.items():
        assert (folder / name).read_bytes() == data
        assert (folder / name).stat().st_mtime_ns == changed


def test_the_outputs_are_those_of_the_single_steps(tmp_path: Path) -> None:
    found = undust.run(SAMPLE, output=tmp_path, method="exact", content="all")
    fingerprints = undust.fingerprint(SAMPLE)
    written = pq.read_table(tmp_path / "pages.parquet")
    assert written.cast(fingerprints.schema).equals(fingerprints)  # Parquet has no whole seconds
    clusters = undust.cluster(fingerprints)
    assert pq.read_table(tmp_path / "clusters.parquet").equals(clusters)
    assert undust.load_rules(tmp_path / "rules.json") == undust.learn(clusters) == found.rules
    seen, unseen = by_cluster(clusters, 0.5, 0)
    evaluation = json.loads((tmp_path / "evaluation.json").read_text())
    assert evaluation["by_cluster"] == undust.evaluate(undust.learn(seen), unseen).to_dict()
    assert evaluation["learned_from"] == undust.evaluate(found.rules, clusters).to_dict()
    assert found.told.methods == {"exact": pipeline.count_clusters(clusters)}


CHANGES = [
    # option, the first step that it changes
    ({"content": "all"}, "pages"),
    ({"any_status": True}, "pages"),
    ({"method": "simhash"}, "clusters"),
    ({"threshold": 0.9}, "clusters"),
    ({"max_fpr": 0.02}, "rules"),
    ({"learner": "pairwise"}, "rules"),
    ({"site": "host"}, "rules"),
    ({"holdout": 0.4}, "evaluation"),
    ({"seed": 1}, "evaluation"),
    ({"jobs": 1}, None),
]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("done")
    undust.run(SAMPLE, output=folder)
    return folder


@pytest.mark.parametrize(("options", "first"), CHANGES, ids=lambda value: str(value))
def test_what_an_option_changes_is_done_again_and_no_more(
    done: Path, tmp_path: Path, options: dict[str, object], first: str | None
) -> None:
    folder = tmp_path / "found"
    shutil.copytree(done, folder)  # with the dates of the files
    steps = undust.run(SAMPLE, output=folder, **options).steps  # type: ignore[arg-type]
    at = len(STEPS) if first is None else STEPS.index(first)
    assert steps == {step: "kept" if place < at else "done" for place, step in enumerate(STEPS)}


def test_a_changed_input_is_read_again(tmp_path: Path, clusters: Path) -> None:
    folder = tmp_path / "found"
    undust.run(clusters, output=folder)
    with clusters.open("a") as file:
        file.write("http://c.example/\tc\n")
    found = undust.run(clusters, output=folder)
    assert set(found.steps.values()) == {"done"}
    assert found.told.methods["given"]["urls"] == 141


def test_a_lost_or_changed_output_is_made_again(tmp_path: Path, clusters: Path) -> None:
    folder = tmp_path / "found"
    undust.run(clusters, output=folder)
    (folder / "rules.json").unlink()
    (folder / "evaluation.json").write_text("{}")
    found = undust.run(clusters, output=folder)
    again = {"rules", "evaluation", "report"}
    assert found.steps == {step: "done" if step in again else "kept" for step in OF_CLUSTERS}
    assert json.loads((folder / "evaluation.json").read_text()) == found.told.evaluation


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1, "steps": {"rules": 3}}'])
def test_a_state_that_is_not_readable_is_no_state(tmp_path: Path, clusters: Path, text: str) -> None:
    folder = tmp_path / "found"
    undust.run(clusters, output=folder)
    (folder / STATE).write_text(text)
    assert set(undust.run(clusters, output=folder).steps.values()) == {"done"}


class StoppedError(Exception):
    """What a test interrupts a run with."""


@pytest.mark.parametrize("at", STEPS)
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, at: str) -> None:
    def tell(step: str, kept: bool) -> None:
        if step == at:
            raise StoppedError

    with pytest.raises(StoppedError):
        undust.run(SAMPLE, output=tmp_path, tell=tell)
    steps = undust.run(SAMPLE, output=tmp_path).steps
    assert steps == {step: "kept" if STEPS.index(step) < STEPS.index(at) else "done" for step in STEPS}
    assert {path.name for path in tmp_path.iterdir()} == OUTPUTS


def test_a_killed_run_leaves_whole_files_or_none(tmp_path: Path) -> None:
    folder = tmp_path / "found"
    expected = undust.run(SAMPLE, output=tmp_path / "whole")
    command = [sys.executable, "-m", "undust", "run", SAMPLE, "-o", str(folder), "--quiet"]
    process = subprocess.Popen(command)
    while process.poll() is None and not (folder / "clusters.parquet").exists():
        time.sleep(0.005)  # in wait for a file, not for a time
    process.kill()
    process.wait()
    if (folder / "clusters.parquet").exists():
        pq.read_table(folder / "clusters.parquet")
    found = undust.run(SAMPLE, output=folder)
    assert found.steps["pages"] == "kept"
    assert found.told == expected.told
    assert found.rules == expected.rules


def test_clusters_are_where_a_run_may_begin(tmp_path: Path, clusters: Path) -> None:
    found = undust.run(clusters, output=tmp_path / "found")
    assert tuple(found.steps) == OF_CLUSTERS
    assert not (tmp_path / "found" / "pages.parquet").exists()
    assert found.rules.same("http://a.example/new?sid=1", "http://a.example/new")
    with pytest.raises(UsageError, match="what a run wrote, no pages; give"):
        undust.run(found.folder, output=tmp_path / "again")
    unseen = found.told.evaluation["by_cluster"]
    assert unseen["recall_of_possible"] == 1
    assert unseen["pages_lost"] == 0


def test_clusters_may_be_in_several_files(tmp_path: Path) -> None:
    table = clusters_table()
    corpus.write_table(table.slice(0, 60), tmp_path / "a.jsonl")
    corpus.write_table(table.slice(60), tmp_path / "b.csv.gz")
    found = undust.run(tmp_path / "a.jsonl", tmp_path / "b.csv.gz", output=tmp_path / "found")
    assert found.told.methods["given"]["urls"] == 140


def test_fingerprints_are_taken_as_they_are(tmp_path: Path) -> None:
    made = tmp_path / "made.parquet"
    corpus.write_table(undust.fingerprint(SAMPLE, content="main"), made)
    found = undust.run(made, output=tmp_path / "found")
    assert "pages" not in found.steps
    whole = undust.run(SAMPLE, output=tmp_path / "whole")
    assert found.rules == whole.rules
    assert found.told.methods == whole.told.methods
    assert "fingerprints of 299 pages" in (tmp_path / "found" / "report.txt").read_text()


def test_the_report_says_what_was_found(tmp_path: Path, clusters: Path) -> None:
    found = undust.run(clusters, output=tmp_path / "found")
    report = (tmp_path / "found" / "report.txt").read_text()
    assert "140 pages of 140 records" in report
    assert "given     80 of 140 URLs (57.1%); 60 different pages, the largest cluster 3" in report
    assert "the argument sid does not matter" in report
    (rule,) = found.rules
    one, other = rule.statistics.examples[0]
    assert f"{one} = {other}" in report
    rows = [line.split() for line in report.splitlines() if line.startswith("  a.example  ")]
    sites = found.told.evaluation["by_cluster"]["sites"]
    assert [row[1] for row in rows] == [str(sites["a.example"]["urls"])]
    assert [row[3] for row in rows] == [f"{sites['a.example']['compression']:.1%}"]


def test_no_duplicates_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "alone.csv"
    file.write_text("url,cluster\n" + "".join(f"http://a.example/{i},{i}\n" for i in range(30)))
    assert cli.main(["run", str(file), "-o", str(tmp_path / "found")]) == 0
    assert "no rules, as URLs explain no duplicates here" in capsys.readouterr().err
    assert "none: no duplicates that URLs explain" in (tmp_path / "found" / "report.txt").read_text()


def test_the_command_prints_one_object(tmp_path: Path, clusters: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(clusters), "-o", str(tmp_path / "found"), "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = json.loads(out)
    assert told["rules"] == 1
    assert told["evaluation"] == json.loads((tmp_path / "found" / "evaluation.json").read_text())
    assert told["steps"] == dict.fromkeys(OF_CLUSTERS, "done")


def test_an_input_that_would_be_written_over_is_refused(tmp_path: Path) -> None:
    corpus.write_table(clusters_table(), tmp_path / "clusters.parquet")
    before = (tmp_path / "clusters.parquet").read_bytes()
    with pytest.raises(UsageError, match="written over"):
        undust.run(tmp_path / "clusters.parquet", output=tmp_path)
    assert (tmp_path / "clusters.parquet").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["clusters.parquet"]


def test_pages_and_clusters_do_not_go_together(tmp_path: Path, clusters: Path) -> None:
    with pytest.raises(UsageError, match="the one or the other"):
        undust.run(SAMPLE, clusters, output=tmp_path / "found")


@pytest.mark.parametrize("text", ["url,cluster\n", "url,cluster\nnothing,\n"])
def test_a_table_without_rows_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=r"a\.csv"):
        undust.run(tmp_path / "a.csv", output=tmp_path / "found")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["missing.warc.gz", "-o", "found"], 1),
        (["given.tsv", "-o", "given.tsv"], 1),
        (["given.tsv", "-o", "found", "--method", "magic"], 2),
        (["given.tsv", "-o", "found", "--holdout", "0"], 2),
        (["given.tsv", "-o", "found", "--learner", "magic"], 2),
        (["given.tsv"], 2),
    ],
)
def test_wrong_usage_is_one_clear_line(
    tmp_path: Path,
    clusters: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", *arguments]) == code
    assert "Traceback" not in capsys.readouterr().err
    assert not (tmp_path / "found" / "rules.json").exists()


KINDS = [
    # text of a file, does it hold clusters and nothing else?
    ("a.csv", "url,cluster\nhttp://a/,1\n", True),
    ("a.tsv", "URL\tCluster\timportance\nhttp://a/\t1\t2\n", True),
    ("a.jsonl", '{"url": "http://a/", "cluster": "1"}\n', True),
    ("b.jsonl", '{"url": "http://a/", "cluster": "1", "html": "x"}\n', False),
    ("c.csv", "url,text\nhttp://a/,x\n", False),
    ("d.csv", "url,cluster,digest\nhttp://a/,1,x\n", False),
    ("e.html", "<html>cluster url</html>", False),
]


@pytest.mark.parametrize(("name", "text", "expected"), KINDS, ids=lambda value: str(value)[:12])
def test_what_a_file_holds_is_seen_from_its_columns(tmp_path: Path, name: str, text: str, expected: bool) -> None:
    (tmp_path / name).write_text(text)
    assert holds_clusters(str(tmp_path / name)) is expected


def test_a_folder_of_pages_has_changed_if_a_file_in_it_has(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    page = tmp_path / "deep" / "a.html"
    page.write_text("one")
    before = input_stamps([str(tmp_path)])
    assert input_stamps([str(tmp_path)]) == before
    page.write_text("two!")
    os.utime(page, ns=(1, 1))
    assert input_stamps([str(tmp_path)]) != before


def test_a_pipe_is_never_the_same() -> None:
    assert input_stamps(["-"]) != input_stamps(["-"])


def test_a_step_without_its_outputs_is_not_done(tmp_path: Path) -> None:
    state = State(tmp_path)
    (tmp_path / "a").write_text("1")
    state.done("step", "x", ("a",), {"n": 1})
    assert State(tmp_path).told("step", "x", ("a",)) == {"n": 1}
    assert State(tmp_path).told("step", "y", ("a",)) is None
    assert State(tmp_path).told("step", "x", ("a", "b")) is None
    (tmp_path / "a").write_text("12")
    assert State(tmp_path).told("step", "x", ("a",)) is None


WORDS = [
    # rule, what it says
    ("h.com  //….h.com/…?sid={?}  →  //….h.com/…", "the argument sid does not matter"),
    (
        "h.com  //….{?}.h.com/…  →  //….{*=www}.h.com/…",
        "the label before the domain does not matter (www is fetched)",
    ),
    (
        "h.com  //{?}.h.com/…  →  //{*}.h.com/…",
        "where the second label before the domain is not there: the label before the domain does not matter",
    ),
    ("h.com  https://….h.com/…  →  http://….h.com/…", "where the scheme is https: the scheme becomes http"),
    (
        "h.com  //….h.com/…/index.html  →  //….h.com/…/⊥",
        "where the last segment is index.html: the last segment goes",
    ),
    (
        "h.com  //….h.com/…?page=1  →  //….h.com/…",
        "where the argument page is 1: the argument page does not matter",
    ),
    (
        "h.com  //….h.com/index.php?title={a}  →  //….h.com/wiki/{a}",
        "where the first segment is index.php and the second segment is not there and the argument title is there:"
        " the first segment becomes wiki; the second segment is what the argument title was; the argument title goes",
    ),
    (
        "h.com  //….h.com/…/{*}-{a:digits}.html  →  //….h.com/…/{*}-{a}.html",
        "where the last segment is like {…}-{a number}.html:"
        " in the last segment as *-{…}.html what * stands for does not matter",
    ),
    (
        "h.com  //….h.com/…?id={a}:{*}  →  //….h.com/…?id={a|lower}:{*=start}",
        "where the argument id is like {…}:{…}: in the argument id as {…}:* what * stands for does not matter (start is"
        " fetched); the rest is taken in lower case",
    ),
    (
        "h.com  //….h.com/…?id={a}:{b}  →  //….h.com/…?id={b}:{a}",
        "where the argument id is like {…}:{…}: the argument id becomes {2nd …}:{1st …}",
    ),
    (
        "h.com  //….h.com/…?id={a}:{b}  →  //….h.com/…?id={a}",
        "where the argument id is like {…}:{…}: the argument id becomes {1st …}",
    ),
    (
        "h.com  //….h.com/…?id={a}:{b}  →  //….h.com/…?x={b}",
        "where the argument id is like {…}:{…}: the argument id goes;"
        " the argument x is what the 2nd {…} of the argument id was",
    ),
]


@pytest.mark.parametrize(("line", "said"), WORDS, ids=lambda value: str(value)[:30])
def test_rules_are_said_in_words(line: str, said: str) -> None:
    assert in_words(read_line(line)) == said


def test_the_order_of_arguments_is_said() -> None:
    line = "h.com  //….h.com/…  →  //….h.com/…  (arguments in order)"
    assert in_words(read_line(line)) == "the order of arguments does not matter"
