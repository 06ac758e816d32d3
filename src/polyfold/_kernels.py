"""Compiled loops: serial, without the GIL, the same arithmetic for a row whatever its batch.

Each function is plain Python first and compiled by assignment, so that coverage and mutation runs can
call the Python one. Nothing here is imported until a map is evaluated or fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

#: Samples whose polynomials are evaluated together: few enough that their monomials stay near the processor.
SIDE_BY_SIDE = 32


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


#: Sums may be taken in any order, so that they can be vectors; in which is decided once, when this is compiled.
project_rows = compile_loop(_project_rows, fastmath={"reassoc", "contract", "nsz"})


def _fill_monomials(
    row: NDArray[np.float64],
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    factors: NDArray[np.float64],
    features: NDArray[np.float64],
) -> None:
    """Write the monomials of one sample, each one multiplication away from its parent."""
    for f in range(parents.shape[0]):
        value = row[variables[f]] * factors[f]
        features[f] = value if parents[f] < 0 else value * features[parents[f]]


fill_monomials = compile_loop(_fill_monomials)


def _expand_rows(
    rows: NDArray[np.float64],
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    factors: NDArray[np.float64],
    features: NDArray[np.float64],
) -> None:
    """Write the monomials of each sample."""
    for i in range(rows.shape[0]):
        fill_monomials(rows[i], parents, variables, factors, features[i])


expand_rows = compile_loop(_expand_rows)


def _evaluate_rows(
    rows: NDArray[np.float64],
    parents: NDArray[np.intp],
    variables: NDArray[np.intp],
    factors: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    offset: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:
    """Write the polynomials of each sample, of a few samples side by side: the loop over them is one vector.

    The arithmetic of a sample does not depend on those beside it.
    """
    n_outputs = values.shape[1]
    columns = np.empty((rows.shape[1], SIDE_BY_SIDE))
    features = np.empty((parents.shape[0], SIDE_BY_SIDE))
    totals = np.empty((n_outputs, SIDE_BY_SIDE))
    for start in range(0, rows.shape[0], SIDE_BY_SIDE):
        size = min(SIDE_BY_SIDE, rows.shape[0] - start)
        for v in range(rows.shape[1]):
            for i in range(size):
                columns[v, i] = rows[start + i, v]
        for c in range(n_outputs):
            for i in range(size):
                totals[c, i] = offset[c]
        for f in range(parents.shape[0]):
            v, parent, factor = variables[f], parents[f], factors[f]
            if parent < 0:
                for i in range(size):
                    features[f, i] = columns[v, i] * factor
            else:
                for i in range(size):
                    features[f, i] = columns[v, i] * factor * features[parent, i]
            for c in range(n_outputs):
                coefficient = coefficients[f, c]
                for i in range(size):
                    totals[c, i] += features[f, i] * coefficient
        for c in range(n_outputs):
            for i in range(size):
                values[start + i, c] = totals[c, i]


evaluate_rows = compile_loop(_evaluate_rows)


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
    features = np.empty(parents.shape[0])
    slopes = np.empty(parents.shape[0])
    gradients[:] = 0.0
    for i in range(rows.shape[0]):
        fill_monomials(rows[i], parents, variables, factors, features)
        for c in range(gradients.shape[1]):
            slopes[:] = coefficients[:, c]
            for f in range(parents.shape[0] - 1, -1, -1):
                slope = slopes[f] * factors[f]
                if parents[f] < 0:
                    gradients[i, c, variables[f]] += slope
                else:
                    gradients[i, c, variables[f]] += slope * features[parents[f]]
                    slopes[parents[f]] += slope * rows[i, variables[f]]


differentiate_rows = compile_loop(_differentiate_rows)
