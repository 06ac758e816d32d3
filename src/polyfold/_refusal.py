"""Input that NumPy or SciPy read as numbers without a word, though it holds none: refused, with the cure."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from polyfold._sparse import check_indices, is_sparse


def refuse_disguised(X: Any, name: str = "X") -> None:
    """Refuse values under a mask, of which NumPy would take what was there before, and times of any unit.

    As numbers, times depend on the unit that they are stored in, and a missing one is -9.2e18. Records are refused
    too, and sparse matrices that refer to entries which are not there.
    """
    if type(X) is np.ndarray and X.dtype.kind in "biuf":  # at once: a map places a sample in microseconds
        return
    if is_sparse(X):
        check_indices(X, name)
        return
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise ValueError(
            f"{name} must hold real numbers, got records of the fields {list(X.dtype.names)}. Turn them into "
            "columns with numpy.lib.recfunctions.structured_to_unstructured."
        )
    if n_masked := _count_masked(X):
        raise ValueError(
            f"{name} has {n_masked} masked value(s), which are not data. Fill them in, for example with "
            f"{name}.filled(value), or leave out their samples."
        )
    for column, dtype in _list_types(X):
        if _is_time(dtype):
            where = "" if column is None else f" in column {column!r}"
            raise ValueError(
                f"{name} must hold real numbers, got {dtype}{where}. Turn times into numbers of a unit that you "
                'choose, for example with (time - start) / numpy.timedelta64(1, "D").'
            )


def refuse_equal_names(X: Any, what: str = "X") -> None:
    """Refuse a data frame of which two columns have one name: scikit-learn may, depending on its version."""
    names = [] if not hasattr(X, "columns") and not hasattr(X, "schema") else [name for name, _ in _list_types(X)]
    if len(set(names)) < len(names):
        [(name, _)] = Counter(names).most_common(1)
        raise ValueError(
            f"{what} has more than one column of the name {name!r}. Give each column a name of its own, or pass "
            f"{what}.to_numpy()."
        )


def _count_masked(X: Any) -> int:
    """Count the masked values of an array, or of the rows of a list."""
    rows = X if isinstance(X, (list, tuple)) else [X]
    return sum(int(np.count_nonzero(np.ma.getmaskarray(row))) for row in rows if np.ma.isMaskedArray(row))


def _list_types(X: Any) -> Iterable[tuple[Any, Any]]:
    """List the types of the columns of a data frame or table with their names, or those in an array or a list."""
    if isinstance(X, np.ndarray):
        return [(None, X.dtype)] if X.dtype.kind != "O" else _list_types_within(X.flat)
    if isinstance(X, (list, tuple)):
        return _list_types_within(
            value for row in X for value in (row if isinstance(row, (list, tuple)) else [row])
        )
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(X, (arrow.Table, arrow.RecordBatch)):
        return zip(X.schema.names, X.schema.types, strict=True)
    names, types = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if names is None or types is None:  # no frame, but perhaps one column of such
        return [(None, X.dtype)] if getattr(X, "dtype", None) is not None else []
    return zip(names, types, strict=False)


def _list_types_within(values: Iterable[Any]) -> Iterable[tuple[None, Any]]:
    """List the types of the scalars and arrays of NumPy among some values."""
    return ((None, value.dtype) for value in values if isinstance(value, (np.generic, np.ndarray)))


def _is_time(dtype: Any) -> bool:
    """Say whether a type of NumPy, pandas, Polars or Arrow is one of times, or of categories of times."""
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return kind in ("m", "M") or str(dtype).startswith("period")
    if type(dtype).__module__.partition(".")[0] == "pyarrow":
        return bool(sys.modules["pyarrow"].types.is_temporal(dtype))
    return bool(getattr(dtype, "is_temporal", bool)())
