"""Laplacian eigenmaps with all edges of the neighbour graph alike.

The affinity of sample i and its neighbour j is 1; W is the mean of this and its transpose, and D its row sums.
"""

from __future__ import annotations

import numpy as np

from polyfold.objectives.equations.edges import write_neighbor_edges
from polyfold.objectives.equations.objective import Objective
from polyfold.objectives.equations.patch import Equations, Patch


def build_equations(patch: Patch) -> Equations:
    """Return one equation per edge, all of weight 1."""
    return write_neighbor_edges(patch, np.ones(patch.neighbors.shape))


OBJECTIVE = Objective(build_equations)
