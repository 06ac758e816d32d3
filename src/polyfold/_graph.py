"""The local equations of a fit, for any set of samples: from neighbourhoods, from an affinity, or as given.

A graph writes the equations that some samples contribute, ``write(rows) -> (L, D)``, so that the Gram pair can be
summed over samples in blocks and folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from polyfold._refusal import refuse_disguised
from polyfold.objectives.equations.edges import write_edges
from polyfold.objectives.equations.patch import Equations, Patch

#: An affinity may differ by this share of its largest entry from its transpose, and the rows of L may sum to this
#: share of their length: rounding.
ROUNDING = 1e-8

#: Entries of given graphs may not be larger.
LARGEST = 1e100


class Graph(Protocol):
    """What the Gram pair is summed over."""

    @property
    def n_samples(self) -> int:
        """Samples in all."""

    @property
    def order(self) -> NDArray[np.intp] | None:
        """Which of the samples given to `fit` each of these is; None where they are the same."""

    @property
    def is_signed(self) -> bool:
        """Whether residuals are also subtracted: then a part of the samples has no objective of its own."""

    def write(self, rows: NDArray[np.intp]) -> Equations:
        """Return the equations of `rows`."""

    def count_floats(self) -> int:
        """Estimate the floats that are needed to write the equations of a row."""


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
    order : ndarray of shape (n_samples,) or None
        Which of the samples given to `fit` each row is of; None leaves them as they are.
    floats_per_row : int
        Needed to write the equations of a row.
    """

    neighbors: NDArray[np.intp]
    measured: NDArray[np.float64]
    weights: NDArray[np.float64]
    build: Callable[[Patch], Equations]
    order: NDArray[np.intp] | None = None
    floats_per_row: int = 1000
    is_signed: bool = False

    @property
    def n_samples(self) -> int:
        """Samples in all."""
        return len(self.neighbors)

    def write(self, rows: NDArray[np.intp]) -> Equations:
        """Return the equations of the neighbourhoods of `rows`."""
        return self.build(Patch(self.measured, rows, np.take(self.neighbors, rows, axis=0), self.weights[rows]))

    def count_floats(self) -> int:
        """Return what the objective says."""
        return self.floats_per_row


@dataclass(frozen=True, eq=False)
class AffinityGraph:
    """A symmetric affinity W: equations ``√(w/2) (e_i − e_j)``, and the row sums of W as D (paper, eq. 3 to 12).

    W may have negative entries, as long as ``D − W`` is positive semidefinite: such is that of LLE (eq. 21).
    """

    W: Any
    weights: NDArray[np.float64]
    order: None = None

    @property
    def n_samples(self) -> int:
        """Samples in all."""
        return int(self.W.shape[0])

    @property
    def is_signed(self) -> bool:
        """Whether residuals are also subtracted: then a part of the samples has no objective of its own."""
        return bool(self.W.data.min(initial=0.0) < 0)

    def write(self, rows: NDArray[np.intp]) -> Equations:
        """Return an equation for each entry of these rows of W."""
        edges = self.W[rows]
        starts = np.repeat(rows, np.diff(edges.indptr))
        affinities = edges.data * self.weights[starts]
        equations = write_edges(starts, edges.indices.astype(np.intp), affinities, self.n_samples)
        if self.is_signed:  # halves of rows may sum to less than 0, whole rows do not
            degrees = np.maximum(np.asarray(edges.sum(axis=1)).ravel(), 0.0)
            equations = equations._replace(counted=rows, D=degrees)
        return equations

    def count_floats(self) -> int:
        """Ten for each entry of W."""
        return int(10 * self.W.nnz / max(self.n_samples, 1))


@dataclass(frozen=True, eq=False)
class EquationGraph:
    """Equations as they are: L with any number of rows, each of which belongs to one sample, and D."""

    L: Any
    D: NDArray[np.float64]
    owners: NDArray[np.intp]
    order: None = None
    is_signed: bool = False

    @property
    def n_samples(self) -> int:
        """Samples in all."""
        return len(self.D)

    def write(self, rows: NDArray[np.intp]) -> Equations:
        """Return the equations that belong to `rows`."""
        return Equations(self.L[np.flatnonzero(np.isin(self.owners, rows))], rows, self.D[rows])

    def count_floats(self) -> int:
        """Two for each entry of L."""
        return int(2 * self.L.nnz / max(self.n_samples, 1))


def check_affinity(W: Any, used: NDArray[np.bool_]) -> Any:
    """Return W of the samples used as a csr_array, or say what makes it no affinity of these."""
    n_samples = len(used)
    refuse_disguised(W, "`graph`")
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
    affinity = affinity if used.all() else affinity[used][:, used]
    affinity.sum_duplicates()
    affinity.eliminate_zeros()
    largest = float(np.abs(affinity.data).max(initial=0.0))
    if not 1 / LARGEST < largest < LARGEST:
        raise ValueError(
            "`graph` as an affinity must have entries other than 0, of a size that can be squared; the largest is "
            f"{largest:.3g}. Divide it by a constant."
        )
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
    for part, name in zip(answer, "LD", strict=True):
        refuse_disguised(part, f"{name} of a callable `graph`")
    try:
        L, D = csr_array(answer[0]), answer[1].diagonal() if issparse(answer[1]) else np.asarray(answer[1])
        if L.dtype.kind not in "biuf" or D.dtype.kind not in "biuf":
            raise TypeError("not real")
        L, D = L.astype(np.float64), D.astype(np.float64)
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
    in_range = np.abs(L.data).max(initial=0.0) < LARGEST and 1 / LARGEST < D.max(initial=0.0) < LARGEST
    if not in_range or not D.min() >= 0:  # NaN is neither
        raise ValueError(
            f"A callable `graph` must return L and D with entries below {LARGEST:g}, and D >= 0 and not all 0."
        )
    L.sum_duplicates()
    sums, lengths = np.asarray(L.sum(axis=1)).ravel(), np.sqrt(np.asarray(L.power(2).sum(axis=1)).ravel())
    relative = np.abs(sums) / np.maximum(lengths, np.finfo(float).tiny)
    worst = int(np.argmax(relative)) if len(relative) else 0
    if center and len(relative) and relative[worst] > ROUNDING:
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
