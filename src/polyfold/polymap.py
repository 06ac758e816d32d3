"""The learned map: a polynomial that places samples, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyfold._alignment import AlignMethods
from polyfold._basis import BASES, MonomialBasis, build_basis, count_features
from polyfold._blocks import row_slices
from polyfold._domain import Domain
from polyfold._evaluation import Place, orient_axes, place_samples, plan_placement
from polyfold._keeping import KeepMethods
from polyfold._map_input import (
    check_samples,
    explain_nonfinite,
    place_collection,
    read_array,
    read_coordinates,
)
from polyfold._reading import ReadMethods
from polyfold._record import freeze, simplify, thaw
from polyfold._rows import is_dask
from polyfold._slopes import differentiate_samples
from polyfold._sparse import is_sparse
from polyfold._validation import check_choice, check_integer, check_nonnegative
from polyfold.export import ExportMethods

#: Rows evaluated at a time, so that no temporary is larger than about this many bytes.
BLOCK_BYTES = 2**22


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class PolynomialMap(ReadMethods, AlignMethods, KeepMethods, ExportMethods):
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
    columns : sequence of str of length n_inputs, default=None
        Names of the columns.
    training : mapping, default=None
        How the map came about: the estimator, its parameters, its diagnostics. Only values that JSON has.

    See Also
    --------
    PolynomialEmbedding, ExplicitEmbedding : What learns maps.

    Notes
    -----
    `transform` costs O(n r + d m) per sample of n columns, r axes, d monomials and m coordinates, and O(d m)
    without axes. With p the degree, d is C(r + p, p) − 1 for "kronecker" and r p for "hadamard", r the columns
    where there are no axes. The map takes ``nbytes``, about 8 (n (r + 4) + 30 r + d m) bytes, and those of its way
    back.

    References
    ----------
    Qiao, Zhang, Wang, Zhang, "An Explicit Nonlinear Mapping for Manifold Learning", IEEE Transactions on
    Cybernetics 43 (2013) 51-63: the polynomial mapping, and "hadamard" its simplified form.

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
    columns: tuple[str, ...] | None = None
    training: Mapping[str, Any] | None = None
    _plans: dict[Any, Place] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        check_choice("basis", self.basis, BASES)
        object.__setattr__(self, "degree", check_integer("degree", self.degree, 1))
        for name, n_dimensions in (("shift", 1), ("coefficients", 2), ("offset", 1), ("axes", 2)):
            if name == "axes" and self.axes is None:
                continue
            with np.errstate(over="ignore"):
                array = np.array(read_array(f"`{name}`", getattr(self, name)), dtype=np.float64, order="C")
            if array.ndim != n_dimensions or not np.isfinite(array).all():
                raise ValueError(f"`{name}` must be a finite array of {n_dimensions} dimension(s).")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "scale", check_nonnegative("scale", self.scale))
        if self.scale == 0 or self.n_inputs == 0 or self.n_outputs == 0:
            raise ValueError("`scale` must be above 0, and `shift` and `offset` must not be empty.")
        if self.axes is not None and (len(self.axes) != self.n_inputs or self.n_axes == 0):
            raise ValueError(
                f"`axes` must have {self.n_inputs} rows and at least one column, got {self.axes.shape}."
            )
        expected = (count_features(self.basis, self.n_axes, self.degree), len(self.offset))
        if self.coefficients.shape != expected:
            raise ValueError(f"`coefficients` must have shape {expected}, got {self.coefficients.shape}.")
        for name, kind in (("domain", Domain), ("decoder", PolynomialMap), ("training", Mapping)):
            if not isinstance(getattr(self, name), (kind, type(None))):
                raise TypeError(
                    f"`{name}` must be a {kind.__name__} or None, got {type(getattr(self, name)).__name__}."
                )
        if self.domain is not None and not self.domain.fits(self.n_inputs, self.n_axes):
            raise ValueError(f"`domain` must be of {self.n_inputs} columns and {self.n_axes} variables.")
        if self.decoder is not None and (self.decoder.n_inputs, self.decoder.n_outputs) != (
            self.n_outputs,
            self.n_axes,
        ):
            raise ValueError(f"`decoder` must take {self.n_outputs} columns to {self.n_axes} coordinates.")
        try:
            object.__setattr__(
                self, "training", None if self.training is None else freeze(simplify(self.training))
            )
        except RecursionError:
            raise ValueError("`training` holds itself, or is nested too deeply.") from None
        if self.columns is not None:
            object.__setattr__(self, "columns", _read_names(self.columns, self.n_inputs))

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: pickle would bring the arrays back writable.
        return type(self), tuple(thaw(getattr(self, each.name)) for each in fields(self) if each.init)

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
        parts = (self.shift, self.coefficients, self.offset, self.axes, self.domain, self.decoder)
        return 8 + sum(part.nbytes for part in parts if part is not None)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns: those given, or x0, x1 and so on."""
        return self.columns or tuple(f"x{j}" for j in range(self.n_inputs))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates: y0, y1 and so on."""
        return tuple(f"y{c}" for c in range(self.n_outputs))

    @property
    def monomials(self) -> list[tuple[int, ...]]:
        """The variables that are multiplied in each monomial, ascending; monomials by degree."""
        return list(self._monomials.factors_of)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Coefficients of the plain products `monomials`: `coefficients` times the factors of the basis."""
        return self.coefficients * self._monomials.scales[:, np.newaxis]

    @property
    def _monomials(self) -> MonomialBasis:
        return build_basis(self.basis, self.n_axes, self.degree)

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Place samples.

        Parameters
        ----------
        X : array-like, Dask array or data frame of shape (n_samples, n_inputs)
            Numbers, of any type and order in memory. Sparse where the map has `axes`. A data frame must have the
            `columns` of the map in their order.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Coordinates, float32 where X is float32 and float64 otherwise. Of a Dask collection a lazy Dask array,
            with its chunks; needs ``pip install "polyfold[dask]"``.

        Notes
        -----
        O(n r + d m) time for a sample of n columns, d monomials in r axes and m coordinates; O(d m) without axes.
        Of sparse X the columns that are not 0 count.

        X is read once, and copied only where it is neither float32 nor float64 or its rows are not contiguous, a
        few megabytes at a time. Large batches are shared among as many threads as there are processors, or as
        the environment variable OMP_NUM_THREADS says; a sample gets the same bits whatever their number.

        Float32 is multiplied with the axes in float32, and the polynomial is then computed in float64. Pure powers
        of columns are computed in float32 where that costs less than 1e-5 of the coordinates' spread over the
        domain, and otherwise in float64, as is all else.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> square.transform([[2.0], [3.0]])
        array([[4.5],
               [9.5]])
        >>> import numpy as np
        >>> square.transform(np.float32([[3.0]])).dtype
        dtype('float32')
        """
        if is_dask(X):
            lazy: NDArray[np.floating[Any]] = place_collection(self, self.transform, X, self.n_outputs)
            return lazy
        samples = check_samples(self, X)
        dtype = np.float32 if samples.dtype == np.float32 else np.float64
        placed = np.empty((samples.shape[0], self.n_outputs), dtype=dtype)
        if not place_samples(self, self._plan(dtype), samples, placed):
            raise ValueError(explain_nonfinite(samples, placed))
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

        Notes
        -----
        O(m (d + r n)) time for a sample of n columns, d monomials in r axes and m coordinates; O(m d) without
        axes. The result takes O(N m n) memory.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> square.jacobian([[3.0]])
        array([[[6.]]])
        """
        samples = check_samples(self, X)
        dtype = np.float32 if samples.dtype == np.float32 else np.float64
        slopes = np.empty((samples.shape[0], self.n_outputs, self.n_inputs), dtype=dtype)
        finite = differentiate_samples(self, samples, slopes)
        if self.degree == 1:  # slopes of a plane do not see the samples, as coordinates do
            self.transform(samples)
        if not finite:
            raise ValueError(explain_nonfinite(samples, slopes.reshape(len(slopes), -1)))
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

        Notes
        -----
        O(n r) time for a sample of n columns and r axes; O(n min(n, 30)) without axes. O(N r) memory. `transform`
        computes none of it.

        Examples
        --------
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_gaussian
        >>> X, _ = make_gaussian(500, random_state=0)
        >>> learned = NPPE(n_neighbors=10).fit(X).map_
        >>> bool((learned.extrapolation(X) <= 1).mean() > 0.97)
        True
        >>> bool((learned.extrapolation([[0.0, 0.0, 5.0], [9.0, 0.0, 0.0]]) > 2).all())
        True
        """
        if self.domain is None:
            raise ValueError("This map does not hold what its training samples covered: it was given no `domain`.")
        if is_dask(X):
            lazy: NDArray[np.float64] = place_collection(self, self.extrapolation, X, None, np.float64)
            return lazy
        samples = check_samples(self, X)
        scores = self.domain.score(*self._measure(samples, self.domain.center))
        if np.isnan(scores).any() or np.isinf(scores).any():
            values = samples.data if is_sparse(samples) else samples
            if not np.isfinite(values).all():
                raise ValueError(explain_nonfinite(samples, scores[:, np.newaxis]))
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

        See Also
        --------
        extrapolation : Of the ``decoder``, tells which coordinates lie outside of those learned from.

        Notes
        -----
        O(d r + n r) time for coordinates that d monomials, at most 150 or as many as there are coordinates, lead
        back to r axes of n columns; O(d n) without axes.

        Examples
        --------
        >>> import numpy as np
        >>> from polyfold import NPPE
        >>> from polyfold.datasets import make_gaussian
        >>> X, _ = make_gaussian(500, random_state=0)
        >>> learned = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X).map_
        >>> np.allclose(learned.inverse(learned.transform(X)), X, atol=0.05)
        True
        """
        if self.decoder is None:
            raise ValueError("This map has no way back. Fit with fit_inverse_transform=True to learn one.")
        if is_dask(Y):
            lazy: NDArray[np.float64] = place_collection(self.decoder, self.inverse, Y, self.n_inputs, np.float64)
            return lazy
        coordinates = read_coordinates(Y, self.n_outputs)
        located = np.empty((len(coordinates), self.decoder.n_outputs))
        with np.errstate(over="ignore", invalid="ignore"):
            place_samples(self.decoder, self.decoder._plan(np.float64), coordinates, located)
            spanned = located if self.axes is None else located @ self.axes.T
            samples = np.asarray(spanned * self.scale + self.shift)
        if not np.isfinite(samples).all():
            raise ValueError(explain_nonfinite(coordinates, samples, "Y"))
        return samples

    def _row_slices(self, X: Any) -> list[slice]:
        row_bytes = 8 * (X.nnz // max(X.shape[0], 1) + self.n_axes) if is_sparse(X) else 8 * self.n_inputs
        return row_slices(X.shape[0], row_bytes, BLOCK_BYTES)

    def _locate(self, X: Any, center: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return samples less `center` in the map's variables."""
        with np.errstate(over="ignore", invalid="ignore"):
            if is_sparse(X):
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
                if is_sparse(X):
                    lengths = scaled.power(2).sum(axis=1) - 2 * (scaled @ origin) + origin @ origin
                    squares[rows] = np.asarray(lengths).ravel()
                else:
                    squares[rows] = np.square(scaled - origin).sum(axis=1)
        return located, squares


def _read_names(columns: Any, n_columns: int) -> tuple[str, ...]:
    names = () if isinstance(columns, str) or not hasattr(columns, "__iter__") else tuple(columns)
    if not all(isinstance(name, str) for name in names) or not len(set(names)) == len(names) == n_columns:
        raise ValueError(f"`columns` must be {n_columns} different names.")
    return names
