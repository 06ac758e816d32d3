"""The way back: a polynomial from the embedding to the samples, by ridge regression with exact leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from polyfold._basis import build_basis, count_features
from polyfold.polymap import PolynomialMap

#: Degrees that leave-one-out chooses from.
DEGREES = range(1, 10)

#: At most this many features, and a fifth of the samples: each degree costs a singular value decomposition.
MAX_FEATURES = 150

#: Ridges that leave-one-out chooses from, in units of the largest squared singular value of the features.
RIDGES = 10.0 ** np.arange(-14, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class Decoder:
    """A polynomial from the embedding to the coordinates of the samples, and its leave-one-out error."""

    map: PolynomialMap
    squared_error: float


def learn_decoder(Y: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]) -> Decoder:
    """Fit the polynomial, of the degree and ridge that predict left-out samples best.

    With features ``F = U S Vᵀ`` (centred, rows times √weight) the fit of ridge ρ is ``U diag(s²/(s² + ρ)) Uᵀ T``,
    and leaving sample i out divides its residual by 1 − h_i, h the diagonal of that hat matrix.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
    targets : ndarray of shape (n_samples, n_outputs)
    weights : ndarray of shape (n_samples,)
    """
    shift = np.average(Y, axis=0, weights=weights)
    scale = float(np.sqrt(np.square(Y - shift).sum(axis=1).mean())) or 1.0
    mean = np.average(targets, axis=0, weights=weights)
    roots = np.sqrt(weights)[:, np.newaxis]
    T = (targets - mean) * roots
    limit = max(min(MAX_FEATURES, len(Y) // 5), Y.shape[1])
    best: Decoder | None = None
    for degree in DEGREES:
        if count_features("kronecker", Y.shape[1], degree) > limit:
            break
        features = build_basis("kronecker", Y.shape[1], degree).expand((Y - shift) / scale)
        center = np.average(features, axis=0, weights=weights)
        U, s, Vt = svd((features - center) * roots, full_matrices=False)
        leverage_of_mean = weights / weights.sum()
        UtT, squares = U.T @ T, np.square(s)
        for ridge in RIDGES * squares[0]:
            shrink = squares / (squares + ridge) if ridge > 0 else np.zeros_like(squares)
            freedom = 1 - leverage_of_mean - np.square(U) @ shrink
            left_out = (T - U @ (shrink[:, np.newaxis] * UtT)) / np.maximum(freedom, 1e-12)[:, np.newaxis]
            error = float(np.square(left_out).sum())
            if best is None or error < best.squared_error:
                inverse = np.divide(shrink, s, out=np.zeros_like(s), where=s > 0)
                V = Vt.T @ (inverse[:, np.newaxis] * UtT)
                decoder = PolynomialMap(shift, scale, "kronecker", degree, V, mean - center @ V)
                best = Decoder(decoder, error)
    assert best is not None  # degree 1 always fits the limit
    return best
