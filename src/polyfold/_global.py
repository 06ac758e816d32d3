"""The map that keeps geodesic distances: Isomap's kernel, maximised within the span of the polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from polyfold._conditioning import ConditionedBasis
from polyfold._eigen import Whitening, orthonormalize, solve_kernel, solve_orthogonal_kernel, whiten
from polyfold._gram import build_gram_folds
from polyfold._graph import EquationGraph
from polyfold._regression import RIDGES, leave_one_out
from polyfold._ridge import RidgeCurve
from polyfold._solution import Selection, Solution
from polyfold.objectives.isomap import (
    build_distance_graph,
    center_exactly,
    measure_geodesics,
    place_by_landmarks,
)

#: Up to this many samples all geodesics are measured, beyond it those from N_LANDMARKS landmarks.
EXACT_SIZE, N_LANDMARKS = 3000, 500

#: Up to this many samples a dense eigensolver finds Isomap's coordinates.
DENSE_SIZE = 500


@dataclass(frozen=True, eq=False)
class GeodesicKernel:
    """Isomap's K, rows and columns times √weight: dense, or as ``F Fᵀ``."""

    K: NDArray[np.float64] | None
    F: NDArray[np.float64] | None

    def project(self, U: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``UᵀKU``."""
        if self.K is not None:
            return np.asarray(U.T @ (self.K @ U))
        assert self.F is not None
        inner = U.T @ self.F
        return np.asarray(inner @ inner.T)

    def find_coordinates(self, n_components: int) -> NDArray[np.float64]:
        """Return Isomap's own coordinates (times √weight)."""
        if self.F is not None:
            return self.F[:, :n_components]
        assert self.K is not None
        size = len(self.K)
        if size <= max(DENSE_SIZE, 4 * n_components):
            eigenvalues, E = eigh(self.K, subset_by_index=[size - n_components, size - 1])
        else:
            eigenvalues, E = eigsh(self.K, n_components, which="LA", v0=np.ones(size))
        order = np.argsort(-eigenvalues)
        return np.asarray(E[:, order] * np.sqrt(np.maximum(eigenvalues[order], 0.0)))


def build_kernel(
    measured: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    weights: NDArray[np.float64],
    *,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
) -> GeodesicKernel:
    """Measure geodesic distances and turn them into inner products."""
    n_samples = len(neighbors)
    graph = build_distance_graph(measured, neighbors)
    work: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    roots = np.sqrt(weights)
    if n_samples <= EXACT_SIZE:
        squares = measure_geodesics(graph, np.arange(n_samples), **work)
        K = center_exactly(squares, weights / weights.sum())
        return GeodesicKernel(roots[:, np.newaxis] * K * roots, None)
    seed = np.random.default_rng(0 if random_state is None else random_state)
    landmarks = np.sort(seed.choice(n_samples, N_LANDMARKS, replace=False))
    F = place_by_landmarks(measure_geodesics(graph, landmarks, **work), landmarks)
    F -= np.average(F, axis=0, weights=weights)
    return GeodesicKernel(None, roots[:, np.newaxis] * F)


def solve_global(
    kernel: GeodesicKernel,
    X: NDArray[np.float64],
    weights: NDArray[np.float64],
    basis: ConditionedBasis,
    n_components: int,
    *,
    alpha: float | None,
    orthogonal: bool,
    center: bool,
    n_jobs: int | None,
    verbose: int,
) -> Solution:
    """Maximise ``tr(Yᵀ K Y)`` over ``Y = Phi V``, each coordinate scaled by the root of its eigenvalue.

    The ridge is that with the smallest leave-one-out error of a regression on Isomap's own coordinates.

    Parameters
    ----------
    kernel : GeodesicKernel
    X : ndarray of shape (n_samples, n_axes)
        Samples in the map's variables.
    weights : ndarray of shape (n_samples,)
    basis : ConditionedBasis
    n_components : int
    alpha : float or None
        The ridge; None chooses it.
    orthogonal : bool
        Fix ``VᵀV = I`` instead of the scale of each coordinate.
    center, n_jobs, verbose
        Of the fit.
    """
    n_samples = len(X)
    nothing = EquationGraph(csr_array((n_samples, n_samples)), weights, np.arange(n_samples))
    [gram] = build_gram_folds(nothing, X, basis, n_jobs=n_jobs, verbose=0, n_folds=1)
    mean = gram.mean if center else np.zeros(len(gram.mean))
    whitening = whiten(gram.centered() if center else gram.B, basis.T_inverse, n_components)
    features = (basis.monomials.expand(X) - basis.center) @ basis.T - mean
    U = (features @ whitening.W) * np.sqrt(weights)[:, np.newaxis]

    targets = kernel.find_coordinates(n_components)
    leverage = weights / weights.sum() if center else 0.0
    alphas = np.concatenate([[0.0], RIDGES]) if alpha is None and not orthogonal else np.array([alpha or 0.0])
    curve = _rate_ridges(U, targets, whitening, leverage, alphas)
    C = kernel.project(U)
    if orthogonal:
        directions = solve_orthogonal_kernel(C, whitening, basis.T, n_components)
    else:
        directions = solve_kernel(C, whitening, n_components, curve.best_alpha)
    V, offset = basis.to_monomials(directions.vectors, -mean @ directions.vectors)
    if orthogonal:
        V, offset = orthonormalize(V, offset)
    fitted = leave_one_out(U, targets, whitening.penalty, leverage, curve.best_alpha).fitted
    return Solution(
        coefficients=V,
        offset=offset,
        eigenvalues=directions.eigenvalues,
        whitening=whitening,
        curve=curve,
        training_objective=float(np.square(targets - fitted).sum() / np.square(targets).sum()),
        held_out_objective=float(curve.objectives[curve.best]),
        held_out_spread=curve.spreads[curve.best],
        selection=Selection(np.arange(n_components), n_components),
    )


def _rate_ridges(
    U: NDArray[np.float64],
    targets: NDArray[np.float64],
    whitening: Whitening,
    leverage: NDArray[np.float64] | float,
    alphas: NDArray[np.float64],
) -> RidgeCurve:
    """Return for each ridge the share of Isomap's coordinates that a map misses on samples left out."""
    objectives, spreads = [], []
    for alpha in alphas:
        left_out = leave_one_out(U, targets, whitening.penalty, leverage, float(alpha))
        objectives.append(np.square(targets - left_out.predicted).sum() / np.square(targets).sum())
        spreads.append(np.sqrt(np.square(left_out.predicted).sum(axis=0) / np.square(left_out.fitted).sum(axis=0)))
    return RidgeCurve(alphas, np.array(objectives), np.array(spreads))
