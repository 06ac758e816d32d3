"""The strength of the ridge, chosen by cross-validation of the objective on held-out samples.

The Gram pair is a sum over samples, so a fold is a small pair of its own, and leaving it out is a subtraction: no
pass over the data is repeated. Sample i is in fold i mod K, whatever the seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from polyfold._blocks import show_progress
from polyfold._eigen import SHIFT, Whitening
from polyfold._factors import find_largest
from polyfold._gram import GramPair

#: Ridges that "auto" chooses from.
ALPHAS = np.concatenate([[0.0], 10.0 ** np.arange(-6, 0.5, 0.5)])

#: A held-out objective below this share of the mean eigenvalue is rounding.
PERFECT = 1e-12

#: The ridge where nothing can be held out.
CAUTIOUS = 1e-3

TINY = np.finfo(float).tiny

#: Up to this many features a dense eigensolver is the quicker one.
DENSE_SIZE = 64


@dataclass(frozen=True, eq=False)
class RidgeCurve:
    """What each ridge does on held-out folds.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
    objectives : ndarray of shape (n_alphas,)
        Geometric mean of ``tr(Vᵀ A_f V) / tr(Vᵀ B_f V)`` over the folds f, V learned from the others; infinite
        where the others do not determine V. Geometric, so that one bad edge in one fold does not decide.
    spreads : ndarray of shape (n_alphas, n_components)
        Spread of each coordinate about its training mean, on held-out samples over that on the others.
    """

    alphas: NDArray[np.float64]
    objectives: NDArray[np.float64]
    spreads: NDArray[np.float64]

    @property
    def best(self) -> int:
        """Position of the ridge with the smallest objective; of CAUTIOUS, where samples are too few to tell."""
        if len(self.alphas) == 1 or np.isfinite(self.objectives).any():
            return int(np.argmin(self.objectives))
        return int(np.argmin(np.abs(self.alphas - CAUTIOUS)))

    @property
    def best_alpha(self) -> float:
        """The ridge with the smallest objective."""
        return float(self.alphas[self.best])


@dataclass(frozen=True, eq=False)
class WhitenedFold:
    """One fold in the whitened basis: its share of A, its share of B, and the sum of its centred features."""

    A: NDArray[np.float64]
    B: NDArray[np.float64]
    feature_sum: NDArray[np.float64]
    weight_sum: float


def whiten_fold(fold: GramPair, mean: NDArray[np.float64], W: NDArray[np.float64]) -> WhitenedFold:
    """Write the sums of a fold in the basis W, features less `mean`."""
    about_mean = fold.feature_sum - fold.weight_sum * mean
    B = fold.B - np.outer(mean, about_mean) - np.outer(fold.feature_sum, mean)
    return WhitenedFold(W.T @ fold.A @ W, W.T @ B @ W, about_mean @ W, fold.weight_sum)


@np.errstate(over="ignore", invalid="ignore")
def cross_validate(
    folds: list[GramPair],
    total: GramPair,
    mean: NDArray[np.float64],
    whitening: Whitening,
    n_components: int,
    alphas: NDArray[np.float64],
    *,
    center: bool,
    verbose: int,
    kept: NDArray[np.intp] | None = None,
    lengths: NDArray[np.float64] | None = None,
) -> RidgeCurve:
    """Return the objective and the spread on held-out folds for each ridge.

    Parameters
    ----------
    folds, total : GramPair
        The folds and their sum.
    mean : ndarray of shape (n_features,)
        Of the features.
    whitening : Whitening
        Of the sum.
    n_components : int
        How many of the smallest directions are found on the other folds.
    alphas : ndarray of shape (n_alphas,)
    center, verbose
        Of the fit.
    kept : ndarray of int, default=None
        Which of these directions are rated; None is all.
    lengths : ndarray of shape (rank, rank), default=None
        Squared length of the coefficients in the whitened basis, where that is what is fixed, instead of the
        variance of the coordinates.
    """
    W = whitening.W
    kept = np.arange(n_components) if kept is None else kept
    C, whole_sum = W.T @ total.A @ W, (total.feature_sum - total.weight_sum * mean) @ W
    logarithms = np.zeros(len(alphas))
    ratios = np.zeros((len(alphas), len(kept)))
    for gram in show_progress(folds, len(folds), "ridge", verbose):
        fold = whiten_fold(gram, mean, W)
        C_rest, B_rest = C - fold.A, np.eye(len(C)) - fold.B
        rest_weight = total.weight_sum - fold.weight_sum
        if min(fold.weight_sum, rest_weight) < PERFECT * total.weight_sum:  # a fold of all weight, or of none
            return RidgeCurve(alphas, np.full(len(alphas), np.inf), np.full(ratios.shape, np.nan))
        mean_rest = (whole_sum - fold.feature_sum) / rest_weight
        if center:
            B_rest -= rest_weight * np.outer(mean_rest, mean_rest)
        typical = np.trace(C_rest) / len(C) or 1.0
        for a, alpha in enumerate(alphas):
            penalised = C_rest.copy()
            penalised[np.diag_indices(len(C))] += typical * (alpha * whitening.penalty + SHIFT)
            V = _best_directions(B_rest, penalised, n_components, lengths)
            if V is None:
                logarithms[a], ratios[a] = np.inf, np.nan
                continue
            V = V[:, kept]
            middle = mean_rest @ V
            squares = np.einsum("ij,ij->j", V, fold.B @ V)
            about_middle = squares - 2 * middle * (fold.feature_sum @ V) + fold.weight_sum * middle**2
            rest_about_middle = 1.0 if center else np.maximum(1.0 - rest_weight * middle**2, PERFECT)
            objective = _divide(np.einsum("ij,ij->", V, fold.A @ V), (about_middle if center else squares).sum())
            logarithms[a] += np.log(max(objective, PERFECT * typical)) / len(folds)
            ratios[a] += about_middle / fold.weight_sum / (rest_about_middle / rest_weight) / len(folds)
    return RidgeCurve(alphas, np.exp(logarithms), np.sqrt(np.maximum(ratios, 0.0)))


def average_objective(folds: list[GramPair], mean: NDArray[np.float64], V: NDArray[np.float64]) -> float:
    """Return the objective of V averaged over folds as in the curve, though V was learned from all of them."""
    shares = [whiten_fold(fold, mean, V) for fold in folds]
    ratios = [_divide(np.trace(share.A), np.trace(share.B)) for share in shares]
    return float(np.exp(np.mean(np.log(np.maximum(ratios, TINY)))))


def _divide(energy: float, spread: float) -> float:
    """Return the objective of a fold; infinity where its coordinates are all the same, to the last digit."""
    with np.errstate(over="ignore"):
        return float(np.float64(energy) / max(spread, TINY))


def _best_directions(
    B: NDArray[np.float64],
    penalised: NDArray[np.float64],
    n_components: int,
    lengths: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Return V with unit vᵀBv of the largest ν in ``B v = ν penalised v``, or None where B's rank is too low.

    Where `lengths` are given, they take B's place in the problem. The final fit takes care of all digits
    (`polyfold._eigen`); a comparison of ridges does with eight.
    """
    size, fixed = len(B), B if lengths is None else lengths
    try:
        if size <= max(DENSE_SIZE, 4 * n_components):
            nu, V = find_largest(fixed, n_components, penalised)
        else:
            factor = cholesky(penalised, lower=True)

            def apply(v: NDArray[np.float64]) -> NDArray[np.float64]:
                back = solve_triangular(factor, v, lower=True, trans="T", check_finite=False)
                return np.asarray(solve_triangular(factor, fixed @ back, lower=True, check_finite=False))

            inner = LinearOperator((size, size), matvec=apply)
            nu, U = eigsh(inner, n_components, which="LA", v0=np.ones(size), tol=1e-8)
            V = solve_triangular(factor, U, lower=True, trans="T")
    except (LinAlgError, ArpackError):
        return None
    if len(nu) < n_components:  # ARPACK returns fewer where most are 0
        return None
    V = V[:, np.argsort(-nu)]
    squares = np.einsum("ij,ij->j", V, B @ V)
    if not nu.min() > 1e-12 * nu.max() or squares.min() <= 0:
        return None
    return np.asarray(V / np.sqrt(squares))
