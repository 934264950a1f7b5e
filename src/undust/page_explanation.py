"""Why two pages are duplicates or not: their words, sentences and signatures, found in crawls and fingerprints."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from undust import corpus
from undust.corpus import Tally
from undust.detect.differences import Difference, compare_signatures, difference, sentences_of, words_of
from undust.detect.fingerprints_parameters import METADATA_KEY, SignatureParameters
from undust.detect.pages import PageFingerprints
from undust.detect.text import extract
from undust.errors import InputError, UsageError
from undust.tables import latest
from undust.urls.batch import normalize_many
from undust.urls.normalize import normalize

Input = str | os.PathLike[str]

MAX_LISTED = 20
"""Words, and sentences, that are listed: of those in both pages, and in one only."""

_MAX_SHOWN = 160


@dataclass(frozen=True, slots=True)
class PageExplanation:
    """What is known of two pages, and what would have to be known to say more."""

    urls: tuple[str, str]
    signatures: dict[str, Any]
    words: Difference | None
    sentences: Difference | None
    missing: list[str]

    def to_dict(self, most: int = MAX_LISTED) -> dict[str, Any]:
        """Give all of it; `most` words and sentences of each page that the other has not."""
        return {
            "urls": list(self.urls),
            "signatures": self.signatures,
            "words": None if self.words is None else self.words.to_dict(most),
            "sentences": None if self.sentences is None else self.sentences.to_dict(most),
            "missing": self.missing,
        }

    def to_text(self, most: int = MAX_LISTED) -> str:
        """Write it for people."""
        lines = [f"A  {self.urls[0]}", f"B  {self.urls[1]}", *_told(self.signatures)]
        for name, found in (("words", self.words), ("sentences", self.sentences)):
            if found is None:
                continue
            lines.append(f"{name}: {found.first:,} in A, {found.second:,} in B, {found.shared:,} of them shared")
            for where, items in (("in both", found.both), ("only A", found.only_first), ("only B", found.only_second)):
                lines += _listed(where, name, items, most)
        return "\n".join([*lines, *(f"not known: {what}" for what in self.missing)])


def _told(found: dict[str, Any]) -> Iterator[str]:
    for name in ("body", "digest", "text", "title", "language", "canonical"):
        if f"same_{name}" in found:
            yield f"{name}: {'the same' if found[f'same_{name}'] else 'differs'}"
    if "length" in found:
        yield "length: {:,} and {:,} bytes".format(*found["length"])
    if "simhash_distance" in found:
        yield f"simhash: {found['simhash_distance']} of {found['simhash_bits']} bits differ"
    if "shingle_similarity" in found:
        yield f"shingles: {found['shingle_similarity']:.4f} similar, min-hash says {found['minhash_agreement']:.4f}"
    if "bag_similarity" in found:
        yield f"bags: {found['bag_similarity']:.4f} similar, min-hash says {found['bag_minhash_agreement']:.4f}"
    for name, words in found.get("keywords", {}).items():
        where = {"shared": "in both", "only_first": "only in A", "only_second": "only in B"}[name]
        yield f"top keywords {where}: {', '.join(words) or 'none'}"
    for method, said in found["duplicates"].items():
        yield f"by {method}: {'duplicates' if said else 'no duplicates'}"


def _listed(where: str, name: str, items: list[tuple[str, int]], most: int) -> Iterator[str]:
    short = [(text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…", count) for text, count in items[:most]]
    shown = [f"{text} ×{count}" if count > 1 else text for text, count in short]
    rest = [f"and {len(items) - most:,} more"] if len(items) > most else []
    if items and name == "words":
        yield f"  {where}: {', '.join([*shown, *rest])}"
    elif items:
        yield from (f"  {where}: {text}" for text in [*shown, *rest])


@dataclass(slots=True)
class _Found:
    """What inputs have on one page."""

    url: str
    normal: str
    rows: list[pa.Table] = field(default_factory=list)  # of fingerprints
    pages: list[pa.Table] = field(default_factory=list)

    def row(self) -> pa.Table | None:
        return self._latest(self.rows)

    def page(self) -> pa.Table | None:
        return self._latest(self.pages)

    def _latest(self, tables: list[pa.Table]) -> pa.Table | None:
        """Give the latest capture; one whose URL is spelled as it was asked for, before others of the same form."""
        if not tables:
            return None
        all_of_it = latest(pa.concat_tables(tables, promote_options="default"))
        exact = all_of_it.filter(pc.equal(all_of_it["url"], self.url))
        return (exact if len(exact) else all_of_it).slice(0, 1)


def explain_pages(
    inputs: Sequence[Input], first: str, second: str, *, any_status: bool = False, base_url: str | None = None
) -> PageExplanation:
    """Compare two pages of crawls, which have the texts, or of tables of fingerprints, which have the signatures.

    With both, signatures are as the table has them. URLs are compared in their standard form.
    """
    wanted = (_Found(first, normalize(first)), _Found(second, normalize(second)))
    if wanted[0].normal == wanted[1].normal:
        raise UsageError(f"both URLs are {wanted[0].normal} in their standard form; give two pages")
    files = corpus.list_inputs(inputs)
    for file in files:
        ready = corpus.is_fingerprints(file)
        pages = _stored(file, wanted) if ready else _pages(file, wanted, any_status, base_url)
        for one, rows in pages:
            (one.rows if ready else one.pages).append(rows)
    for one in wanted:
        if not one.rows and not one.pages:
            raise InputError(f"{', '.join(files)}: no page {one.url[:200]!r}; give the URL of one of its pages")
    return _explained(*wanted)


def _explained(one: _Found, other: _Found) -> PageExplanation:
    rows, parameters = _signatures(one, other)
    missing: list[str] = []
    if parameters is None:
        missing.append("signatures of the text: the fingerprints were made with --exact-only; make them without")
    elif not all(row.get("words") for row in rows):
        missing.append("signatures of the text: a page has no words, or is known by a digest only")
    texts = [_text(found, parameters) for found in (one, other)]
    words = sentences = None
    if texts[0] is None or texts[1] is None:
        missing.append(_without_text([found for found, text in zip((one, other), texts, strict=True) if text is None]))
    else:
        words = difference(words_of(texts[0][0]), words_of(texts[1][0]))
        sentences = difference(sentences_of(*texts[0]), sentences_of(*texts[1]), by_count=False)
    urls = str(rows[0]["url"]), str(rows[1]["url"])
    return PageExplanation(urls, compare_signatures(rows[0], rows[1], parameters), words, sentences, missing)


def _signatures(one: _Found, other: _Found) -> tuple[list[dict[str, Any]], SignatureParameters | None]:
    """Take the fingerprints of two pages from tables, or make them the same way, and say how they were made."""
    stored = [found.row() for found in (one, other)]
    known = [_parameters(table) for table in stored if table is not None]
    if len(known) == 2 and known[0] is not None and known[1] is not None:
        known[0].require_same(known[1], one.url, other.url)
    parameters = known[0] if known and None not in known else None
    model = PageFingerprints(_content(parameters), bool(known) and not parameters, parameters or SignatureParameters())
    rows: list[dict[str, Any]] = []
    for table, found in zip(stored, (one, other), strict=True):
        if table is None and (page := found.page()) is not None:
            table = pa.Table.from_batches([model.of(batch) for batch in page.to_batches()], model.schema)
        rows += [] if table is None else table.to_pylist()
    return rows, parameters if known else model.signature_parameters


def _parameters(table: pa.Table) -> SignatureParameters | None:
    if METADATA_KEY not in (table.schema.metadata or {}):
        return None
    return SignatureParameters.from_metadata(table.schema.metadata, "fingerprints")


def _content(parameters: SignatureParameters | None) -> str:
    return "main" if parameters is not None and parameters.text_model.endswith(" main") else "all"


def _text(found: _Found, parameters: SignatureParameters | None) -> tuple[str, str | None] | None:
    """Give the text of a page and its language, the same part of it that the signatures are of."""
    page = found.page()
    if page is None:
        return None
    texts = extract(page, content=_content(parameters))
    text, language = texts["text"][0].as_py(), texts["language"][0].as_py()
    return None if text is None else (text, language)


def _without_text(found: list[_Found]) -> str:
    sources = {str(row["source"][0].as_py()) for one in found if (row := one.row()) is not None}
    if not sources:
        return "words and sentences: a page has no text; give files with its body"
    return (
        "words and sentences: fingerprints hold no text; add --pages"
        f" {' --pages '.join(sorted(sources))} (what they were made of)"
    )


def _pages(
    file: str, wanted: Sequence[_Found], any_status: bool, base_url: str | None
) -> Iterator[tuple[_Found, pa.Table]]:
    for batch in corpus.read_one(file, tally=Tally(), any_status=any_status, base_url=base_url):
        yield from _matching(pa.Table.from_batches([batch]), wanted)


def _stored(file: str, wanted: Sequence[_Found]) -> Iterator[tuple[_Found, pa.Table]]:
    """Read a table of fingerprints a row group at a time; all columns only where it has one of the URLs."""
    try:
        with pq.ParquetFile(file) as opened:
            for group in range(opened.metadata.num_row_groups):
                if any(_matching(opened.read_row_group(group, columns=["url"]), wanted)):
                    yield from _matching(opened.read_row_group(group), wanted)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = " ".join(str(error).split())[:160]
        raise InputError(f"{file}: no whole Parquet table of fingerprints ({why}); write it again") from error


def _matching(table: pa.Table, wanted: Sequence[_Found]) -> Iterator[tuple[_Found, pa.Table]]:
    normal = normalize_many(table["url"]).urls
    for one in wanted:
        rows = table.filter(pc.equal(normal, one.normal))
        if len(rows):
            yield one, rows
