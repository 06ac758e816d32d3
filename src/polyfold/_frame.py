"""From columns to the coordinates that the polynomial is written in: a shift, one scale, maybe principal axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.decomposition import PCA

from polyfold._basis import count_features
from polyfold._blocks import map_blocks, row_slices
from polyfold._domain import find_ranges
from polyfold._factors import decompose_symmetric
from polyfold._moments import Moments, measure_moments, merge_moments
from polyfold._validation import is_bool

#: ``reduce="auto"`` keeps as many axes as make at most this many polynomial features: 30 axes at degree 2.
FEATURE_BUDGET = 500

#: ... and at most this many features for each sample, so that most of the samples still over-determine them.
FEATURES_PER_SAMPLE = 0.8

#: ``reduce="auto"`` leaves tables of up to this many columns as they are, whatever the degree.
FEW_COLUMNS = 3

#: Digits of shift and scale that do not depend on how samples are summed, as powers of two.
UNIT_BITS = 32

#: Samples reach less far than this: products with numbers of them and of columns are doubles then.
WIDEST = 1e303

#: Up to this many rows or columns the principal axes are exact, beyond it in both they are found at random.
EXACT_SIZE = 2000


@dataclass(frozen=True, eq=False)
class Frame:
    """The change of coordinates ``c = axesᵀ (x − shift) / scale``, and what the columns are like.

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
    mean : ndarray of shape (n_columns,)
        Of the columns.
    ranges : ndarray of shape (2, n_columns)
        The smallest and the largest value of each.
    """

    shift: NDArray[np.float64]
    scale: float
    axes: NDArray[np.float64] | None
    explained_variance: float
    variances: NDArray[np.float64]
    mean: NDArray[np.float64]
    ranges: NDArray[np.float64]

    @property
    def n_axes(self) -> int:
        """Variables of a polynomial in this frame."""
        return len(self.shift) if self.axes is None else self.axes.shape[1]

    def locate(self, samples: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return samples as standardised columns, and in the frame: the same array where there are no axes."""
        columns = np.subtract(samples, self.shift, dtype=np.float64)
        columns /= self.scale
        return columns, self.project(columns)

    def project(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return standardised columns in the frame."""
        return columns if self.axes is None else np.asarray(columns @ self.axes)


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


def choose_n_axes(
    reduce: Any, shape: tuple[int, int], kind: str, degree: int, n_components: int, *, sparse: bool = False
) -> Any:
    """Turn `reduce` into a number of axes, a fraction of variance, or None for no reduction.

    "auto" takes as many axes as FEATURE_BUDGET and the number of samples allow. Sparse columns are always
    rotated onto axes, if need be onto all of them: only there are they dense.
    """
    n_samples, n_columns = shape
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
    return None if n_axes == n_columns and not sparse else min(n_axes, n_samples)


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
    samples: Any, n_axes: float | int | None, *, center: bool, random_state: Any, n_jobs: int | None = None
) -> tuple[Frame, NDArray[np.float64] | None, NDArray[np.float64]]:
    """Return the frame of the samples, the samples as standardised columns (None where sparse), and in the frame.

    One scalar scales all columns: a rotation of the data changes neither the distances nor this scale.
    """
    if issparse(samples):
        frame, coordinates = _build_sparse_frame(samples, n_axes, center=center, random_state=random_state)
        return frame, None, coordinates
    is_tall = holds_products(*samples.shape)
    with_products = n_axes is not None and is_tall

    def of_block(rows: slice) -> Moments:
        return measure_moments(samples[rows], with_products=with_products)

    blocks = row_slices(len(samples), row_bytes=8 * samples.shape[1])
    moments = merge_moments(list(map_blocks(of_block, blocks, n_jobs=n_jobs, verbose=0, description="")))
    if n_axes is None or is_tall:
        frame = frame_moments(moments, n_axes, center=center)
        return frame, *frame.locate(samples)
    frame = frame_moments(moments, None, center=center)
    columns, _ = frame.locate(samples)
    turned = turn_frame(frame, columns, n_axes, center=center, random_state=random_state)
    columns *= frame.scale / turned.scale
    return turned, columns, turned.project(columns)


def holds_products(n_samples: int, n_columns: int) -> bool:
    """Say whether principal axes are found from products of columns, rather than from the samples themselves."""
    return n_columns <= min(n_samples, EXACT_SIZE)


def frame_moments(moments: Moments, n_axes: float | int | None, *, center: bool) -> Frame:
    """Return the frame of samples of which only the moments are known; with axes where `n_axes` asks for them."""
    low, high = moments.ranges
    with np.errstate(over="ignore"):
        reach = np.abs(high - low if center else moments.ranges).max(initial=0.0)
        if not reach < WIDEST:
            raise ValueError("X spans a range too large for float64. Divide it by a constant first.")
    spread, variances = moments.measure_spread(center=center), moments.variances
    axes, explained = None, 1.0
    if n_axes is not None:
        axes, explained = find_leading_axes(spread, n_axes)
        spread = np.einsum("ij,ij->j", axes, spread @ axes)
    elif spread.ndim == 2:
        spread = np.diagonal(spread)
    is_spread = variances.any() or not center  # equal samples differ by rounding only
    scale = float(np.sqrt(max(spread.sum(), 0.0)) * moments.unit) * bool(is_spread)
    shift, scale = _round_units(moments.mean * moments.unit, scale or 1.0)
    mean = np.where(low == high, low, moments.mean * moments.unit)
    shift = np.where(low == high, low, shift) if center else np.zeros_like(mean)
    return Frame(shift, scale, axes, explained, variances, mean, moments.ranges)


def _round_units(shift: NDArray[np.float64], scale: float) -> tuple[NDArray[np.float64], float]:
    """Round shift and scale to what is sure of them, whatever the order in which samples were summed.

    So blocks, chunks and threads give the same units to the bit, and samples of a grid, or of integers, that are
    equally far from each other break such ties in the same way.
    """
    mantissa, exponent = np.frexp(scale)
    unit = np.ldexp(1.0, max(int(exponent) - UNIT_BITS, -1074))  # down to the least number above 0
    with np.errstate(over="ignore"):
        steps = np.rint(shift / unit)
        rounded = np.where(np.abs(steps) < 2.0**52, steps * unit, shift)
    return rounded, float(np.ldexp(np.rint(np.ldexp(mantissa, UNIT_BITS)), int(exponent) - UNIT_BITS))


def turn_frame(
    frame: Frame, columns: NDArray[np.float64], n_axes: float | int, *, center: bool, random_state: Any
) -> Frame:
    """Return the frame turned to the principal axes of some samples, given as its standardised columns."""
    axes, explained = find_principal_axes(columns, n_axes, random_state, center=center)
    size = _rms_length(columns @ axes)
    return replace(frame, scale=frame.scale * size, axes=axes, explained_variance=explained)


def find_leading_axes(spread: NDArray[np.float64], n_axes: float | int) -> tuple[NDArray[np.float64], float]:
    """Return the leading eigenvectors, shape (n_columns, n_axes), and their share of the trace.

    A fraction takes as many as hold more than this share. The largest entry of each is positive.
    """
    squares, vectors = decompose_symmetric(spread / (np.trace(spread) or 1.0))
    shares = np.cumsum(np.maximum(squares[::-1], 0.0))
    shares = shares / shares[-1] if shares[-1] > 0 else np.ones_like(shares)
    if isinstance(n_axes, float):
        n_axes = min(int(np.searchsorted(shares, n_axes, side="right")) + 1, len(shares))
    axes, _ = np.linalg.qr(vectors[:, ::-1][:, :n_axes])  # orthonormal to rounding, in the same order
    largest = axes[np.argmax(np.abs(axes), axis=0), np.arange(axes.shape[1])]
    return np.ascontiguousarray(axes * np.where(largest < 0, -1.0, 1.0)), float(shares[int(n_axes) - 1])


def _build_sparse_frame(
    samples: Any, n_axes: float | int | None, *, center: bool, random_state: Any
) -> tuple[Frame, NDArray[np.float64]]:
    """Build the frame of sparse samples, which are scaled but not shifted, and never made dense."""
    columns = samples.astype(np.float64)
    scale = float(np.abs(columns.data).max(initial=0.0)) or 1.0
    columns.data /= scale
    means = np.asarray(columns.mean(axis=0)).ravel()
    variances = np.maximum(np.asarray(columns.power(2).mean(axis=0)).ravel() - np.square(means), 0.0)
    shift = means * center
    _check_digits(shift, variances)
    assert n_axes is not None
    axes, explained = find_principal_axes(columns, n_axes, random_state, center=center)
    coordinates = np.asarray(columns @ axes) - shift @ axes
    coordinates *= bool(variances.any()) or not center  # equal samples differ by rounding only
    size = _rms_length(coordinates)
    ranges = find_ranges(samples)
    frame = Frame(shift * scale, scale * size, axes, explained, variances, means * scale, ranges)
    return frame, coordinates / size


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
    elif n_samples <= EXACT_SIZE or fraction:
        solver = "full"
    else:
        solver = "randomized"
    seed = 0 if random_state is None else random_state
    if not center:  # a table and its negative have mean zero
        columns = vstack([columns, -columns]) if sparse else np.concatenate([columns, -columns])
    if _are_equal(columns):
        return np.eye(n_columns, 1 if fraction else int(n_axes)), 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        pca = PCA(n_axes, svd_solver=solver, random_state=seed).fit(columns)
        explained = float(np.nan_to_num(pca.explained_variance_ratio_.sum(), nan=1.0))
    axes, _ = np.linalg.qr(pca.components_.T)  # orthonormal to rounding, in the same order
    return np.ascontiguousarray(axes), min(explained, 1.0)


def _are_equal(columns: Any) -> bool:
    """Say whether all rows are equal: then there are no axes."""
    ends = columns.max(axis=0) - columns.min(axis=0)
    return not (ends.nnz if issparse(ends) else ends.any())
