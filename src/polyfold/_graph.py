"""The local equations of a fit, for any set of samples: from neighbourhoods, from an affinity, or as given.

A graph writes the equations that some samples contribute, ``write(rows) -> (members, (L, D))``, so that the Gram
pair can be summed over samples in blocks and folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from polyfold.objectives.edges import write_edges
from polyfold.objectives.patch import Equations, Patch

#: An affinity may differ by this share of its largest entry from its transpose, and the rows of L may sum to this
#: share of their length: rounding.
ROUNDING = 1e-8


class Graph(Protocol):
    """What the Gram pair is summed over."""

    @property
    def n_samples(self) -> int:
        """Samples in all."""

    def write(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], Equations]:
        """Return the samples that the equations of `rows` touch, and these equations, columns in that order."""

    def count_bytes(self, n_features: int) -> int:
        """Estimate the working memory for each row."""


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The equations of a local method.

    Attributes
    ----------
    neighbors : ndarray of shape (n_samples, n_neighbors)
    measured : ndarray of shape (n_samples, n_dimensions)
        The samples in the space in which neighbours were found and local relations are measured.
    weights : ndarray of shape (n_samples,)
        How much each sample counts.
    build : callable
        From a patch to its equations.
    """

    neighbors: NDArray[np.intp]
    measured: NDArray[np.float64]
    weights: NDArray[np.float64]
    build: Callable[[Patch], Equations]

    @property
    def n_samples(self) -> int:
        """Samples in all."""
        return len(self.neighbors)

    def write(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], Equations]:
        """Return the samples in the neighbourhoods of `rows`, and the equations of these."""
        neighbors = self.neighbors[rows]
        members, positions = np.unique(np.concatenate([rows, neighbors.ravel()]), return_inverse=True)
        centers, around = positions[: len(rows)], positions[len(rows) :].reshape(neighbors.shape)
        patch = Patch(self.measured[members], members, centers, around, self.weights[rows])
        return members, self.build(patch)

    def count_bytes(self, n_features: int) -> int:
        """Up to k equations and k + 1 samples for each row, k offsets, and a few k×k matrices."""
        k = self.neighbors.shape[1]
        return int(8 * ((2 * k + 5) * n_features + (3 * k + 1) * self.measured.shape[1] + 6 * k * k))


@dataclass(frozen=True, eq=False)
class AffinityGraph:
    """A symmetric affinity W: equations ``√(w/2) (e_i − e_j)``, and the row sums of W as D (paper, eq. 3 to 12).

    W may have negative entries, as long as ``D − W`` is positive semidefinite: such is that of LLE (eq. 21).
    """

    W: Any
    weights: NDArray[np.float64]

    @property
    def n_samples(self) -> int:
        """Samples in all."""
        return int(self.W.shape[0])

    def write(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], Equations]:
        """Return the samples that W joins to `rows`, and an equation for each entry of these rows."""
        edges = self.W[rows]
        starts = np.repeat(rows, np.diff(edges.indptr))
        members, positions = np.unique(np.concatenate([rows, edges.indices]), return_inverse=True)
        centers = np.repeat(positions[: len(rows)], np.diff(edges.indptr))
        affinities = edges.data * self.weights[starts]
        equations = write_edges(centers, positions[len(rows) :], affinities, len(members))
        D = np.zeros(len(members))
        D[positions[: len(rows)]] = np.maximum(np.asarray(edges.sum(axis=1)).ravel(), 0.0) * self.weights[rows]
        return members, equations._replace(D=D)

    def count_bytes(self, n_features: int) -> int:
        """As many equations and samples for each row as it has entries on average."""
        return int(8 * (2 * self.W.nnz / max(self.n_samples, 1) + 5) * n_features)


@dataclass(frozen=True, eq=False)
class EquationGraph:
    """Equations as they are: L with any number of rows, each of which belongs to one sample, and D."""

    L: Any
    D: NDArray[np.float64]
    owners: NDArray[np.intp]

    @property
    def n_samples(self) -> int:
        """Samples in all."""
        return len(self.D)

    def write(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], Equations]:
        """Return the samples in the equations that belong to `rows`, and these equations."""
        equations = self.L[np.flatnonzero(np.isin(self.owners, rows))]
        members, positions = np.unique(np.concatenate([rows, equations.indices]), return_inverse=True)
        shape = (equations.shape[0], len(members))
        L = csr_array((equations.data, positions[len(rows) :], equations.indptr), shape=shape)
        D = np.zeros(len(members))
        D[positions[: len(rows)]] = self.D[rows]
        return members, Equations(L, D)

    def count_bytes(self, n_features: int) -> int:
        """As many equations for each row, and samples, as it has on average."""
        per_row = (self.L.shape[0] + self.L.nnz) / max(self.n_samples, 1)
        return int(8 * (per_row + 5) * n_features)


def check_affinity(W: Any, n_samples: int) -> Any:
    """Return W as a csr_array, or say what makes it no affinity of these samples."""
    given = W if issparse(W) else np.asarray(W)
    if given.shape != (n_samples, n_samples):
        raise ValueError(
            f"`graph` as an affinity must have shape (n_samples, n_samples) = ({n_samples}, {n_samples}), got "
            f"{given.shape}. It relates the samples given to `fit`; to cross-validate, give a callable that makes "
            "equations of any samples."
        )
    if given.dtype.kind not in "biuf" or not np.isfinite(given.data if issparse(given) else given).all():
        raise ValueError("`graph` as an affinity must hold finite real numbers.")
    affinity = csr_array(given).astype(np.float64)
    affinity.sum_duplicates()
    affinity.eliminate_zeros()
    largest = float(np.abs(affinity.data).max(initial=0.0))
    if largest == 0:
        raise ValueError("`graph` as an affinity must have entries other than 0.")
    asymmetry = abs(affinity - affinity.T)
    if asymmetry.data.max(initial=0.0) > ROUNDING * largest:
        raise ValueError(
            "`graph` as an affinity must be symmetric. Use (W + W.T) / 2, or a callable that returns (L, D)."
        )
    degrees = np.asarray(affinity.sum(axis=1)).ravel()
    if degrees.min() < -ROUNDING * largest:
        raise ValueError(
            f"`graph` as an affinity must have row sums >= 0, got {degrees.min():.3g} in row {degrees.argmin()}."
        )
    if degrees.max() <= ROUNDING * largest:
        raise ValueError(
            "`graph` as an affinity must have row sums above 0, and all of these are 0. Is it a graph Laplacian? "
            "Give the affinity W itself, without the degrees on the diagonal."
        )
    return affinity


def check_equations(answer: Any, n_samples: int, *, center: bool) -> EquationGraph:
    """Turn what a callable `graph` returned into a graph, or say what is wrong with it."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise ValueError(
            f"A callable `graph` must return a pair (L, D), got {type(answer).__name__}. L has one row per "
            "equation and one column per sample, D one weight per sample."
        )
    try:
        L = csr_array(answer[0], dtype=np.float64)
        D = np.asarray(answer[1].diagonal() if issparse(answer[1]) else answer[1], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"A callable `graph` must return a matrix L and a vector D of real numbers, got "
            f"{type(answer[0]).__name__} and {type(answer[1]).__name__}."
        ) from error
    if L.ndim != 2 or L.shape[1] != n_samples or D.shape != (n_samples,):
        raise ValueError(
            f"A callable `graph` must return L of shape (n_equations, {n_samples}) and D of shape ({n_samples},), "
            f"got {L.shape} and {D.shape}."
        )
    if not np.isfinite(L.data).all() or not np.isfinite(D).all() or D.min() < 0 or not D.any():
        raise ValueError("A callable `graph` must return finite L, and D finite, >= 0 and not all 0.")
    L.sum_duplicates()
    sums, lengths = np.asarray(L.sum(axis=1)).ravel(), np.sqrt(np.asarray(L.power(2).sum(axis=1)).ravel())
    if center and (np.abs(sums) > ROUNDING * np.maximum(lengths, np.finfo(float).tiny)).any():
        worst = np.argmax(np.abs(sums))
        raise ValueError(
            f"The rows of L must sum to 0, so that a constant has no residual; row {worst} sums to "
            f"{sums[worst]:.3g}. Change the graph, or use center=False."
        )
    return EquationGraph(L, D, _find_owners(L))


def _find_owners(L: Any) -> NDArray[np.intp]:
    """Return the sample that each equation belongs to: its own number, or else that with the largest entry."""
    if L.shape[0] == L.shape[1]:
        return np.arange(L.shape[0])
    rows = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr))
    order = np.lexsort((L.indices, -np.abs(L.data), rows))
    filled, first = np.unique(rows[order], return_index=True)
    owners = np.zeros(L.shape[0], dtype=np.intp)
    owners[filled] = L.indices[order][first]
    return owners


def count_pieces(graph: AffinityGraph | EquationGraph) -> int:
    """Count the connected components: samples are joined by an affinity, or by being in one equation."""
    if isinstance(graph, AffinityGraph):
        return int(connected_components(graph.W, directed=False, return_labels=False))
    n_equations, n_samples = graph.L.shape
    rows = np.repeat(np.arange(n_equations), np.diff(graph.L.indptr)) + n_samples
    size = n_samples + n_equations
    joined = csr_array((np.ones(graph.L.nnz), (graph.L.indices, rows)), shape=(size, size))
    _, labels = connected_components(joined, directed=False)
    return len(np.unique(labels[:n_samples]))
