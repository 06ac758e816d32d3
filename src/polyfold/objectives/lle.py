"""Locally linear embedding: each sample is an affine combination of its neighbours (paper, eq. 15 to 21).

The residual of sample i is ``e_i − Σ_j r_ij e_j``, so that ``LᵀL = (I − R)ᵀ(I − R)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

#: Share of tr(G) added to G's diagonal. Eq. 18 has no such term, yet G is singular whenever k > n.
REGULARISATION = 1e-3


def solve_weights(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the weights that rebuild each centre from its neighbours; each row sums to 1.

    ``r = G⁻¹1 / 1ᵀG⁻¹1`` with ``G_jl = (x_j − x_i)·(x_l − x_i)`` (paper, eq. 18), regularised.
    """
    k = neighbors.shape[1]
    offsets = X[neighbors] - X[centers, np.newaxis]
    gram = offsets @ offsets.transpose(0, 2, 1)
    diagonal = np.arange(k)
    trace = gram[:, diagonal, diagonal].sum(axis=1)
    # Where all neighbours coincide with the centre, G = 0: the identity then gives equal weights.
    gram /= np.where(trace > 0, trace, 1.0)[:, np.newaxis, np.newaxis]
    gram[:, diagonal, diagonal] += np.where(trace > 0, REGULARISATION, 1.0)[:, np.newaxis]
    weights = np.linalg.solve(gram, np.ones((len(centers), k, 1)))[:, :, 0]
    normalised: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def build_residuals(
    X: NDArray[np.float64],
    centers: NDArray[np.intp],
    neighbors: NDArray[np.intp],
    weights: NDArray[np.float64],
) -> tuple[Any, NDArray[np.float64]]:
    """Return one residual row per centre, and the weight of each centre.

    Parameters
    ----------
    X : ndarray of shape (n_patch, n_features)
        The samples of the patch.
    centers : ndarray of shape (n_centers,)
        Positions in the patch, all different.
    neighbors : ndarray of shape (n_centers, n_neighbors)
        Positions in the patch of each centre's neighbours.
    weights : ndarray of shape (n_centers,)
        How much each centre counts.

    Returns
    -------
    L : csr_array of shape (n_centers, n_patch)
    D : ndarray of shape (n_patch,)
    """
    n_centers, k = neighbors.shape
    columns = np.column_stack([centers, neighbors])
    entries = np.column_stack([np.ones(n_centers), -solve_weights(X, centers, neighbors)])
    entries *= np.sqrt(weights)[:, np.newaxis]
    row_ends = np.arange(0, columns.size + 1, k + 1)
    L = csr_array((entries.ravel(), columns.ravel(), row_ends), shape=(n_centers, len(X)))
    D = np.zeros(len(X))
    D[centers] = weights
    return L, D
