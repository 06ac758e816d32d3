"""The equations of a local method for all samples at once: its L and D with `Phi = I`."""

import numpy as np

from polyfold._graph import NeighborGraph
from polyfold._neighborhoods import Neighborhoods, build_neighbor_graph
from polyfold._neighbors import find_exact_neighbors
from polyfold.objectives import OBJECTIVES


def build_graph(name, X, k, n_components=2) -> NeighborGraph:
    around = Neighborhoods(find_exact_neighbors(X, k, n_jobs=None, verbose=0), X)
    return build_neighbor_graph(OBJECTIVES[name], around, np.ones(len(X)), n_components, n_jobs=None, verbose=0)


def write_equations(name, X, k, n_components=2):
    """Return L and D over all samples."""
    L, counted, weights, signs = build_graph(name, X, k, n_components).write(np.arange(len(X)))
    assert signs is None
    D = np.zeros(len(X))
    D[counted] = weights
    return L.to_csr(), D
