"""Isomap (Tenenbaum, de Silva & Langford, 2000): distances along the neighbour graph, as inner products.

With Δ the squared geodesic distances, ``K = −½ (I − 1wᵀ) Δ (I − w1ᵀ)`` are the inner products of points at those
distances, about their (weighted) mean. Isomap's coordinates are the leading eigenvectors of K, each times the root
of its eigenvalue. From landmarks (de Silva & Tenenbaum, 2003) K is approximated by ``K_L K_LL⁺ K_Lᵀ``: the same
coordinates for the landmarks, and the others placed by their distances to these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from sklearn.metrics import pairwise_distances_argmin_min

from polyfold._blocks import map_blocks, row_slices
from polyfold.objectives.equations.objective import Geodesic
from polyfold.objectives.laplacian import square_lengths

#: Eigenvalues of the landmarks' kernel below this share of the largest are curvature or rounding.
LEAST_EIGENVALUE = 1e-6

#: Products of samples after which Ctrl-C is heard, where pieces of a graph are joined: less than a second's.
BRIDGE_WORK = 4 * 10**9

#: Samples from which geodesics are measured, where those from all would be too many.
N_LANDMARKS = 500


def build_distance_graph(X: NDArray[np.float64], neighbors: NDArray[np.intp], *, mutual: bool = False) -> Any:
    """Return the lengths of the edges of the neighbour graph, its pieces joined by the shortest edges that do.

    A `mutual` graph keeps the edges between samples that are each among the other's neighbours. An edge that
    short-cuts a fold mostly ends where samples are denser, and have nearer neighbours.
    """
    n_samples, k = neighbors.shape
    lengths = np.sqrt(square_lengths(X, neighbors)).ravel()
    starts, ends = np.repeat(np.arange(n_samples), k), neighbors.ravel()
    if mutual:
        edges, turned = starts * n_samples + ends, np.sort(ends * n_samples + starts)
        kept = turned[np.minimum(np.searchsorted(turned, edges), len(turned) - 1)] == edges
        starts, ends, lengths = starts[kept], ends[kept], lengths[kept]
    while True:
        shape = (n_samples, n_samples)
        graph = csr_array(coo_array((lengths, (starts, ends)), shape=shape))
        n_pieces, labels = connected_components(graph, directed=False)
        if n_pieces == 1:
            return graph
        bridges = np.array([_find_bridge(X, labels == piece) for piece in range(n_pieces)])
        near, far = np.unique(np.sort(bridges, axis=1), axis=0).T
        starts, ends = np.append(starts, near), np.append(ends, far)
        lengths = np.append(lengths, np.linalg.norm(X[near] - X[far], axis=1))


def _find_bridge(X: NDArray[np.float64], inside: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the nearest pair of a sample inside and one outside."""
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    outside = X[others]
    nearest, distances = np.empty(len(members), dtype=np.intp), np.empty(len(members))
    for rows in row_slices(len(members), row_bytes=outside.size, block_bytes=BRIDGE_WORK):
        nearest[rows], distances[rows] = pairwise_distances_argmin_min(X[members[rows]], outside)
    best = int(np.argmin(distances))
    return int(members[best]), int(others[nearest[best]])


def measure_geodesics(
    graph: Any, sources: NDArray[np.intp], *, n_jobs: int | None, verbose: int
) -> NDArray[np.float64]:
    """Return the squared length of the shortest path from each source to each sample."""

    def search(rows: slice) -> NDArray[np.float64]:
        return np.asarray(dijkstra(graph, directed=False, indices=sources[rows]))

    # A block of few sources at a time, for progress, for Ctrl-C and for threads: fewer where paths are longer.
    blocks = row_slices(len(sources), row_bytes=max(2**20, 2**8 * graph.shape[0]))
    work: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose, "description": "geodesics"}
    return np.asarray(np.square(np.concatenate(list(map_blocks(search, blocks, **work)))))


def center_exactly(squares: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K of all samples, from their squared distances; `weights` sum to 1."""
    means = squares @ weights
    kernel = -(squares - means - means[:, np.newaxis] + weights @ means) / 2
    return np.asarray((kernel + kernel.T) / 2)


@dataclass(frozen=True, eq=False)
class Placement:
    """How squared distances to landmarks place samples.

    Attributes
    ----------
    means : ndarray of shape (n_landmarks,)
        Of the squared distances among landmarks.
    axes : ndarray of shape (n_landmarks, n_columns)
        From squared distances less these means to F, with ``F Fᵀ ≈ K``; leading columns first.
    """

    means: NDArray[np.float64]
    axes: NDArray[np.float64]

    def place(self, squares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows of F from the squared distances of samples to the landmarks."""
        return np.asarray(-(squares - self.means) @ self.axes / 2)


def learn_placement(among: NDArray[np.float64]) -> Placement:
    """Learn from the squared distances among landmarks to place others."""
    means = among.mean(axis=1)
    inner = -(among - means - means[:, np.newaxis] + means.mean()) / 2
    eigenvalues, E = eigh((inner + inner.T) / 2)
    kept = np.flatnonzero(eigenvalues > LEAST_EIGENVALUE * eigenvalues[-1])[::-1]
    return Placement(means, E[:, kept] / np.sqrt(eigenvalues[kept]))


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Geodesic distances from a reference set to landmarks in it, and how these place samples.

    Attributes
    ----------
    placement : Placement
    distances : ndarray of shape (n_reference, n_landmarks)
        Along the neighbour graph of the set.
    """

    placement: Placement
    distances: NDArray[np.float64]

    def measure(
        self, own: NDArray[np.intp], neighbors: NDArray[np.intp], lengths: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the squared distances of samples to the landmarks: along the shortest way through a neighbour.

        Parameters
        ----------
        own : ndarray of shape (n_samples,)
            Which of the reference set each is, -1 where it is none of them.
        neighbors : ndarray of shape (n_samples, n_neighbors)
            In the reference set.
        lengths : ndarray of shape (n_samples, n_neighbors)
            Of the edges to these.
        """
        shortest = np.full((len(own), self.distances.shape[1]), np.inf)
        for j in range(neighbors.shape[1]):
            np.minimum(shortest, self.distances[neighbors[:, j]] + lengths[:, j, np.newaxis], out=shortest)
        shortest[own >= 0] = self.distances[own[own >= 0]]
        return np.asarray(np.square(shortest, out=shortest))


def draw_landmarks(n_samples: int, random_state: Any) -> NDArray[np.intp]:
    """Return which samples are landmarks."""
    given = isinstance(random_state, np.random.RandomState)
    draw = random_state if given else np.random.default_rng(0 if random_state is None else random_state)
    return np.sort(draw.choice(n_samples, min(N_LANDMARKS, n_samples), replace=False))


def measure_landmarks(
    X: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    *,
    mutual: bool,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
) -> Landmarks:
    """Measure geodesic distances from landmarks to samples, along their neighbour graph."""
    landmarks = draw_landmarks(len(X), random_state)
    graph = build_distance_graph(X, neighbors, mutual=mutual)
    squares = measure_geodesics(graph, landmarks, n_jobs=n_jobs, verbose=verbose)
    return Landmarks(learn_placement(squares[:, landmarks]), np.sqrt(squares).T)


GEODESIC = Geodesic(mutual=False)
