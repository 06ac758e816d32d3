"""How good an embedding is against known coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import procrustes as align_shapes
from scipy.spatial.distance import cdist

from polyfold._blocks import row_slices
from polyfold._validation import check_choice
from polyfold.metrics._pairs import check_pair


def residual_variance(Y: ArrayLike, Z: ArrayLike, kind: str = "affine") -> float:
    """Return 1 − R² between an embedding and known coordinates; 0 is perfect.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    Z : array-like of shape (n_samples, n_coordinates) or (n_samples,)
        The coordinates that generated the data.
    kind : {"affine", "distances"}, default="affine"
        "affine": R is the correlation over all entries of Z, each column standardised, with its best affine
        fit from Y; order, sign, scale and skew of Y do not matter. "distances": R is the correlation between
        the pairwise distances of Y and those of Z (Tenenbaum, de Silva, Langford 2000), which asks for an
        isometry up to one scale.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    procrustes : Allows for no skew.

    Notes
    -----
    For N samples of m and q coordinates "affine" costs O(N m (m + q)) time, "distances" O(N² (m + q)); either O(N
    (m + q)) memory.

    References
    ----------
    Tenenbaum, de Silva, Langford, "A global geometric framework for nonlinear dimensionality reduction", Science
    290 (2000) 2319-2323.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import residual_variance
    >>> Z = np.random.default_rng(0).random((100, 2))
    >>> round(residual_variance(3 - 2 * Z[:, ::-1], Z), 12)
    0.0
    """
    check_choice("kind", kind, ("affine", "distances"))
    Y, Z = check_pair(Y, Z, names=("Y", "Z"))
    return _affine_residual(Y, Z) if kind == "affine" else _distance_residual(Y, Z)


def _affine_residual(Y: NDArray[np.float64], Z: NDArray[np.float64]) -> float:
    constant = np.ptp(Z, axis=0) == 0
    if constant.any():
        raise ValueError(
            f"Column {int(np.argmax(constant))} of Z is constant: residual variance is undefined. Leave it out."
        )
    centered, target = (_center_columns(S) for S in (Y, Z))
    target /= target.std(axis=0)
    coefficients = np.linalg.lstsq(centered, target, rcond=None)[0]
    # For a least-squares fit with a constant, R² over all entries is the explained share of the variance.
    return float(np.square(target - centered @ coefficients).sum() / np.square(target).sum())


def _center_columns(S: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns about their means, each of size 1: squares of what is far smaller than the others vanish."""
    centered = S - S.mean(axis=0)
    return np.asarray(centered / np.where(np.ptp(S, axis=0) > 0, np.abs(centered).max(axis=0), 1.0))


def _distance_residual(Y: NDArray[np.float64], Z: NDArray[np.float64]) -> float:
    # One pass over the pairs; sums are taken about a typical distance so that they do not cancel.
    about = np.array([cdist(S[:1], S).mean() for S in (Y, Z)])
    sums, products = np.zeros(2), np.zeros((2, 2))
    for rows in row_slices(len(Y), row_bytes=32 * len(Y)):
        later = np.arange(rows.start, rows.stop)[:, np.newaxis] < np.arange(len(Y))
        pairs = np.stack([cdist(S[rows], S)[later] for S in (Y, Z)]) - about[:, np.newaxis]
        sums += pairs.sum(axis=1)
        products += pairs @ pairs.T
    n_pairs = len(Y) * (len(Y) - 1) / 2
    covariance = products - np.outer(sums, sums) / n_pairs
    if not (np.diag(covariance) > 0).all():
        raise ValueError("All pairwise distances are equal: residual variance is undefined.")
    return float(max(0.0, 1.0 - covariance[0, 1] ** 2 / (covariance[0, 0] * covariance[1, 1])))


def procrustes(Y: ArrayLike, Z: ArrayLike) -> float:
    """Return what is left of Z's variance after Y is moved, turned and scaled onto it; 0 is the same shape.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The embedding.
    Z : array-like of shape (n_samples, n_coordinates) or (n_samples,)
        The coordinates that generated the data. The narrower of the two is padded with zeros.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    residual_variance : Allows for skew too.
    scipy.spatial.procrustes : What it calls.

    Notes
    -----
    O(N w² + w³) time and O(N w) memory for N samples, w coordinates in the wider of the two.

    References
    ----------
    Schönemann, "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31 (1966) 1-10.

    Gower, "Generalized Procrustes analysis", Psychometrika 40 (1975) 33-51.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.metrics import procrustes
    >>> Z = np.random.default_rng(0).random((100, 2))
    >>> round(procrustes(3 - 2 * Z[:, ::-1], Z), 12)
    0.0
    """
    Y, Z = check_pair(Y, Z, names=("Y", "Z"))
    width = max(Y.shape[1], Z.shape[1])
    Y, Z = (np.pad(S, ((0, 0), (0, width - S.shape[1]))) for S in (Y, Z))
    for name, S in (("Y", Y), ("Z", Z)):
        if not np.ptp(S, axis=0).any():
            raise ValueError(f"All rows of {name} are equal: it has no shape to compare.")
    return float(align_shapes(Z, Y)[2])
