"""The way back: a polynomial from the embedding to the samples, by ridge regression with exact leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from polyfold._basis import build_basis, count_features
from polyfold._domain import learn_domain
from polyfold.polymap import PolynomialMap

#: Degrees that leave-one-out chooses from.
DEGREES = range(1, 10)

#: At most this many features, and a fifth of the samples: each degree costs a singular value decomposition.
MAX_FEATURES = 150

#: A simpler polynomial is taken whose error is at most this much larger than the smallest.
TOLERANCE = 1.1

#: Ridges that leave-one-out chooses from, in units of the largest squared singular value of the features.
RIDGES = 10.0 ** np.arange(-14, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class Decoder:
    """A polynomial from the embedding to the coordinates of the samples, and its leave-one-out error."""

    map: PolynomialMap
    squared_error: float


def learn_decoder(Y: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]) -> Decoder:
    """Fit the simplest polynomial that predicts left-out samples as well as the best does.

    The simplest is that of the lowest degree and, within it, the largest ridge.

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
    candidates: list[tuple[float, PolynomialMap]] = []  # the simplest first
    for degree in DEGREES:
        if count_features("kronecker", Y.shape[1], degree) > limit:
            break
        features = build_basis("kronecker", Y.shape[1], degree).expand((Y - shift) / scale)
        center = np.average(features, axis=0, weights=weights)
        U, s, Vt = svd((features - center) * roots, full_matrices=False)
        UtT, squares = U.T @ T, np.square(s)
        for ridge in RIDGES[::-1] * (squares[0] or 1.0):
            shrink = squares / (squares + ridge)
            freedom = 1 - weights / weights.sum() - np.square(U) @ shrink
            left_out = (T - U @ (shrink[:, np.newaxis] * UtT)) / np.maximum(freedom, 1e-12)[:, np.newaxis]
            V = Vt.T @ ((s / (squares + ridge))[:, np.newaxis] * UtT)
            decoder = PolynomialMap(shift, scale, "kronecker", degree, V, mean - center @ V)
            candidates.append((float(np.square(left_out).sum()), decoder))
    error, decoder = _choose_simplest(candidates)
    covered = learn_domain(shift, (Y - shift) / scale, np.square((Y - shift) / scale).sum(axis=1))
    return Decoder(replace(decoder, domain=covered), error)


def _choose_simplest(candidates: list[tuple[float, PolynomialMap]]) -> tuple[float, PolynomialMap]:
    """Return the first whose error is within TOLERANCE of the smallest.

    The very smallest is often of a high degree that gains next to nothing where samples are many and swings far
    out where they are few.
    """
    smallest = min(error for error, _ in candidates)
    return next(candidate for candidate in candidates if candidate[0] <= TOLERANCE * smallest)
