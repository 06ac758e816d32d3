"""Diffusion maps (Coifman & Lafon, 2006): as Laplacian eigenmaps, with the density of the samples divided out.

With K the heat kernel on the neighbour graph (symmetrised by the mean, ``K_ii = 1``) and ``q = K 1`` the density,
the affinity is ``K_ij / (q_i q_j)``: coordinates follow the shape of the data, however unevenly it is sampled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.objectives.equations.edges import write_edges
from polyfold.objectives.equations.objective import Objective
from polyfold.objectives.equations.patch import Equations, Patch
from polyfold.objectives.laplacian import choose_bandwidth, square_lengths, weigh_edges


def prepare(
    X: NDArray[np.float64], centers: NDArray[np.intp], neighbors: NDArray[np.intp], n_components: int, **work: Any
) -> dict[str, Any]:
    """Choose the bandwidth and sum up the kernel around each sample; all of them must be centres."""
    squares = square_lengths(X, neighbors, centers)
    bandwidth = choose_bandwidth(squares)
    kernel = weigh_edges(squares, bandwidth)
    incoming = np.bincount(neighbors.ravel(), kernel.ravel(), len(X))
    density = 1 + incoming / 2
    density[centers] += kernel.sum(axis=1) / 2
    return {"bandwidth": bandwidth, "density": density}


def extend(statistics: dict[str, Any], patch: Patch, known: NDArray[np.intp]) -> dict[str, Any]:
    """Return the statistics of a patch from those of the samples that were prepared.

    A centre that is none of these is nobody's neighbour: what it would be given is taken to be what it gives, as
    it is on average.

    Parameters
    ----------
    statistics : dict
    patch : Patch
    known : ndarray of shape (n_patch,)
        Which of the prepared samples each of the patch is, -1 where it is none.
    """
    offsets = patch.offsets
    kernel = weigh_edges(np.einsum("ijk,ijk->ij", offsets, offsets), statistics["bandwidth"])
    density = np.empty(len(patch.X))
    density[patch.centers] = 1 + kernel.sum(axis=1)
    density[known >= 0] = statistics["density"][known[known >= 0]]
    return statistics | {"density": density}


def build_equations(patch: Patch, bandwidth: float, density: NDArray[np.float64]) -> Equations:
    """Return one equation per edge; each sample also has an edge to itself, which counts in D only."""
    offsets = patch.offsets
    squares = np.einsum("ijk,ijk->ij", offsets, offsets)
    columns = np.column_stack([patch.centers, patch.neighbors])
    kernel = np.column_stack([np.ones(len(columns)), weigh_edges(squares, bandwidth)])
    densities = density[patch.centers, np.newaxis] * density[columns]
    affinities = kernel / densities * patch.weights[:, np.newaxis]
    starts = np.repeat(patch.centers, columns.shape[1])
    return write_edges(starts, columns.ravel(), affinities.ravel(), len(patch.X))


OBJECTIVE = Objective(build_equations, prepare, extend, prepares_all=True)
