"""The contract of the command line: exit codes, one clear line, complete or absent outputs, lines in = lines out."""

import gzip
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from undust import __version__, cli, pipeline
from undust.cli.normalize import _blocks
from undust.detect.fingerprints_parameters import SignatureParameters
from undust.errors import UrlError
from undust.rules.line_reader import read_line
from undust.rules.ruleset import RuleSet
from undust.tables import CLUSTERS, FINGERPRINTS
from undust.urls.lines import normalize_lines
from undust.urls.normalize import normalize

SAMPLE = str(resources.files("undust") / "data" / "sample.warc.gz")
TSV = "url\ttext\nhttp://a.test/\tone\nhttp://a.test/?x\tone\nhttp://a.test/2\ttwo\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command in this process; give its exit code, stdout and stderr."""

    def run_it(*arguments: object) -> tuple[int, str, str]:
        code = cli.main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return run_it


def undust(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command as a user does, in a process of its own."""
    command = [sys.executable, "-m", "undust", *(str(argument) for argument in arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)


def test_the_version_is_told(run: Run) -> None:
    assert run("--version") == (0, f"undust {__version__}\n", "")


@pytest.mark.parametrize("verb", cli.VERBS)
def test_each_verb_has_help_with_an_example(run: Run, verb: str) -> None:
    code, out, _ = run(verb, "--help")
    assert code == 0
    assert f"  undust {verb}" in out.partition("Example")[2]
    assert "--quiet" in out


def test_help_and_rules_for_one_url_load_none_of_the_heavy_libraries(tmp_path: Path) -> None:
    rules = RuleSet([read_line("a.test  //a.test/…?sid={?}  →  //a.test/…")])
    rules.save(str(tmp_path / "rules.json"))
    probe = "import sys; from undust.cli import main; main(['--help']); main(['cluster', '--help']);" \
        "main(['normalize', '-r', sys.argv[1], 'http://a.test/x?sid=1']);" \
        "print([m for m in ('numpy', 'pyarrow', 'numba', 'fastwarc', 'rich') if m in sys.modules])"  # fmt: skip
    command = [sys.executable, "-c", probe, str(tmp_path / "rules.json")]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().splitlines()[-2:] == ["http://a.test/x", "[]"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["fingerprint"],
        ["fingerprint", SAMPLE],  # no output
        ["fingerprint", SAMPLE, "-o", "x.parquet", "--jobs", "0"],
        ["fingerprint", SAMPLE, "-o", "x.xlsx"],  # no such format
        ["cluster", SAMPLE, "-o", "x.tsv", "--method", "guess"],
        ["normalize", "--preset", "none", "http://a/"],
    ],
)
def test_wrong_usage_is_exit_code_2(
    run: Run, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err
    assert list(tmp_path.iterdir()) == []


FAULTS = {
    "missing.warc.gz": None,
    "empty.warc": b"",
    "empty-inside.jsonl.gz": gzip.compress(b""),
    "image.warc.gz": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "no-url-column.csv": b"id,text\n1,one\n",
    "no-content-column.csv": b"url,title\nhttp://a/,one\n",
    "array.json": b'[{"url": "http://a/", "text": "x"}]',
    "cut-head.parquet": b"PAR1\x15\x04\x15",
    "only-errors.jsonl": b'{"url": "http://a/", "text": "x", "status": 404}\n',
    "only-bad-urls.jsonl": b'{"url": "nothing", "text": "x"}\n',
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("verb", ["fingerprint", "cluster"])
def test_a_faulty_input_is_exit_code_1_with_one_line_that_names_it(
    run: Run, tmp_path: Path, fault: str, verb: str
) -> None:
    content = FAULTS[fault]
    if content is not None:
        (tmp_path / fault).write_bytes(content)
    before = sorted(tmp_path.iterdir())
    code, out, err = run(verb, tmp_path / fault, "-o", tmp_path / "out.parquet")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert fault in err
    assert "; " in err  # what to do
    assert ("--any-status" in err) == (fault == "only-errors.jsonl")
    assert sorted(tmp_path.iterdir()) == before


def test_one_faulty_input_among_good_ones_fails_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    code, _, err = run("fingerprint", SAMPLE, tmp_path / "missing", "-o", tmp_path / "out.parquet")
    assert code == 1
    assert "missing: no such file" in err
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    code, _, err = run("fingerprint", SAMPLE, "-o", tmp_path / "no" / "such" / "folder.parquet")
    assert code == 1
    assert "folder.parquet: cannot be written" in err


def test_an_older_output_survives_a_failing_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out.tsv").write_text("precious")
    (tmp_path / "bad.jsonl").write_text("nothing")
    assert run("cluster", tmp_path / "bad.jsonl", "-o", tmp_path / "out.tsv")[0] == 1
    assert (tmp_path / "out.tsv").read_text() == "precious"


def test_damage_is_skipped_counted_and_named(run: Run, tmp_path: Path) -> None:
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(Path(SAMPLE).read_bytes()[:300_000])
    code, out, err = run("fingerprint", cut, "-o", tmp_path / "pages.parquet", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["damaged"] == 1
    assert told["damage"][0]["source"] == str(cut)
    assert 290_000 < told["damage"][0]["offset"] < 300_000
    assert told["pages"] == pq.read_table(tmp_path / "pages.parquet").num_rows > 50


def test_urls_that_cannot_be_parsed_are_counted_and_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text(TSV + "http://h:99999999/\tx\n")
    code, _, err = run("fingerprint", tmp_path / "p.tsv", "-o", tmp_path / "pages.parquet")
    assert code == 0
    assert "3 pages of 4 records; damaged 1" in err
    assert "99999999" in err


@pytest.mark.parametrize(
    "ending", [".parquet", ".jsonl", ".csv", ".tsv", ".parquet.gz", ".jsonl.gz", ".csv.gz", ".tsv.gz"]
)
def test_fingerprints_come_back_from_every_format(run: Run, tmp_path: Path, ending: str) -> None:
    pages = tmp_path / f"pages{ending}"
    assert run("fingerprint", SAMPLE, "-o", pages, "--quiet") == (0, "", "")
    assert run("cluster", pages, "-o", tmp_path / "clusters.parquet", "--quiet") == (0, "", "")
    clusters = pq.read_table(tmp_path / "clusters.parquet")
    assert clusters.schema.equals(CLUSTERS)
    assert clusters.equals(pipeline.cluster(pipeline.fingerprint(SAMPLE)))


def test_near_duplicates_are_found_in_compressed_parquet(run: Run, tmp_path: Path) -> None:
    run("fingerprint", SAMPLE, "-o", tmp_path / "pages.parquet.gz", "--quiet")
    assert run("cluster", tmp_path / "pages.parquet.gz", "-o", tmp_path / "c.tsv", "--method", "minhash", "-q")[0] == 0
    assert run("cluster", SAMPLE, "-o", tmp_path / "d.tsv", "--method", "minhash", "-q")[0] == 0
    assert (tmp_path / "c.tsv").read_bytes() == (tmp_path / "d.tsv").read_bytes()
    whole = (tmp_path / "pages.parquet.gz").read_bytes()
    (tmp_path / "cut.parquet.gz").write_bytes(whole[: len(whole) // 2])
    code, _, err = run("cluster", tmp_path / "cut.parquet.gz", "-o", tmp_path / "e.tsv")
    assert code == 1
    assert "cut.parquet.gz: not a whole" in err


def test_a_cut_table_of_fingerprints_is_refused(run: Run, tmp_path: Path) -> None:
    run("fingerprint", SAMPLE, "-o", tmp_path / "pages.csv", "--quiet")
    whole = (tmp_path / "pages.csv").read_bytes()
    (tmp_path / "pages.csv").write_bytes(whole[: len(whole) // 2])
    code, _, err = run("cluster", tmp_path / "pages.csv", "-o", tmp_path / "c.tsv")
    assert code == 1
    assert "not a whole table of fingerprints" in err


def test_fingerprints_are_no_pages(run: Run, tmp_path: Path) -> None:
    run("fingerprint", SAMPLE, "-o", tmp_path / "pages.parquet", "--quiet")
    code, _, err = run("fingerprint", tmp_path / "pages.parquet", "-o", tmp_path / "again.parquet")
    assert code == 1
    assert "holds fingerprints, not pages" in err


def test_clusters_are_counted_and_can_be_read_by_a_program(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text(TSV)
    code, out, err = run("cluster", tmp_path / "p.tsv", "-o", tmp_path / "c.tsv", "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert [told[name] for name in ("urls", "clusters", "duplicates", "largest")] == [3, 2, 1, 2]
    rows = [line.split("\t") for line in (tmp_path / "c.tsv").read_text().splitlines()]
    assert rows[0] == ["url", "cluster"]
    assert {url: cluster for url, cluster in rows[1:] if cluster == rows[1][1]}.keys() == {
        "http://a.test/",
        "http://a.test/?x",
    }


def test_two_processes_write_the_bytes_that_one_writes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text(TSV)
    (tmp_path / "bad.jsonl").write_text('{"url": "http://b.test/", "text": "x"}\nnot json\n')
    files = [SAMPLE, tmp_path / "p.tsv", tmp_path / "bad.jsonl"]
    told = []
    for jobs in (1, 2):
        code, out, _ = run("fingerprint", *files, "-o", tmp_path / f"{jobs}.jsonl", "--jobs", jobs, "--json")
        assert code == 0
        told.append({name: value for name, value in json.loads(out).items() if name != "output"})
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    assert told[0] == told[1]
    assert told[0]["damaged"] == 1


def test_a_run_that_was_interrupted_goes_on_where_it_was(run: Run, tmp_path: Path) -> None:
    good, bad, out = tmp_path / "p.tsv", tmp_path / "bad.bin", tmp_path / "pages.jsonl"
    good.write_text(TSV)
    bad.write_bytes(b"\x89PNG" * 99)
    assert run("fingerprint", good, bad, "-o", out, "--jobs", "1")[0] == 1
    assert len(list((tmp_path / "pages.jsonl.parts").glob("*.arrow"))) == 1  # of the good file
    bad.write_text('{"url": "http://b.test/", "text": "x"}\n')
    # The good file changes without a trace: only what is kept of it can still say "a.test".
    seen = good.stat()
    good.write_text(TSV.replace("a.test", "z.test"))
    os.utime(good, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert run("fingerprint", good, bad, "-o", out, "-q") == (0, "", "")
    assert [json.loads(line)["url"].split("/")[2] for line in out.read_text().splitlines()] == ["a.test"] * 3 + [
        "b.test"
    ]
    assert not (tmp_path / "pages.jsonl.parts").exists()


@pytest.mark.parametrize("content", ["all", "main"])
def test_threads_and_the_order_of_files_do_not_change_a_byte(run: Run, tmp_path: Path, content: str) -> None:
    written = []
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.parquet"
        assert run("fingerprint", SAMPLE, "-o", out, "--jobs", jobs, "--content", content, "-q")[0] == 0
        written.append(out.read_bytes())
    assert written[0] == written[1]
    (tmp_path / "p.tsv").write_text(TSV)
    one = pipeline.fingerprint(SAMPLE, tmp_path / "p.tsv", content=content, jobs=2)
    other = pipeline.fingerprint(tmp_path / "p.tsv", SAMPLE, content=content, jobs=2)
    order = [("source", "ascending"), ("url", "ascending"), ("time", "ascending")]
    assert one.sort_by(order).equals(other.sort_by(order))


def test_an_error_in_a_process_of_the_pool_is_the_same_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "image.bin").write_bytes(b"\x89PNG" * 99)
    code, _, err = run("fingerprint", SAMPLE, tmp_path / "image.bin", "-o", tmp_path / "o.parquet", "--jobs", 2)
    assert code == 1
    assert err.count("\n") == 1
    assert "image.bin" in err
    assert not (tmp_path / "o.parquet").exists()


def test_the_api_gives_what_the_command_line_writes(run: Run, tmp_path: Path) -> None:
    import undust as api

    run("fingerprint", SAMPLE, "-o", tmp_path / "pages.parquet", "-q")
    fingerprints = api.fingerprint(SAMPLE)
    assert fingerprints.schema.names[: len(FINGERPRINTS)] == FINGERPRINTS.names
    written = pq.read_table(tmp_path / "pages.parquet")
    assert fingerprints.equals(written.cast(fingerprints.schema))
    made = SignatureParameters.from_metadata(written.schema.metadata, "pages.parquet")
    assert made.text_model == "html 1 all"
    assert api.cluster(fingerprints).num_rows == 299
    assert set(api.__all__) <= set(dir(api))
    assert all(callable(getattr(api, name)) for name in api.__all__)
    import undust.evaluate.report
    import undust.learn.learner

    assert callable(api.learn)
    assert callable(api.evaluate)


def test_rules_are_learned_evaluated_and_applied(run: Run, tmp_path: Path) -> None:
    run("cluster", SAMPLE, "-o", tmp_path / "clusters.tsv", "-q")
    code, out, _ = run("learn", tmp_path / "clusters.tsv", "-o", tmp_path / "rules.json", "--holdout", "0.5", "--json")
    told = json.loads(out)
    assert (code, told["rules"] > 0, told["holdout"]["pages_lost"]) == (0, True, 0)
    code, out, _ = run("evaluate", tmp_path / "rules.json", tmp_path / "clusters.tsv", "--json")
    found = json.loads(out)
    wanted = "urls clusters duplicate_rate rules keys compression dup_reduction fpr pages_lost recall_of_possible"
    assert set(wanted.split()) | {"macro", "sites"} <= found.keys()
    assert found["compression"] > 0.2
    assert "fetches saved" in run("evaluate", tmp_path / "rules.json", tmp_path / "clusters.tsv")[1]
    pair = ["http://docs.test:8180/new", "http://www.docs.test:8180/new"]
    code, out, _ = run("normalize", "-r", tmp_path / "rules.json", *pair)
    assert (code, len(set(out.splitlines()))) == (0, 1)
    assert len(set(run("normalize", "--key", "-r", tmp_path / "rules.json", *pair)[1].splitlines())) == 1
    lines = undust("normalize", "-r", tmp_path / "rules.json", stdin="\n".join(pair).encode())
    assert lines.stdout.decode() == out
    code, out, _ = run("explain", "-r", tmp_path / "rules.json", *pair)
    assert (code, "the same page" in out) == (0, True)
    assert json.loads(run("explain", "-r", tmp_path / "rules.json", *pair, "--json")[1])["same"]


def test_clusters_without_duplicates_give_no_rules_and_no_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("url\tcluster\nhttp://a.test/1\t1\nhttp://a.test/2\t2\n")
    code, _, err = run("learn", tmp_path / "c.tsv", "-o", tmp_path / "rules.json")
    assert (code, "no rules" in err) == (0, True)
    assert run("normalize", "-r", tmp_path / "rules.json", "http://A.test") == (0, "http://a.test/\n", "")


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"version": 9, "rules": []}', b"\xff\xfe"])
def test_a_faulty_rule_file_is_exit_code_1_with_one_line(run: Run, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "rules.json").write_bytes(content)
    code, out, err = run("normalize", "-r", tmp_path / "rules.json", "http://a.test/")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "rules.json: " in err


def test_pages_come_from_stdin(tmp_path: Path) -> None:
    done = undust("cluster", "-", "-o", tmp_path / "c.tsv", stdin=Path(SAMPLE).read_bytes())
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c.tsv").read_text().count("\n") == 300


def test_the_demo_shows_duplicates(run: Run, tmp_path: Path) -> None:
    code, out, err = run("demo", "-o", tmp_path / "demo")
    assert code == 0
    assert err.splitlines()[0] == "fingerprints of the pages …"
    assert "http://docs.test:8180/\n    http://www.docs.test:8180/\n" in out
    assert "docs.test  //….{?}.docs.test/…" in out
    written = sorted(path.name for path in (tmp_path / "demo").iterdir())
    made = ["clusters.parquet", "evaluation.json", "pages.parquet", "report.html", "report.json", "report.txt"]
    assert written == [*made, "rules.json", "run.json"]
    assert str(tmp_path / "demo" / "report.html") in out
    commands = [shlex.split(line) for line in out.splitlines() if line.startswith("  undust ")]
    assert [each[1] for each in commands] == ["explain", "serve", "run"]
    code, explained, _ = run(*commands[0][1:])
    assert code == 0
    assert "fetch     http://files.test:8180/doc/a-page-that-nobody-fetched/?C=S;O=D" in explained


def test_urls_are_normalized_one_a_line(run: Run) -> None:
    assert run("normalize", "HTTP://A.test:80/%7eb#c", "http://b.test") == (0, "http://a.test/~b\nhttp://b.test/\n", "")
    assert run("normalize", "--preset", "extended", "http://a.test/B/Index.html") == (0, "http://a.test/b\n", "")
    assert run("normalize", "--preset", "hashbang", "http://a.test/#!x") == (0, "http://a.test/#!x\n", "")


def test_a_url_that_cannot_be_parsed_is_exit_code_1_after_the_others(run: Run) -> None:
    code, out, err = run("normalize", "nothing", "http://b.test")
    assert (code, out) == (1, "http://b.test/\n")
    assert "nothing" in err


def test_lines_in_are_lines_out() -> None:
    lines = b"HTTP://a.test\n\n  \nnothing\r\nhttp://b.test/\xe9\nhttp://c.test"
    done = undust("normalize", stdin=lines)
    assert done.returncode == 0
    assert done.stdout == b"http://a.test/\n\n  \nnothing\r\nhttp://b.test/%E9\nhttp://c.test/\n"
    assert b"line 4: " in done.stderr
    assert done.stderr.endswith(b"1 of 6 lines hold no usable URL and stayed as they were\n")


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_bytes(b"http://a.test/x\n" * 500_000)
    command = f"{sys.executable} -m undust normalize < {tmp_path / 'urls.txt'} | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == (b"http://a.test/x\n", b"")


class Trickle(io.BytesIO):
    """A stream that gives few bytes at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(7)


@given(st.lists(st.text(alphabet="ab:/.%\r é", max_size=12), max_size=8), st.booleans())
def test_blocks_are_the_lines_of_the_stream(lines: list[str], ended: bool) -> None:
    data = "\n".join(lines).encode() + (b"\n" if ended and lines else b"")
    blocks = list(_blocks(Trickle(data)))
    assert b"".join(block for block, _ in blocks) == (data if data.endswith(b"\n") or not data else data + b"\n")
    assert all(whole and block.endswith(b"\n") for block, whole in blocks)


@given(st.lists(st.one_of(st.sampled_from(["HTTP://H/%7e", "", "x", "http://h/é"]), st.text(max_size=9))))
def test_lines_are_normalized_as_single_urls_are(lines: list[str]) -> None:
    lines = [line.replace("\n", "").encode("utf-8", "replace").decode() for line in lines] or [""]
    made = normalize_lines("".join(f"{line}\n" for line in lines).encode())
    assert (made.lines, made.text.count(b"\n")) == (len(lines), len(lines))

    def expected(line: str) -> str:
        try:
            return normalize(line)
        except UrlError:
            return line

    assert made.text.decode().split("\n")[:-1] == [expected(line) for line in lines]


@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2))
def test_a_line_that_is_too_long_passes_through_in_bounded_memory(place: int) -> None:
    lines = [b"HTTP://a", b"HTTP://b"]
    lines.insert(place, b"x" * (9 * 2**20))
    done = undust("normalize", stdin=b"\n".join(lines))
    expected = [b"http://a/", b"http://b/"]
    expected.insert(place, lines[place])
    assert done.stdout == b"\n".join(expected) + b"\n"
    assert done.stderr.endswith(b"1 of 3 lines hold no usable URL and stayed as they were\n")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    import signal

    reader, writer = os.pipe()
    command = [sys.executable, "-m", "undust", "fingerprint", "-", "-o", str(tmp_path / "out.tsv")]
    with subprocess.Popen(command, stdin=reader, stderr=subprocess.PIPE) as process:
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(TSV.encode() * 100)  # and the pipe stays open: the command waits for more
            pipe.flush()
            while not list(tmp_path.iterdir()):  # until the output is begun
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        assert process.stderr is not None
        assert process.stderr.read().strip() == b"undust: stopped; nothing was left half-written"
    assert list(tmp_path.iterdir()) == []
