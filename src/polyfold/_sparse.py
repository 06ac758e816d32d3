"""Sparse samples, recognised without loading what makes them, and brought into one form."""

from __future__ import annotations

import sys
from typing import Any


def is_sparse(X: Any) -> bool:
    """Say whether X is a sparse array or matrix of SciPy: if that was not imported, there are none."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def check_indices(X: Any, name: str) -> None:
    """Refuse a sparse matrix that refers to entries which are not there: SciPy goes after them, out of memory.

    Files of such are read without a word.
    """
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo":
            for length, indices in zip(X.shape, X.coords, strict=True):
                if len(indices) != len(X.data) or (
                    len(indices) and not 0 <= indices.min() <= indices.max() < length
                ):
                    raise ValueError("indices must be within the shape, and as many as entries")
    except ValueError as error:
        raise ValueError(f"{name} is a damaged sparse matrix: {error}.") from error


def read_sparse(X: Any) -> Any:
    """Return a sparse matrix row by row, its columns in order and each once: a row has one form."""
    from scipy.sparse import csr_array

    found = csr_array(X)
    if not found.has_canonical_format:
        found = found.copy()  # what was given stays as it is
        found.sum_duplicates()
    return found
