"""The learned map: a polynomial that places samples, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from polyfold._basis import BASES, MonomialBasis, build_basis, count_features
from polyfold._blocks import row_slices
from polyfold._domain import Domain
from polyfold._evaluation import Place, orient_axes, place_samples, plan_placement
from polyfold._terms import (
    Polynomial,
    Term,
    TermBlock,
    block_polynomial,
    check_term_count,
    keep_largest,
    project_polynomial,
    shift_polynomial,
)
from polyfold._validation import check_boolean, check_choice, check_integer, check_nonnegative

#: Rows evaluated at a time, so that no temporary is larger than about this many bytes.
BLOCK_BYTES = 2**22


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class PolynomialMap:
    """An explicit polynomial map from columns to coordinates.

    A sample x goes to ``phi(axes.T @ (x - shift) / scale) @ coefficients + offset``, where phi lists the
    monomials of `basis` up to `degree`. The map is immutable, holds no training data, and treats each row on its
    own: a sample gets the same bits alone and in any batch.

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
    axes : ndarray of shape (n_inputs, n_axes), default=None
        Orthonormal columns, the directions that the polynomial is written in; None is the columns themselves.
    domain : Domain, default=None
        What the training samples covered, for :meth:`extrapolation`.
    decoder : PolynomialMap, default=None
        From coordinates back to ``axes.T @ (x - shift) / scale``, for :meth:`inverse`.

    Notes
    -----
    `transform` costs O(n_inputs · n_axes + n_features · n_outputs) per sample.

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
    axes: NDArray[np.float64] | None = None
    domain: Domain | None = None
    decoder: PolynomialMap | None = None
    _plans: dict[Any, Place] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        check_choice("basis", self.basis, BASES)
        check_integer("degree", self.degree, 1)
        for name, n_dimensions in (("shift", 1), ("coefficients", 2), ("offset", 1), ("axes", 2)):
            if name == "axes" and self.axes is None:
                continue
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            if array.ndim != n_dimensions or not np.isfinite(array).all():
                raise ValueError(f"`{name}` must be a finite array of {n_dimensions} dimension(s).")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))
        if self.scale == 0 or self.n_inputs == 0:
            raise ValueError("`scale` must be above 0 and `shift` must not be empty.")
        if self.axes is not None and (len(self.axes) != self.n_inputs or self.n_axes == 0):
            raise ValueError(
                f"`axes` must have {self.n_inputs} rows and at least one column, got {self.axes.shape}."
            )
        expected = (count_features(self.basis, self.n_axes, self.degree), len(self.offset))
        if self.coefficients.shape != expected:
            raise ValueError(f"`coefficients` must have shape {expected}, got {self.coefficients.shape}.")
        if self.domain is not None and (len(self.domain.center), len(self.domain.directions)) != (
            self.n_inputs,
            self.n_axes,
        ):
            raise ValueError(f"`domain` must be of {self.n_inputs} columns and {self.n_axes} variables.")
        if self.decoder is not None and (self.decoder.n_inputs, self.decoder.n_outputs) != (
            self.n_outputs,
            self.n_axes,
        ):
            raise ValueError(f"`decoder` must take {self.n_outputs} columns to {self.n_axes} coordinates.")

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: pickle would bring the arrays back writable.
        return type(self), tuple(getattr(self, each.name) for each in fields(self) if each.init)

    def __repr__(self) -> str:
        through = "" if self.axes is None else f" -> {self.n_axes} principal axes"
        return (
            f"PolynomialMap({self.n_inputs} columns{through} -> {self.n_outputs} coordinates, "
            f"degree {self.degree}, {self.basis} basis of {self.n_features} monomials, "
            f"{self.nbytes / 1000:.1f} kB)"
        )

    @property
    def n_inputs(self) -> int:
        """Columns that a sample has."""
        return len(self.shift)

    @property
    def n_axes(self) -> int:
        """Variables of the polynomial: the axes, or else the columns."""
        return self.n_inputs if self.axes is None else self.axes.shape[1]

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
        arrays = [self.shift, self.coefficients, self.offset]
        arrays += [] if self.axes is None else [self.axes]
        arrays += [] if self.domain is None else self.domain.arrays
        return 8 + sum(array.nbytes for array in arrays) + (0 if self.decoder is None else self.decoder.nbytes)

    @property
    def _monomials(self) -> MonomialBasis:
        return build_basis(self.basis, self.n_axes, self.degree)

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Place samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Numbers, of any type and order in memory. Sparse where the map has `axes`.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Coordinates, float32 where X is float32 and float64 otherwise.

        Notes
        -----
        X is read once, and copied only where it is neither float32 nor float64 or its rows are not contiguous, a
        few megabytes at a time. Large batches are shared among as many threads as there are processors, or as
        the environment variable OMP_NUM_THREADS says; a sample gets the same bits whatever their number.

        Float32 is multiplied with the axes in float32, and the polynomial is then computed in float64. Pure powers
        of columns are computed in float32 where that costs less than 1e-5 of the coordinates' spread over the
        domain, and otherwise in float64, as is all else.
        """
        samples = self._check_samples(X)
        dtype = np.float32 if samples.dtype == np.float32 else np.float64
        placed = np.empty((samples.shape[0], self.n_outputs), dtype=dtype)
        if not place_samples(self, self._plan(dtype), samples, placed):
            raise ValueError(_explain_nonfinite(samples, placed))
        return placed

    def _plan(self, dtype: Any) -> Place:
        """Return what places samples of this type, prepared at its first use."""
        plan = self._plans.get(dtype)
        if plan is None:
            plan = self._plans[dtype] = plan_placement(self, dtype)
        return plan

    def jacobian(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Differentiate the coordinates by the columns, exactly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            As in :meth:`transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs, n_inputs)
            Entry (i, c, j) says how much coordinate c of sample i grows per unit of column j.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> square.jacobian([[3.0]])
        array([[[6.]]])
        """
        samples = self._check_samples(X)
        dtype = np.float32 if samples.dtype == np.float32 else np.float64
        slopes = np.empty((samples.shape[0], self.n_outputs, self.n_inputs), dtype=dtype)
        row_bytes = 8 * self.n_outputs * self.n_inputs
        for rows in row_slices(samples.shape[0], row_bytes, BLOCK_BYTES):
            gradients = self._monomials.differentiate(self._locate(samples[rows], self.shift), self.coefficients)
            with np.errstate(over="ignore", invalid="ignore"):
                spanned = gradients if self.axes is None else gradients @ self.axes.T
                slopes[rows] = spanned / self.scale
        if not np.isfinite(slopes).all():
            raise ValueError(_explain_nonfinite(samples, slopes.reshape(len(slopes), -1)))
        return slopes

    def extrapolation(self, X: ArrayLike) -> NDArray[np.float64]:
        """Say how far outside the training samples each sample lies; 1 is the edge of what was learned.

        The larger of the Mahalanobis distance in the map's variables (their 30 leading directions, if they are
        more) and the distance off them, each over its 99th percentile on the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            As in :meth:`transform`.

        Returns
        -------
        ndarray of shape (n_samples,)
            0 at the mean of the training samples; above 1 the polynomial extrapolates; infinite so far out that
            squares overflow.
        """
        if self.domain is None:
            raise ValueError("This map does not hold what its training samples covered: it was given no `domain`.")
        samples = self._check_samples(X)
        scores = self.domain.score(*self._measure(samples, self.domain.center))
        if np.isnan(scores).any() or np.isinf(scores).any():
            values = samples.data if issparse(samples) else samples
            if not np.isfinite(values).all():
                raise ValueError(_explain_nonfinite(samples, scores[:, np.newaxis]))
            scores[~np.isfinite(scores)] = np.inf  # finite, but its square is not
        return scores

    def inverse(self, Y: ArrayLike) -> NDArray[np.float64]:
        """Return samples that lie at given coordinates, by the polynomial learned for the way back.

        Away from the coordinates of training samples it extrapolates; ``decoder.extrapolation(Y)`` tells.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_outputs)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_inputs)
            Samples, in the units of the training samples.
        """
        if self.decoder is None:
            raise ValueError("This map has no way back. Fit with fit_inverse_transform=True to learn one.")
        located = self.decoder.transform(np.asarray(Y, dtype=np.float64))
        spanned = located if self.axes is None else located @ self.axes.T
        return np.asarray(spanned * self.scale + self.shift)

    def terms(self, largest: int | None = None, *, centered: bool = False) -> list[Term]:
        """Write the map out as one polynomial of its columns.

        Parameters
        ----------
        largest : int, default=None
            List only this many terms, the largest first: those with the largest coefficient, in any coordinate and
            for columns in units of `scale`. None lists all, by degree, and is an error above 100,000 terms.
        centered : bool, default=False
            Write the polynomial in ``x - shift`` instead of x. It has the same values, and coefficients that do
            not cancel where a column's mean dwarfs its spread.

        Returns
        -------
        list of Term
            Each a tuple `columns` of the positions of the columns that are multiplied (empty for the constant),
            and an array `coefficients` with one entry per coordinate.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> line = PolynomialMap(shift=[1.0, 0.0], scale=2.0, basis="hadamard", degree=1,
        ...                      coefficients=[[3.0], [4.0]], offset=[0.5])
        >>> for columns, coefficients in line.terms():
        ...     print(columns, coefficients)
        () [-1.]
        (0,) [1.5]
        (1,) [2.]
        """
        if largest is not None:
            check_integer("largest", largest, 1)
        check_boolean("centered", centered)
        basis = self.basis if self.axes is None else "kronecker"
        check_term_count(1 + count_features(basis, self.n_inputs, self.degree), self.n_inputs, largest)
        with np.errstate(all="ignore"):
            blocks = self._expand_terms(np.zeros(self.n_inputs) if centered else self.shift)
            if largest is not None:
                terms = keep_largest(blocks, largest, self.scale)
            else:
                listed = (term for block in blocks for term in block.list_terms())
                terms = sorted(listed, key=lambda term: (len(term.columns), term.columns))
        if not all(np.isfinite(term.coefficients).all() for term in terms):
            raise ValueError(
                f"Coefficients of columns of size {self.scale:.0e} overflow. Give the columns another unit."
            )
        return terms

    def _expand_terms(self, shift: NDArray[np.float64]) -> Iterator[TermBlock]:
        table = self._monomials
        coefficients = self.coefficients * table.expand(np.ones((1, self.n_axes))).T
        polynomial: Polynomial = {(): self.offset} | dict(zip(table.factors_of, coefficients, strict=True))
        if self.axes is None:
            yield block_polynomial(shift_polynomial(polynomial, shift / self.scale), self.scale)
        else:
            polynomial = shift_polynomial(polynomial, shift @ self.axes / self.scale)
            yield from project_polynomial(polynomial, self.axes / self.scale)

    def _row_slices(self, X: Any) -> list[slice]:
        row_bytes = 8 * (X.nnz // max(X.shape[0], 1) + self.n_axes) if issparse(X) else 8 * self.n_inputs
        return row_slices(X.shape[0], row_bytes, BLOCK_BYTES)

    def _locate(self, X: Any, center: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return samples less `center` in the map's variables."""
        with np.errstate(over="ignore", invalid="ignore"):
            if issparse(X):
                assert self.axes is not None
                return np.asarray((X.astype(np.float64) @ self.axes - center @ self.axes) / self.scale)
            if self.axes is not None:
                return orient_axes(self, center, X.dtype).locate(X)
            located = np.subtract(X, center, dtype=np.float64, order="C")
            return np.asarray(np.divide(located, self.scale, out=located))

    def _measure(self, X: Any, center: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return samples less `center` in the map's variables, and their squared lengths in all columns."""
        located, squares = np.empty((X.shape[0], self.n_axes)), np.empty(X.shape[0])
        origin = center / self.scale
        for rows in self._row_slices(X):
            located[rows] = self._locate(X[rows], center)
            with np.errstate(over="ignore", invalid="ignore"):
                if self.axes is None:
                    squares[rows] = np.einsum("ij,ij->i", located[rows], located[rows])
                    continue
                scaled = X[rows].astype(np.float64) / self.scale
                if issparse(X):
                    lengths = scaled.power(2).sum(axis=1) - 2 * (scaled @ origin) + origin @ origin
                    squares[rows] = np.asarray(lengths).ravel()
                else:
                    squares[rows] = np.square(scaled - origin).sum(axis=1)
        return located, squares

    def _check_samples(self, X: ArrayLike) -> Any:
        if issparse(X):
            if self.axes is None:
                raise TypeError("X is sparse, but dense data is required. Use X.toarray().")
            samples: Any = csr_array(X)
        else:
            samples = np.asarray(X)
        if samples.ndim != 2 or samples.shape[1] != self.n_inputs:
            raise ValueError(
                f"X must have shape (n_samples, {self.n_inputs}), got {samples.shape}. "
                "A single sample is passed as X.reshape(1, -1)."
            )
        if samples.dtype.kind not in "biuf":
            raise ValueError(f"X must hold real numbers, got an array of type {samples.dtype}.")
        return samples


def _explain_nonfinite(X: Any, values: NDArray[np.floating[Any]]) -> str:
    """Find the first sample that has no finite value, and say why.

    A polynomial carries NaN and infinity through, so the input is looked at only when the output shows one.
    """
    row = int(np.argmin(np.isfinite(values).all(axis=1)))
    sample = X[[row]].toarray()[0] if issparse(X) else X[row]
    bad_columns = np.flatnonzero(~np.isfinite(sample))
    if len(bad_columns):
        value = sample[bad_columns[0]]
        return f"X contains {'NaN' if np.isnan(value) else value} (row {row}, column {bad_columns[0]})."
    return f"Row {row} of X is finite but so far from the training data that the polynomial overflows."
