"""The map that keeps geodesic distances: Isomap's kernel, maximised within the span of the polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from polyfold._eigen import orthonormalize, solve_kernel, solve_orthogonal_kernel
from polyfold._factors import find_largest
from polyfold._features import Features
from polyfold._regression import Regression, WhiteBasis, regress, whiten_features
from polyfold._solution import Selection, Solution
from polyfold.objectives.isomap import (
    build_distance_graph,
    center_exactly,
    draw_landmarks,
    learn_placement,
    measure_geodesics,
)

#: Up to this many samples all geodesics are measured, beyond it those from landmarks.
EXACT_SIZE = 3000

#: Eigenvalues of K below this share of the largest are those of distances that no embedding has.
LEAST_EIGENVALUE = 1e-9

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
        """Return Isomap's own coordinates (times √weight), as many as geodesic distances have."""
        if self.F is not None:
            return self.F[:, :n_components]
        assert self.K is not None
        size = len(self.K)
        if size <= max(DENSE_SIZE, 4 * n_components):
            eigenvalues, E = find_largest(self.K, n_components)
        else:
            # A fixed start that is not the constant, which K maps to zero.
            start = np.random.default_rng(0).normal(size=size)
            eigenvalues, E = eigsh(self.K, n_components, which="LA", v0=start)
        order = np.argsort(-eigenvalues)[: np.count_nonzero(eigenvalues > LEAST_EIGENVALUE * eigenvalues.max())]
        return np.asarray(E[:, order] * np.sqrt(eigenvalues[order]))


def build_kernel(
    measured: NDArray[np.float64],
    neighbors: NDArray[np.intp],
    weights: NDArray[np.float64],
    *,
    mutual: bool,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
) -> GeodesicKernel:
    """Measure geodesic distances and turn them into inner products."""
    n_samples = len(neighbors)
    graph = build_distance_graph(measured, neighbors, mutual=mutual)
    work: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    roots = np.sqrt(weights)
    if n_samples <= EXACT_SIZE:
        squares = measure_geodesics(graph, np.arange(n_samples), **work)
        K = center_exactly(squares, weights / weights.sum())
        return GeodesicKernel(roots[:, np.newaxis] * K * roots, None)
    landmarks = draw_landmarks(n_samples, random_state)
    squares = measure_geodesics(graph, landmarks, **work)
    F = learn_placement(squares[:, landmarks]).place(squares.T)
    F -= np.average(F, axis=0, weights=weights)
    return GeodesicKernel(None, roots[:, np.newaxis] * F)


def solve_global(
    kernel: GeodesicKernel,
    features: Features,
    weights: NDArray[np.float64],
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
    features : Features
        Of the samples.
    weights : ndarray of shape (n_samples,)
    n_components : int
    alpha : float or None
        The ridge; None chooses it.
    orthogonal : bool
        Fix ``VᵀV = I`` instead of the scale of each coordinate.
    center, n_jobs, verbose
        Of the fit.
    """
    white = whiten_features(features, weights, n_components, center=center, n_jobs=n_jobs)
    targets = kernel.find_coordinates(n_components)
    check_positive(targets.shape[1], n_components)
    regression = regress(white, targets, 0.0 if orthogonal else alpha, n_jobs=n_jobs, verbose=verbose)
    C = kernel.project(white.expand())
    return solve_whitened(C, regression, white.basis, n_components, orthogonal=orthogonal)


def solve_whitened(
    C: NDArray[np.float64], regression: Regression, white: WhiteBasis, n_components: int, *, orthogonal: bool
) -> Solution:
    """Maximise ``tr(VᵀCV)``, C the kernel in the whitened basis, with the ridge that the regression chose."""
    curve, whitening = regression.curve, white.whitening
    if orthogonal:
        directions = solve_orthogonal_kernel(C, whitening, white.conditioned.T, n_components)
    else:
        directions = solve_kernel(C, whitening, n_components, curve.best_alpha)
        positive = directions.eigenvalues > LEAST_EIGENVALUE * directions.eigenvalues[0]
        check_positive(int(np.count_nonzero(positive)), n_components)
    V, offset = white.to_monomials(directions.vectors)
    if orthogonal:
        V, offset = orthonormalize(V, offset)
    # What polynomials of this ridge make of Isomap's coordinates; of orthonormal coefficients it says nothing.
    known = np.nan if orthogonal else 1.0
    return Solution(
        coefficients=V,
        offset=offset,
        eigenvalues=directions.eigenvalues,
        whitening=whitening,
        curve=curve,
        training_objective=known * float(regression.fitted_missed[curve.best].sum() / regression.total.sum()),
        held_out_objective=known * float(curve.objectives[curve.best]),
        held_out_spread=known * curve.spreads[curve.best],
        selection=Selection(np.arange(n_components), n_components),
    )


def check_positive(n_positive: int, n_components: int) -> None:
    """Check that there are as many coordinates as asked for."""
    if n_positive < n_components:
        raise ValueError(
            f"`n_components`={n_components} exceeds what geodesic distances span: only {n_positive} of the inner "
            "products' eigenvalues are positive within the polynomials. Lower `n_components`, raise `degree` or "
            "`n_neighbors`, or remove outliers that dwarf the rest."
        )
