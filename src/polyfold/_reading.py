"""The methods of a map that tell a person what it does: its terms, and which columns matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from numpy.typing import ArrayLike

from polyfold._map_input import check_samples
from polyfold._sensitivity import Sensitivity, measure_sensitivity
from polyfold._term_table import Terms, list_terms
from polyfold._validation import check_boolean, check_integer

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap


class ReadMethods:
    """Terms and sensitivity."""

    __slots__ = ()

    def terms(self, largest: int | None = None, *, centered: bool = False, X: ArrayLike | None = None) -> Terms:
        """Write the map out as one polynomial of its columns, in their own units.

        Parameters
        ----------
        largest : int, default=None
            List only this many terms, the largest first: those with the largest coefficient, in any coordinate and
            for columns in units of `scale`. None lists all, by degree, and is an error above 100,000 terms.
        centered : bool, default=False
            Write the polynomial in ``x - shift`` instead of x. It has the same values, and coefficients that do
            not cancel where a column's mean dwarfs its spread.
        X : array-like of shape (n_samples, n_inputs), default=None
            Samples over which shares of variance are taken. None takes them over normal samples with the mean and
            the covariance of the training ones, as far as the map holds them.

        Returns
        -------
        Terms
            A sequence of terms, each a tuple `columns` of the positions of the columns that are multiplied (empty
            for the constant) and an array `coefficients` with one entry per coordinate. It prints as a table
            (monomial, coefficients, shares of variance), ``to_pandas()`` makes it a data frame, and
            ``formula(largest=6, digits=3)`` writes the terms that matter in a line for each coordinate.

        See Also
        --------
        sensitivity : Which columns matter, where terms are too many to read.

        Notes
        -----
        For n columns, r axes, d monomials of degree up to p and m coordinates: O(2^p d m) time without axes, and
        O(C(n + p − 2, p − 1) (n r + r^p) m) with them, all C(n + p, p) terms being computed also where the largest
        are asked for. The shares of D terms listed take O(s (D (p + m) + n r + d m)) more, s the samples in X, or
        at most 1,000 that are drawn. Memory is O(r^p m + D (m + p)), and the drawn samples or X.

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
        >>> print(line.terms().formula())
        y0 = 2·x1 + 1.5·x0 − 1
        >>> line.terms(X=[[0.0, 1.0], [4.0, 1.0], [2.0, 3.0]])
        monomial   y0  share of y0
        1          -1            0
        x0        1.5       0.6279
        x1          2       0.3721
        """
        if largest is not None:
            check_integer("largest", largest, 1)
        check_boolean("centered", centered)
        learned = cast("PolynomialMap", self)
        return list_terms(learned, largest, centered, None if X is None else check_samples(learned, X))

    def sensitivity(self, X: ArrayLike, *, signed: bool = False) -> Sensitivity:
        """Tell which columns move each coordinate, averaged over samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            At least two samples.
        signed : bool, default=False
            Average the slopes themselves, so that what goes up here and down there cancels, instead of their root
            mean square.

        Returns
        -------
        Sensitivity
            A table with a row for each column and a value for each coordinate: how much that moves when the column
            moves by its standard deviation over X and all others stay. ``largest(n)`` picks those that move most;
            ``images(shape)`` lays the values out as pixels, to be drawn with 0 in the middle where signed.

        See Also
        --------
        polyfold.plotting.plot_sensitivity : Draws it.
        jacobian : The slopes that are averaged.

        Notes
        -----
        O(N m (d + r n)) time for N samples of n columns, d monomials in r axes and m coordinates, O(N m d) without
        axes; O(m n) memory beside a few megabytes.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> line = PolynomialMap(shift=[1.0, 0.0], scale=2.0, basis="hadamard", degree=1, columns=["a", "b"],
        ...                      coefficients=[[3.0], [4.0]], offset=[0.5])
        >>> line.sensitivity([[0.0, 1.0], [4.0, 1.0]])
        column  y0
        a        3
        b        0
        """
        check_boolean("signed", signed)
        learned = cast("PolynomialMap", self)
        return measure_sensitivity(learned, check_samples(learned, X), signed)
