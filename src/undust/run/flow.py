"""A run: fingerprints, clusters, rules and their evaluation into a folder, each step once.

inputs ──> pages.parquet ──> clusters.parquet ──> rules.json, evaluation.json ──> report.html, report.json, report.txt
"""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from undust import corpus, pipeline
from undust.asides import only_one
from undust.clustering import THRESHOLDS
from undust.corpus import Tally
from undust.corpus.fingerprints import FingerprintFiles
from undust.detect.exact import cluster_exact
from undust.detect.near import METHODS as NEAR_METHODS
from undust.detect.pages import PageFingerprints
from undust.errors import InputError, UsageError
from undust.evaluate.split import by_cluster, by_sample
from undust.memory import forget_peak, peak_bytes
from undust.outputs import write_whole
from undust.pipeline import Input, Moved, Progress
from undust.rules.ruleset import RuleSet
from undust.run import similarities
from undust.run.findings import VERSION, Known, find_all, shown_urls
from undust.run.html.page import PAGE_VERSION, write_page
from undust.run.inputs import Inputs, sort_inputs
from undust.run.options import Options
from undust.run.report import Told, write_report
from undust.run.state import STATE, State, input_stamps, made_of, make_folder
from undust.run.titles import find_titles
from undust.run.tradeoff import find_tradeoff
from undust.run.vega import charts

PAGES, CLUSTERS, RULES, EVALUATION = "pages.parquet", "clusters.parquet", "rules.json", "evaluation.json"
REPORT, TEXT, NUMBERS = "report.html", "report.txt", "report.json"
EVALUATION_VERSION = 2
"""Of what an evaluation holds: with another one, it is made again."""
OUTPUTS = (PAGES, CLUSTERS, RULES, EVALUATION, REPORT, TEXT, NUMBERS, STATE)

Tell = Callable[[str, bool], None]
"""Is called with the name of each step, and whether an earlier run had done it, before the step begins."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, and where it is."""

    folder: Path
    rules: RuleSet
    told: Told
    steps: dict[str, str] = field(default_factory=dict)
    """The steps: `done`, or `kept` from an earlier run."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "output": str(self.folder),
            "report": str(self.folder / REPORT),
            "steps": self.steps,
            "read": self.told.read,
            "methods": self.told.methods,
            "rules": len(self.rules),
            "evaluation": self.told.evaluation,
        }


def run(
    *inputs: Input,
    output: Input,
    method: str = "bag",
    by: str = "star",
    threshold: float | None = None,
    distance: int = 3,
    content: str = "main",
    learner: str = "both",
    max_fpr: float = 0.01,
    min_coverage: int | None = None,
    site: str = "domain",
    holdout: float = 0.5,
    seed: int = 0,
    memory: str | int | None = None,
    jobs: int | None = None,
    any_status: bool = False,
    base_url: str | None = None,
    tell: Tell = lambda step, kept: None,
    progress: Progress = lambda tally: None,
    moved: Moved = lambda done, of: None,
) -> Outcome:
    """Do everything with pages: fingerprints, clusters, rules, evaluation and a report, all in the folder `output`.

    The inputs may also be fingerprints, or clusters, from which it then begins. The options are those of
    `fingerprint`, `cluster` and `learn`, whose method is the `learner` here; `holdout` is the share of the clusters
    that the rules are tested on. A step whose inputs and options have not changed since an earlier run into the same
    folder is not done again.
    """
    detection = (method, by, threshold, distance, content, any_status, base_url)
    options = Options(*detection, learner, max_fpr, site, holdout, seed, min_coverage)
    found = sort_inputs(corpus.list_inputs(inputs))
    folder = Path(output)
    _refuse_own_outputs(found, folder)
    make_folder(folder)
    with only_one(folder):
        return _Run(folder, options, found, memory, jobs, tell, progress, moved).all()


class _Run:
    """One run: its settings, and what it has done so far."""

    def __init__(
        self,
        folder: Path,
        options: Options,
        inputs: Inputs,
        memory: str | int | None,
        jobs: int | None,
        tell: Tell,
        progress: Progress,
        moved: Moved,
    ) -> None:
        self.folder, self.options, self.inputs = folder, options, inputs
        self.memory, self.jobs, self._tell, self._progress, self._moved = memory, jobs, tell, progress, moved
        self._state = State(folder)
        self.steps: dict[str, str] = {}

    def all(self) -> Outcome:
        """Do the steps that are not done yet, and write the report."""
        options = self.options
        made = made_of(_version(), input_stamps(self.inputs.all))
        read: dict[str, Any] = {}
        if self.inputs.pages:
            made = made_of(made, options.content, options.any_status, options.base_url)
            read = self._step("pages", made, (PAGES,), self._pages)["read"]
        made = made_of(made, options.method, options.by, options.threshold, options.distance)
        told = self._step("clusters", made, (CLUSTERS,), self._clusters)
        similarity: dict[str, Any] = {}
        if not self.inputs.clusters and options.method in NEAR_METHODS:
            similarity = self._step("similarity", made, (), self._similarity)
        made = made_of(made, options.learner, options.max_fpr, options.site, options.min_coverage)
        self._step("rules", made, (RULES,), self._rules)
        made = made_of(made, options.holdout, options.seed, EVALUATION_VERSION)
        self._step("evaluation", made, (EVALUATION,), self._evaluation)
        tradeoff = self._step("tradeoff", made, (), self._tradeoff)
        rules = pipeline.load_rules(self.folder / RULES)
        evaluation = orjson.loads((self.folder / EVALUATION).read_bytes())
        result = Told(list(self.inputs.all), read or told.get("read", {}), told["methods"], evaluation)

        stages = [{"stage": name, **took} for name, took in self._state.took(self.steps)]

        def report() -> dict[str, Any]:
            made_at = datetime.now(UTC).isoformat(timespec="seconds")
            known = Known(result, asdict(options), _version(), made_at, tradeoff, similarity, stages)
            return self._report(known, rules)

        self._step("report", made_of(made, VERSION, PAGE_VERSION, stages), (REPORT, NUMBERS, TEXT), report)
        return Outcome(self.folder, rules, result, self.steps)

    def _step(
        self, name: str, made: str, outputs: tuple[str, ...], work: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        told = self._state.told(name, made, outputs)
        self.steps[name] = "done" if told is None else "kept"
        self._tell(name, told is not None)
        if told is None:
            forget_peak()
            begun, cpu = time.monotonic(), time.process_time()
            told = work()
            took = {"seconds": time.monotonic() - begun, "cpu_seconds": time.process_time() - cpu}
            self._state.done(name, made, outputs, told, {**took, "peak_bytes": peak_bytes()})
        return told

    def _pages(self) -> dict[str, Any]:
        options, tally = self.options, Tally()
        made = PageFingerprints(options.content)
        with corpus.TableWriter(self.folder / PAGES, made.schema) as writer:
            for batch in pipeline.fingerprint_batches(
                self.inputs.pages,
                made,
                tally=tally,
                jobs=self.jobs,
                any_status=options.any_status,
                base_url=options.base_url,
                progress=self._progress,
                keep=self.folder / f"{PAGES}.parts",
            ):
                writer.write(batch)
            if not self.inputs.fingerprints:
                pipeline.require_pages(tally, self.inputs.pages)
        return {"read": tally.to_dict()}

    def _clusters(self) -> dict[str, Any]:
        options = self.options
        if self.inputs.clusters:
            return self._given_clusters()
        source = self._fingerprints()
        clusters = pipeline.cluster(
            source,
            method=options.method,
            by=options.by,
            threshold=options.threshold,
            distance=options.distance,
            memory=self.memory,
        )
        corpus.write_table(clusters, self.folder / CLUSTERS)
        methods = {options.method: pipeline.count_clusters(clusters)}
        if options.method != "exact":
            methods = {"exact": pipeline.count_clusters(cluster_exact(source)), **methods}
        return {"methods": methods, "read": {"pages": source.count()}}

    def _fingerprints(self) -> FingerprintFiles:
        made = (str(self.folder / PAGES),) if self.inputs.pages else ()
        return FingerprintFiles((*self.inputs.fingerprints, *made))

    def _given_clusters(self) -> dict[str, Any]:
        tally = Tally()
        tables = [corpus.read_clusters(file, tally=tally) for file in self.inputs.clusters]
        clusters = pa.concat_tables(tables, promote_options="default")
        if not clusters.num_rows:
            raise InputError(f"{self.inputs.clusters[0]}: no rows with url and cluster; give a table of clusters")
        corpus.write_table(clusters, self.folder / CLUSTERS)
        return {"methods": {"given": pipeline.count_clusters(clusters)}, "read": tally.to_dict()}

    def _rules(self) -> dict[str, Any]:
        clusters = corpus.read_clusters(self.folder / CLUSTERS)
        rules = self._learned(clusters, moved=self._moved)
        rules.save(os.fspath(self.folder / RULES))
        return {"rules": len(rules)}

    def _learned(
        self, clusters: pa.Table, max_fpr: float | None = None, moved: Moved = lambda done, of: None
    ) -> RuleSet:
        options = self.options
        least = options.max_fpr if max_fpr is None else max_fpr
        return pipeline.learn(
            clusters,
            method=options.learner,
            max_fpr=least,
            site=options.site,
            min_coverage=options.min_coverage,
            moved=moved,
        )

    def _evaluation(self) -> dict[str, Any]:
        """Measure on pages that were not learned from, with rules learned without them; by both protocols."""
        options = self.options
        clusters = corpus.read_clusters(self.folder / CLUSTERS)
        found: dict[str, Any] = {"holdout": options.holdout, "seed": options.seed}
        done = 0
        for name, split, share in (("by_cluster", by_cluster, 1 - options.holdout), ("by_sample", by_sample, 0.3)):
            seen, unseen = split(clusters, share, options.seed)
            moved = self._from(done, 2 * clusters.num_rows)
            found[name] = pipeline.evaluate(self._learned(seen, moved=moved), unseen).to_dict()
            done += clusters.num_rows
        rules = pipeline.load_rules(self.folder / RULES)
        found["learned_from"] = pipeline.evaluate(rules, clusters).to_dict()
        write_whole(self.folder / EVALUATION, orjson.dumps(found, option=orjson.OPT_INDENT_2))
        return {}

    def _from(self, begun: int, whole: int) -> Moved:
        """Tell of a part of the work as of a part: it begins when so much of the whole is done."""
        return lambda done, of: self._moved(begun + done, whole)

    def _similarity(self) -> dict[str, Any]:
        options = self.options
        return similarities.around_threshold(
            self._fingerprints(), options.method, threshold=options.least_similarity, distance=options.distance
        )

    def _tradeoff(self) -> dict[str, Any]:
        options = self.options
        clusters = corpus.read_clusters(self.folder / CLUSTERS)
        return find_tradeoff(
            clusters,
            self._learned,
            max_fpr=options.max_fpr,
            holdout=options.holdout,
            seed=options.seed,
            moved=self._moved,
        )

    def _report(self, known: Known, rules: RuleSet) -> dict[str, Any]:
        """Write the report: all numbers, the page that shows them, and the text."""
        found = find_all(known, rules, corpus.read_clusters(self.folder / CLUSTERS))
        # As the step wrote it: what `read_clusters` gives has no similarities.
        written = pq.read_table(self.folder / CLUSTERS)
        line = self.options.least_similarity if self.options.method in THRESHOLDS else None
        found["similarity"]["members"] = similarities.members(written, line)
        found["titles"] = {} if self.inputs.clusters else find_titles(self._fingerprints(), shown_urls(found))
        found["charts"] = charts(found)
        write_whole(self.folder / NUMBERS, orjson.dumps(found))
        write_whole(self.folder / REPORT, write_page(found).encode())
        write_whole(self.folder / TEXT, write_report(known.told, rules).encode())
        return {}


def _version() -> str:
    """Give the version of undust, as another one may find other things."""
    try:
        return metadata.version("undust")
    except metadata.PackageNotFoundError:
        return ""


def _refuse_own_outputs(inputs: Inputs, folder: Path) -> None:
    """Refuse an input that the run would write over."""
    own = {os.path.realpath(folder / name) for name in OUTPUTS}
    for file in inputs.all:
        if os.path.realpath(file) in own:
            raise UsageError(f"{file}: would be written over; choose another folder for the output")
