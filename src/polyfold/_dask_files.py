"""Which file it is, where a Dask data frame cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from polyfold._rows import is_dask_frame
from polyfold._table import make_printable
from polyfold.io.table import DataError


@contextmanager
def name_damaged_file(X: Any) -> Iterator[None]:
    """Name the file in an error of reading parquet, which Dask and Arrow leave out."""
    try:
        yield
    except Exception as error:
        if not is_dask_frame(X) or isinstance(error, FileNotFoundError) or not _is_of_reading(error):
            raise  # a file that is gone is named by the system
        for path, fragment in _list_fragments(X):
            if why := _try_to_read(fragment):
                raise DataError(f"{make_printable(path)} cannot be read: {why}") from error
        raise


def _is_of_reading(error: Exception) -> bool:
    import pyarrow as pa

    return isinstance(error, (OSError, pa.ArrowException))


def _list_fragments(frame: Any) -> list[tuple[str, Any]]:
    """Return the files that a data frame is read from, with their paths; none where that cannot be told.

    Dask has no public way to ask: this holds of the two readers that it has.
    """
    try:
        from dask.dataframe.dask_expr.io.parquet import ReadParquet
    except ImportError:
        return []
    found = []
    for read in frame.expr.find_operations(ReadParquet):
        known = getattr(read, "_dataset_info", {})
        wrapped = [getattr(each, "fragment", each) for each in known.get("fragments", ())]
        found += wrapped or list(known["ds"].get_fragments() if "ds" in known else ())
    return [(str(fragment.path), fragment) for fragment in found]


def _try_to_read(fragment: Any) -> str:
    """Return why a file cannot be read, nothing where it can."""
    try:
        for _ in fragment.to_batches():
            pass
    except Exception as error:
        return " ".join(str(error).split())
    return ""
