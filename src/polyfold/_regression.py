"""Ridge regression on whitened features, and its exact leave-one-out error from the one factorisation.

With orthonormal features U (rows times √weight) of singular values s, the fit of ridge alpha (in units of the
largest squared singular value) is ``U diag(1 / (1 + alpha p)) Uᵀ T``, ``p = (s_max / s)²``; leaving sample i out
divides its residual by 1 − h_i, h the diagonal of that hat matrix. Rows of U are computed where they are needed
and forgotten: memory is a few d×d matrices and one block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import map_blocks, row_slices
from polyfold._conditioning import ConditionedBasis, check_no_overflow
from polyfold._eigen import Whitening, whiten
from polyfold._features import Features
from polyfold._gram import GramPair
from polyfold._ridge import RidgeCurve
from polyfold.polymap import PolynomialMap

#: Ridges that leave-one-out chooses from.
RIDGES = 10.0 ** np.arange(-14, 0.5, 1.0)

#: A sample that the fit passes through, to rounding, is not predicted by the others at all.
NO_FREEDOM = 1e-10

#: A coordinate that varies by less than this share of its size is constant.
ROUNDING = 1e-14


def shrink(penalty: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return ``1 / (1 + alpha p)``; an infinite p drops a feature."""
    finite = np.isfinite(penalty)
    return np.where(finite, 1 / (1 + alpha * np.where(finite, penalty, 0.0)), 0.0)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What ridge regression makes of its targets (rows times √weight).

    Attributes
    ----------
    fitted, predicted : ndarray of shape (n_samples, n_targets)
        With each sample, and with it left out; infinite where the others do not determine it.
    """

    fitted: NDArray[np.float64]
    predicted: NDArray[np.float64]


def leave_one_out(
    U: NDArray[np.float64],
    T: NDArray[np.float64],
    projection: NDArray[np.float64],
    shrinkage: NDArray[np.float64],
    leverage: NDArray[np.float64] | float,
) -> LeftOut:
    """Fit T by U, and predict each sample from the others.

    Parameters
    ----------
    U : ndarray of shape (n_rows, n_features)
        Rows of a matrix with orthonormal columns.
    T : ndarray of shape (n_rows, n_targets)
        The same rows of the targets.
    projection : ndarray of shape (n_features, n_targets)
        ``UᵀT`` of all rows.
    shrinkage : ndarray of shape (n_features,)
        See :func:`shrink`.
    leverage : ndarray of shape (n_rows,) or float
        Share of each sample in the constant term, which is not penalised.
    """
    fitted = U @ (shrinkage[:, np.newaxis] * projection)
    freedom = np.reshape(1 - leverage - np.square(U) @ shrinkage, (-1, 1))
    residuals = np.divide(T - fitted, freedom, out=np.full(T.shape, np.inf), where=freedom > NO_FREEDOM)
    return LeftOut(fitted, T - residuals)


@dataclass(frozen=True, eq=False)
class WhiteBasis:
    """Polynomial features that are orthonormal on the samples they were learned from.

    Attributes
    ----------
    conditioned : ConditionedBasis
    mean : ndarray of shape (n_features,)
        Weighted mean of the conditioned features, or 0 where there is no constant term.
    whitening : Whitening
        Of these, about the mean.
    has_constant : bool
    """

    conditioned: ConditionedBasis
    mean: NDArray[np.float64]
    whitening: Whitening
    has_constant: bool

    def expand(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features of samples in the frame."""
        return np.asarray((self.conditioned.expand(coordinates) - self.mean) @ self.whitening.W)

    def to_monomials(
        self, directions: NDArray[np.float64], constant: NDArray[np.float64] | float = 0.0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rewrite ``(Q − mean) directions + constant`` as ``Phi coefficients + offset``."""
        return self.conditioned.to_monomials(directions, constant - self.mean @ directions)


@dataclass(frozen=True, eq=False)
class WhitenedFeatures:
    """Polynomial features of samples as orthonormal columns, rows times √weight."""

    basis: WhiteBasis
    features: Features
    weights: NDArray[np.float64]

    @property
    def whitening(self) -> Whitening:
        """Of the features."""
        return self.basis.whitening

    def expand(self, rows: slice = slice(None)) -> NDArray[np.float64]:
        """Return the rows of U that belong to some samples."""
        white = self.basis.expand(self.features.coordinates[rows])
        white *= np.sqrt(self.weights[rows])[:, np.newaxis]
        return white

    def measure_leverage(self, rows: slice = slice(None)) -> NDArray[np.float64] | float:
        """Return the share of samples in the constant term."""
        return self.weights[rows] / self.weights.sum() if self.basis.has_constant else 0.0


def whiten_features(
    features: Features,
    weights: NDArray[np.float64],
    n_components: int,
    *,
    center: bool,
    n_jobs: int | None,
    verbose: int = 0,
) -> WhitenedFeatures:
    """Factor the features of all samples; see :func:`polyfold._eigen.whiten`."""

    @np.errstate(over="ignore", invalid="ignore")  # within the thread that computes
    def of_block(rows: slice) -> GramPair:
        Q, D = features.basis.expand(features.coordinates[rows]), weights[rows]
        return GramPair(np.zeros((0, 0)), (Q * D[:, np.newaxis]).T @ Q, D @ Q, float(D.sum()))

    shares = _map_rows(of_block, features, "features", n_jobs=n_jobs, verbose=verbose)
    gram = shares[0]
    for share in shares[1:]:
        gram.add(share)
    check_no_overflow(gram.B)
    mean, B = gram.measure_spread(center=center)
    whitening = whiten(B, features.basis.T_inverse, n_components)
    return WhitenedFeatures(WhiteBasis(features.basis, mean, whitening, center), features, weights)


def _map_rows(function: Callable[[slice], Any], features: Features, description: str, **work: Any) -> list[Any]:
    blocks = row_slices(len(features.coordinates), row_bytes=32 * features.monomials.n_features)
    return list(map_blocks(function, blocks, description=description, **work))


@dataclass(frozen=True, eq=False)
class Regression:
    """Ridge regressions of targets on whitened features, one for each ridge.

    Attributes
    ----------
    projection : ndarray of shape (rank, n_targets)
        ``UᵀT``.
    whitening : Whitening
    alphas : ndarray of shape (n_alphas,)
    missed, fitted_missed : ndarray of shape (n_alphas, n_targets)
        Squared error for samples left out, infinite where the others do not determine one, and with all.
    spreads : ndarray of shape (n_alphas, n_targets)
        Spread of predictions for samples left out, over that with all.
    total : ndarray of shape (n_targets,)
        Squared length of the targets.
    """

    projection: NDArray[np.float64]
    whitening: Whitening
    alphas: NDArray[np.float64]
    missed: NDArray[np.float64]
    fitted_missed: NDArray[np.float64]
    spreads: NDArray[np.float64]
    total: NDArray[np.float64]

    @property
    def curve(self) -> RidgeCurve:
        """The share of the targets that each ridge misses on samples left out."""
        return RidgeCurve(self.alphas, self.missed.sum(axis=1) / (self.total.sum() or 1.0), self.spreads)

    @property
    def best_directions(self) -> NDArray[np.float64]:
        """Coefficients of the conditioned features, about their mean, with the best ridge."""
        shrinkage = shrink(self.whitening.penalty, self.curve.best_alpha)
        return np.asarray(self.whitening.W @ (shrinkage[:, np.newaxis] * self.projection))


def regress(
    white: WhitenedFeatures, T: NDArray[np.float64], alpha: float | None, *, n_jobs: int | None, verbose: int = 0
) -> Regression:
    """Fit targets (rows times √weight, and about their mean) with one ridge, or with each that is to be compared.

    Parameters
    ----------
    white : WhitenedFeatures
    T : ndarray of shape (n_samples, n_targets)
    alpha : float or None
        None is no ridge and each of RIDGES.
    n_jobs, verbose
        Of the fit.
    """
    alphas = list_ridges(alpha)

    def project(rows: slice) -> NDArray[np.float64]:
        return np.asarray(white.expand(rows).T @ T[rows])

    projection = np.sum(_map_rows(project, white.features, "", n_jobs=n_jobs, verbose=0), axis=0)

    def rate(rows: slice) -> NDArray[np.float64]:
        leverage = white.measure_leverage(rows)
        return rate_rows(white.expand(rows), T[rows], projection, white.whitening, alphas, leverage)

    rated = np.sum(_map_rows(rate, white.features, "left out", n_jobs=n_jobs, verbose=verbose), axis=0)
    return read_regression(projection, white.whitening, alphas, rated, np.square(T).sum(axis=0))


def list_ridges(alpha: float | None) -> NDArray[np.float64]:
    """Return the one ridge, or for None no ridge and each of RIDGES."""
    return np.concatenate([[0.0], RIDGES]) if alpha is None else np.array([alpha])


def rate_rows(
    U: NDArray[np.float64],
    T: NDArray[np.float64],
    projection: NDArray[np.float64],
    whitening: Whitening,
    alphas: NDArray[np.float64],
    leverage: NDArray[np.float64] | float,
) -> NDArray[np.float64]:
    """Return sums of squares over some samples for each ridge, shape (n_alphas, 4, n_targets).

    Of what is missed with each sample left out and with all, and of what is predicted with each left out and with
    all; see :func:`leave_one_out`.
    """
    sums = []
    for alpha in alphas.tolist():
        left_out = leave_one_out(U, T, projection, shrink(whitening.penalty, alpha), leverage)
        each = (T - left_out.predicted, T - left_out.fitted, left_out.predicted, left_out.fitted)
        sums.append([np.square(values).sum(axis=0) for values in each])
    return np.array(sums)


def read_regression(
    projection: NDArray[np.float64],
    whitening: Whitening,
    alphas: NDArray[np.float64],
    rated: NDArray[np.float64],
    total: NDArray[np.float64],
) -> Regression:
    """Return the regressions from the sums of :func:`rate_rows` over all samples."""
    with np.errstate(divide="ignore", invalid="ignore"):
        spreads = np.sqrt(rated[:, 2] / rated[:, 3])
    return Regression(projection, whitening, alphas, rated[:, 0], rated[:, 1], spreads, total)


@dataclass(frozen=True, eq=False)
class TargetRegression:
    """The regression of given coordinates on the features of their samples.

    Attributes
    ----------
    white : WhitenedFeatures
    regression : Regression
        Of the coordinates in units of their deviation.
    mean, deviation : ndarray of shape (n_targets,)
        Of the coordinates.
    """

    white: WhitenedFeatures
    regression: Regression
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @property
    def whitening(self) -> Whitening:
        """Of the features."""
        return self.white.whitening

    @property
    def curve(self) -> RidgeCurve:
        """The share of the coordinates that each ridge misses on samples left out."""
        return self.regression.curve

    @property
    def r2(self) -> NDArray[np.float64]:
        """Share of the variance of each coordinate that the best ridge gives back."""
        return self._explain(self.regression.fitted_missed)

    @property
    def left_out_r2(self) -> NDArray[np.float64]:
        """The same for each sample left out of the regression."""
        return self._explain(self.regression.missed)

    def _explain(self, missed: NDArray[np.float64]) -> NDArray[np.float64]:
        total = self.regression.total
        return np.asarray(1 - missed[self.curve.best] / np.where(total > 0, total, 1.0))

    def write_map(self) -> PolynomialMap:
        """Return the map in the unit of the coordinates."""
        with np.errstate(over="ignore", invalid="ignore"):
            V, offset = self.white.basis.to_monomials(self.regression.best_directions * self.deviation, self.mean)
        if not (np.isfinite(V).all() and np.isfinite(offset).all()):
            raise ValueError("The coordinates to follow are too large for float64. Divide them by a constant.")
        features, frame = self.white.features, self.white.features.frame
        return PolynomialMap(frame.shift, frame.scale, features.kind, features.degree, V, offset, frame.axes)


def standardise_targets(
    targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return targets about their mean in units of their deviation, the mean and the deviation, of any size.

    One that is constant, to rounding, becomes 0, and its deviation is 0.
    """
    largest = np.abs(targets).max(axis=0)
    scaled = targets / np.where(largest > 0, largest, 1.0)
    mean = np.average(scaled, axis=0, weights=weights)
    scaled -= mean
    deviation = np.sqrt(np.average(np.square(scaled), axis=0, weights=weights))
    varies = deviation > ROUNDING
    T = np.where(varies, scaled / np.where(varies, deviation, 1.0), 0.0)
    return T, mean * largest, np.where(varies, deviation, 0.0) * largest


def follow_targets(
    features: Features,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    alpha: float | None,
    *,
    n_jobs: int | None,
    verbose: int,
) -> TargetRegression:
    """Regress coordinates, each in units of its standard deviation so that all count alike.

    Parameters
    ----------
    features : Features
    targets : ndarray of shape (n_samples, n_targets)
    weights : ndarray of shape (n_samples,)
    alpha : float or None
        The ridge; None chooses that with the smallest leave-one-out error.
    n_jobs, verbose
        Of the fit.
    """
    if not features.frame.variances.any():
        raise ValueError("All samples of X are equal: no map can tell them apart.")
    T, mean, deviation = standardise_targets(targets, weights)
    white = whiten_features(features, weights, 1, center=True, n_jobs=n_jobs, verbose=verbose)
    regression = regress(white, T * np.sqrt(weights)[:, np.newaxis], alpha, n_jobs=n_jobs, verbose=verbose)
    return TargetRegression(white, regression, mean, deviation)
