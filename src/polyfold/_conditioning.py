"""Polynomial features that a Gram matrix can hold.

Monomials of a higher degree are nearly dependent: their singular values span many orders of magnitude, and a Gram
matrix squares that span. So the features are shifted and mixed first, ``Q = (Phi − center) T`` with T invertible,
such that on a sample of the data their Gram matrix is near the identity. T changes the coordinates in which the
problem is written and nothing else: which sample it comes from does not matter to the result, only to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from polyfold._basis import MonomialBasis
from polyfold._blocks import row_slices

#: Directions along which the sample varies less than this share of the most are not stretched further: that is as
#: far down as the sample's own Gram matrix can be believed.
STRETCH_LIMIT = 1e-6


@dataclass(frozen=True, eq=False)
class ConditionedBasis:
    """The features ``(Phi − center) T`` of a basis.

    Attributes
    ----------
    monomials : MonomialBasis
        Gives Phi.
    center : ndarray of shape (n_features,)
    T : ndarray of shape (n_features, n_features)
        ``W / stretch`` with W orthogonal.
    T_inverse : ndarray of shape (n_features, n_features)
    """

    monomials: MonomialBasis
    center: NDArray[np.float64]
    T: NDArray[np.float64]
    T_inverse: NDArray[np.float64]

    def to_monomials(
        self, directions: NDArray[np.float64], offset: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rewrite ``Q @ directions + offset`` as ``Phi @ coefficients + constant``."""
        coefficients = self.T @ directions
        return coefficients, offset - self.center @ coefficients


def check_no_overflow(*grams: NDArray[np.float64]) -> None:
    """Say what to do about powers beyond the range of float64."""
    if not all(np.isfinite(gram).all() for gram in grams):
        raise ValueError(
            "Powers of the data overflow: `degree` is too high for samples this far from the mean. "
            "Lower `degree` or remove outliers."
        )


def condition_basis(monomials: MonomialBasis, X: NDArray[np.float64], *, center: bool) -> ConditionedBasis:
    """Condition a basis on evenly spaced rows of X, a few times as many as there are features."""
    d = monomials.n_features
    sample = X[np.unique(np.linspace(0, len(X) - 1, max(1000, 4 * d)).astype(np.intp))]
    total, gram = np.zeros(d), np.zeros((d, d))
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_slices(len(sample), row_bytes=8 * d):
            features = monomials.expand(sample[rows])
            total += features.sum(axis=0)
            gram += features.T @ features
    check_no_overflow(gram)
    mean = total / len(sample) if center else np.zeros(d)
    spread, W = eigh(gram - len(sample) * np.outer(mean, mean))
    singular = np.sqrt(np.maximum(spread, 0.0))
    # Scaled to all samples, so that the Gram matrix over all of them is near the identity.
    singular *= np.sqrt(len(X) / len(sample))
    stretch = np.maximum(singular, STRETCH_LIMIT * singular[-1]) if singular[-1] > 0 else np.ones(d)
    return ConditionedBasis(monomials, mean, W / stretch, stretch[:, np.newaxis] * W.T)
