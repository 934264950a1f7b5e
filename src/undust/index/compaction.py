"""Writing an index anew, as its next generation, without the rows that are gone."""

from collections.abc import Iterator

import numpy as np

from undust.errors import InputError
from undust.index.log import read_records, removed_units
from undust.index.manifest import Manifest
from undust.index.store import Store
from undust.index.writer import Writer, delete_strangers
from undust.kernels.index_pages import replay
from undust.kernels.index_runs import copy_living


def compact(writer: Writer) -> Store:
    """Copy all rows that still count, in their order, and give the store of the new generation.

    The old one is what counts until the new one is complete; then its files are deleted.
    """
    writer.finish()
    old = writer.store
    before = old.manifest
    manifest = Manifest(old.design, generation=before.generation + 1, next_run=before.next_run, modes=before.modes)
    new = Store(old.folder, manifest, buffer_pages=old.buffer_pages, writable=True)
    builder = Writer(new, published=False)
    try:
        _copy_rows(old, builder)
        builder.finish()
        builder.published = True
        builder.publish(new.manifest.runs)
    except BaseException:
        builder.stop()
        new.close()
        raise
    builder.stop()
    old.close()
    delete_strangers(new.folder, new.manifest)
    return new


def _copy_rows(old: Store, builder: Writer) -> None:
    most = builder.chunk_pages
    removed = np.empty(most, dtype=np.uint32)
    founders = np.empty((most, 2), dtype=np.uint32)  # their old and new numbers, for the duplicates to come
    counts = np.zeros(4, dtype=np.int64)
    new = builder.store
    for at, end in _row_ranges(old):
        while at < end:
            if counts[1] + most > len(founders):
                founders = np.concatenate([founders, np.empty_like(founders)])
            builder.make_room(most, 1 + end - at + removed_units(most))
            builder.begin(end - at)
            first = int(new.pending[1])
            counts[0] = counts[2] = counts[3] = 0
            at = copy_living(
                old.plan, old.tables(), old.rows(), at, end, first, builder.rows, founders[: counts[1] + most], counts,
                removed, new.totals,
            )  # fmt: skip
            old.require_whole()
            if at < 0:
                raise InputError(f"{old.folder}: damaged; bring the folder back from a copy")
            new.pending[2] = counts[0]
            again = removed[: counts[2]]
            replay(new.plan, new.tables(), new.rows(), first, first + int(counts[0]), again)
            new.require_whole()
            builder.commit(int(counts[3]), again)


def _row_ranges(store: Store) -> Iterator[tuple[int, int]]:
    """Give the numbers of rows from one to before the other, record by record."""
    sequence = 0
    for segment in store.segments:
        for record in read_records(segment, 0, salt=store.design.salt, sequence=sequence):
            sequence += 1
            yield record.first, record.end
