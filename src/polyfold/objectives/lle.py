"""Locally linear embedding: each sample is an affine combination of its neighbours (paper, eq. 15 to 21).

The residual of sample i is ``e_i − Σ_j r_ij e_j``, so that ``LᵀL = (I − R)ᵀ(I − R)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from polyfold.objectives.patch import Equations, Patch

#: Share of tr(G) added to G's diagonal. Eq. 18 has no such term, yet G is singular whenever k > n.
REGULARISATION = 1e-3


def solve_weights(offsets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights that rebuild each centre from its neighbours; each row sums to 1.

    ``r = G⁻¹1 / 1ᵀG⁻¹1`` with ``G_jl = (x_j − x_i)·(x_l − x_i)`` (paper, eq. 18), regularised.

    Parameters
    ----------
    offsets : ndarray of shape (n_centers, n_neighbors, n_columns)
        Neighbours less their centre.
    """
    n_centers, k, _ = offsets.shape
    gram = offsets @ offsets.transpose(0, 2, 1)
    diagonal = np.arange(k)
    trace = gram[:, diagonal, diagonal].sum(axis=1)
    # Where all neighbours coincide with the centre, G = 0: the identity then gives equal weights.
    gram /= np.where(trace > 0, trace, 1.0)[:, np.newaxis, np.newaxis]
    gram[:, diagonal, diagonal] += np.where(trace > 0, REGULARISATION, 1.0)[:, np.newaxis]
    weights = np.linalg.solve(gram, np.ones((n_centers, k, 1)))[:, :, 0]
    normalised: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def build_equations(patch: Patch) -> Equations:
    """Return one equation per centre."""
    n_centers, k = patch.neighbors.shape
    columns = np.column_stack([patch.centers, patch.neighbors])
    entries = np.column_stack([np.ones(n_centers), -solve_weights(patch.offsets)])
    entries *= np.sqrt(patch.weights)[:, np.newaxis]
    row_ends = np.arange(0, columns.size + 1, k + 1)
    L = csr_array((entries.ravel(), columns.ravel(), row_ends), shape=(n_centers, len(patch.X)))
    return Equations(L, patch.center_weights)
