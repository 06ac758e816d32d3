"""The m best directions of a Gram pair: A v = λ B v with the smallest λ, B possibly singular."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from polyfold._factors import decompose, decompose_symmetric, find_largest

#: Directions along which the features vary by less than this share of the most are dropped.
RANK_TOLERANCE = 1e-8

#: Added to the whitened problem, in units of a typical eigenvalue, before it is inverted.
SHIFT = 1e-6

#: Eigenvalues of the inverse down to this share of the largest come with vectors good to half of all digits.
SURE = 1e-8


@dataclass(frozen=True, eq=False)
class Directions:
    """Solutions of the eigenproblem."""

    vectors: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Whitening:
    """The basis in which B is the identity, ordered by the singular values of the features.

    Attributes
    ----------
    W : ndarray of shape (n_features, rank)
        ``WᵀBW = I``.
    singular : ndarray of shape (rank,)
        Singular values of the features Phi, descending.
    """

    W: NDArray[np.float64]
    singular: NDArray[np.float64]

    @property
    def rank(self) -> int:
        """Number of linearly independent features."""
        return len(self.singular)

    @property
    def condition(self) -> float:
        """Ratio of the extreme singular values within the rank."""
        return float(self.singular[0] / self.singular[-1])

    @property
    def penalty(self) -> NDArray[np.float64]:
        """The ridge on each direction, for alpha = 1: the dearer, the less the data extend along it."""
        return np.asarray(np.square(self.singular[0] / self.singular))

    def explain_failure(self) -> str:
        """Say what makes a problem in this basis unsolvable, and the cure."""
        return (
            f"The eigenproblem cannot be solved to any digit: the features have rank {self.rank} of "
            f"{len(self.W)} and condition {self.condition:.0e}. Lower `degree`, raise `alpha`, or remove outliers "
            "that dwarf the rest."
        )


def whiten(B: NDArray[np.float64], T_inverse: NDArray[np.float64], n_components: int) -> Whitening:
    """Find the whitened basis ``T⁻¹ W S⁻¹`` of the features ``Phi = U S Wᵀ``, cut at RANK_TOLERANCE.

    B is written in the coordinates of conditioned features ``Q = Phi T``; the rank and the order of the basis are
    defined by the singular values of the features themselves.

    Parameters
    ----------
    B : ndarray of shape (n_features, n_features)
        Symmetric and positive semidefinite.
    T_inverse : ndarray of shape (n_features, n_features)
        Inverse of the change of coordinates.
    n_components : int
        How many directions will be asked for: more than the rank is an error.
    """
    variances, E = decompose_symmetric(B)
    root = np.sqrt(np.maximum(variances, 0.0))[:, np.newaxis] * E.T
    _, singular, Wt = decompose(root @ T_inverse)
    rank = int(np.count_nonzero(singular > RANK_TOLERANCE * singular[0]))
    if n_components > rank:
        raise ValueError(
            f"`n_components`={n_components} exceeds the rank of the features: only {rank} of {len(B)} are "
            "linearly independent on these samples. Lower `n_components`, raise `degree`, add samples or columns "
            "that vary, standardise columns of different units, or remove outliers that dwarf the rest."
        )
    rough = Whitening((T_inverse @ Wt[:rank].T) / singular[:rank], singular[:rank])
    try:
        # Orthonormal to rounding, by a triangular step that leaves the well-determined directions first.
        factor = cholesky(rough.W.T @ B @ rough.W, lower=True)
    except LinAlgError as error:
        raise ValueError(rough.explain_failure()) from error
    return Whitening(solve_triangular(factor, rough.W.T, lower=True).T, rough.singular)


def solve_pair(A: NDArray[np.float64], whitening: Whitening, n_components: int, alpha: float = 0.0) -> Directions:
    """Minimise ``tr(Vᵀ(A + P)V)`` subject to ``VᵀBV = I`` over the range of B.

    In the whitened basis the problem is an ordinary one, and the ridge P is diagonal:
    ``alpha · μ · (s_max/s_j)²``, μ the mean eigenvalue of whitened A. So alpha has no units.

    Parameters
    ----------
    A : ndarray of shape (n_features, n_features)
        Symmetric and positive semidefinite.
    whitening : Whitening
        Of B.
    n_components : int
        How many directions.
    alpha : float, default=0
        Strength of the ridge.

    Returns
    -------
    Directions
        `vectors` of shape (n_features, n_components) in the coordinates of A and B, and `eigenvalues` in ascending
        order.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        C = whitening.W.T @ A @ whitening.W
        mean = np.trace(C) / whitening.rank
        C[np.diag_indices(whitening.rank)] += alpha * mean * whitening.penalty
    if not np.isfinite(C).all():
        raise ValueError(whitening.explain_failure())
    try:
        eigenvalues, U = _smallest_eigenpairs(C, n_components, shift=SHIFT * mean or 1.0)
    except LinAlgError as error:
        raise ValueError(whitening.explain_failure()) from error
    return Directions(whitening.W @ U, eigenvalues)


def solve_orthogonal(
    A: NDArray[np.float64], whitening: Whitening, T: NDArray[np.float64], n_components: int
) -> Directions:
    """Minimise ``tr(VᵀAV)`` over directions V in the range of B whose coefficients T V are orthonormal.

    A ridge would penalise the length of the coefficients, which is fixed here.

    Parameters
    ----------
    A : ndarray of shape (n_features, n_features)
        Symmetric and positive semidefinite.
    whitening : Whitening
        Of B.
    T : ndarray of shape (n_features, n_features)
        From directions to coefficients of monomials.
    n_components : int
        How many directions.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        C = whitening.W.T @ A @ whitening.W
        inner, R = _to_orthonormal(C, whitening, T)
    if not (np.isfinite(C).all() and np.isfinite(inner).all()):
        raise ValueError(whitening.explain_failure())
    mean = np.trace(C) / whitening.rank
    # Small beside what is typical of directions of the least variance, or else beside all of them.
    for shift in (SHIFT * mean * whitening.singular[-1] ** 2, SURE * np.trace(inner), 1.0):
        with suppress(LinAlgError):
            eigenvalues, U = _smallest_eigenpairs(inner, n_components, shift=shift)
            return Directions(whitening.W @ solve_triangular(R, U), eigenvalues)
    raise ValueError(whitening.explain_failure())


def _to_orthonormal(
    C: NDArray[np.float64], whitening: Whitening, T: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return C in the basis of orthonormal coefficients, and R that leads from the whitened basis to it."""
    _, R = np.linalg.qr(T @ whitening.W)
    half = solve_triangular(R, C, trans="T", check_finite=False)  # whoever asks looks at what comes out
    inner = solve_triangular(R, half.T, trans="T", check_finite=False)
    return (inner + inner.T) / 2, R


def solve_orthogonal_kernel(
    C: NDArray[np.float64], whitening: Whitening, T: NDArray[np.float64], n_components: int
) -> Directions:
    """Maximise ``tr(Vᵀ Phiᵀ K Phi V)`` over directions V whose coefficients T V are orthonormal.

    As :func:`solve_orthogonal`, for C the matrix in the whitened basis; `eigenvalues` in descending order.
    """
    inner, R = _to_orthonormal(C, whitening, T)
    eigenvalues, U = find_largest(inner, n_components)
    return Directions(whitening.W @ solve_triangular(R, U[:, ::-1]), eigenvalues[::-1])


def orthonormalize(
    coefficients: NDArray[np.float64], offset: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return orthonormal columns next to nearly orthonormal ones, and the constant terms that go with them."""
    Q, R = np.linalg.qr(coefficients)
    signs = np.where(np.diagonal(R) < 0, -1.0, 1.0)
    return np.asarray(Q * signs), np.asarray(solve_triangular(R, offset, trans="T") * signs)


def solve_kernel(C: NDArray[np.float64], whitening: Whitening, n_components: int, alpha: float) -> Directions:
    """Maximise ``tr(Vᵀ Phiᵀ K Phi V)`` subject to ``Vᵀ(B + P)V = I``, for C the matrix in the whitened basis.

    The ridge P is ``alpha (s_max/s_j)²`` there. Where K has rank 1, this is ridge regression on its coordinate.

    Returns
    -------
    Directions
        `vectors` each times the root of its eigenvalue, and `eigenvalues` in descending order.
    """
    shrinkage = 1 / np.sqrt(1 + alpha * whitening.penalty)
    eigenvalues, U = find_largest(shrinkage[:, np.newaxis] * C * shrinkage, n_components)
    eigenvalues, U = np.maximum(eigenvalues[::-1], 0.0), U[:, ::-1]
    return Directions(whitening.W @ (shrinkage[:, np.newaxis] * U * np.sqrt(eigenvalues)), eigenvalues)


def _smallest_eigenpairs(
    C: NDArray[np.float64], n_wanted: int, shift: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest eigenvalues of C, ascending, and orthonormal eigenvectors.

    A ridge may put entries of 1e16 on C's diagonal, and an eigensolver is accurate relative to the largest. So
    solve ``u = ν (C + shift) u`` for the largest ν: this factors by Cholesky, which does not mind such scales.
    The shift, small beside what is typical and large beside rounding, bounds ν where C is singular.

    Vectors whose ν is far below the largest are in turn unsure. Where those are wanted, the others are set
    aside and the problem is solved again in what is orthogonal to them.
    """
    found = np.empty((len(C), 0))
    rest = np.eye(len(C))
    while found.shape[1] < n_wanted:
        inner = rest.T @ C @ rest
        size, n_missing = len(inner), n_wanted - found.shape[1]
        inner[np.diag_indices(size)] += shift
        if not np.isfinite(inner).all():
            raise LinAlgError("The eigenvalues differ by more than a double can hold.")
        nu, U = find_largest(np.eye(size), n_missing, inner)
        sure = nu[::-1] >= SURE * nu[-1]
        U = U[:, ::-1][:, sure]
        found, _ = np.linalg.qr(np.hstack([found, rest @ (U / np.abs(U).max(axis=0))]))
        if not sure.all():
            shift = SHIFT / nu[::-1][np.argmin(sure)]
            rest = np.linalg.qr(found, mode="complete")[0][:, found.shape[1] :]
    eigenvalues = np.einsum("ij,ij->j", found, C @ found)
    return np.maximum(eigenvalues, 0.0), found


def fix_signs(embedding: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return ±1 per coordinate, so that its longer tail becomes positive.

    Decided by the embedding rather than by the coefficients, which a rotation of the data would change. Where
    both tails are alike, the first of the farthest samples decides.
    """
    from polyfold._fit_kernels import weigh_tails

    tails = np.empty((3, embedding.shape[1]))
    weigh_tails(embedding, tails)
    cubes, absolute_cubes, first_of_farthest = tails
    decisive = np.where(np.abs(cubes) > 1e-6 * absolute_cubes, cubes, first_of_farthest)
    return np.where(decisive < 0, -1, 1).astype(embedding.dtype)
