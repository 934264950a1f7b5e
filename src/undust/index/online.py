"""The online index: `Index(path)`, to which pages are added, and which tells what they are duplicates of."""

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from undust.detect.pages import PageFingerprints
from undust.detect.text import CONTENTS
from undust.errors import InputError, UsageError
from undust.index.answers import ANSWERS, Answer, AnswerArrays, first_answer
from undust.index.design import Design
from undust.index.incoming import Pages, incoming, require_fingerprints, url_arrays
from undust.index.scalar import one_page, page_fingerprints
from undust.index.session import Session
from undust.kernels.index_pages import answer_pages, find_pages
from undust.kernels.index_rows import NONE
from undust.kernels.index_tables import list_followers

BUFFER_PAGES = 32_768
"""Pages whose keys are kept in memory until they are written as a run: about 1 kB each."""

Strings: TypeAlias = pa.Array | pa.ChunkedArray | Iterable[str]


class Index:
    """Pages by URL, with what it takes to tell duplicates: files in a folder, larger than memory.

    One process writes at a time, any number read. What a call has returned for outlives a crash of the process and,
    unless `sync` is off, of the machine. Readers see the state as it was when they opened it, or last did `refresh`.
    Settings are those of a new index; of one that exists, they are checked if given. docs/online-index.md says more.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        methods: Iterable[str] | None = None,
        threshold: float | None = None,
        distance: int | None = None,
        max_sentences: int | None = None,
        verify: str | None = None,
        modes: npt.NDArray[np.uint64] | None = None,
        content: str | None = None,
        read_only: bool = False,
        sync: bool = True,
        buffer_pages: int = BUFFER_PAGES,
    ) -> None:
        if buffer_pages < 1:
            raise UsageError(f"buffer_pages is {buffer_pages}; use at least 1")
        if content not in (None, *CONTENTS):
            raise UsageError(f"unknown content {content!r}; one of {', '.join(CONTENTS)}")
        wanted = {
            "methods": None if methods is None else (methods,) if isinstance(methods, str) else tuple(methods),
            "threshold": threshold,
            "distance": distance,
            "max_sentences": max_sentences,
            "verify": verify,
        }
        self._content = content
        self._guard = threading.RLock()
        self._session = Session(Path(path), wanted, modes, read_only=read_only, sync=sync, buffer_pages=buffer_pages)
        self._maker: tuple[Design, PageFingerprints] | None = None

    def add(self, url: str, html: bytes | str | None = None, *, text: str | None = None) -> Answer:
        """Add a page, of its HTML or its text, and tell what it is a duplicate of."""
        with self._guard:
            self._session.require_writer()
            return first_answer(self.add_many(self._fingerprint(url, html, text)))

    def query(self, url: str, html: bytes | str | None = None, *, text: str | None = None) -> Answer:
        """Tell what `add` would, and change nothing."""
        with self._guard:
            return first_answer(self.query_many(self._fingerprint(url, html, text)))

    def add_many(self, fingerprints: pa.Table | pa.RecordBatch) -> pa.Table:
        """Add pages by their fingerprints, one after the other, and tell what each is a duplicate of.

        A table in the order of the pages: `url`, `duplicate_of` (null: of none), `method`, `similarity`, and `known`:
        the index had this page already, and it still belongs where it was.
        """
        with self._guard:
            session = self._session
            session.settle(require_fingerprints(fingerprints))
            chunk_pages = session.require_writer().chunk_pages

            def added(pages: Pages) -> AnswerArrays:
                return session.change(lambda writer: writer.add(pages, session.store.design.threshold))

            store = session.store
            found = incoming(fingerprints, store.design, session.modes, store.plan, chunk_pages)
            return self._told(fingerprints["url"], (added(pages) for pages in found))

    def query_many(self, fingerprints: pa.Table | pa.RecordBatch) -> pa.Table:
        """Tell what `add_many` would of each page alone, and change nothing."""
        with self._guard:
            store = self._session.store
            design = store.design.settled(require_fingerprints(fingerprints))
            if not store.design.is_settled:
                return self._told(fingerprints["url"], [AnswerArrays(len(fingerprints))])
            nothing = (np.empty(0, np.uint32), np.empty(0, np.uint32), np.zeros(2, np.int64), np.zeros(2, np.int64))

            def answered(pages: Pages) -> AnswerArrays:
                answers = AnswerArrays(len(pages))
                answer_pages(
                    store.plan, store.tables(), store.rows(), pages.arrays, store.scratch, store.methods,
                    design.threshold, nothing, answers.arrays(), False,
                )  # fmt: skip
                store.require_whole()
                return answers

            found = incoming(fingerprints, design, self._session.modes, store.plan)
            return self._told(fingerprints["url"], (answered(pages) for pages in found))

    def get(self, url: str) -> Answer | None:
        """Tell what the index knows of a URL: the page it is a duplicate of, or that it is kept; None if nothing."""
        found = self.get_many([url])
        return first_answer(found) if found["known"][0].as_py() else None

    def get_many(self, urls: Strings) -> pa.Table:
        """Tell the same of many, as a table of answers; those that the index does not know are not `known`."""
        with self._guard:
            column = _strings(urls)
            return self._told(column, [self._find(column)])

    def duplicates(self, url: str) -> list[str]:
        """List the duplicates of a page that is kept, the oldest first."""
        with self._guard:
            store = self._session.store
            found = self._find(_strings([url]))
            if found.owns[0] == NONE or found.names[0] != NONE:
                return []
            numbers = np.empty(64, dtype=np.uint32)
            while True:
                count = list_followers(store.plan, store.tables(), store.rows(), int(found.owns[0]), numbers)
                store.require_whole()
                if count <= len(numbers):
                    break
                numbers = np.empty(count, dtype=np.uint32)
            urls: list[str] = store.urls(numbers[:count]).to_pylist()
            return [one for one in urls if one != url]

    def remove(self, url: str) -> bool:
        """Remove a page; False if it was not there."""
        return bool(self.remove_many([url])[0].as_py())

    def remove_many(self, urls: Strings) -> pa.Array:
        """Remove pages by URL, and tell which of them were there.

        A page that others are duplicates of leaves its content behind for them; the oldest of them gives the name.
        """
        with self._guard:
            chunk_pages = self._session.require_writer().chunk_pages
            data, offsets = url_arrays(_strings(urls))

            def removed(start: int) -> npt.NDArray[np.bool_]:
                some = offsets[start : start + chunk_pages + 1].copy()
                return self._session.change(lambda writer: writer.remove(data, some))

            found = [removed(start) for start in range(0, len(offsets) - 1, chunk_pages)]
            return pa.array(np.concatenate([np.empty(0, dtype=np.bool_), *found]))

    def refresh(self) -> bool:
        """Let a reader see what was written since it was opened; True if that was something."""
        with self._guard:
            return self._session.refresh()

    def compact(self) -> None:
        """Write the files anew without what was removed or replaced. It takes time, and room for both."""
        with self._guard:
            self._session.compact()

    def check(self) -> None:
        """Read all files and compare all checksums; `InputError` for the first that is damaged."""
        with self._guard:
            self._session.check()

    def stats(self) -> dict[str, int]:
        """Count pages, those that are kept and the duplicates; the bytes of rows and tables, and the runs of these."""
        with self._guard:
            store = self._session.store
            pages, kept = store.totals.tolist()
            return {
                "pages": pages,
                "kept": kept,
                "duplicates": pages - kept,
                "row_bytes": sum(store.manifest.segments[:-1]) + store.end,
                "table_bytes": sum(run.file.size for run in store.runs),
                "runs": len(store.runs),
            }

    def __len__(self) -> int:
        return self.stats()["pages"]

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self.get(url) is not None

    def close(self) -> None:
        """Write what is in memory, and let others write. Nothing is lost without it; opening is faster with it."""
        with self._guard:
            self._session.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _fingerprint(self, url: str, html: bytes | str | None, text: str | None) -> pa.RecordBatch:
        design = self._session.store.design
        if self._maker is None or self._maker[0] != design:
            self._maker = design, page_fingerprints(design, self._content)
        return self._maker[1].of(one_page(url, html, text))

    def _find(self, urls: pa.Array) -> AnswerArrays:
        store = self._session.store
        data, offsets = url_arrays(urls)
        found = AnswerArrays(len(urls))
        if store.design.is_settled:
            find_pages(store.plan, store.tables(), store.rows(), data, offsets, found.arrays())
        store.require_whole()
        return found

    def _told(self, urls: pa.Array | pa.ChunkedArray, answers: Iterable[AnswerArrays]) -> pa.Table:
        """Put answers for pages, in order, beside their URLs."""
        tables, at = [ANSWERS.empty_table()], 0
        for some in answers:
            count = len(some.owns)
            tables.append(some.table(urls.slice(at, count), self._session.store.urls(some.names)))
            at += count
        return pa.concat_tables(tables)


def _strings(urls: Strings) -> pa.Array:
    if isinstance(urls, pa.ChunkedArray):
        return urls.combine_chunks()
    if isinstance(urls, pa.Array):
        return urls
    try:
        return pa.array(list(urls), pa.string())
    except (pa.ArrowException, TypeError, UnicodeEncodeError) as error:
        raise InputError(f"a URL that is no text ({error}); give each as a str") from error
