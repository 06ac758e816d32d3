"""Weighted edges: neighbours with a large affinity are to be near each other (paper, eq. 3 to 12).

For a symmetric affinity W and ``D = diag(W 1)``, ``Yᵀ(D − W)Y = ½ Σ_ij W_ij |y_i − y_j|²``. Where an affinity is
given on directed edges, W is the mean of it and its transpose; then both ``D − W`` and D are sums over directed
edges, an edge of affinity w adding ``w/2 |y_i − y_j|²`` to the one and w/2 to D_i and to D_j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyfold.objectives.patch import Equations, Patch


def write_edges(
    starts: NDArray[np.intp], ends: NDArray[np.intp], affinities: NDArray[np.float64], n_patch: int
) -> Equations:
    """Return one equation ``√(w/2) (e_i − e_j)`` per directed edge, subtracted where w is negative."""
    halves = affinities / 2
    D = np.asarray(np.bincount(starts, halves, n_patch) + np.bincount(ends, halves, n_patch), dtype=np.float64)
    apart = (starts != ends) & (halves != 0)
    starts, ends, halves = starts[apart], ends[apart], halves[apart]
    lengths = np.sqrt(np.abs(halves))
    entries = np.column_stack([lengths, -lengths])
    columns = np.column_stack([starts, ends])
    row_ends = np.arange(0, columns.size + 1, 2)
    L = csr_array((entries.ravel(), columns.ravel(), row_ends), shape=(len(halves), n_patch))
    return Equations(L, D, np.sign(halves) if (halves < 0).any() else None)


def write_neighbor_edges(patch: Patch, affinities: NDArray[np.float64]) -> Equations:
    """Return the equations of the edges from centres to neighbours; `affinities` has the neighbours' shape."""
    starts = np.repeat(patch.centers, patch.neighbors.shape[1])
    weighted = affinities * patch.weights[:, np.newaxis]
    return write_edges(starts, patch.neighbors.ravel(), weighted.ravel(), len(patch.X))
