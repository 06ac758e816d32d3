"""Coordinates that do not repeat each other (after Chen & Meilă, NeurIPS 2019).

On a manifold much longer than wide the second smallest eigenvector is a function of the first. So some more are
computed, and those are kept whose gradients along the manifold are independent. The gradients of a polynomial are
exact; the tangent planes are local principal axes. Of all sets S of m candidates the one is taken with the largest

    mean_i max(log(|det g_S,i| / Π‖g_s,i‖), −5)  −  0.2 Σ_S log λ_s  −  5 q(S),

g the gradients within the tangent plane of sample i, λ the eigenvalues, and q the share of samples at which the
orientation of the coordinates is that of the minority: a map that is one to one does not turn over.

The smallest are given up only for a set that is clearly better and that hardly turns over. An edge that short-cuts
a fold of the manifold spoils orientations, and then the comparison means less.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from polyfold._index import build_index

#: Candidates beyond the number of coordinates asked for.
N_MORE = 8

#: Samples at which gradients are compared (fewer for more coordinates, which cost more), and among which
#: neighbours for tangent planes are looked for.
MAX_SAMPLES, MAX_REFERENCES = 1000, 10_000

#: Neighbours that a tangent plane is fitted to (or twice its dimension), and that an orientation is passed to.
TANGENT_NEIGHBORS, EDGE_NEIGHBORS = 15, 5

#: With fewer samples, neighbours are no longer near: of a closed curve, a third of the whole spans a plane.
SAMPLES_PER_NEIGHBOR = 10

#: Where tangent planes of neighbours agree less than this (median |det TᵢTⱼᵀ|), they are noise.
LEAST_AGREEMENT = 0.8

#: Where samples extend along the last axis of the tangent planes by a smaller share of the variance along the axis
#: before (in the median), they have fewer dimensions than coordinates are asked for.
LEAST_EXTENT = 0.2

#: Logarithms of volumes below this count as this; weight of the eigenvalues and of turned-over samples.
FLOOR, EIGENVALUE_WEIGHT, TURN_WEIGHT = -5.0, 0.2, 5.0

#: A set is clearly better by so much in all, where it turns over counted twice; or by so much in independence
#: alone, if it turns over at no more than this share of the samples.
CLEARLY_BETTER, CLEARLY_MORE_INDEPENDENT, HARDLY_TURNED = 1.0, 0.5, 0.05

#: Up to this many coordinates every set is looked at, beyond it one is added at a time.
MAX_EXHAUSTIVE = 3

TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Tangents:
    """Tangent planes at some samples.

    Attributes
    ----------
    samples : ndarray of shape (n, n_axes)
    planes : ndarray of shape (n, m, n_axes)
        Orthonormal rows.
    orientations : ndarray of shape (n,)
        ±1, such that neighbouring planes are oriented alike.
    pieces : ndarray of shape (n,)
        Connected component of each; orientations are comparable within one.
    agreement : float
        Median |det TᵢTⱼᵀ| over neighbours.
    extent : float
        Median variance of a neighbourhood along the last axis of its plane over that along the axis before.
    """

    samples: NDArray[np.float64]
    planes: NDArray[np.float64]
    orientations: NDArray[np.float64]
    pieces: NDArray[np.intp]
    agreement: float
    extent: float

    @property
    def are_noise(self) -> bool:
        """Whether planes agree too little with each other, or with the samples, to mean anything."""
        return not (self.agreement >= LEAST_AGREEMENT and self.extent >= LEAST_EXTENT)


def learn_tangents(X: NDArray[np.float64], dimension: int, *, n_jobs: int | None) -> Tangents | None:
    """Fit planes of 2 or more dimensions at MAX_SAMPLES samples at most; None where these cannot be fitted."""
    n_neighbors = max(TANGENT_NEIGHBORS, 2 * dimension)
    if not 2 <= dimension <= X.shape[1] or len(X) < SAMPLES_PER_NEIGHBOR * n_neighbors:
        return None
    order = np.random.default_rng(0).permutation(len(X))
    n_samples = MAX_SAMPLES * min(MAX_EXHAUSTIVE, dimension) // dimension
    references, samples = X[np.sort(order[:MAX_REFERENCES])], X[np.sort(order[:n_samples])]
    _, around = build_index(references, n_jobs=n_jobs).find(samples, n_neighbors + 1)  # the sample itself is one
    planes, squares = _find_planes(references[around] - references[around].mean(axis=1, keepdims=True), dimension)
    extent = float(np.median(squares[:, -1] / np.where(squares[:, -2] > 0, squares[:, -2], 1.0)))

    _, near = build_index(samples, n_jobs=n_jobs).find(samples, min(EDGE_NEIGHBORS + 1, len(samples)))
    near = near[:, 1:]
    starts, ends = np.repeat(np.arange(len(samples)), near.shape[1]), near.ravel()
    turns = np.linalg.det(planes[starts] @ planes[ends].transpose(0, 2, 1))
    orientations, pieces = _orient(starts, ends, turns, len(samples))
    return Tangents(samples, planes, orientations, pieces, float(np.median(np.abs(turns))), extent)


def _find_planes(offsets: NDArray[np.float64], dimension: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leading principal axes of each neighbourhood, as rows, and the squared extent along each."""
    if offsets.shape[2] <= offsets.shape[1]:
        squares, axes = np.linalg.eigh(offsets.transpose(0, 2, 1) @ offsets)
        planes = axes.transpose(0, 2, 1)[:, ::-1][:, :dimension]
    else:
        squares, U = np.linalg.eigh(offsets @ offsets.transpose(0, 2, 1))
        planes = U.transpose(0, 2, 1)[:, ::-1][:, :dimension] @ offsets
        planes /= np.maximum(np.linalg.norm(planes, axis=2, keepdims=True), TINY)
    return np.ascontiguousarray(planes), squares[:, ::-1][:, :dimension]


def _orient(
    starts: NDArray[np.intp], ends: NDArray[np.intp], turns: NDArray[np.float64], n_samples: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Pass orientations along the spanning tree of the planes that agree best."""
    codes = np.minimum(starts, ends) * n_samples + np.maximum(starts, ends)
    codes, first = np.unique(codes, return_index=True)
    turns = turns[first]
    # Lengths above 0: a sparse graph holds no edge of length 0.
    # Indices of 32 bits: before 1.17 SciPy finds the tree of no others.
    pairs = np.stack(np.divmod(codes, n_samples)).astype(np.int32)
    edges = coo_array((2.0 - np.abs(turns), tuple(pairs)), shape=(n_samples, n_samples))
    tree = minimum_spanning_tree(edges.tocsr())
    n_pieces, pieces = connected_components(tree, directed=False)
    orientations = np.ones(n_samples)
    for piece in range(n_pieces):
        nodes, parents = breadth_first_order(tree, int(np.argmax(pieces == piece)), directed=False)
        nodes, parents = nodes[1:], parents[nodes[1:]]
        passed = np.minimum(nodes, parents) * n_samples + np.maximum(nodes, parents)
        signs = np.where(turns[np.searchsorted(codes, passed)] < 0, -1.0, 1.0)
        for node, parent, sign in zip(nodes.tolist(), parents.tolist(), signs.tolist(), strict=True):
            orientations[node] = orientations[parent] * sign
    return orientations, pieces


def select_coordinates(
    gradients: NDArray[np.float64], eigenvalues: NDArray[np.float64], n_components: int, tangents: Tangents
) -> NDArray[np.intp]:
    """Return the positions of the candidates to keep, ascending.

    Parameters
    ----------
    gradients : ndarray of shape (n, n_candidates, n_axes)
        At the samples of `tangents`.
    eigenvalues : ndarray of shape (n_candidates,)
        Ascending.
    n_components : int
        How many to keep.
    tangents : Tangents
    """
    along = gradients @ tangents.planes.transpose(0, 2, 1)
    lengths = np.linalg.norm(along, axis=2, keepdims=True)
    along = along / np.where(lengths > 0, lengths, 1.0)
    costs = EIGENVALUE_WEIGHT * np.log(np.maximum(eigenvalues, max(1e-12 * eigenvalues[-1], TINY)))
    if n_components <= MAX_EXHAUSTIVE:
        sets = list(combinations(range(len(eigenvalues)), n_components))
    else:
        sets = [_grow_set(along, costs, n_components)]

    def rate(chosen: tuple[int, ...]) -> Rating:
        return _rate_set(along[:, list(chosen)], costs[list(chosen)], tangents)

    smallest = tuple(range(n_components))
    best = max(sets, key=lambda chosen: rate(chosen).score)
    return np.sort(best if _is_clearly_better(rate(best), rate(smallest)) else smallest).astype(np.intp)


class Rating(NamedTuple):
    """How good coordinates are: in all, how independent they are, and at which share of samples they turn over."""

    score: float
    independence: float
    turned: float


def _is_clearly_better(one: Rating, other: Rating) -> bool:
    gain, more_independent = one.score - other.score, one.independence - other.independence
    return gain - TURN_WEIGHT * one.turned > CLEARLY_BETTER or (
        gain > 0 and more_independent > CLEARLY_MORE_INDEPENDENT and one.turned <= HARDLY_TURNED
    )


def _rate_set(along: NDArray[np.float64], costs: NDArray[np.float64], tangents: Tangents) -> Rating:
    """Rate a set of coordinates by their unit gradients within the tangent planes, shape (n, m, m)."""
    volumes = np.linalg.det(along)
    independence = _average_logarithm(np.abs(volumes))
    positive = np.bincount(tangents.pieces, volumes * tangents.orientations > 0)
    sizes = np.bincount(tangents.pieces)
    turned = np.minimum(positive, sizes - positive).sum() / len(volumes)
    score = independence - costs.sum() - TURN_WEIGHT * turned
    return Rating(float(score), float(independence), float(turned))


def _grow_set(along: NDArray[np.float64], costs: NDArray[np.float64], n_components: int) -> tuple[int, ...]:
    """Add to the best pair those that gain most, each less what the gradients already taken span."""
    cosines = along @ along.transpose(0, 2, 1)
    volumes = np.sqrt(np.maximum(1 - np.square(cosines), 0.0))
    gains = _average_logarithm(volumes) - costs - costs[:, np.newaxis]
    np.fill_diagonal(gains, -np.inf)
    chosen = [int(position) for position in np.unravel_index(np.argmax(gains), gains.shape)]
    rest = along.copy()
    for taken in range(n_components):
        newest = rest[:, chosen[taken]]
        lengths = np.linalg.norm(newest, axis=1, keepdims=True)
        newest = newest / np.where(lengths > 0, lengths, 1.0)
        rest -= (rest @ newest[:, :, np.newaxis]) * newest[:, np.newaxis]
        if taken > 0 and len(chosen) < n_components:
            gains = _average_logarithm(np.linalg.norm(rest, axis=2)) - costs
            gains[chosen] = -np.inf
            chosen.append(int(np.argmax(gains)))
    return tuple(chosen)


def _average_logarithm(volumes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over samples of the logarithms, each at least FLOOR."""
    return np.asarray(np.maximum(np.log(np.maximum(volumes, TINY)), FLOOR).mean(axis=0))
