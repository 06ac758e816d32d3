"""Locally linear embedding: each sample is an affine combination of its neighbours (paper, eq. 15 to 21).

The residual of sample i is ``e_i − Σ_j r_ij e_j``, so that ``LᵀL = (I − R)ᵀ(I − R)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polyfold.objectives.equations.objective import Objective
from polyfold.objectives.equations.patch import Equations, LocalRows, Patch

#: Share of tr(G) added to G's diagonal. Eq. 18 has no such term, yet G is singular whenever k > n.
REGULARISATION = 1e-3


def solve_weights(
    points: NDArray[np.float64], X: NDArray[np.float64], neighbors: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the weights that rebuild each point from its neighbours; each row sums to 1.

    ``r = G⁻¹1 / 1ᵀG⁻¹1`` with ``G_jl = (x_j − x_i)·(x_l − x_i)`` (paper, eq. 18), regularised. Where there are
    fewer columns than neighbours, the system that is solved is as large as the columns are many.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_columns)
    X : ndarray of shape (n_samples, n_columns)
    neighbors : ndarray of shape (n_points, n_neighbors)
        Which samples are each point's neighbours.
    """
    from polyfold._fit_kernels import solve_weight_rows

    weights = np.empty(neighbors.shape)
    solve_weight_rows(points, X, neighbors, REGULARISATION, weights)
    return weights


def build_equations(patch: Patch) -> Equations:
    """Return one equation per centre."""
    from polyfold._fit_kernels import write_weight_rows

    weights = solve_weights(np.take(patch.X, patch.centers, axis=0), patch.X, patch.neighbors)
    shape = (len(patch.centers), patch.neighbors.shape[1] + 1)
    columns, entries = np.empty(shape, dtype=np.intp), np.empty(shape)
    write_weight_rows(patch.centers, patch.neighbors, weights, patch.weights, columns, entries)
    return Equations(LocalRows(columns, entries, len(patch.X)), patch.centers, patch.weights)


OBJECTIVE = Objective(build_equations, count_floats=lambda k, n_columns: 4 * k + n_columns)
