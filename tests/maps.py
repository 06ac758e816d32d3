"""Maps made by hand, and what they must compute: written out in long numbers, without any code of the package."""

from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from polyfold import PolynomialMap


def list_monomials(basis, n_variables, degree):
    """The variables in each monomial and its factor, by degree and then lexicographically."""
    monomials = []
    for q in range(1, degree + 1):
        if basis == "hadamard":
            monomials += [((v,) * q, 1.0) for v in range(n_variables)]
            continue
        for factors in combinations_with_replacement(range(n_variables), q):
            orders = factorial(q) // prod(factorial(factors.count(v)) for v in set(factors))
            monomials.append((factors, np.sqrt(np.longdouble(orders))))
    return monomials


def random_map(basis, degree, n_inputs=3, n_outputs=2, n_axes=None, seed=0, scale=1.7, **rest):
    """A map of normal coefficients, smaller for higher powers."""
    random = np.random.default_rng(seed)
    axes = None if n_axes is None else np.linalg.qr(random.normal(size=(n_inputs, n_axes)))[0]
    monomials = list_monomials(basis, n_axes or n_inputs, degree)
    coefficients = random.normal(size=(len(monomials), n_outputs))
    return PolynomialMap(
        random.normal(size=n_inputs),
        scale,
        basis,
        degree,
        coefficients,
        random.normal(size=n_outputs),
        axes,
        **rest,
    )


def evaluate_naively(learned, X):
    """The coordinates of samples, and the sum of the sizes of the terms that make up each."""
    z = (X.astype(np.longdouble) - learned.shift) / np.longdouble(learned.scale)
    if learned.axes is not None:
        z = z @ learned.axes.astype(np.longdouble)
    values = np.tile(learned.offset.astype(np.longdouble), (len(X), 1))
    sizes = np.abs(values)
    for (factors, factor), weights in zip(
        list_monomials(learned.basis, z.shape[1], learned.degree), learned.coefficients, strict=True
    ):
        term = np.multiply.outer(np.prod(z[:, list(factors)], axis=1) * factor, weights)
        values, sizes = values + term, sizes + np.abs(term)
    return values.astype(np.float64), sizes.astype(np.float64)
