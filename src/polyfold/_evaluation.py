"""How a map places samples: its numbers in the order, the units and the precision of the compiled loops.

Pure powers of the columns are summed by Horner's rule, in one pass over the samples. All else goes through the
table of monomials, of the columns or of their projections on the axes. What is prepared here is prepared once for
each map and type of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._basis import build_basis
from polyfold._blocks import row_slices
from polyfold._sparse import is_sparse
from polyfold._threads import count_threads, share_blocks

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap

#: The scale may have powers up to this, and down to its inverse. In float32 that goes for coefficients.
LARGE_POWER, LARGE_SINGLE_POWER = 1e200, 1e30

#: Float32 samples are projected in float32 where centre and scale are below this, and the scale above its inverse.
SINGLE_RANGE = 1e30

#: Float32 samples are placed in float32 where that costs no more than this share of the spread of coordinates.
SINGLE_ERROR = 1e-5

#: Samples drawn over the domain, to tell.
N_PROBES = 64

#: Polynomials of so few coefficients are compiled with all their loops unrolled.
FEW_COEFFICIENTS = 32

#: Multiplications from which on a second thread is worth being woken.
MANY_MULTIPLICATIONS = 2_000_000

#: Multiplications after which Ctrl-C is heard at the latest: a fraction of a second.
LONG_WORK = 2**30

#: Temporaries of one block, where samples must be copied first, stay below about this many bytes.
BLOCK_BYTES = 2**21

#: From samples to coordinates; says whether all of these are finite.
Place = Callable[[Any, NDArray[Any]], bool]


@dataclass(frozen=True, eq=False)
class Projection:
    """Samples less a centre, in axes: ``(axes @ (x / unit − origin) − rest) · inverse_scale``.

    Attributes
    ----------
    axes : ndarray of shape (n_axes or one more, n_columns)
        Orthonormal rows, an even number of them, in the type that is multiplied in.
    origin : ndarray of shape (n_columns,)
        The centre in that type and unit.
    rest : ndarray of shape (n_axes,)
        What rounding took off the centre, in the axes.
    unit : float
        1, unless products of samples overflow.
    inverse_scale : float
    """

    axes: NDArray[Any]
    origin: NDArray[Any]
    rest: NDArray[np.float64]
    unit: float
    inverse_scale: float

    def locate(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return the samples in the axes."""
        from polyfold._kernels import project_rows

        projected = np.empty((len(X), len(self.axes)))
        project_rows(self.convert(X), self.origin, self.axes, projected)
        return np.asarray((projected[:, : len(self.rest)] - self.rest) * self.inverse_scale)

    def convert(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the samples in the type and unit that is multiplied in."""
        return convert(X, self.axes.dtype, self.unit)


def choose_unit(scale: float, degree: int) -> float:
    """Return what samples are divided by before anything else: 1, or the scale where its powers overflow."""
    limit = LARGE_POWER ** (1 / degree)
    return 1.0 if 1 / limit < scale < limit else scale


def _is_readable(X: NDArray[Any]) -> bool:
    return X.flags.c_contiguous and X.dtype in (np.float32, np.float64)


def convert(X: NDArray[Any], dtype: Any, unit: float = 1.0) -> NDArray[Any]:
    """Return samples row by row in memory, read-only as far as the loops are concerned.

    In this type, or in float64 where they are put into another unit, which float32 may not be able to hold.
    """
    rows: NDArray[Any] = np.ascontiguousarray(X, dtype=dtype if unit == 1.0 else np.float64)
    rows = rows.view() if unit == 1.0 else rows / unit
    rows.flags.writeable = False  # a loop is compiled for one kind of array only
    return rows


def orient_axes(learned: PolynomialMap, center: NDArray[np.float64], dtype: Any) -> Projection:
    """Prepare the projection of samples of this type, less `center`, on the map's axes."""
    assert learned.axes is not None
    scale, n_axes = learned.scale, learned.n_axes
    in_range = max(np.abs(center).max(), scale, 1 / scale) < SINGLE_RANGE
    unit = choose_unit(scale, learned.degree)
    kind = np.float32 if dtype == np.float32 and in_range and unit == 1.0 else np.float64
    origin: NDArray[Any] = (center / unit).astype(kind)
    axes = np.pad(learned.axes, ((0, 0), (0, n_axes % 2)))
    rest = ((center / unit - origin) @ axes)[:n_axes]
    return Projection(np.ascontiguousarray(axes.T, dtype=kind), origin, rest, unit, unit / scale)


def has_plain_powers(learned: PolynomialMap) -> bool:
    """Say whether the map is a sum of powers of its columns, as every linear one is."""
    return (learned.basis == "hadamard" or learned.degree == 1) and learned.axes is None


def plan_placement(learned: PolynomialMap, dtype: Any) -> Place:
    """Return the function that places samples of this type: float32, or float64 for all others."""
    if has_plain_powers(learned):
        return _plan_powers(learned, dtype)
    return _plan_monomials(learned, dtype)


def _plan_monomials(learned: PolynomialMap, dtype: Any) -> Place:
    from polyfold._kernels import evaluate_rows, place_projected

    table = build_basis(learned.basis, learned.n_axes, learned.degree)
    polynomial = (table.parents, table.variables, learned.weights, learned.offset)
    nowhere = np.zeros(learned.n_axes)
    if learned.axes is None:
        scale = learned.scale
        unit = choose_unit(scale, learned.degree)
        shift = learned.shift / unit

        def place(rows: Any, values: NDArray[Any]) -> bool:
            return bool(evaluate_rows(convert(rows, dtype, unit), shift, unit / scale, *polynomial, values))

        return place
    to = orient_axes(learned, learned.shift, dtype)

    def place_in_axes(rows: Any, values: NDArray[Any]) -> bool:
        if is_sparse(rows):
            located = learned._locate(rows, learned.shift)
            return bool(evaluate_rows(located, nowhere, 1.0, *polynomial, values))
        rows = to.convert(rows)
        return bool(place_projected(rows, to.origin, to.axes, to.rest, to.inverse_scale, *polynomial, values))

    return place_in_axes


def _plan_powers(learned: PolynomialMap, dtype: Any) -> Place:
    from polyfold._kernels import compile_few_powers, compile_many_powers

    n_columns, n_outputs, degree = learned.n_inputs, learned.n_outputs, learned.degree
    scale = learned.scale
    unit = choose_unit(scale, degree)
    center = learned.shift / unit
    slopes = learned.coefficients.reshape(degree, n_columns, n_outputs)
    with np.errstate(over="ignore"):
        slopes = slopes * np.power(unit / scale, np.arange(1, degree + 1))[:, np.newaxis, np.newaxis]
    if not np.isfinite(slopes).all():  # in the units of the columns; in those of the map they are finite
        return _plan_monomials(learned, dtype)
    constant = learned.offset
    kind = np.float32 if dtype == np.float32 and _is_safe_in_single(learned, slopes, unit) else np.float64
    if kind == np.float32:
        rounded = center.astype(np.float32).astype(np.float64)
        slopes, constant = _expand_about(slopes, constant, rounded - center)
        center = rounded
    numbers = (center, slopes.transpose(2, 0, 1), constant)
    prepared: list[Any] = [np.ascontiguousarray(each, dtype=kind) for each in numbers]
    if slopes.size <= FEW_COEFFICIENTS:
        loop = compile_few_powers(n_columns, n_outputs, degree)
        prepared[1] = prepared[1].transpose(0, 2, 1).ravel()
        prepared = [tuple(each) for each in prepared]
    else:
        loop = compile_many_powers(degree)

    def place(rows: Any, values: NDArray[Any]) -> bool:
        return bool(loop(convert(rows, dtype, unit), *prepared, values))

    return place


def _is_safe_in_single(learned: PolynomialMap, slopes: NDArray[np.float64], unit: float) -> bool:
    """Say whether sums in float32 are good to SINGLE_ERROR of the coordinates' spread over the domain.

    Coordinates are sums of terms that may cancel: an error is of the size of the terms.
    """
    sizes = np.abs(slopes[slopes != 0])
    domain = learned.domain
    if (
        domain is None
        or unit != 1.0
        or np.abs(learned.offset).max() >= LARGE_SINGLE_POWER
        or not np.all((sizes > 1 / LARGE_SINGLE_POWER) & (sizes < LARGE_SINGLE_POWER))
    ):
        return False
    random = np.random.default_rng(0)
    along = domain.draw(N_PROBES, random) + (domain.center - learned.shift) / learned.scale
    off = random.normal(size=along.shape) * (domain.thickness / np.sqrt(learned.n_axes))
    table = build_basis("hadamard", learned.n_axes, learned.degree)
    # How samples lie off the domain's directions is not known: what they spread there is not counted on.
    spread = (table.expand(along) @ learned.coefficients).std(axis=0)
    terms = np.sqrt(np.square(table.expand(along + off)) @ np.square(learned.coefficients)).max(axis=0)
    return bool(np.all(np.finfo(np.float32).eps * terms <= SINGLE_ERROR * spread))


def _expand_about(
    slopes: NDArray[np.float64], constant: NDArray[np.float64], step: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rewrite ``constant + Σ_q slopes_q xᵠ`` in powers of ``x − step``: x is that plus the step."""
    degree = len(slopes)
    expanded, moved = np.zeros_like(slopes), constant.copy()
    for q in range(1, degree + 1):
        for power in range(q + 1):
            share = comb(q, power) * slopes[q - 1] * (step ** (q - power))[:, np.newaxis]
            if power:
                expanded[power - 1] += share
            else:
                moved += share.sum(axis=0)
    return expanded, moved


def place_samples(learned: PolynomialMap, place: Place, X: Any, values: NDArray[Any]) -> bool:
    """Place samples in blocks, on as many threads as are worth it, and say whether all values are finite.

    Samples that the loops can read as they are form one long block for each thread: threads that come back for
    more wait for each other. What must be copied is copied in small blocks.
    """
    n_rows = X.shape[0]
    work = learned.n_features * learned.n_outputs + (0 if learned.axes is None else learned.axes.size)
    is_small = n_rows * work < MANY_MULTIPLICATIONS
    if is_sparse(X):
        row_bytes = 8 * (X.nnz // max(n_rows, 1) + learned.n_axes)
        blocks = row_slices(n_rows, row_bytes, BLOCK_BYTES)
    elif _is_readable(X) and choose_unit(learned.scale, learned.degree) == 1.0:
        if is_small:
            return place(X, values)
        blocks = row_slices(n_rows, 1, min(-(-n_rows // count_threads()), max(LONG_WORK // work, 1)))
    else:
        blocks = row_slices(n_rows, 8 * learned.n_inputs, BLOCK_BYTES)
    finite = []

    def place_block(rows: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            finite.append(place(X[rows], values[rows]))

    if is_small:
        for rows in blocks:
            place_block(rows)
    else:
        share_blocks(place_block, blocks)
    return all(finite)
