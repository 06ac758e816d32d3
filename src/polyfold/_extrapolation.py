"""Coordinates extended by a Gaussian kernel on the inputs, with exact leave-one-out from an eigendecomposition.

With ``K = Q Λ Qᵀ`` and ``C = (K + εI)⁻¹``, the coefficients are ``a = C T``, and leaving sample i out leaves the
residual ``a_i / C_ii``: one decomposition serves every ε.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from polyfold._blocks import show_progress


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """A kernel, and the coefficients of targets in it.

    Attributes
    ----------
    width : float
        σ.
    epsilon : float
    coefficients : ndarray of shape (n_samples, n_targets)
        ``(K + εI)⁻¹ T``.
    missed : ndarray of shape (n_targets,)
        Squared error of samples left out.
    """

    width: float
    epsilon: float
    coefficients: NDArray[np.float64]
    missed: NDArray[np.float64]


def compute_kernel(squares: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Return ``exp(−d² / 2σ²)``."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-squares / width / width / 2))


def choose_extrapolation(
    squares: NDArray[np.float64],
    T: NDArray[np.float64],
    widths: NDArray[np.float64],
    epsilons: NDArray[np.float64],
    *,
    verbose: int,
) -> Extrapolation:
    """Return the bandwidth and ε, out of all pairs, with the smallest leave-one-out error.

    Parameters
    ----------
    squares : ndarray of shape (n_samples, n_samples)
        Squared distances of the samples.
    T : ndarray of shape (n_samples, n_targets)
    widths, epsilons : ndarray
        What there is to choose from.
    verbose : int
    """
    best = None
    for width in show_progress(widths, len(widths), "bandwidths", verbose):
        eigenvalues, Q = eigh(compute_kernel(squares, float(width)))
        projection, leverage = Q.T @ T, np.square(Q)
        for epsilon in epsilons:
            inverses = 1 / (np.maximum(eigenvalues, 0.0) + epsilon)
            coefficients = Q @ (inverses[:, np.newaxis] * projection)
            missed = np.square(coefficients / (leverage @ inverses)[:, np.newaxis]).sum(axis=0)
            if best is None or missed.sum() < best.missed.sum():
                best = Extrapolation(float(width), float(epsilon), coefficients, missed)
    assert best is not None
    return best
