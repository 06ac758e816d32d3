"""Polynomial features that a Gram matrix can hold.

Monomials of a higher degree are nearly dependent: their singular values span many orders of magnitude, and a Gram
matrix squares that span. So the features are shifted and mixed first, ``Q = (Phi − center) T`` with T invertible,
such that their Gram matrix is near the identity. T changes the coordinates in which the problem is written and
nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyfold._basis import MonomialBasis
from polyfold._blocks import SMALL_BLOCK_BYTES, map_blocks, row_slices
from polyfold._factors import decompose_symmetric

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


@dataclass(frozen=True, eq=False)
class MonomialSums:
    """Sums over samples of their monomials, and of the products of these."""

    n_samples: int
    total: NDArray[np.float64]
    products: NDArray[np.float64]


@np.errstate(over="ignore", invalid="ignore")  # within the thread that computes
def sum_monomials(X: NDArray[np.float64], monomials: MonomialBasis) -> MonomialSums:
    """Sum the monomials of some samples."""
    features = monomials.expand(X)
    return MonomialSums(len(X), features.sum(axis=0), features.T @ features)


def merge_monomial_sums(shares: Sequence[MonomialSums]) -> MonomialSums:
    """Return the sums over all samples from those over parts."""
    first = shares[0]
    n_samples, total, products = first.n_samples, first.total.copy(), first.products.copy()
    for share in shares[1:]:
        n_samples += share.n_samples
        total += share.total
        products += share.products
    return MonomialSums(n_samples, total, products)


def condition_on_sums(monomials: MonomialBasis, sums: MonomialSums, *, center: bool) -> ConditionedBasis:
    """Condition a basis on samples of which the sums are known."""
    check_no_overflow(sums.products)
    mean = sums.total / sums.n_samples if center else np.zeros(monomials.n_features)
    spread, W = decompose_symmetric(sums.products - sums.n_samples * np.outer(mean, mean))
    singular = np.sqrt(np.maximum(spread, 0.0))
    stretch = np.maximum(singular, STRETCH_LIMIT * singular[-1]) if singular[-1] > 0 else np.ones(len(mean))
    return ConditionedBasis(monomials, mean, W / stretch, stretch[:, np.newaxis] * W.T)


def condition_basis(
    monomials: MonomialBasis, X: NDArray[np.float64], *, center: bool, n_jobs: int | None, verbose: int
) -> ConditionedBasis:
    """Condition a basis on all rows of X.

    On a part of the rows it would be cheaper, and wrong where the others hold an outlier: along directions that
    the part does not see, the outlier would fill the Gram pair with entries that drown the rest.
    """

    def of_block(rows: slice) -> MonomialSums:
        return sum_monomials(X[rows], monomials)

    blocks = slice_for_monomials(len(X), monomials)
    shares = map_blocks(of_block, blocks, n_jobs=n_jobs, verbose=verbose, description="features")
    sums = next(shares)
    for share in shares:
        sums.total[:] += share.total
        sums.products[:] += share.products
    return condition_on_sums(monomials, replace(sums, n_samples=len(X)), center=center)


def slice_for_monomials(n_samples: int, monomials: MonomialBasis) -> list[slice]:
    """Cut samples into blocks whose monomials stay near the processor."""
    return row_slices(n_samples, row_bytes=8 * monomials.n_features, block_bytes=SMALL_BLOCK_BYTES)
