"""A map written out as one polynomial of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, permutations
from math import comb, factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Beyond this many terms only the largest are listed.
MAX_TERMS = 100_000

#: Beyond this many, not even those are looked for.
MAX_SEARCHED = 200_000_000

#: Entries of the symmetric tensors of a map with principal axes.
MAX_TENSOR = 10_000_000


class Term(NamedTuple):
    """One term of a polynomial: a product of columns and its coefficient in each coordinate.

    Attributes
    ----------
    columns : tuple of int
        Positions of the columns that are multiplied, in ascending order; a square names its column twice, and the
        constant names none.
    coefficients : ndarray of shape (n_outputs,)
    """

    columns: tuple[int, ...]
    coefficients: NDArray[np.float64]


#: A polynomial: the power of each variable to the coefficient in each coordinate.
Polynomial = dict[tuple[int, ...], NDArray[np.float64]]


def check_term_count(n_columns: int, degree: int, largest: int | None) -> None:
    """Check that the terms can be listed, or at least looked through."""
    count = comb(n_columns + degree, degree)
    if count > MAX_SEARCHED:
        raise ValueError(
            f"The polynomial has {count:,} terms in its {n_columns:,} columns, more than the {MAX_SEARCHED:,} "
            "that are looked through."
        )
    if largest is None and count > MAX_TERMS:
        raise ValueError(
            f"The polynomial has {count:,} terms in its {n_columns:,} columns, above the limit of {MAX_TERMS:,}. "
            "Ask for some of them, for example terms(largest=20)."
        )


def shift_polynomial(polynomial: Polynomial, shift: NDArray[np.float64]) -> Polynomial:
    """Rewrite a polynomial in ``z − shift`` as one in z, one variable at a time."""
    for variable in np.flatnonzero(shift):
        shifted: Polynomial = {}
        for powers, coefficients in polynomial.items():
            p = powers[variable]
            for q in range(p + 1):
                key = (*powers[:variable], q, *powers[variable + 1 :])
                part = coefficients * (comb(p, q) * (-shift[variable]) ** (p - q))
                shifted[key] = shifted[key] + part if key in shifted else part
        polynomial = shifted
    return polynomial


def list_factors(powers: tuple[int, ...]) -> tuple[int, ...]:
    """Turn powers into the list of variables that are multiplied."""
    return tuple(variable for variable, power in enumerate(powers) for _ in range(power))


def count_orders(factors: tuple[int, ...]) -> int:
    """Count the different orders of a product's factors."""
    return factorial(len(factors)) // prod(map(factorial, Counter(factors).values()))


def project_polynomial(polynomial: Polynomial, axes: NDArray[np.float64]) -> Iterator[list[Term]]:
    """Rewrite a polynomial in ``z = axesᵀ x`` as one in x, some terms at a time.

    The part of degree q is a symmetric tensor with one index per factor; each index is contracted with the axes.
    """
    n_columns, n_axes = axes.shape
    by_degree: dict[int, Polynomial] = {}
    for powers, coefficients in polynomial.items():
        by_degree.setdefault(sum(powers), {})[powers] = coefficients
    for q in sorted(by_degree):
        tensor = _build_tensor(by_degree[q], q, n_axes)
        if q == 0:
            yield [Term((), tensor)]
            continue
        for prefix in combinations_with_replacement(range(n_columns), q - 1):
            entries = tensor
            for column in prefix:
                entries = np.tensordot(axes[column], entries, axes=1)
            first = prefix[-1] if prefix else 0
            block = axes[first:] @ entries
            yield [
                Term(factors, count_orders(factors) * row)
                for factors, row in (((*prefix, first + i), row) for i, row in enumerate(block))
            ]


def _build_tensor(polynomial: Polynomial, q: int, n_axes: int) -> NDArray[np.float64]:
    """Return the symmetric tensor of a homogeneous polynomial, coordinates last."""
    n_outputs = len(next(iter(polynomial.values())))
    if n_axes**q * n_outputs > MAX_TENSOR:
        raise ValueError(
            f"Terms of degree {q} in {n_axes} principal axes take a tensor of {n_axes**q * n_outputs:,} entries, "
            f"above the limit of {MAX_TENSOR:,}."
        )
    tensor = np.zeros((n_axes,) * q + (n_outputs,))
    for powers, coefficients in polynomial.items():
        factors = list_factors(powers)
        share = coefficients / count_orders(factors)
        for order in set(permutations(factors)):
            tensor[order] = share
    return tensor


def keep_largest(blocks: Iterable[list[Term]], largest: int, scale: float) -> list[Term]:
    """Return the terms with the largest value at columns of size `scale`, in any coordinate, largest first."""

    def size(term: Term) -> float:
        return float(np.abs(term.coefficients).max()) * scale ** len(term.columns)

    kept: list[Term] = []
    for block in blocks:
        kept += block
        if len(kept) > 4 * largest + 10_000:
            kept = sorted(kept, key=size, reverse=True)[:largest]
    return sorted(kept, key=size, reverse=True)[:largest]
