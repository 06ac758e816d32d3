"""The power of each variable in each monomial of a basis."""

import numpy as np


def powers_of(basis):
    """Count the factors of each monomial, shape (n_features, n_inputs)."""
    return np.array([np.bincount(factors, minlength=basis.n_inputs) for factors in basis.factors_of])
