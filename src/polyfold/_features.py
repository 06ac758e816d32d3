"""Samples to polynomial features: the frame, the monomials in it, and what makes their Gram matrix sound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from polyfold._basis import BASES, MonomialBasis, build_basis, choose_basis
from polyfold._blocks import show_stage
from polyfold._conditioning import ConditionedBasis, condition_basis
from polyfold._frame import Frame, build_frame, check_reduce, choose_n_axes
from polyfold._validation import check_choice, check_integer


@dataclass(frozen=True, eq=False)
class Features:
    """The samples in the variables of a map, and the polynomials of these.

    Attributes
    ----------
    frame : Frame
    columns : ndarray of shape (n_samples, n_columns) or None
        The samples as standardised columns; None where they are sparse.
    coordinates : ndarray of shape (n_samples, n_axes)
        The samples in the frame.
    kind, degree : str, int
        Of the monomials.
    basis : ConditionedBasis
    """

    frame: Frame
    columns: NDArray[np.float64] | None
    coordinates: NDArray[np.float64]
    kind: str
    degree: int
    basis: ConditionedBasis

    @property
    def monomials(self) -> MonomialBasis:
        """The monomials that the basis is made of."""
        return self.basis.monomials

    @property
    def visible(self) -> NDArray[np.float64]:
        """The columns, or else the samples in the frame."""
        return self.coordinates if self.columns is None else self.columns


def check_polynomial(degree: Any, basis: Any, reduce: Any) -> int:
    """Check the parameters that say which polynomials there are, and return the degree."""
    check_reduce(reduce)
    check_choice("basis", basis, {"auto", *BASES})
    return check_integer("degree", degree, 1)


def build_features(
    samples: Any,
    degree: int,
    basis: str,
    reduce: Any,
    *,
    center: bool,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
    n_components: int = 1,
) -> Features:
    """Choose axes and monomials; there are at least `n_components` of them where the columns allow it."""
    n_axes = choose_n_axes(reduce, samples.shape, basis, degree, n_components, sparse=issparse(samples))
    with show_stage("columns", verbose):
        frame, columns, coordinates = build_frame(
            samples, n_axes, center=center, random_state=random_state, n_jobs=n_jobs
        )
    kind = choose_basis(basis, coordinates.shape[1], degree)
    monomials = build_basis(kind, coordinates.shape[1], degree)
    conditioned = condition_basis(monomials, coordinates, center=center, n_jobs=n_jobs, verbose=verbose)
    return Features(frame, columns, coordinates, kind, degree, conditioned)
