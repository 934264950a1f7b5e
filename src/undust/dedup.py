"""Duplicates out of pages: a first pass finds them, a second one reads the pages again and hands on those that stay.

Pages are never held in memory, nor copied to disk: of the first pass only signatures are kept, in files.
"""

import contextlib
import json
import os
import shutil
import sys
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from undust import corpus, parallel
from undust.asides import scratch_folder
from undust.clustering import SIGNATURES, clustered
from undust.corpus import Tally
from undust.corpus.fingerprints import FingerprintFiles
from undust.corpus.write import output_format
from undust.detect.exact import first_of_equal
from undust.detect.keepers import parse_policies
from undust.detect.pages import PageFingerprints
from undust.detect.removals import Removals, remove
from undust.detect.text import extract
from undust.errors import InputError, OutputError, UsageError
from undust.pipeline import Input, Progress, fingerprint_batches, require_pages, usable_urls
from undust.tables import PAGES, REMOVED

KEEP = "canonical,https,shortest,first"
"""Policies that choose the page to keep: what sites say themselves, then what is usually the address of the page."""

KEPT = pa.schema([PAGES.field("url"), pa.field("title", pa.string()), *list(PAGES)[1:]])
"""Columns of the pages that stay: as they were read, with their title."""


@dataclass(frozen=True)
class Deduplicated:
    """Which pages stay, which go, and why; the pages themselves are read again when they are asked for."""

    removals: Removals
    tally: Tally
    """What the first pass read, skipped and found damaged."""
    content: str
    _files: list[str]
    _reading: dict[str, Any]
    _stamps: list[str]
    _aside: "_Aside"  # what came through a pipe

    def batches(
        self, *, text: bool = False, jobs: int | None = None, progress: Progress = lambda tally: None
    ) -> Iterator[pa.RecordBatch]:
        """Read the pages that stay, in the order of the input (`KEPT`); with `text`, their text instead of their HTML.

        `InputError` if the inputs are no longer what they were.
        """

        def finished(pages: pa.RecordBatch) -> pa.RecordBatch:
            found = extract(pages, content=self.content, detect_language=False)
            columns = {"title": found["title"], **({"text": found["text"]} if text else {})}
            made = kept_schema(text=text)
            return pa.RecordBatch.from_arrays([columns.get(name, _of(pages, name)) for name in made.names], schema=made)

        yield from parallel.in_threads(finished, self._again(progress), jobs or os.cpu_count() or 1)

    def kept(self, *, text: bool = False) -> pa.Table:
        """Give the pages that stay as one table."""
        return pa.Table.from_batches(self.batches(text=text), kept_schema(text=text))

    def removed(self) -> pa.Table:
        """Give the pages that go: `url`, `keeper`, `method`, `similarity` (`tables.REMOVED`)."""
        return pa.Table.from_batches(self.removals.batches(), REMOVED)

    def save(
        self,
        output: Input,
        removed: Input | None = None,
        *,
        text: bool = False,
        jobs: int | None = None,
        progress: Progress = lambda tally: None,
    ) -> str | None:
        """Write the pages that stay, and the list of those that go beside them; give the name of the list.

        `kept.parquet` has its list in `kept.removed.parquet`, unless told otherwise. Pages that go to stdout have none.
        """
        target = os.fspath(output)
        listed = removed_name(target) if removed is None else os.fspath(removed)
        require_apart(self._files, target, listed)
        # Pages last: where they are, the list is, too.
        with corpus.TableWriter(target, kept_schema(text=text)) as pages:
            for batch in self.batches(text=text, jobs=jobs, progress=progress):
                pages.write(batch)
            if listed is not None:
                with corpus.TableWriter(listed, REMOVED) as writer:
                    for batch in self.removals.batches():
                        writer.write(batch)
        return listed

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        total, kept = len(self.removals.captures.rows), int(self.removals.kept().sum())
        return {
            "pages": total,
            "kept": kept,
            "removed": total - kept,
            "removed_rate": (total - kept) / total if total else 0.0,
            "removed_by": self.removals.counts(),
            "least_similar": self.removals.least_similar(),
            "read": self.tally.to_dict(),
        }

    def _again(self, progress: Progress) -> Iterator[pa.RecordBatch]:
        kept, tally, at = self.removals.kept(), Tally(), 0
        for file, before in zip(self._files, self._stamps, strict=True):
            for batch in corpus.read_one(file, tally=tally, **self._reading):
                pages = usable_urls(batch, tally)
                stays = kept[at : at + len(pages)]
                at += len(pages)
                if at > len(kept):
                    raise _changed(file)
                if stays.any():
                    yield pages.filter(pa.array(stays))
                progress(tally)
            if before and before != _stamp(file):
                raise _changed(file)
        if at != len(kept):
            raise _changed(self._files[-1])


def dedup(
    *inputs: Input,
    method: str = "minhash",
    by: str = "star",
    threshold: float | None = None,
    distance: int = 3,
    keep: str | Sequence[str] = KEEP,
    content: str = "main",
    memory: str | int | None = None,
    jobs: int | None = None,
    any_status: bool = False,
    base_url: str | None = None,
    tally: Tally | None = None,
    progress: Progress = lambda tally: None,
    folder: Path | None = None,
) -> Deduplicated:
    """Find the duplicates among pages, and choose which page of each group stays.

    `method`, `by`, `threshold`, `distance` and `memory` are those of `cluster`, `content` is that of `fingerprint`,
    `keep` names policies in order of weight. `folder`, if given, keeps what was done, so that a run that was
    interrupted goes on where it was; whoever gives it clears it.
    """
    if method not in SIGNATURES:
        raise UsageError(f"unknown method {method!r}; one of {', '.join(SIGNATURES)}")
    policies = parse_policies(keep)
    made = PageFingerprints(content, signatures=SIGNATURES[method], links="inlinks" in policies)
    tally = Tally() if tally is None else tally
    aside = _Aside()
    named = enumerate(corpus.list_inputs(inputs))
    files = [_plain_file(file, aside.folder / f"input-{number}") for number, file in named]
    reading = {"any_status": any_status, "base_url": base_url}
    stamps = [_stamp(file) for file in files]
    signed = _fingerprinted(files, folder or aside.folder, made, tally, progress, {"jobs": jobs, **reading})
    require_pages(tally, inputs)
    with clustered(
        signed, method=method, by=by, threshold=threshold, distance=distance, memory=memory, folder=folder
    ) as found:
        equal = found.rows if method == "exact" else first_of_equal(signed, found.captures)
        removals = remove(
            signed, found.captures, found.rows, equal=equal, method=method, keep=policies, compare=found.compare
        )
    (aside.folder / _FINGERPRINTS).unlink(missing_ok=True)
    return Deduplicated(removals, tally, content, files, reading, stamps, aside)


class _Aside:
    """A folder that is there as long as somebody knows of it."""

    def __init__(self) -> None:
        stack = contextlib.ExitStack()
        self.folder = stack.enter_context(scratch_folder())
        weakref.finalize(self, stack.close)


def kept_schema(*, text: bool = False) -> pa.Schema:
    """Columns of the pages that stay; with `text`, without their HTML."""
    return pa.schema([found for found in KEPT if not (text and found.name == "html")])


def removed_name(output: str) -> str | None:
    """Name the list of removed pages after the file of the kept ones.

    >>> removed_name("out/kept.jsonl.gz"), removed_name("-")
    ('out/kept.removed.jsonl.gz', None)
    """
    if output == "-":
        return None
    ending = len(f".{output_format(output)}") + (len(".gz") if output.lower().endswith(".gz") else 0)
    return f"{output[:-ending]}.removed{output[-ending:]}"


def require_apart(inputs: Sequence[Input], output: str, removed: str | None) -> None:
    """Refuse to write the list over the pages, or either over what they are made of."""
    taken = {os.path.realpath(name): "an input" for name in inputs if name != "-"}
    for name, what in ((output, "where the kept pages go"), (removed, "")):
        if name is None or name == "-":
            continue
        if (found := taken.setdefault(os.path.realpath(name), what)) != what:
            raise UsageError(f"{name}: is {found} already; choose another name")


_FINGERPRINTS = "fingerprints.parquet"


def _fingerprinted(
    files: list[str], folder: Path, made: PageFingerprints, tally: Tally, progress: Progress, options: dict[str, Any]
) -> FingerprintFiles:
    """Make the signatures of all pages, in a file; take those of an earlier run if they are of the same files."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}; choose a folder that is yours") from error
    written, told = folder / _FINGERPRINTS, folder / "read.json"
    state = {"made": repr(made), "files": [parallel.stamp(file, options) for file in files]}
    if written.exists() and told.exists():
        earlier = json.loads(told.read_text("utf-8"))
        if earlier["state"] == state:
            tally.merge([Tally.from_dict(earlier["tally"])])
            return FingerprintFiles((str(written),))
    written.unlink(missing_ok=True)
    with corpus.TableWriter(written, made.schema) as writer:
        for batch in fingerprint_batches(files, made, tally=tally, progress=progress, keep=folder / "files", **options):
            writer.write(batch)
        told.write_text(json.dumps({"state": state, "tally": tally.to_dict()}), "utf-8")
    return FingerprintFiles((str(written),))


def _plain_file(file: str, aside: Path) -> str:
    """Put what comes through a pipe into a file: it is read twice."""
    if file != "-" and (os.path.isfile(file) or os.path.isdir(file)):  # noqa: PTH112, PTH113 - as the user gave it
        return file
    with aside.open("wb") as copy:
        if file == "-":
            shutil.copyfileobj(sys.stdin.buffer, copy, 2**20)
        else:
            with open(file, "rb") as pipe:  # noqa: PTH123 - a path as the user gave it
                shutil.copyfileobj(pipe, copy, 2**20)
    return str(aside)


def _stamp(file: str) -> str:
    """Name the state of a file; nothing for a folder, which does not tell."""
    return parallel.stamp(file, {}) if os.path.isfile(file) else ""  # noqa: PTH113 - a path as the user gave it


def _changed(file: str) -> InputError:
    return InputError(f"{file}: changed while it was read; run again")


def _of(pages: pa.RecordBatch, name: str) -> pa.Array:
    return pages[name] if name in pages.schema.names else None
