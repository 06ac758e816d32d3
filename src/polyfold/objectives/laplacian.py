"""Laplacian eigenmaps (Belkin & Niyogi, 2003): edges of the neighbour graph, by a heat kernel.

The affinity of sample i and its neighbour j is ``exp(−|x_i − x_j|² / 2σ²)``; W is the mean of this and its
transpose, and D its row sums. σ² is the median squared length of an edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import row_slices
from polyfold.objectives.equations.edges import write_neighbor_edges
from polyfold.objectives.equations.objective import Objective
from polyfold.objectives.equations.patch import Equations, Patch


def square_lengths(
    X: NDArray[np.float64], neighbors: NDArray[np.intp], centers: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Return the squared length of each edge, from `centers` or else from all samples."""
    squares = np.empty(neighbors.shape)
    for rows in row_slices(len(neighbors), row_bytes=16 * neighbors.shape[1] * X.shape[1]):
        offsets = X[neighbors[rows]] - X[rows if centers is None else centers[rows], np.newaxis]
        squares[rows] = np.einsum("ijk,ijk->ij", offsets, offsets)
    return squares


def choose_bandwidth(squares: NDArray[np.float64]) -> float:
    """Return 2σ²: twice the median squared length of the edges between samples that differ, 1 where none do."""
    positive = squares[squares > 0]
    return 2 * float(np.median(positive)) if len(positive) else 1.0


def prepare(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp], n_components: int, **work: Any
) -> dict[str, Any]:
    """Choose the bandwidth."""
    return {"bandwidth": choose_bandwidth(square_lengths(X, neighbors, centers))}


def weigh_edges(squares: NDArray[np.float64], bandwidth: float) -> NDArray[np.float64]:
    """Return the heat kernel of edges of given squared lengths; 0 where these are infinitely many bandwidths."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-squares / bandwidth))


def build_equations(patch: Patch, bandwidth: float) -> Equations:
    """Return one equation per edge, weighted by a heat kernel."""
    offsets = patch.offsets
    squares = np.einsum("ijk,ijk->ij", offsets, offsets)
    return write_neighbor_edges(patch, weigh_edges(squares, bandwidth))


OBJECTIVE = Objective(build_equations, prepare)
