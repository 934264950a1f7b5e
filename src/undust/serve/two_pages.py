"""Two pages side by side: their signatures, and their texts where the crawl that they are from is still there."""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from undust import corpus
from undust.corpus import Tally
from undust.detect.differences import compare_signatures
from undust.detect.fingerprints_parameters import METADATA_KEY, SignatureParameters
from undust.detect.text import extract
from undust.errors import InputError, UndustError
from undust.serve.folder import RunFolder
from undust.serve.limits import MAX_LINES, MAX_SHOWN_CHARACTERS, TEXT_BYTES, TEXT_SECONDS, TEXTS
from undust.serve.lines import side_by_side
from undust.urls.batch import normalize_many
from undust.urls.normalize import normalize

_SIGNATURES = ("simhash", "minhash", "shingles", "bag", "bag_counts", "bag_minhash", "body_xxh3", "text_xxh3")

Row = dict[str, Any]


class Pages:
    """The table of pages of a run, read where it is needed, and the texts of pages that were compared."""

    def __init__(self, folder: RunFolder) -> None:
        self._file = folder.pages
        self._near = folder.path.parent
        self._texts: OrderedDict[str, str | None] = OrderedDict()
        self._lock = threading.Lock()

    def exist(self) -> bool:
        """Tell whether there is such a table."""
        return self._file.is_file()

    def details(self, row: int) -> Row:
        """Give what the table has on a page, without signatures."""
        found = self._rows([row], _SIGNATURES)[0]
        time_of = found.get("time")
        return {**found, "time": None if time_of is None else time_of.isoformat()}

    def compare(self, first: tuple[str, int], second: tuple[str, int]) -> Row:
        """Compare two pages, given by URL and row."""
        rows = self._rows([first[1], second[1]], ())
        with pq.ParquetFile(self._file) as file:
            metadata = file.schema_arrow.metadata or {}
        parameters = SignatureParameters.from_metadata(metadata, "pages") if METADATA_KEY in metadata else None
        found: Row = {"signatures": compare_signatures(rows[0], rows[1], parameters), "text": None, "missing": None}
        texts = self._texts_of([(row["url"], row.get("source")) for row in rows], parameters)
        gone = sorted({str(row.get("source")) for row, text in zip(rows, texts, strict=True) if text is None})
        if texts[0] is None or texts[1] is None:
            found["missing"] = f"The run keeps no texts, and they were not found in {', '.join(gone)}."
        else:
            found["text"] = _lines_beside(texts[0], texts[1])
        return found

    def _rows(self, rows: Sequence[int], without: Sequence[str]) -> list[Row]:
        try:
            with pq.ParquetFile(self._file, pre_buffer=False) as file:
                names = [name for name in file.schema_arrow.names if name not in without]
                return [_row(file, row, names) for row in rows]
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{self._file.name}: cannot be read any more; start undust serve again") from error

    def _texts_of(self, wanted: list[tuple[str, Any]], parameters: SignatureParameters | None) -> list[str | None]:
        content = "main" if parameters is not None and parameters.text_model.endswith(" main") else "all"
        with self._lock:
            todo = [(url, source) for url, source in wanted if url not in self._texts and isinstance(source, str)]
            for source in dict.fromkeys(source for _, source in todo):
                self._read(source, [url for url, each in todo if each == source], content)
            found = [self._texts.get(url) for url, _ in wanted]
            while len(self._texts) > TEXTS:
                self._texts.popitem(last=False)
            return found

    def _read(self, source: str, urls: list[str], content: str) -> None:
        """Look for pages in the file that they were read from, for a while."""
        place = next((each for each in (source, str(self._near / source)) if os.path.exists(each)), None)  # noqa: PTH110
        if place is None:
            return
        until, tally = time.monotonic() + TEXT_SECONDS, Tally()
        wanted = {normalize(url): url for url in urls}
        try:
            for batch in corpus.read_one(place, tally=tally, any_status=True):
                standard = normalize_many(batch["url"]).urls.combine_chunks()
                hits = pc.is_in(standard, pa.array(list(wanted)))
                if pc.any(hits).as_py():
                    texts = extract(batch.filter(hits), content=content)["text"].to_pylist()
                    for url, text in zip(standard.filter(hits).to_pylist(), texts, strict=True):
                        self._texts[wanted[url]] = None if text is None else text[: MAX_SHOWN_CHARACTERS + 1]
                if all(self._texts.get(url) is not None for url in urls):
                    return
                if time.monotonic() > until or tally.bytes > TEXT_BYTES:
                    return
        except UndustError:
            return  # a crawl that is damaged by now: there is no text then


def _row(file: pq.ParquetFile, row: int, names: list[str]) -> Row:
    start = 0
    for group in range(file.metadata.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if start <= row < start + rows:
            return _row_of_group(file, group, row - start, names)
        start += rows
    raise InputError("pages.parquet: has fewer rows than it had; start undust serve again")


def _row_of_group(file: pq.ParquetFile, group: int, row: int, names: list[str]) -> Row:
    """Read one row without holding the rest of its group."""
    for batch in file.iter_batches(4096, row_groups=[group], columns=names, use_threads=False):
        if row < batch.num_rows:
            return dict(batch.slice(row, 1).to_pylist()[0])
        row -= batch.num_rows
    raise InputError("pages.parquet: a row is missing; run undust run again")


def _lines_beside(first: str, second: str) -> Row:
    sides = _lines(first), _lines(second)
    matcher = SequenceMatcher(None, sides[0], sides[1], autojunk=len(sides[1]) > 200)
    return {
        "rows": side_by_side(sides[0], sides[1], matcher.get_opcodes()),
        "similarity": round(matcher.ratio(), 4),
        "lines": [len(side) for side in sides],
        "cut": any(len(text) > MAX_SHOWN_CHARACTERS for text in (first, second))
        or any(len(side) == MAX_LINES for side in sides),
    }


def _lines(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text[:MAX_SHOWN_CHARACTERS].splitlines())
    return [line for line in lines if line][:MAX_LINES]
