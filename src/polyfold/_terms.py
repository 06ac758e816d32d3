"""A map written out as one polynomial of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations_with_replacement, permutations, product
from math import comb, factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Beyond this many terms only the largest are listed.
MAX_TERMS = 100_000

#: Beyond this many, not even those are looked for.
MAX_SEARCHED = 200_000_000

#: How many terms more than are wanted gather before the smaller ones are dropped.
PRUNE_BEYOND = 1_000

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


#: A polynomial: the variables that are multiplied, ascending, to the coefficient in each coordinate.
Polynomial = dict[tuple[int, ...], NDArray[np.float64]]


def check_term_count(count: int, n_columns: int, largest: int | None) -> None:
    """Check that the terms can be listed, or at least looked through."""
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


def check_tensor_size(n_axes: int, degree: int, n_outputs: int) -> None:
    """Check that the symmetric tensors of a map with principal axes can be held."""
    if n_axes**degree * n_outputs > MAX_TENSOR:
        raise ValueError(
            f"Terms of degree {degree} in {n_axes} principal axes take a tensor of "
            f"{n_axes**degree * n_outputs:,} entries, above the limit of {MAX_TENSOR:,}."
        )


def shift_polynomial(polynomial: Polynomial, shift: NDArray[np.float64]) -> Polynomial:
    """Rewrite a polynomial in ``z − shift`` as one in z: each product is multiplied out."""
    shifted: Polynomial = {}
    for factors, coefficients in polynomial.items():
        powers = Counter(factors)
        for kept in product(*(range(power + 1) for power in powers.values())):
            share = prod(
                comb(power, q) * (-shift[variable]) ** (power - q)
                for (variable, power), q in zip(powers.items(), kept, strict=True)
            )
            key = tuple(v for v, q in zip(powers, kept, strict=True) for _ in range(q))
            shifted[key] = shifted.get(key, 0.0) + share * coefficients
    return shifted


def count_orders(factors: tuple[int, ...]) -> int:
    """Count the different orders of a product's factors."""
    return factorial(len(factors)) // prod(map(factorial, Counter(factors).values()))


class TermBlock(NamedTuple):
    """Some terms: the columns of the i-th, the degree of each, and coefficients of shape (n_terms, n_outputs)."""

    columns_of: Callable[[int], tuple[int, ...]]
    degrees: NDArray[np.float64]
    coefficients: NDArray[np.float64]

    def list_terms(self, chosen: Iterable[int] | None = None) -> list[Term]:
        """Return the terms at the positions `chosen`, or all."""
        positions = range(len(self.coefficients)) if chosen is None else chosen
        return [Term(self.columns_of(int(i)), self.coefficients[i]) for i in positions]


def block_polynomial(polynomial: Polynomial, scale: float) -> TermBlock:
    """List the terms of a polynomial in ``z = x / scale`` as terms in x."""
    factors = list(polynomial)
    degrees = np.array([float(len(f)) for f in factors])
    coefficients = np.stack(list(polynomial.values())) / np.power(scale, degrees)[:, np.newaxis]
    return TermBlock(factors.__getitem__, degrees, coefficients)


def project_polynomial(polynomial: Polynomial, axes: NDArray[np.float64]) -> Iterator[TermBlock]:
    """Rewrite a polynomial in ``z = axesᵀ x`` as one in x, some terms at a time.

    The part of degree q is a symmetric tensor with one index per factor; each index is contracted with the axes.
    """
    n_columns, n_axes = axes.shape
    by_degree: dict[int, Polynomial] = {}
    for factors, coefficients in polynomial.items():
        by_degree.setdefault(len(factors), {})[factors] = coefficients
    for q in sorted(by_degree):
        if q == 0:
            yield block_polynomial(by_degree[q], 1.0)
            continue
        tensor = _build_tensor(by_degree[q], q, n_axes)
        for prefix in combinations_with_replacement(range(n_columns), q - 1):
            entries = tensor
            for column in prefix:
                entries = np.tensordot(axes[column], entries, axes=1)
            first = prefix[-1] if prefix else 0
            unlike = count_orders((*prefix, n_columns))  # orders where the last factor is unlike the others
            block = axes[first:] @ entries * unlike
            if prefix:
                block[0] *= count_orders((*prefix, first)) / unlike

            def columns_of(i: int, prefix: tuple[int, ...] = prefix, first: int = first) -> tuple[int, ...]:
                return (*prefix, first + i)

            yield TermBlock(columns_of, np.full(len(block), float(q)), block)


def _build_tensor(polynomial: Polynomial, q: int, n_axes: int) -> NDArray[np.float64]:
    """Return the symmetric tensor of a homogeneous polynomial, coordinates last."""
    n_outputs = len(next(iter(polynomial.values())))
    tensor = np.zeros((n_axes,) * q + (n_outputs,))
    for factors, coefficients in polynomial.items():
        share = coefficients / count_orders(factors)
        for order in set(permutations(factors)):
            tensor[order] = share
    return tensor


def keep_largest(blocks: Iterable[TermBlock], largest: int, scale: float) -> list[Term]:
    """Return the terms with the largest value at columns of size `scale`, in any coordinate, largest first."""
    kept: list[tuple[float, Term]] = []
    threshold = 0.0
    for block in blocks:
        sizes = np.abs(block.coefficients).max(axis=1) * scale**block.degrees
        chosen = np.flatnonzero(sizes >= threshold)
        kept += zip(sizes[chosen].tolist(), block.list_terms(chosen), strict=True)
        if len(kept) > largest + PRUNE_BEYOND:
            kept = _sort_terms(kept)[:largest]
            threshold = kept[-1][0]
    return [term for _, term in _sort_terms(kept)[:largest]]


def _sort_terms(sized: list[tuple[float, Term]]) -> list[tuple[float, Term]]:
    return sorted(sized, key=lambda entry: entry[0], reverse=True)
