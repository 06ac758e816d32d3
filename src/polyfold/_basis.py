"""The monomials that a map is a combination of.

A basis is a table: monomial f is ``factors[f] * x[variables[f]]`` times monomial ``parents[f]`` (or 1
where the parent is -1), so that any basis is expanded with one multiplication per feature. Monomials are
ordered by degree, then lexicographically.

``kronecker``: all monomials of degree 1 to p, each once, scaled by the square root of its multinomial
coefficient. Then <phi_q(x), phi_q(z)> = <x, z>^q for every degree q, so a rotation of x acts on the
features as an orthogonal matrix, and what is measured by their norm (rank cut, ridge) does not see it.

``hadamard``: the pure powers, without cross terms (the paper's simplified form).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

BASES = ("hadamard", "kronecker")

#: A fit holds about 25 square matrices of this size, 5 GB at the limit.
MAX_FEATURES = 5000


@dataclass(frozen=True, eq=False)
class MonomialBasis:
    """A table of monomials in `n_inputs` variables."""

    n_inputs: int
    parents: NDArray[np.intp]
    variables: NDArray[np.intp]
    factors: NDArray[np.float64]

    @property
    def n_features(self) -> int:
        """How many monomials there are."""
        return len(self.parents)

    @cached_property
    def scales(self) -> NDArray[np.float64]:
        """What each monomial is multiplied by in all: its factor times those of its parents."""
        scales = self.factors.copy()
        for monomial, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                scales[monomial] *= scales[parent]
        return scales

    @cached_property
    def factors_of(self) -> list[tuple[int, ...]]:
        """The variables that are multiplied in each monomial, ascending."""
        factors: list[tuple[int, ...]] = []
        for parent, variable in zip(self.parents.tolist(), self.variables.tolist(), strict=True):
            factors.append((*(factors[parent] if parent >= 0 else ()), variable))
        return factors

    def expand(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the monomials of each row, shape (len(rows), n_features)."""
        from polyfold._kernels import expand_rows

        features = np.empty((len(rows), self.n_features))
        expand_rows(rows, self.parents, self.variables, self.factors, features)
        return features

    def differentiate(self, rows: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradients of combinations of the monomials, shape (len(rows), n_combinations, n_inputs)."""
        from polyfold._slope_kernels import differentiate_rows

        gradients = np.empty((len(rows), coefficients.shape[1], self.n_inputs))
        differentiate_rows(rows, self.parents, self.variables, self.factors, coefficients, gradients)
        return gradients


def count_features(kind: str, n_inputs: int, degree: int) -> int:
    """Count the monomials of a basis without building it."""
    if kind == "hadamard":
        return n_inputs * degree
    return comb(n_inputs + degree, degree) - 1


def choose_basis(kind: str, n_inputs: int, degree: int) -> str:
    """Turn "auto" into cross terms where they are affordable, and check the feature count."""
    if kind == "auto":
        affordable = count_features("kronecker", n_inputs, degree) <= MAX_FEATURES
        kind = "kronecker" if affordable else "hadamard"
    n_features = count_features(kind, n_inputs, degree)
    if n_features > MAX_FEATURES:
        without_cross_terms = count_features("hadamard", n_inputs, degree)
        cure = (
            f' or use basis="hadamard" (SNPPE), which needs {without_cross_terms:,}'
            if kind == "kronecker" and without_cross_terms <= MAX_FEATURES
            else ""
        )
        raise ValueError(
            f'`degree`={degree} with basis="{kind}" on {n_inputs:,} columns makes {n_features:,} features, '
            f"above the limit of {MAX_FEATURES:,}. Lower `degree`, write the polynomial in fewer axes "
            f"(`reduce`){cure}."
        )
    return kind


def _build_basis(kind: str, n_inputs: int, degree: int) -> MonomialBasis:
    """Build the table of a basis.

    In the kronecker basis a monomial is the sorted list of its variables and its parent is that list less
    the last. With l the power of the last variable, c_q = √(q!/Π l!) grows from the parent by √(q / l).
    """
    parents = [np.full(n_inputs, -1, dtype=np.intp)]
    variables = [np.arange(n_inputs, dtype=np.intp)]
    powers_of_last = np.ones(n_inputs, dtype=np.intp)
    factors = [np.ones(n_inputs)]
    first = 0
    for q in range(2, degree + 1):
        last = variables[-1]
        n_children = n_inputs - last if kind == "kronecker" else np.ones_like(last)
        parent = np.repeat(np.arange(len(last)), n_children)
        step = np.arange(len(parent)) - np.repeat(np.cumsum(n_children) - n_children, n_children)
        powers_of_last = np.where(step == 0, powers_of_last[parent] + 1, 1)
        factors.append(np.sqrt(q / powers_of_last) if kind == "kronecker" else np.ones(len(parent)))
        variables.append(last[parent] + step)
        parents.append(parent + first)
        first += len(last)
    table = np.concatenate(parents), np.concatenate(variables), np.concatenate(factors)
    for column in table:
        column.flags.writeable = False
    return MonomialBasis(n_inputs, *table)


#: By assignment, as compiled loops are: mutation runs change plain functions only.
build_basis = lru_cache(maxsize=32)(_build_basis)
