"""The way back: a polynomial from the embedding to the samples, by ridge regression with exact leave-one-out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from polyfold._basis import build_basis, count_features
from polyfold._domain import find_ranges, learn_domain
from polyfold._regression import RIDGES, leave_one_out, shrink
from polyfold.polymap import PolynomialMap

#: Degrees that leave-one-out chooses from.
DEGREES = range(1, 10)

#: Coordinates that spread less have no way back in doubles.
LEAST_SCALE = 1e-300

#: At most this many features, and a fifth of the samples: each degree costs a singular value decomposition.
MAX_FEATURES = 150

#: A simpler polynomial is taken whose error is at most this much larger than the smallest.
TOLERANCE = 1.1


#: Directions along which the features vary by less than this share of the most are dropped.
RANK_TOLERANCE = 1e-15


@dataclass(frozen=True, eq=False)
class Decoder:
    """A polynomial from the embedding to the coordinates of the samples, and its leave-one-out error."""

    map: PolynomialMap
    squared_error: float


def learn_decoder(Y: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]) -> Decoder:
    """Fit the simplest polynomial that predicts left-out samples as well as the best does.

    The simplest is that of the lowest degree and, within it, the largest ridge.

    The features of each degree are factored once, ``F = U S Vᵀ`` (centred, rows times √weight), see
    `polyfold._regression`.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
    targets : ndarray of shape (n_samples, n_outputs)
    weights : ndarray of shape (n_samples,)
    """
    shift = np.average(Y, axis=0, weights=weights)
    largest = float(np.abs(Y - shift).max()) or 1.0
    scale = largest * float(np.sqrt(np.square((Y - shift) / largest).sum(axis=1).mean())) or 1.0
    if scale < LEAST_SCALE:
        raise ValueError(
            "The coordinates are too small for float64 to lead back from. Multiply them, or X, by a constant."
        )
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
        inverses = np.divide(1, s, out=np.zeros_like(s), where=s > RANK_TOLERANCE * s[0])
        penalty = np.where(inverses > 0, np.square(s[0] * inverses), np.inf)
        projection = U.T @ T
        for ridge in RIDGES[::-1]:
            shrinkage = shrink(penalty, ridge)
            left_out = leave_one_out(U, T, projection, shrinkage, weights / weights.sum())
            V = Vt.T @ ((inverses * shrinkage)[:, np.newaxis] * projection)
            decoder = PolynomialMap(shift, scale, "kronecker", degree, V, mean - center @ V)
            candidates.append((float(np.square(T - left_out.predicted).sum()), decoder))
    error, decoder = _choose_simplest(candidates)
    covered = learn_domain(shift, (Y - shift) / scale, np.square((Y - shift) / scale).sum(axis=1), find_ranges(Y))
    return Decoder(replace(decoder, domain=covered), error)


def add_decoder(learned: PolynomialMap, samples: Any, weights: NDArray[np.float64]) -> tuple[PolynomialMap, float]:
    """Return the map with the way back, and the share of the samples' variance that is lost on the round trip."""
    assert learned.domain is not None
    _, about_mean = learned._measure(samples, learned.domain.center)
    targets, squared_lengths = learned._measure(samples, learned.shift)
    decoder = learn_decoder(learned.transform(samples).astype(np.float64), targets, weights)
    off_axes = weights @ np.maximum(squared_lengths - np.square(targets).sum(axis=1), 0.0)
    error = (decoder.squared_error + off_axes) / ((weights @ about_mean) or 1.0)
    return replace(learned, decoder=decoder.map), float(error)


def _choose_simplest(candidates: list[tuple[float, PolynomialMap]]) -> tuple[float, PolynomialMap]:
    """Return the first whose error is within TOLERANCE of the smallest.

    The very smallest is often of a high degree that gains next to nothing where samples are many and swings far
    out where they are few.
    """
    smallest = min(error for error, _ in candidates)
    return next(candidate for candidate in candidates if candidate[0] <= TOLERANCE * smallest)
