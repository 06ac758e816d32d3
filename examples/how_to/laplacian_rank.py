"""Laplacian eigenmaps with edges weighted by rank: the nearest neighbour counts 1, the j-th nearest 1/j.

Distances do not enter, so that sparse and dense parts of the data weigh the same. W is the mean of these weights
and their transpose, and D its row sums.
"""

from __future__ import annotations

import numpy as np

from polyfold.objectives.equations.edges import write_neighbor_edges
from polyfold.objectives.equations.objective import Objective
from polyfold.objectives.equations.patch import Equations, Patch


def build_equations(patch: Patch) -> Equations:
    """Return one equation per edge."""
    nearest_first = np.argsort(np.square(patch.offsets).sum(axis=2), axis=1)
    ranks = np.argsort(nearest_first, axis=1)
    return write_neighbor_edges(patch, 1.0 / (1.0 + ranks))


OBJECTIVE = Objective(build_equations)
