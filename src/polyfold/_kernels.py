"""Compiled loops: serial, without the GIL, the same arithmetic for a row whatever its batch.

Each function is plain Python first and compiled by assignment, so that coverage and mutation runs can
call the Python one. Nothing here is imported until a map is evaluated or fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

#: Samples whose polynomials are evaluated together: few enough that their monomials stay near the processor.
SIDE_BY_SIDE = 32

#: ... and fewer where there are more monomials than this.
MANY_MONOMIALS = 1000

#: Samples that are projected, or looked at again, while they are near the processor.
AT_A_TIME = 256

#: Sums may be taken in any order, so that they can be vectors; in which is decided once, when a loop is compiled.
ANY_ORDER = {"reassoc", "contract", "nsz"}


def compile_loop(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile `function`, keeping the machine code on disk where a cache folder can be written."""
    try:
        return numba.njit(nogil=True, cache=True, **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba found no folder to write the cache to
        return numba.njit(nogil=True, **options)(function)  # type: ignore[no-any-return]


def _project_rows(
    rows: NDArray[Any], center: NDArray[Any], axes: NDArray[Any], projected: NDArray[np.float64]
) -> None:
    """Write the products of samples, less `center`, with axes, in the type of the samples.

    Four samples and two axes at a time: as many sums as a processor holds. A sample beside others, or beside
    itself where these run out, is treated alike.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_columns)
    center : ndarray of shape (n_columns,)
    axes : ndarray of shape (n_axes, n_columns)
        An even number of them.
    projected : ndarray of shape (n_samples, n_axes)
    """
    last, n_columns = rows.shape[0] - 1, rows.shape[1]
    four = np.empty((4, n_columns), rows.dtype)
    for first in range(0, last + 1, 4):
        for place in range(4):
            row = rows[min(first + place, last)]
            for j in range(n_columns):
                four[place, j] = row[j] - center[j]
        a, b, c, d = four[0], four[1], four[2], four[3]
        for k in range(0, axes.shape[0], 2):
            u, v = axes[k], axes[k + 1]
            au = bu = cu = du = av = bv = cv = dv = rows.dtype.type(0)
            for j in range(n_columns):
                au += a[j] * u[j]
                bu += b[j] * u[j]
                cu += c[j] * u[j]
                du += d[j] * u[j]
                av += a[j] * v[j]
                bv += b[j] * v[j]
                cv += c[j] * v[j]
                dv += d[j] * v[j]
            projected[first, k], projected[first, k + 1] = au, av
            projected[min(first + 1, last), k], projected[min(first + 1, last), k + 1] = bu, bv
            projected[min(first + 2, last), k], projected[min(first + 2, last), k + 1] = cu, cv
            projected[min(first + 3, last), k], projected[min(first + 3, last), k + 1] = du, dv


project_rows = compile_loop(_project_rows, fastmath=ANY_ORDER)


def _expand_rows(
    rows: NDArray[np.float64],
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    factors: NDArray[np.float64],
    features: NDArray[np.float64],
) -> None:
    """Write the monomials of each sample."""
    for i in range(rows.shape[0]):
        for f in range(parents.shape[0]):
            value = rows[i, variables[f]] * factors[f]
            features[i, f] = value if parents[f] < 0 else value * features[i, parents[f]]


expand_rows = compile_loop(_expand_rows)


def _are_finite(values: NDArray[Any]) -> bool:
    """Say whether all values are finite: 0 times any other is NaN, and so is the sum then."""
    total = values.dtype.type(0)
    for i in range(values.shape[0]):
        total += values[i] * values.dtype.type(0)
    return bool(total == 0)


are_finite = compile_loop(_are_finite, fastmath=ANY_ORDER)


def _evaluate_rows(
    rows: NDArray[Any],
    center: NDArray[np.float64],
    inverse_scale: float,
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    coefficients: NDArray[np.float64],
    offset: NDArray[np.float64],
    values: NDArray[Any],
) -> bool:
    """Write the polynomials of each sample, of a few samples side by side: the loop over them is one vector.

    The arithmetic of a sample does not depend on those beside it.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, at least n_variables)
    center : ndarray of shape (n_variables,)
        Subtracted from each sample, which is then multiplied by `inverse_scale`.
    parents, variables : ndarray of shape (n_monomials,)
        Each monomial is its variable times its parent, or its variable where the parent is -1.
    coefficients : ndarray of shape (n_monomials, n_outputs)
    offset : ndarray of shape (n_outputs,)
    values : ndarray of shape (n_samples, n_outputs)

    Returns
    -------
    bool
        Whether all values are finite.
    """
    n_monomials, n_outputs = coefficients.shape
    n_variables = len(center)
    width = min(SIDE_BY_SIDE, max(8, SIDE_BY_SIDE * MANY_MONOMIALS // n_monomials))
    columns = np.empty((n_variables, width))
    features = np.empty((n_monomials, width))
    totals = np.empty((n_outputs, width))
    finite = True
    for start in range(0, rows.shape[0], width):
        size = min(width, rows.shape[0] - start)
        for v in range(n_variables):
            middle = center[v]
            for i in range(size):
                columns[v, i] = (rows[start + i, v] - middle) * inverse_scale
        for c in range(n_outputs):
            constant = offset[c]
            for i in range(size):
                totals[c, i] = constant
        for f in range(n_monomials):
            v, parent = variables[f], parents[f]
            if parent < 0:
                for i in range(size):
                    features[f, i] = columns[v, i]
            else:
                for i in range(size):
                    features[f, i] = columns[v, i] * features[parent, i]
            for c in range(n_outputs):
                coefficient = coefficients[f, c]
                for i in range(size):
                    totals[c, i] += features[f, i] * coefficient
        for c in range(n_outputs):
            for i in range(size):
                values[start + i, c] = totals[c, i]
        finite &= are_finite(values[start : start + size].reshape(-1))
    return finite


evaluate_rows = compile_loop(_evaluate_rows)


def _place_projected(
    rows: NDArray[Any],
    origin: NDArray[Any],
    axes: NDArray[Any],
    rest: NDArray[np.float64],
    inverse_scale: float,
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    coefficients: NDArray[np.float64],
    offset: NDArray[np.float64],
    values: NDArray[Any],
) -> bool:
    """Write the polynomials of samples in axes: `_project_rows` and `_evaluate_rows`, a few samples at a time."""
    projected = np.empty((AT_A_TIME, axes.shape[0]))
    finite = True
    for start in range(0, rows.shape[0], AT_A_TIME):
        size = min(AT_A_TIME, rows.shape[0] - start)
        project_rows(rows[start : start + size], origin, axes, projected[:size])
        finite &= evaluate_rows(
            projected[:size],
            rest,
            inverse_scale,
            parents,
            variables,
            coefficients,
            offset,
            values[start : start + size],
        )
    return finite


place_projected = compile_loop(_place_projected)


def _make_few_powers(n_columns: int, n_outputs: int, degree: int) -> Callable[..., bool]:
    """Return a function that writes sums of polynomials of single columns, all loops within a sample unrolled.

    Its parameters are tuples: they stay in registers, where arrays would be read again after each value written.
    The coefficients are in the order of outputs, columns, powers. Up to three outputs are summed at a time.
    """
    size = n_columns * degree

    def few_powers(
        rows: NDArray[Any],
        center: tuple[float, ...],
        coefficients: tuple[float, ...],
        offset: tuple[float, ...],
        values: NDArray[Any],
    ) -> bool:
        finite = True
        for start in range(0, rows.shape[0], AT_A_TIME):
            some, written = rows[start : start + AT_A_TIME], values[start : start + AT_A_TIME]
            for i in range(some.shape[0]):
                for c in range(0, n_outputs - 2, 3):
                    u, v, w = offset[c], offset[c + 1], offset[c + 2]
                    for j in range(n_columns):
                        x = some[i, j] - center[j]
                        f = (c * n_columns + j + 1) * degree
                        g, h = f + size, f + 2 * size
                        r, s, t = coefficients[f - 1], coefficients[g - 1], coefficients[h - 1]
                        for q in range(2, degree + 1):
                            r = r * x + coefficients[f - q]
                            s = s * x + coefficients[g - q]
                            t = t * x + coefficients[h - q]
                        u += r * x
                        v += s * x
                        w += t * x
                    written[i, c], written[i, c + 1], written[i, c + 2] = u, v, w
                if n_outputs % 3 == 2:
                    c = n_outputs - 2
                    u, v = offset[c], offset[c + 1]
                    for j in range(n_columns):
                        x = some[i, j] - center[j]
                        f = (c * n_columns + j + 1) * degree
                        g = f + size
                        r, s = coefficients[f - 1], coefficients[g - 1]
                        for q in range(2, degree + 1):
                            r, s = r * x + coefficients[f - q], s * x + coefficients[g - q]
                        u += r * x
                        v += s * x
                    written[i, c], written[i, c + 1] = u, v
                if n_outputs % 3 == 1:
                    u = offset[n_outputs - 1]
                    for j in range(n_columns):
                        x = some[i, j] - center[j]
                        f = ((n_outputs - 1) * n_columns + j + 1) * degree
                        r = coefficients[f - 1]
                        for q in range(2, degree + 1):
                            r = r * x + coefficients[f - q]
                        u += r * x
                    written[i, n_outputs - 1] = u
            finite &= are_finite(written.reshape(-1))
        return finite

    return few_powers


def _make_many_powers(degree: int) -> Callable[..., bool]:
    """Return a function that writes sums of polynomials of single columns, by Horner's rule.

    Four samples and two outputs at a time, as in `_project_rows`. The coefficients are in the order of outputs,
    powers, columns.
    """

    def many_powers(
        rows: NDArray[Any],
        center: NDArray[Any],
        coefficients: NDArray[Any],
        offset: NDArray[Any],
        values: NDArray[Any],
    ) -> bool:
        n_columns, n_outputs = rows.shape[1], values.shape[1]
        finite = True
        for start in range(0, rows.shape[0], AT_A_TIME):
            some, written = rows[start : start + AT_A_TIME], values[start : start + AT_A_TIME]
            last = some.shape[0] - 1
            for i in range(0, last + 1, 4):
                i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
                a, b, c, d = some[i], some[i1], some[i2], some[i3]
                for k in range(0, n_outputs - 1, 2):
                    u, v = coefficients[k], coefficients[k + 1]
                    au = bu = cu = du = av = bv = cv = dv = coefficients.dtype.type(0)
                    for j in range(n_columns):
                        xa, xb, xc, xd = a[j] - center[j], b[j] - center[j], c[j] - center[j], d[j] - center[j]
                        ra = rb = rc = rd = u[degree - 1, j]
                        sa = sb = sc = sd = v[degree - 1, j]
                        for q in range(degree - 2, -1, -1):
                            ra, rb = ra * xa + u[q, j], rb * xb + u[q, j]
                            rc, rd = rc * xc + u[q, j], rd * xd + u[q, j]
                            sa, sb = sa * xa + v[q, j], sb * xb + v[q, j]
                            sc, sd = sc * xc + v[q, j], sd * xd + v[q, j]
                        au += ra * xa
                        bu += rb * xb
                        cu += rc * xc
                        du += rd * xd
                        av += sa * xa
                        bv += sb * xb
                        cv += sc * xc
                        dv += sd * xd
                    written[i, k], written[i, k + 1] = au + offset[k], av + offset[k + 1]
                    written[i1, k], written[i1, k + 1] = bu + offset[k], bv + offset[k + 1]
                    written[i2, k], written[i2, k + 1] = cu + offset[k], cv + offset[k + 1]
                    written[i3, k], written[i3, k + 1] = du + offset[k], dv + offset[k + 1]
                if n_outputs % 2:
                    k = n_outputs - 1
                    u = coefficients[k]
                    au = bu = cu = du = coefficients.dtype.type(0)
                    for j in range(n_columns):
                        xa, xb, xc, xd = a[j] - center[j], b[j] - center[j], c[j] - center[j], d[j] - center[j]
                        ra = rb = rc = rd = u[degree - 1, j]
                        for q in range(degree - 2, -1, -1):
                            ra, rb = ra * xa + u[q, j], rb * xb + u[q, j]
                            rc, rd = rc * xc + u[q, j], rd * xd + u[q, j]
                        au += ra * xa
                        bu += rb * xb
                        cu += rc * xc
                        du += rd * xd
                    written[i, k], written[i1, k] = au + offset[k], bu + offset[k]
                    written[i2, k], written[i3, k] = cu + offset[k], du + offset[k]
            finite &= are_finite(written.reshape(-1))
        return finite

    return many_powers


@lru_cache(maxsize=64)
def compile_few_powers(n_columns: int, n_outputs: int, degree: int) -> Callable[..., Any]:
    """Return the compiled function for polynomials of so many columns, outputs and powers."""
    return compile_loop(_make_few_powers(n_columns, n_outputs, degree), fastmath={"contract"})


@lru_cache(maxsize=16)
def compile_many_powers(degree: int) -> Callable[..., Any]:
    """Return the compiled function for polynomials of so many powers."""
    return compile_loop(_make_many_powers(degree), fastmath=ANY_ORDER)
