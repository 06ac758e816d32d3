"""What is known about the test surfaces: whether a neighbour graph short-cuts the roll."""

import numpy as np


def has_short_cut(X, Z, neighbors):
    """Is there an edge whose length on the unrolled sheet exceeds twice its chord?"""
    t = Z[:, 0]
    arc = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    sheet = np.column_stack([arc, Z[:, 1]])
    on_sheet = np.linalg.norm(sheet[neighbors] - sheet[:, np.newaxis], axis=2)
    chord = np.linalg.norm(X[neighbors] - X[:, np.newaxis], axis=2)
    return bool((on_sheet > 2 * chord).any())
