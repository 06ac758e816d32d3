"""Factors of dense matrices, found where Ctrl-C is heard however large the matrix is.

SciPy's routines hold the interpreter until they are done, which takes seconds from a thousand rows on. NumPy's do
not, and are called in a thread of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd

from polyfold._threads import call_aside

#: Matrices of more rows than this are factored aside: about half a second's work.
MANY_ROWS = 800


def decompose_symmetric(A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns."""
    eigenvalues, vectors = eigh(A) if len(A) <= MANY_ROWS else call_aside(np.linalg.eigh, A)
    return eigenvalues, vectors


def find_largest(
    A: NDArray[np.float64], number: int, B: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return so many of the largest ν of ``A v = ν B v``, ascending, and their vectors; B is I by default.

    LAPACK, asked for a part, can find fewer, or none, where all ν are the same: then it is asked for all.
    """
    eigenvalues, vectors = eigh(A, B, subset_by_index=[len(A) - number, len(A) - 1])
    if len(eigenvalues) < number:
        eigenvalues, vectors = eigh(A, B)
    return eigenvalues[-number:], vectors[:, -number:]


def decompose(
    A: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return U, the singular values, descending, and Vᵀ of a square matrix."""
    U, singular, Vt = svd(A) if len(A) <= MANY_ROWS else call_aside(np.linalg.svd, A)
    return U, singular, Vt
