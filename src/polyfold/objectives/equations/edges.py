"""Weighted edges: neighbours with a large affinity are to be near each other (paper, eq. 3 to 12).

For a symmetric affinity W and ``D = diag(W 1)``, ``Yᵀ(D − W)Y = ½ Σ_ij W_ij |y_i − y_j|²``. Where an affinity is
given on directed edges, W is the mean of it and its transpose; then both ``D − W`` and D are sums over directed
edges, an edge of affinity w adding ``w/2 |y_i − y_j|²`` to the one and w/2 to D_i and to D_j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import renumber
from polyfold.objectives.equations.patch import Equations, LocalRows, Patch


def write_edges(
    starts: NDArray[np.intp], ends: NDArray[np.intp], affinities: NDArray[np.float64], n_samples: int
) -> Equations:
    """Return one equation ``√(w/2) (e_i − e_j)`` per directed edge, subtracted where w is negative."""
    halves = affinities / 2
    counted, positions = renumber(np.concatenate([starts, ends]), n_samples)
    D = np.asarray(np.bincount(positions, np.concatenate([halves, halves]), len(counted)), dtype=np.float64)
    apart = (starts != ends) & (halves != 0)
    starts, ends, halves = starts[apart], ends[apart], halves[apart]
    lengths = np.sqrt(np.abs(halves))
    L = LocalRows(np.column_stack([starts, ends]), np.column_stack([lengths, -lengths]), n_samples)
    return Equations(L, counted, D, np.sign(halves) if (halves < 0).any() else None)


def write_neighbor_edges(patch: Patch, affinities: NDArray[np.float64]) -> Equations:
    """Return the equations of the edges from centres to neighbours; `affinities` has the neighbours' shape."""
    starts = np.repeat(patch.centers, patch.neighbors.shape[1])
    weighted = affinities * patch.weights[:, np.newaxis]
    return write_edges(starts, patch.neighbors.ravel(), weighted.ravel(), len(patch.X))
