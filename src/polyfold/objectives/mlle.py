"""Modified LLE (Zhang & Wang, 2007): several weight vectors rebuild each sample, not one.

Neighbourhood i has s_i weight vectors, the columns of ``W_i = V_i H_i + (1 − α_i) w_i 1ᵀ``: V_i the s_i least left
singular vectors of the neighbours less the centre, H_i a Householder reflection, w_i LLE's weights. The residuals
are ``y_i − W_iᵀ Y_N(i)``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import map_blocks, row_slices
from polyfold.objectives.equations.neighborhood_axes import decompose_offsets
from polyfold.objectives.equations.objective import Objective
from polyfold.objectives.equations.patch import Equations, LocalRows, Patch
from polyfold.objectives.lle import solve_weights

#: A share this near to the median, relative to it, is the median: of the one that it is, rounding must not decide.
TIE = 1e-9

#: A reflection by less than this is none.
NO_REFLECTION = 1e-12


def prepare(
    X: NDArray[np.float64],
    centers: NDArray[np.intp],
    neighbors: NDArray[np.intp],
    n_components: int,
    *,
    n_jobs: int | None,
    verbose: int,
) -> dict[str, Any]:
    """Find the median share of neighbourhoods that is off their tangent planes."""
    k, n_columns = neighbors.shape[1], X.shape[1]
    blocks = row_slices(len(neighbors), row_bytes=8 * k * (2 * n_columns + 2 * k))
    shares = map_blocks(
        partial(_measure_off_tangent, X, centers, neighbors, n_components),
        blocks,
        n_jobs=n_jobs,
        verbose=verbose,
        description="off-tangent shares",
    )
    return {"off_tangent": float(np.median(np.concatenate(list(shares))))}


def _measure_off_tangent(
    X: NDArray[np.float64],
    centers: NDArray[np.intp],
    neighbors: NDArray[np.intp],
    n_components: int,
    rows: slice,
) -> NDArray[np.float64]:
    _, squares = decompose_offsets(X[neighbors[rows]] - X[centers[rows], np.newaxis])
    along = squares[:, :n_components].sum(axis=1)
    return np.asarray(squares[:, n_components:].sum(axis=1) / np.where(along > 0, along, 1.0))


def build_equations(patch: Patch, off_tangent: float) -> Equations:
    """Return s_i equations per centre: as many as leave a share below `off_tangent` to them."""
    k = patch.neighbors.shape[1]
    U, squares = decompose_offsets(patch.offsets)
    regularised = solve_weights(patch.X[patch.centers], patch.X, patch.neighbors)
    kept = np.cumsum(squares, axis=1)
    shares = kept[:, -1:] / np.where(kept > 0, kept, 1.0)[:, :-1] - 1
    numbers = np.maximum(k - squares.shape[1] + (shares < (1 - TIE) * off_tangent).sum(axis=1), 1)
    columns, entries = [], []
    for number in np.unique(numbers):
        rows = np.flatnonzero(numbers == number)
        weights = _modify_weights(U[rows, :, k - number :], regularised[rows])
        joined = np.concatenate([np.ones((len(rows), number, 1)), -weights], axis=2)
        joined *= np.sqrt(patch.weights[rows])[:, np.newaxis, np.newaxis]
        entries.append(joined.reshape(-1, k + 1))
        columns.append(np.repeat(np.column_stack([patch.centers[rows], patch.neighbors[rows]]), number, axis=0))
    L = LocalRows(np.concatenate(columns), np.concatenate(entries), len(patch.X))
    return Equations(L, patch.centers, patch.weights)


def _modify_weights(V: NDArray[np.float64], regularised: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight vectors of neighbourhoods with equally many: shape (n_centers, number, n_neighbors)."""
    sums = V.sum(axis=1)
    alphas = np.linalg.norm(sums, axis=1, keepdims=True) / np.sqrt(V.shape[2])
    h = alphas - sums
    lengths = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.where(lengths < NO_REFLECTION, 0.0, h / np.where(lengths > 0, lengths, 1.0))
    reflected = V - 2 * (V @ h[:, :, np.newaxis]) * h[:, np.newaxis]
    shifted = reflected + ((1 - alphas) * regularised)[:, :, np.newaxis]
    return np.asarray(shifted.transpose(0, 2, 1))


OBJECTIVE = Objective(build_equations, prepare, least_neighbors=lambda n_components: n_components)
