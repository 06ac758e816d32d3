"""Sparse samples, recognised without loading what makes them."""

from __future__ import annotations

import sys
from typing import Any


def is_sparse(X: Any) -> bool:
    """Say whether X is a sparse array or matrix of SciPy: if that was not imported, there are none."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))
