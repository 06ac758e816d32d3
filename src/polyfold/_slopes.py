"""How a map is differentiated: pure powers of the columns in one pass, all else through the table of monomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._basis import build_basis
from polyfold._blocks import row_slices
from polyfold._evaluation import (
    FEW_COEFFICIENTS,
    MANY_MULTIPLICATIONS,
    choose_unit,
    convert,
    has_plain_powers,
)
from polyfold._threads import share_blocks

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap

#: Slopes of one block stay below about this many bytes where there are temporaries of their size.
BLOCK_BYTES = 2**21

#: ... and below this many where there are none: threads that write to the same large page wait for each other.
PLAIN_BLOCK_BYTES = 2**24

#: From samples to slopes; says whether all of these are finite.
Differentiate = Callable[[Any, NDArray[Any]], bool]


def differentiate_samples(learned: PolynomialMap, X: Any, slopes: NDArray[Any]) -> bool:
    """Write the slopes of samples, on as many threads as are worth it, and say whether all are finite."""
    is_plain = has_plain_powers(learned)
    differentiate = (_plan_powers if is_plain else _plan_monomials)(learned)
    n_rows, row_bytes = len(slopes), 8 * learned.n_outputs * learned.n_inputs
    finite = []

    def differentiate_block(rows: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            finite.append(differentiate(X[rows], slopes[rows]))

    blocks = row_slices(n_rows, row_bytes, PLAIN_BLOCK_BYTES if is_plain else BLOCK_BYTES)
    if slopes.size * learned.degree < MANY_MULTIPLICATIONS:
        for rows in blocks:
            differentiate_block(rows)
    else:
        share_blocks(differentiate_block, blocks)
    return all(finite)


def _plan_powers(learned: PolynomialMap) -> Differentiate:
    """Return what writes ``Σ_q q a_q xᵠ⁻¹`` for each column."""
    from polyfold._slope_kernels import compile_few_slopes, compile_many_slopes

    n_columns, n_outputs, degree = learned.n_inputs, learned.n_outputs, learned.degree
    unit = choose_unit(learned.scale, degree)
    powers = np.arange(1, degree + 1)[:, np.newaxis, np.newaxis]
    coefficients = learned.coefficients.reshape(degree, n_columns, n_outputs)
    with np.errstate(over="ignore", invalid="ignore"):  # slopes beyond a double are told when they are asked for
        coefficients = coefficients * powers * np.power(unit / learned.scale, powers) / unit
    center, some = learned.shift / unit, coefficients.transpose(2, 0, 1)
    if coefficients.size <= FEW_COEFFICIENTS:
        loop = compile_few_slopes(n_columns, n_outputs, degree)
        numbers: tuple[Any, ...] = tuple(center), tuple(some.transpose(0, 2, 1).ravel())
    else:
        loop = compile_many_slopes(degree)
        numbers = center, np.ascontiguousarray(some)

    def differentiate(rows: Any, slopes: NDArray[Any]) -> bool:
        dtype = np.float32 if rows.dtype == np.float32 else np.float64
        return bool(loop(convert(rows, dtype, unit), *numbers, slopes))

    return differentiate


def _plan_monomials(learned: PolynomialMap) -> Differentiate:
    table = build_basis(learned.basis, learned.n_axes, learned.degree)

    def differentiate(rows: Any, slopes: NDArray[Any]) -> bool:
        gradients = table.differentiate(learned._locate(rows, learned.shift), learned.coefficients)
        spanned = gradients if learned.axes is None else gradients @ learned.axes.T
        slopes[:] = spanned / learned.scale
        return bool(np.isfinite(slopes).all())

    return differentiate
