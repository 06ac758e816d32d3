"""Local tangent space alignment (Zhang & Zha, 2004): coordinates are affine along the tangent plane.

The residuals of neighbourhood i are ``(I − g gᵀ) Y_N(i)`` with ``g = [1/√k, local tangent coordinates]``.
"""

from __future__ import annotations

import numpy as np

from polyfold.objectives.equations.neighborhood_axes import find_tangent_coordinates, write_neighbor_equations
from polyfold.objectives.equations.objective import Objective, prepare_n_components
from polyfold.objectives.equations.patch import Equations, Patch


def build_equations(patch: Patch, n_components: int) -> Equations:
    """Return as many equations per centre as it has neighbours."""
    k = patch.neighbors.shape[1]
    tangent = find_tangent_coordinates(patch, n_components)
    projector = tangent @ tangent.transpose(0, 2, 1) + 1 / k
    return write_neighbor_equations(patch, np.eye(k) - projector)


OBJECTIVE = Objective(build_equations, prepare_n_components, least_neighbors=lambda n_components: n_components + 2)
