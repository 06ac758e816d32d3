"""What a fit solves for, whichever graph it has: the map's coefficients, and how they do on held-out samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyfold._eigen import Whitening
from polyfold._ridge import RidgeCurve
from polyfold._selection import Tangents


@dataclass(frozen=True, eq=False)
class Selection:
    """Which eigenvectors became coordinates.

    Attributes
    ----------
    kept : ndarray of shape (n_components,)
        Positions in the order of their eigenvalues.
    n_candidates : int
        How many were looked at.
    tangents : Tangents or None
        The tangent planes that were to tell, where any were fitted.
    """

    kept: NDArray[np.intp]
    n_candidates: int
    tangents: Tangents | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """A map's coefficients and constant term, and what is known of them.

    Attributes
    ----------
    coefficients : ndarray of shape (n_monomials, n_components)
    offset : ndarray of shape (n_components,)
    eigenvalues : ndarray of shape (n_components,)
    whitening : Whitening
        Of the features.
    curve : RidgeCurve
        Of the ridges tried.
    training_objective, held_out_objective : float
    held_out_spread : ndarray of shape (n_components,)
    selection : Selection
    """

    coefficients: NDArray[np.float64]
    offset: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    whitening: Whitening
    curve: RidgeCurve
    training_objective: float
    held_out_objective: float
    held_out_spread: NDArray[np.float64]
    selection: Selection
