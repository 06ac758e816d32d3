"""Compiled loops that differentiate; see `polyfold._kernels`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._kernels import AT_A_TIME, are_finite, compile_loop, expand_rows


def _differentiate_rows(
    rows: NDArray[np.float64],
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    factors: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    gradients: NDArray[np.float64],
) -> None:
    """Write the gradient of each polynomial at each sample, backwards from the monomials to the variables.

    ``slopes[f]`` is the derivative by monomial f of what is made of it; it passes to the monomial's two factors.
    """
    features = np.empty((1, parents.shape[0]))
    slopes = np.empty(parents.shape[0])
    gradients[:] = 0.0
    for i in range(rows.shape[0]):
        expand_rows(rows[i : i + 1], parents, variables, factors, features)
        for c in range(gradients.shape[1]):
            slopes[:] = coefficients[:, c]
            for f in range(parents.shape[0] - 1, -1, -1):
                slope = slopes[f] * factors[f]
                if parents[f] < 0:
                    gradients[i, c, variables[f]] += slope
                else:
                    gradients[i, c, variables[f]] += slope * features[0, parents[f]]
                    slopes[parents[f]] += slope * rows[i, variables[f]]


differentiate_rows = compile_loop(_differentiate_rows)


def _make_few_slopes(n_columns: int, n_outputs: int, degree: int) -> Callable[..., bool]:
    """Return a function that writes the slopes of polynomials of single columns, all within a sample unrolled.

    Its parameters are tuples, as in `_make_few_powers`: the slopes' coefficients in the order of outputs, columns,
    powers, from the constant on.
    """

    def few_slopes(
        rows: NDArray[Any], center: tuple[float, ...], coefficients: tuple[float, ...], slopes: NDArray[Any]
    ) -> bool:
        finite = True
        for start in range(0, rows.shape[0], AT_A_TIME):
            some, written = rows[start : start + AT_A_TIME], slopes[start : start + AT_A_TIME]
            for i in range(some.shape[0]):
                for j in range(n_columns):
                    x = some[i, j] - center[j]
                    for c in range(n_outputs):
                        f = (c * n_columns + j + 1) * degree
                        slope = coefficients[f - 1]
                        for q in range(2, degree + 1):
                            slope = slope * x + coefficients[f - q]
                        written[i, c, j] = slope
            finite &= are_finite(written.reshape(-1))
        return finite

    return few_slopes


def _make_many_slopes(degree: int) -> Callable[..., bool]:
    """Return a function that writes the slopes of polynomials of single columns, one row of columns after another.

    The slopes' coefficients are in the order of outputs, powers, columns.
    """

    def many_slopes(
        rows: NDArray[Any], center: NDArray[np.float64], coefficients: NDArray[np.float64], slopes: NDArray[Any]
    ) -> bool:
        finite = True
        for i in range(rows.shape[0]):
            for c in range(slopes.shape[1]):
                row, written, some = rows[i], slopes[i, c], coefficients[c]
                for j in range(rows.shape[1]):
                    x = row[j] - center[j]
                    slope = some[degree - 1, j]
                    for q in range(degree - 2, -1, -1):
                        slope = slope * x + some[q, j]
                    written[j] = slope
                finite &= are_finite(written)
        return finite

    return many_slopes


@lru_cache(maxsize=64)
def compile_few_slopes(n_columns: int, n_outputs: int, degree: int) -> Callable[..., Any]:
    """Return the compiled function for polynomials of so many columns, outputs and powers."""
    return compile_loop(_make_few_slopes(n_columns, n_outputs, degree), fastmath={"contract"})


@lru_cache(maxsize=16)
def compile_many_slopes(degree: int) -> Callable[..., Any]:
    """Return the compiled function for polynomials of so many powers."""
    return compile_loop(_make_many_slopes(degree), fastmath={"contract"})
