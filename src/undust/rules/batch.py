"""Applies rules to columns of URLs, on all cores, without a Python object for each URL."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from undust.kernels.rules import PUNT
from undust.kernels.rules_scratch import Bytes, Int32s
from undust.rules.apply import Applied
from undust.rules.flat_tables import Compiled
from undust.rules.work import Work
from undust.urls.batch import buffers, normalize_many, slices

Places = npt.NDArray[np.int32]
Decide = Callable[[str], tuple[Applied, int]]
"""Decide one URL in standard form: what becomes of it, and the place of the rule, -1 for none."""


class Applications(NamedTuple):
    """What rules make of a column: URLs to fetch and keys as far as they were wanted, and the rules that decided."""

    urls: pa.Array | None
    keys: pa.Array | None
    rules: Places


def apply_rules(
    compiled: Compiled, decide: Decide, urls: Any, *, fetch: bool, key: bool, standard: bool, threads: int | None = None
) -> Applications:
    """Apply rules to a column of URLs, in standard form already if `standard`; null where a URL is unusable.

    What kernels leave, `decide` settles.
    """
    pieces = list(slices(urls))

    own = threading.local()  # each thread works in memory of its own

    def work(piece: pa.StringArray) -> Applications:
        if not hasattr(own, "work"):
            own.work = Work(compiled)
        normal = piece if standard else normalize_many(piece).urls.combine_chunks()
        return _apply_slice(own.work, decide, normal, fetch=fetch, key=key)

    cores = min(threads or os.cpu_count() or 1, len(pieces))
    if cores > 1:
        with ThreadPoolExecutor(cores) as pool:
            made = list(pool.map(work, pieces))
    else:
        made = [work(piece) for piece in pieces]
    return Applications(
        _concat([each.urls for each in made]) if fetch else None,
        _concat([each.keys for each in made]) if key else None,
        np.concatenate([each.rules for each in made]) if made else np.empty(0, np.int32),
    )


def _concat(pieces: list[Any]) -> pa.Array:
    if not pieces:
        return pa.array([], pa.string())
    if sum(piece.nbytes for piece in pieces) >= 2**31:
        pieces = [piece.cast(pa.large_string()) for piece in pieces]
    return pa.concat_arrays(pieces)


def _apply_slice(work: Work, decide: Decide, urls: pa.StringArray, *, fetch: bool, key: bool) -> Applications:
    made = work.apply(*buffers(urls), fetch=fetch, keys=key)
    columns = [
        _strings(made.fetch, made.fetch_offsets, urls) if fetch else None,
        _strings(made.keys, made.key_offsets, urls) if key else None,
    ]
    punted = (made.status == PUNT) & urls.is_valid().to_numpy(zero_copy_only=False)
    if punted.any():
        places = np.flatnonzero(punted)
        answers = [decide(url) for url in urls.take(pa.array(places)).to_pylist()]
        made.places[places] = [place for _, place in answers]
        for which, column in enumerate(columns):
            if column is not None:
                mended = pa.array([applied[which] for applied, _ in answers], pa.string())
                columns[which] = pc.replace_with_mask(column, pa.array(punted), mended)
    return Applications(columns[0], columns[1], made.places)


def _strings(data: Bytes, offsets: Int32s, like: pa.StringArray) -> pa.StringArray:
    """Give what a kernel wrote as a column, null where another one is."""
    valid = None
    if like.null_count:
        valid = pa.py_buffer(np.packbits(like.is_valid().to_numpy(zero_copy_only=False), bitorder="little"))
    return pa.StringArray.from_buffers(len(like), pa.py_buffer(offsets), pa.py_buffer(data[: offsets[-1]]), valid)
