"""The map that keeps local relations: smallest eigenvectors of the Gram pair, ridge and coordinates chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from polyfold._blocks import show_stage
from polyfold._conditioning import ConditionedBasis
from polyfold._eigen import Directions, Whitening, orthonormalize, solve_orthogonal, solve_pair, whiten
from polyfold._gram import GramPair, sum_folds
from polyfold._ridge import ALPHAS, RidgeCurve, average_objective, cross_validate
from polyfold._selection import N_MORE, learn_tangents, select_coordinates
from polyfold._solution import Selection, Solution


def solve_local(
    folds: list[GramPair],
    basis: ConditionedBasis,
    sample: NDArray[np.float64],
    n_components: int,
    *,
    alpha: float | None,
    orthogonal: bool,
    independent: bool,
    center: bool,
    n_jobs: int | None,
    verbose: int,
    signed: bool = False,
) -> Solution:
    """Minimise ``||L Phi V||²``, subject to ``Vᵀ Phiᵀ diag(D) Phi V = I`` or to ``VᵀV = I``.

    Parameters
    ----------
    folds : list of GramPair
        The sums of each fold: what is minimised and what is fixed.
    basis : ConditionedBasis
        In which these are written.
    sample : ndarray of shape (n_drawn, n_axes)
        Some samples in the map's units, to tell which coordinates are independent.
    n_components : int
    alpha : float or None
        The ridge; None chooses it on held-out folds.
    orthogonal : bool
        Fix the coefficients' lengths and angles instead of the coordinates'.
    independent : bool
        Take the coordinates that do not repeat each other, instead of the smallest.
    center, n_jobs, verbose
        Of the fit.
    signed : bool, default=False
        Whether some squared residuals are subtracted: then a fold has no objective of its own.
    """
    gram = sum_folds(folds)
    mean, B = gram.measure_spread(center=center)
    with show_stage("whitening", verbose):
        whitening = whiten(B, basis.T_inverse, n_components)
    lengths = None
    if orthogonal:
        with np.errstate(over="ignore", invalid="ignore"):
            coefficients, alpha = basis.T @ whitening.W, 0.0
            lengths = coefficients.T @ coefficients
        if not np.isfinite(lengths).all():
            raise ValueError(whitening.explain_failure())
    held_out: dict[str, Any] = {"center": center, "verbose": verbose, "lengths": lengths}
    alphas = ALPHAS if alpha is None else np.array([alpha])
    if signed:
        _check_semidefinite(gram, whitening, alpha)
        curve = RidgeCurve(alphas, np.array([np.nan]), np.full((1, n_components), np.nan))
    else:
        curve = cross_validate(folds, gram, mean, whitening, n_components, alphas, **held_out)

    def solve(n_wanted: int) -> Directions:
        if orthogonal:
            return solve_orthogonal(gram.A, whitening, basis.T, n_wanted)
        return solve_pair(gram.A, whitening, n_wanted, curve.best_alpha)

    if independent:
        with show_stage("coordinates", verbose):
            directions, selection = _choose_directions(solve, sample, basis, n_components, whitening.rank, n_jobs)
    else:
        with show_stage("eigenvectors", verbose):
            directions, selection = solve(n_components), Selection(np.arange(n_components), n_components)
    kept = selection.kept
    rated, best = curve, curve.best
    if kept[-1] >= n_components and not signed:
        held_out["verbose"] = 0
        chosen_alpha = np.array([curve.best_alpha])
        rated = cross_validate(
            folds, gram, mean, whitening, int(kept[-1]) + 1, chosen_alpha, kept=kept, **held_out
        )
        best = 0
    V, offset = basis.to_monomials(directions.vectors, -mean @ directions.vectors)
    if orthogonal:
        V, offset = orthonormalize(V, offset)
    return Solution(
        coefficients=V,
        offset=offset,
        eigenvalues=directions.eigenvalues,
        whitening=whitening,
        curve=curve,
        training_objective=np.nan if signed else average_objective(folds, mean, directions.vectors),
        held_out_objective=float(rated.objectives[best]),
        held_out_spread=rated.spreads[best],
        selection=selection,
    )


def _choose_directions(
    solve: Callable[[int], Directions],
    sample: NDArray[np.float64],
    basis: ConditionedBasis,
    n_components: int,
    rank: int,
    n_jobs: int | None,
) -> tuple[Directions, Selection]:
    """Take the directions whose gradients are independent, or the first where that cannot be told."""
    tangents = learn_tangents(sample, n_components, n_jobs=n_jobs)
    if tangents is None or tangents.are_noise:
        return solve(n_components), Selection(np.arange(n_components), n_components, tangents)
    candidates = solve(min(n_components + N_MORE, rank))
    n_candidates = len(candidates.eigenvalues)
    coefficients, _ = basis.to_monomials(candidates.vectors, np.zeros(n_candidates))
    gradients = basis.monomials.differentiate(tangents.samples, coefficients)
    kept = select_coordinates(gradients, candidates.eigenvalues, n_components, tangents)
    chosen = Directions(candidates.vectors[:, kept], candidates.eigenvalues[kept])
    return chosen, Selection(kept, n_candidates, tangents)


def _check_semidefinite(gram: GramPair, whitening: Whitening, alpha: float | None) -> None:
    """Check what an affinity with negative entries does not grant: that something is minimised."""
    if alpha is None:
        raise ValueError(
            '`graph` is an affinity with negative entries, of which parts cannot be held out: alpha="auto" cannot '
            "choose. Give `alpha` as a number, for example 0 or 1e-3."
        )
    eigenvalues = eigvalsh(whitening.W.T @ gram.A @ whitening.W)
    if eigenvalues[0] < -1e-8 * max(eigenvalues[-1], 0.0):
        raise ValueError(
            "`graph` is an affinity W with negative entries for which D − W is not positive semidefinite "
            f"(smallest eigenvalue {eigenvalues[0]:.3g}): nothing is minimised by it."
        )
