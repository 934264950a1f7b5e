"""Columns go out as the kind they came in: list, NumPy, Arrow, pandas, Polars."""

from typing import Any

import numpy as np
import pyarrow as pa


def like(given: Any, made: pa.Array) -> Any:
    """Give an Arrow column as the kind that another column is of; Arrow, if that kind is unknown.

    >>> like(("http://a.test",), pa.array(["http://a.test/"]))
    ['http://a.test/']
    """
    if isinstance(given, pa.ChunkedArray):
        return pa.chunked_array([made])
    if isinstance(given, list | tuple):
        return made.to_pylist()
    if isinstance(given, np.ndarray):
        return made.to_numpy(zero_copy_only=False)
    library = type(given).__module__.partition(".")[0]
    if library == "pandas":
        return _pandas(given, made)
    if library == "polars":
        import polars

        return polars.Series(given.name, made)
    return made


def _pandas(given: Any, made: pa.Array) -> Any:
    import pandas

    values = made.to_numpy(zero_copy_only=False)
    dtype = "boolean" if pa.types.is_boolean(made.type) else given.dtype
    if isinstance(given, pandas.Series):
        return pandas.Series(values, given.index, dtype, given.name)
    if isinstance(given, pandas.Index):
        return pandas.Index(values, dtype, name=given.name)
    return pandas.array(values, dtype)
