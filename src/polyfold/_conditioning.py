"""Polynomial features that a Gram matrix can hold.

Monomials of a higher degree are nearly dependent: their singular values span many orders of magnitude, and a Gram
matrix squares that span. So the features are shifted and mixed first, ``Q = (Phi − center) T`` with T invertible,
such that their Gram matrix is near the identity. T changes the coordinates in which the problem is written and
nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from polyfold._basis import MonomialBasis
from polyfold._blocks import SMALL_BLOCK_BYTES, map_blocks, row_slices

#: Directions along which the features vary less than this share of the most are not stretched further: that is as
#: far down as the Gram matrix of the monomials can be believed.
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

    def expand(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the conditioned features Q of samples."""
        return np.asarray(self.center_monomials(X) @ self.T)

    def center_monomials(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the monomials of samples less their mean."""
        monomials = self.monomials.expand(X)
        monomials -= self.center
        return monomials

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


def condition_basis(
    monomials: MonomialBasis, X: NDArray[np.float64], *, center: bool, n_jobs: int | None, verbose: int
) -> ConditionedBasis:
    """Condition a basis on all rows of X.

    On a part of the rows it would be cheaper, and wrong where the others hold an outlier: along directions that
    the part does not see, the outlier would fill the Gram pair with entries that drown the rest.
    """
    d = monomials.n_features

    @np.errstate(over="ignore", invalid="ignore")  # within the thread that computes
    def of_block(rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        features = monomials.expand(X[rows])
        return features.sum(axis=0), features.T @ features

    total, gram = np.zeros(d), np.zeros((d, d))
    blocks = row_slices(len(X), row_bytes=8 * d, block_bytes=SMALL_BLOCK_BYTES)
    for block_sum, block_gram in map_blocks(
        of_block, blocks, n_jobs=n_jobs, verbose=verbose, description="features"
    ):
        total += block_sum
        gram += block_gram
    check_no_overflow(gram)
    mean = total / len(X) if center else np.zeros(d)
    spread, W = eigh(gram - len(X) * np.outer(mean, mean))
    singular = np.sqrt(np.maximum(spread, 0.0))
    stretch = np.maximum(singular, STRETCH_LIMIT * singular[-1]) if singular[-1] > 0 else np.ones(d)
    return ConditionedBasis(monomials, mean, W / stretch, stretch[:, np.newaxis] * W.T)
