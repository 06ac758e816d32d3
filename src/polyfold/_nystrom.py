"""Data-dependent kernels: what the Nyström formula needs to place a new sample (Bengio et al., 2003).

An embedding whose coordinates are eigenvectors of ``K̃(x_i, x_j)`` extends to a sample x by
``y(x) = Σ_i K̃(x, x_i) y_i / λ``, once K̃ is defined for a sample that was not there. Each kernel here is learned
from samples, holds them, and writes the rows ``K̃(x, ·)`` of any others; for the samples themselves the formula
gives back their coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, vstack
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist

from polyfold._blocks import row_slices
from polyfold._factors import find_largest
from polyfold._global import DENSE_SIZE, GeodesicKernel
from polyfold._index import NeighborIndex, build_index
from polyfold._learner import fit_lle
from polyfold.objectives.isomap import build_distance_graph, center_exactly, measure_geodesics
from polyfold.objectives.laplacian import choose_bandwidth, square_lengths
from polyfold.objectives.lle import solve_weights

#: Eigenvalues of the normalised affinity are found next to this, just above the largest.
ABOVE_ONE = 1 + 1e-5


class DataKernel(Protocol):
    """A kernel that is learned from samples."""

    def find_coordinates(self, n_components: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the coordinates of the samples and the eigenvalue of each coordinate."""

    def relate(self, queries: NDArray[np.float64]) -> Any:
        """Return the rows ``K̃(x, ·)`` of some samples, an array or a sparse one."""


@dataclass(frozen=True, eq=False)
class WeightKernel:
    """LLE's: ``K̃ = μI − (I − R)ᵀ(I − R)`` as μ grows, which leaves the weights that rebuild x.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
    n_neighbors : int
    index : NeighborIndex
        Of the samples.
    random_state, n_jobs
        Of the fit.
    """

    X: NDArray[np.float64]
    n_neighbors: int
    index: NeighborIndex
    random_state: Any
    n_jobs: int | None

    def find_coordinates(self, n_components: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return LLE's coordinates; with μ they are divided by one."""
        settings = {"n_neighbors": self.n_neighbors, "n_components": n_components, "n_jobs": self.n_jobs}
        coordinates = fit_lle(self.X, random_state=self.random_state, **settings).embedding_
        return coordinates, np.ones(n_components)

    def relate(self, queries: NDArray[np.float64]) -> Any:
        """Return the weights that rebuild each sample from its neighbours; one that is there is itself."""
        distances, neighbors = self.index.find(queries, self.n_neighbors)
        offsets = self.X[neighbors] - queries[:, np.newaxis]
        same: NDArray[np.bool_] = np.all(offsets == 0, axis=2)
        is_there = np.any(same, axis=1, keepdims=True)
        weights = np.where(is_there, same, solve_weights(queries, self.X, neighbors))
        weights = weights / weights.sum(axis=1, keepdims=True)
        weights[~np.isfinite(distances).all(axis=1)] = np.nan  # too far to tell which are near
        row_ends = np.arange(0, neighbors.size + 1, self.n_neighbors)
        return csr_array((weights.ravel(), neighbors.ravel(), row_ends), shape=(len(queries), len(self.X)))


@dataclass(frozen=True, eq=False)
class HeatKernel:
    """Laplacian eigenmaps': heat kernels of neighbours, each row divided by its sum.

    Two samples are neighbours where either is among the nearest of the other, half where only one is; each is its
    own neighbour, which is what makes the formula give back the samples' own coordinates.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
    n_neighbors : int
    radii : ndarray of shape (n_samples,)
        Distance from each sample to the last of its neighbours.
    bandwidth : float
        2σ², twice the median squared distance of neighbours.
    """

    X: NDArray[np.float64]
    n_neighbors: int
    radii: NDArray[np.float64]
    bandwidth: float

    def weigh(self, queries: NDArray[np.float64], *, relative: bool = False) -> Any:
        """Return the affinities W(x, ·); relative to that of the nearest, far samples have some too."""
        blocks = []
        for rows in row_slices(len(queries), row_bytes=32 * len(self.X)):
            distances = cdist(queries[rows], self.X)
            reach = np.partition(distances, self.n_neighbors, axis=1)[:, [self.n_neighbors]]
            halves = (distances <= reach).astype(np.float64) + (distances <= self.radii)
            squares = np.square(distances)
            nearest = squares.min(axis=1, keepdims=True) if relative else 0.0
            with np.errstate(over="ignore"):  # the affinity of what is too far is 0
                shares = np.exp(-(squares - nearest) / self.bandwidth)
            blocks.append(csr_array(halves / 2 * shares))
        return vstack(blocks, format="csr")

    def find_coordinates(self, n_components: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the leading eigenvectors of ``D⁻¹W`` but the constant one, of length 1 in ``Yᵀ D Y``."""
        W = self.weigh(self.X)
        roots = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
        S = diags_array(1 / roots) @ W @ diags_array(1 / roots)
        n_wanted, size = n_components + 1, len(self.X)
        if size <= max(DENSE_SIZE, 4 * n_wanted):
            eigenvalues, E = find_largest(S.toarray(), n_wanted)
        else:
            start = np.random.default_rng(0).normal(size=size)
            eigenvalues, E = eigsh(S.tocsc(), n_wanted, sigma=ABOVE_ONE, v0=start)
        order = np.argsort(-eigenvalues)[1:]
        return E[:, order] / roots[:, np.newaxis], eigenvalues[order]

    def relate(self, queries: NDArray[np.float64]) -> Any:
        """Return the affinities as shares of their sum."""
        W = self.weigh(queries, relative=True)
        return diags_array(1 / np.asarray(W.sum(axis=1)).ravel()) @ W


@dataclass(frozen=True, eq=False)
class PathKernel:
    """Isomap's: inner products of geodesic distances, those of x through its neighbours.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
    n_neighbors : int
    index : NeighborIndex
        Of the samples.
    squares : ndarray of shape (n_samples, n_samples)
        Squared geodesic distances.
    means : ndarray of shape (n_samples,)
        Of these, over the samples.
    """

    X: NDArray[np.float64]
    n_neighbors: int
    index: NeighborIndex
    squares: NDArray[np.float64]
    means: NDArray[np.float64]

    def find_coordinates(self, n_components: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Isomap's coordinates, as many as there are; the eigenvalues are their squared lengths."""
        size = len(self.X)
        K = center_exactly(self.squares, np.full(size, 1 / size))
        coordinates = GeodesicKernel(K, None).find_coordinates(n_components)
        return coordinates, np.square(coordinates).sum(axis=0)

    def relate(self, queries: NDArray[np.float64]) -> Any:
        """Return the inner products of each sample with those that are there."""
        _, neighbors = self.index.find(queries, self.n_neighbors)
        lengths = np.linalg.norm(self.X[neighbors] - queries[:, np.newaxis], axis=2)
        inner = np.empty((len(queries), len(self.X)))
        for rows in row_slices(len(queries), row_bytes=16 * neighbors.shape[1] * len(self.X)):
            paths = np.sqrt(self.squares[neighbors[rows]]) + lengths[rows][:, :, np.newaxis]
            reached = np.square(paths.min(axis=1))
            inner[rows] = -(reached - reached.mean(axis=1, keepdims=True) - self.means + self.means.mean()) / 2
        return inner


def learn_kernel(
    graph: str,
    X: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    *,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
) -> DataKernel:
    """Learn the kernel of a graph, "lle", "laplacian" or "isomap", from samples and their neighbours."""
    n_neighbors = neighbors.shape[1]
    if graph == "lle":
        index = build_index(X, n_jobs=n_jobs)
        return WeightKernel(X, n_neighbors, index, 0 if random_state is None else random_state, n_jobs)
    if graph == "laplacian":
        radii = np.empty(len(X))
        for rows in row_slices(len(X), row_bytes=16 * len(X)):
            radii[rows] = np.partition(cdist(X[rows], X), n_neighbors, axis=1)[:, n_neighbors]
        return HeatKernel(X, n_neighbors, radii, choose_bandwidth(square_lengths(X, neighbors)))
    edges = build_distance_graph(X, neighbors)
    squares = measure_geodesics(edges, np.arange(len(X)), n_jobs=n_jobs, verbose=verbose)
    return PathKernel(X, n_neighbors, build_index(X, n_jobs=n_jobs), squares, squares.mean(axis=0))
