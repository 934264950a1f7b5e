"""Which pages are related to a page, from an index beside the file of pages, which is made when there is none."""

import dataclasses
import mmap
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from undust.detect.related import MAGIC, RelatedIndex, RelatedPage, pack_index
from undust.errors import InputError

if TYPE_CHECKING:
    from undust.detect.topical import Topical

Input = str | os.PathLike[str]
Tell = Callable[[str], None]

_END_BYTES = 1 << 20  # of the file of pages, by which a change is noticed: the footer of Parquet


def related(
    pages: Input,
    url: str,
    n: int = 10,
    *,
    below: float | None = None,
    bags: str = "content",
    threshold: float = 0.2,
    index: Input | None = None,
    memory: str | int | None = None,
) -> list[RelatedPage]:
    """Give the `n` pages most related to a page of a file, with their similarity.

    The first question makes the index, `pages` with the ending `.content.related` or `.anchors.related`; so does one
    after the file changed. `below` leaves out pages that are more similar, such as near duplicates. To ask often, open
    the index once: `open_related`.
    """
    found = open_related(pages, bags=bags, threshold=threshold, index=index, memory=memory)
    return found.related(url, n, below=below)


def open_related(
    pages: Input,
    *,
    bags: str = "content",
    threshold: float = 0.2,
    uncrawled: bool = False,
    index: Input | None = None,
    memory: str | int | None = None,
    jobs: int | None = None,
    tell: Tell = lambda message: None,
) -> RelatedIndex:
    """Open the index of a file of pages; make it if it is missing, of another state of the file, or made otherwise.

    `tell` is told why, before that takes its time.
    """
    source = os.fspath(pages)
    place = Path(index) if index is not None else Path(f"{source}.{bags}.related")
    about = {"pages": _stamp(source), "bags": bags, "threshold": threshold, "uncrawled": uncrawled}
    found, why = _existing(place, about)
    if found is None:
        tell(f"{place}: {why}; making it …")
        _make(source, place, about, memory, jobs)
        found, why = _existing(place, about)
    if found is None:
        raise InputError(f"{place}: {why}: another run made it meanwhile; ask again, or give another --index")
    return found


def _stamp(path: str) -> dict[str, Any]:
    """Tell what a file is like now: another size, time or end is another file."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path as the user gave it
            state = os.fstat(file.fileno())
            file.seek(max(state.st_size - _END_BYTES, 0))
            end = xxhash.xxh3_128_hexdigest(file.read(_END_BYTES))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {why}; give a file that undust fingerprint wrote") from error
    return {"bytes": state.st_size, "time": state.st_mtime_ns, "end": end}


def _existing(place: Path, about: dict[str, Any]) -> tuple[RelatedIndex | None, str]:
    """Open an index that fits, or say why there is none. A file that is no index is an error: it is not ours."""
    try:
        with place.open("rb") as file:
            if os.fstat(file.fileno()).st_size < len(MAGIC):
                raise InputError(f"{place}: no index of related pages; give another name")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        return None, "no index yet"
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror}; give another name with --index") from error
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise InputError(f"{place}: no index of related pages; give another name")
    try:
        found = RelatedIndex(data, str(place))
    except InputError:
        return None, "the index is damaged"
    if found.about.get("pages") != about["pages"]:
        return None, "the pages have changed since the index was made"
    return (found, "") if found.about == about else (None, "the index was made with other options")


def _make(source: str, place: Path, about: dict[str, Any], memory: str | int | None, jobs: int | None) -> None:
    from undust import corpus, pipeline
    from undust.asides import scratch_folder
    from undust.detect.pages import PageFingerprints
    from undust.outputs import write_whole
    from undust.topical_clustering import find_related

    topical = _topical(about)
    tally = corpus.Tally()
    with scratch_folder() as folder:
        made = PageFingerprints(links=topical.bags == "anchors")
        fingerprints = pipeline.open_fingerprints([source], folder, tally=tally, made=made, jobs=jobs)
        pipeline.require_pages(tally, [source])
        with find_related(fingerprints, topical, memory=memory) as found:
            write_whole(place, pack_index(found, about))


def _topical(about: dict[str, Any]) -> "Topical":
    from undust.detect.topical import Topical

    names = [field.name for field in dataclasses.fields(Topical)]
    return Topical(**{name: value for name, value in about.items() if name in names})
