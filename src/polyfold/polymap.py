"""The learned map: a polynomial that places samples, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyfold._basis import BASES, MonomialBasis, build_basis, count_features
from polyfold._blocks import row_slices
from polyfold._validation import check_choice, check_integer, check_nonnegative

#: Rows evaluated at a time, so that no temporary is larger than about this many bytes.
BLOCK_BYTES = 2**22


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class PolynomialMap:
    """An explicit polynomial map from columns to coordinates.

    A sample x goes to ``phi((x - shift) / scale) @ coefficients + offset``, where phi lists the monomials
    of `basis` up to `degree`. The map is immutable, holds no training data, and treats each row on its own:
    a sample gets the same bits alone and in any batch.

    Parameters
    ----------
    shift : ndarray of shape (n_inputs,)
        Subtracted from each sample.
    scale : float
        The one scalar that the shifted sample is divided by.
    basis : {"kronecker", "hadamard"}
        All monomials (each scaled by the square root of its multinomial coefficient), or pure powers only.
    degree : int
        The highest total degree.
    coefficients : ndarray of shape (n_features, n_outputs)
        One column per coordinate, one row per monomial.
    offset : ndarray of shape (n_outputs,)
        The constant term.

    Notes
    -----
    `transform` costs O(n_features · n_outputs) per sample.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold import PolynomialMap
    >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
    ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
    >>> square.transform([[2.0], [3.0]])
    array([[4.5],
           [9.5]])
    """

    shift: NDArray[np.float64]
    scale: float
    basis: str
    degree: int
    coefficients: NDArray[np.float64]
    offset: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_choice("basis", self.basis, BASES)
        check_integer("degree", self.degree, 1)
        for name, n_dimensions in (("shift", 1), ("coefficients", 2), ("offset", 1)):
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            if array.ndim != n_dimensions or not np.isfinite(array).all():
                raise ValueError(f"`{name}` must be a finite array of {n_dimensions} dimension(s).")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))
        if self.scale == 0 or self.n_inputs == 0:
            raise ValueError("`scale` must be above 0 and `shift` must not be empty.")
        expected = (count_features(self.basis, self.n_inputs, self.degree), len(self.offset))
        if self.coefficients.shape != expected:
            raise ValueError(f"`coefficients` must have shape {expected}, got {self.coefficients.shape}.")

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: pickle would bring the arrays back writable.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        return (
            f"PolynomialMap({self.n_inputs} columns -> {self.n_outputs} coordinates, degree {self.degree}, "
            f"{self.basis} basis of {self.n_features} monomials, {self.nbytes / 1000:.1f} kB)"
        )

    @property
    def n_inputs(self) -> int:
        """Columns that a sample has."""
        return len(self.shift)

    @property
    def n_outputs(self) -> int:
        """Coordinates that it is given."""
        return len(self.offset)

    @property
    def n_features(self) -> int:
        """Monomials in the basis."""
        return len(self.coefficients)

    @property
    def nbytes(self) -> int:
        """Bytes of numbers that make up the map."""
        return self.shift.nbytes + 8 + self.coefficients.nbytes + self.offset.nbytes

    @property
    def _monomials(self) -> MonomialBasis:
        return build_basis(self.basis, self.n_inputs, self.degree)

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Place samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Numbers. Computed in float64 whatever the type.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Coordinates, float32 where X is float32 and float64 otherwise.
        """
        from polyfold._kernels import evaluate_rows

        X = self._check_samples(X)
        table = self._monomials
        values = np.empty((len(X), self.n_outputs))
        for rows in row_slices(len(X), 8 * self.n_inputs, BLOCK_BYTES):
            with np.errstate(over="ignore", invalid="ignore"):
                block = np.ascontiguousarray((X[rows].astype(np.float64) - self.shift) / self.scale)
            evaluate_rows(
                block,
                table.parents,
                table.variables,
                table.factors,
                self.coefficients,
                self.offset,
                values[rows],
            )
        with np.errstate(over="ignore"):
            placed = values.astype(np.float32) if X.dtype == np.float32 else values
        if not np.isfinite(placed).all():
            raise ValueError(_explain_nonfinite(X, placed))
        return placed

    def _check_samples(self, X: ArrayLike) -> NDArray[Any]:
        if hasattr(X, "toarray"):
            raise TypeError("X is sparse, but dense data is required. Use X.toarray().")
        samples = np.asarray(X)
        if samples.ndim != 2 or samples.shape[1] != self.n_inputs:
            raise ValueError(
                f"X must have shape (n_samples, {self.n_inputs}), got {samples.shape}. "
                "A single sample is passed as X.reshape(1, -1)."
            )
        if samples.dtype.kind not in "biuf":
            raise ValueError(f"X must hold real numbers, got an array of type {samples.dtype}.")
        return samples


def _explain_nonfinite(X: NDArray[Any], values: NDArray[np.floating[Any]]) -> str:
    """Find the first sample that has no finite value, and say why.

    A polynomial carries NaN and infinity through, so the input is looked at only when the output shows one.
    """
    row = int(np.argmin(np.isfinite(values).all(axis=1)))
    bad_columns = np.flatnonzero(~np.isfinite(X[row]))
    if len(bad_columns):
        return f"X contains {X[row, bad_columns[0]]} (row {row}, column {bad_columns[0]})."
    return f"Row {row} of X is finite but so far from the training data that the polynomial overflows."
