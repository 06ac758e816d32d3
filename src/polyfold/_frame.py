"""From columns to the coordinates that the polynomial is written in: a shift, one scale, maybe principal axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.decomposition import PCA

from polyfold._basis import count_features
from polyfold._validation import is_bool

#: ``reduce="auto"`` keeps as many axes as make at most this many polynomial features: 30 axes at degree 2.
FEATURE_BUDGET = 500

#: ... and at most this many features for each sample, so that most of the samples still over-determine them.
FEATURES_PER_SAMPLE = 0.8

#: ``reduce="auto"`` leaves tables of up to this many columns as they are, whatever the degree.
FEW_COLUMNS = 3

#: Up to this many rows or columns the principal axes are exact, beyond it in both they are found at random.
EXACT_SIZE = 2000


@dataclass(frozen=True, eq=False)
class Frame:
    """The change of coordinates ``c = axesᵀ (x − shift) / scale``.

    Attributes
    ----------
    shift : ndarray of shape (n_columns,)
    scale : float
        Such that the coordinates of the samples have RMS distance 1 from zero.
    axes : ndarray of shape (n_columns, n_axes) or None
        Orthonormal; None leaves the columns as they are.
    explained_variance : float
        Share of the variance of the columns that is within the axes.
    variances : ndarray of shape (n_columns,)
        Of the columns, up to a common factor.
    """

    shift: NDArray[np.float64]
    scale: float
    axes: NDArray[np.float64] | None
    explained_variance: float
    variances: NDArray[np.float64]


def check_reduce(reduce: Any) -> Any:
    """Check that `reduce` is "auto", None, a number of axes or a fraction of variance."""
    is_auto = reduce is None or (isinstance(reduce, str) and reduce == "auto")
    is_number = isinstance(reduce, (int, np.integer)) and not is_bool(reduce) and reduce >= 1
    is_fraction = isinstance(reduce, (float, np.floating)) and 0 < reduce < 1
    if not (is_auto or is_number or is_fraction):
        raise ValueError(
            '`reduce` must be "auto", None, an integer >= 1 (principal axes to keep) or a fraction between 0 and '
            f"1 (variance to keep), got {reduce!r}."
        )
    return reduce


def choose_n_axes(reduce: Any, samples: Any, kind: str, degree: int, n_components: int) -> Any:
    """Turn `reduce` into a number of axes, a fraction of variance, or None for no reduction.

    "auto" takes as many axes as FEATURE_BUDGET and the number of samples allow. Sparse columns are always
    rotated onto axes, if need be onto all of them: only there are they dense.
    """
    n_samples, n_columns = samples.shape
    if reduce is None or isinstance(reduce, (float, np.floating)):
        return None if reduce is None else float(reduce)
    if isinstance(reduce, str):
        n_axes = (
            n_columns
            if n_columns <= FEW_COLUMNS
            else _fit_budget(n_samples, n_columns, kind, degree, n_components)
        )
    elif reduce > n_columns:
        raise ValueError(f"`reduce`={reduce} exceeds the number of columns, {n_columns}.")
    else:
        n_axes = int(reduce)
    return None if n_axes == n_columns and not issparse(samples) else min(n_axes, n_samples)


def _fit_budget(n_samples: int, n_columns: int, kind: str, degree: int, n_components: int) -> int:
    """Return the most axes whose features fit the budget, and no fewer than make `n_components` features."""
    budget = min(FEATURE_BUDGET, FEATURES_PER_SAMPLE * n_samples)
    kind = "hadamard" if kind == "hadamard" else "kronecker"
    n_axes = 1
    while n_axes < min(n_columns, n_samples) and (
        count_features(kind, n_axes + 1, degree) <= budget or count_features(kind, n_axes, degree) < n_components
    ):
        n_axes += 1
    return n_axes


def build_frame(
    samples: Any, n_axes: float | int | None, *, center: bool, random_state: Any
) -> tuple[Frame, NDArray[np.float64] | None, NDArray[np.float64]]:
    """Return the frame of the samples, the samples as standardised columns (None where sparse), and in the frame.

    One scalar scales all columns: a rotation of the data changes neither the distances nor this scale.
    """
    columns, shift, scale = _shift_columns(samples, center=center)
    variances = _column_variances(columns)
    if n_axes is None:
        size = _rms_length(columns)
        columns /= size
        return Frame(shift, scale * size, None, 1.0, variances), columns, columns
    if issparse(columns):
        _check_digits(shift / scale, variances)
    axes, explained = find_principal_axes(columns, n_axes, random_state, center=center)
    coordinates = np.asarray(columns @ axes)
    if issparse(columns):
        coordinates -= (shift / scale) @ axes
        coordinates *= bool(variances.any()) or not center  # equal samples differ by rounding only
    size = _rms_length(coordinates)
    frame = Frame(shift, scale * size, axes, explained, variances)
    if issparse(columns):
        return frame, None, coordinates / size
    columns /= size
    return frame, columns, coordinates / size


def _column_variances(columns: Any) -> NDArray[np.float64]:
    if issparse(columns):
        mean_squares, means = columns.power(2).mean(axis=0), columns.mean(axis=0)
    else:
        mean_squares, means = np.einsum("ij,ij->j", columns, columns) / len(columns), columns.mean(axis=0)
    variances = np.asarray(mean_squares).ravel() - np.square(np.asarray(means).ravel())
    return np.asarray(np.maximum(variances, 0.0))


def _shift_columns(samples: Any, *, center: bool) -> tuple[Any, NDArray[np.float64], float]:
    """Return ``(x − shift) / scale`` with entries of at most about 1, the mean (0 without `center`) and the scale.

    Squares of huge or tiny values stay within range. Sparse samples are scaled and not shifted.
    """
    if issparse(samples):
        columns = samples.astype(np.float64)
        scale = float(np.abs(columns.data).max(initial=0.0)) or 1.0
        columns.data /= scale
        shift = np.asarray(columns.mean(axis=0)).ravel() * scale if center else np.zeros(samples.shape[1])
        return columns, shift, scale
    with np.errstate(over="ignore", invalid="ignore"):
        shift = samples.mean(axis=0, dtype=np.float64) if center else np.zeros(samples.shape[1])
        if not np.isfinite(shift).all():
            largest = float(np.abs(samples).max())
            shift = (samples / largest).mean(axis=0) * largest
        columns = np.subtract(samples, shift, dtype=np.float64)
        scale = max(float(columns.max()), -float(columns.min())) or 1.0
    if not np.isfinite(scale):
        raise ValueError("X spans a range too large for float64. Divide it by a constant first.")
    columns /= scale
    return columns, shift, scale


def _rms_length(coordinates: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.einsum("ij,ij->", coordinates, coordinates) / len(coordinates))) or 1.0


def _check_digits(means: NDArray[np.float64], variances: NDArray[np.float64]) -> None:
    """Check that sparse columns, which cannot be shifted, are not all mean."""
    if means @ means > 1e8 * variances.sum() > 0:
        raise ValueError(
            "X is sparse and its mean dwarfs its spread, so that digits are lost. Pass it dense, as X.toarray()."
        )


def find_principal_axes(
    columns: Any, n_axes: float | int, random_state: Any, *, center: bool = True
) -> tuple[NDArray[np.float64], float]:
    """Return leading principal axes, shape (n_columns, n_axes), and the share of variance within them.

    Without `center` both are about zero instead of the mean.

    Exact up to EXACT_SIZE rows or columns. Beyond it a randomised solver (Lanczos for sparse columns) is used,
    from a fixed seed where `random_state` gives none: the same data get the same map.
    """
    n_samples, n_columns = columns.shape
    sparse, fraction = issparse(columns), isinstance(n_axes, float)
    if sparse and n_columns > EXACT_SIZE and (fraction or n_axes >= min(n_samples, n_columns)):
        raise ValueError(
            f"Sparse X of {n_columns:,} columns needs `reduce` as a number of axes below "
            f"{min(n_samples, n_columns):,}, got {n_axes}."
        )
    if sparse:
        solver = "covariance_eigh" if n_columns <= EXACT_SIZE else "arpack"
    elif n_columns <= min(n_samples, EXACT_SIZE):
        solver = "covariance_eigh"
    elif n_samples <= EXACT_SIZE or fraction:
        solver = "full"
    else:
        solver = "randomized"
    seed = 0 if random_state is None else random_state
    if not center:  # a table and its negative have mean zero
        columns = vstack([columns, -columns]) if sparse else np.concatenate([columns, -columns])
    if not _column_variances(columns).any():  # equal samples have no axes
        return np.eye(n_columns, 1 if fraction else int(n_axes)), 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        pca = PCA(n_axes, svd_solver=solver, random_state=seed).fit(columns)
        explained = float(np.nan_to_num(pca.explained_variance_ratio_.sum(), nan=1.0))
    axes, _ = np.linalg.qr(pca.components_.T)  # orthonormal to rounding, in the same order
    return np.ascontiguousarray(axes), min(explained, 1.0)
