"""Hessian eigenmaps (Donoho & Grimes, 2003): coordinates have no second derivatives along the tangent plane.

With u the tangent coordinates of the neighbours of i, the columns of ``[1, u_a, u_a u_b]`` are made orthonormal in
this order; the last m(m+1)/2 of them, transposed, estimate the second derivatives at i.
"""

from __future__ import annotations

import numpy as np

from polyfold.objectives.equations.neighborhood_axes import (
    FLAT,
    find_tangent_coordinates,
    write_neighbor_equations,
)
from polyfold.objectives.equations.objective import Objective, prepare_n_components
from polyfold.objectives.equations.patch import Equations, Patch


def count_columns(n_components: int) -> int:
    """Count the columns of ``[1, u_a, u_a u_b]``: so many neighbours are needed."""
    return (n_components + 1) * (n_components + 2) // 2


def build_equations(patch: Patch, n_components: int) -> Equations:
    """Return one equation per centre and pair of tangent axes."""
    n_centers, k = patch.neighbors.shape
    u = find_tangent_coordinates(patch, n_components)
    first, second = np.triu_indices(u.shape[2])
    columns = np.concatenate([np.ones((n_centers, k, 1)), u, u[:, :, first] * u[:, :, second]], axis=2)
    Q, R = np.linalg.qr(columns)
    # A column that those before it span leaves nothing but rounding, from which no derivative can be told.
    left = np.abs(np.diagonal(R, axis1=1, axis2=2))
    seen = left > np.sqrt(FLAT) * np.linalg.norm(columns, axis=1)
    second_order = slice(1 + u.shape[2], None)
    estimators = (Q * seen[:, np.newaxis])[:, :, second_order]
    return write_neighbor_equations(patch, estimators.transpose(0, 2, 1))


OBJECTIVE = Objective(build_equations, prepare_n_components, least_neighbors=count_columns)
