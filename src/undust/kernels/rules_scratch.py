"""The memory that kernels of rules work on, and how they are told where it is.

A kernel that is called for one URL must not be handed forty arrays: telling Numba of each takes longer than the work.
So it gets one address, of a table with the addresses and lengths of all of them. Whoever makes the table keeps the
arrays alive (`undust.rules.work`).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from undust.kernels.compiling import part
from undust.kernels.rules_bytes import SLACK
from undust.settings import MAX_ARGUMENTS, MAX_URL_BYTES

BLOCK = 64
"""Rows whose sites are looked up together, so that one is read while the memory of others is on its way."""

Bytes = npt.NDArray[np.uint8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]


class FlatRules(NamedTuple):
    """What kernels read: the words of all sites, the same as bytes, and tables of sites and of public suffixes."""

    words: Int32s
    texts: Bytes
    sites: Int64s
    suffixes: Int64s
    suffix_texts: Bytes
    checked: Bytes
    """Of each slot of the table of sites: whether the words it leads to were proved to be whole."""


class Column(NamedTuple):
    """A column of URLs in standard form, and what becomes of it."""

    data: Bytes
    offsets: Int32s
    fetch: Bytes
    """URLs to fetch; no room at all if they are not wanted."""
    fetch_offsets: Int32s
    keys: Bytes
    """Keys; no room at all if they are not wanted."""
    key_offsets: Int32s
    places: Int32s
    """Of the rules that decided, -1 for none."""
    status: Bytes


class Scratch(NamedTuple):
    """What kernels write, again for every URL. The names of columns are in the modules that use them."""

    hosts: Int64s
    """Of each row of a block: spans of its authority (`rules_hosts`)."""
    hashes: Hashes
    """The same of hashes, and one row more for a URL to fetch."""
    odd: Int64s
    """The same: whether the host is for the scalar functions."""
    starts: Int64s
    parents: Hashes
    host: Int64s
    """Of the URL at hand: spans of its authority, and what was counted (`rules_split`)."""
    url: Int64s
    segments: Int32s
    params: Int32s
    arguments: Int32s
    labels: Int32s
    counts: Int64s
    """Of each name in the rules: turn, and how often it occurred in it."""
    slots: Int64s
    """Of each key in the rules: turn, and the span of the value that it had in it."""
    lists: Int32s
    """Lists of groups that may hold, because the key is there that they are tied to."""
    made: Int64s
    """Segments or arguments to write: which, and the operation on it."""
    values: Bytes
    results: Int64s
    """Of each operation: span in `values` to fetch, and in the key."""
    given: Bytes
    fetch: Bytes
    key: Bytes
    again: Bytes
    key_again: Bytes


def make_scratch(keys: int, names: int, operations: int) -> Scratch:
    """Make the memory for rules with at most so many keys and names a site and operations a rule."""
    pieces = MAX_URL_BYTES + 2
    room = 4 * MAX_URL_BYTES + 16 + SLACK
    return Scratch(
        hosts=np.empty((BLOCK, 9), np.int64),
        hashes=np.empty((BLOCK + 1, 2), np.uint64),
        odd=np.empty(BLOCK, np.int64),
        starts=np.empty(12, np.int64),
        parents=np.empty(12, np.uint64),
        host=np.empty(9, np.int64),
        url=np.zeros(11, np.int64),
        segments=np.empty((pieces, 4), np.int32),
        params=np.empty((MAX_ARGUMENTS + 2, 7), np.int32),
        arguments=np.empty((MAX_ARGUMENTS + 2, 7), np.int32),
        labels=np.empty((pieces, 2), np.int32),
        counts=np.zeros((names + 1, 2), np.int64),
        slots=np.zeros((keys + 1, 3), np.int64),
        lists=np.empty(2 * MAX_ARGUMENTS + 2, np.int32),
        made=np.empty((pieces + operations, 2), np.int64),
        values=np.empty(room, np.uint8),
        results=np.empty((operations + 1, 4), np.int64),
        given=np.empty(MAX_URL_BYTES + SLACK, np.uint8),
        fetch=np.empty(room, np.uint8),
        key=np.empty(room, np.uint8),
        again=np.empty(room, np.uint8),
        key_again=np.empty(room, np.uint8),
    )


RULES_AT, COLUMN_AT = 0, 2 * len(FlatRules._fields)
SCRATCH_AT = COLUMN_AT + 2 * len(Column._fields)
TABLE_SIZE = SCRATCH_AT + 2 * len(Scratch._fields)


def enter(table: Int64s, at: int, arrays: tuple[npt.NDArray[Any], ...]) -> None:
    """Enter addresses and lengths of arrays into a table."""
    for array in arrays:
        table[at], table[at + 1] = array.ctypes.data, len(array)
        at += 2


def _array_at(kind: Any, columns: int = 0) -> Any:
    """Make a function for kernels: the array, of a kind and with so many columns, whose address is in a table."""
    array = types.Array(kind, 2 if columns else 1, "C")

    @intrinsic
    def at(typing: Any, table: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            address, length = (
                builder.load(builder.gep(pointer, [builder.add(arguments[1], ir.IntType(64)(k))])) for k in (0, 1)
            )
            return _make_array(context, builder, array, address, length, columns)

        return array(table, types.int64), generate

    return at


def _make_array(context: Any, builder: Any, array: Any, address: Any, length: Any, columns: int) -> Any:
    made = context.make_array(array)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(array.dtype))
    shape = [length, ir.IntType(64)(columns)] if columns else [length]
    strides = [size * columns, size] if columns else [size]
    populate_array(
        made,
        data=builder.inttoptr(address, context.get_data_type(array.dtype).as_pointer()),
        shape=shape,
        strides=[ir.IntType(64)(stride) for stride in strides],
        itemsize=ir.IntType(64)(size),
        meminfo=None,
    )
    return made._getvalue()


@intrinsic
def table_at(typing: Any, address: Any) -> Any:
    """The table whose address a kernel is given."""
    array = types.Array(types.int64, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _make_array(context, builder, array, arguments[0], ir.IntType(64)(TABLE_SIZE), 0)

    return array(types.int64), generate


_bytes, _int32s, _int64s, _hashes = map(_array_at, (types.uint8, types.int32, types.int64, types.uint64))
_int32s_2, _int32s_4, _int32s_7 = (_array_at(types.int32, columns) for columns in (2, 4, 7))
_int64s_2, _int64s_3, _int64s_4, _int64s_9 = (_array_at(types.int64, columns) for columns in (2, 3, 4, 9))
_hashes_2 = _array_at(types.uint64, 2)


@part
def rules_at(t: Any) -> Any:
    """The rules that a table tells of."""
    return FlatRules(_int32s(t, 0), _bytes(t, 2), _int64s_2(t, 4), _int64s_2(t, 6), _bytes(t, 8), _bytes(t, 10))


@part
def column_at(t: Any) -> Any:
    """The column that a table tells of."""
    at = COLUMN_AT
    return Column(
        _bytes(t, at), _int32s(t, at + 2), _bytes(t, at + 4), _int32s(t, at + 6), _bytes(t, at + 8),
        _int32s(t, at + 10), _int32s(t, at + 12), _bytes(t, at + 14),
    )  # fmt: skip


@part
def scratch_at(t: Any) -> Any:
    """The scratch memory that a table tells of."""
    at = SCRATCH_AT
    return Scratch(
        _int64s_9(t, at), _hashes_2(t, at + 2), _int64s(t, at + 4), _int64s(t, at + 6), _hashes(t, at + 8),
        _int64s(t, at + 10), _int64s(t, at + 12), _int32s_4(t, at + 14), _int32s_7(t, at + 16), _int32s_7(t, at + 18),
        _int32s_2(t, at + 20), _int64s_2(t, at + 22), _int64s_3(t, at + 24), _int32s(t, at + 26), _int64s_2(t, at + 28),
        _bytes(t, at + 30), _int64s_4(t, at + 32), _bytes(t, at + 34), _bytes(t, at + 36), _bytes(t, at + 38),
        _bytes(t, at + 40), _bytes(t, at + 42),
    )  # fmt: skip
