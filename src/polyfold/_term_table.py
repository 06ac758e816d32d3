"""The terms of a map as a table and as a formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from polyfold._basis import count_features
from polyfold._blocks import SMALL_BLOCK_BYTES, row_slices
from polyfold._sparse import is_sparse
from polyfold._table import Table, make_printable
from polyfold._terms import (
    Polynomial,
    Term,
    TermBlock,
    block_polynomial,
    check_tensor_size,
    check_term_count,
    keep_largest,
    project_polynomial,
    shift_polynomial,
)
from polyfold._validation import check_integer

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap

#: Samples drawn over the domain, to tell what terms matter; fewer of many columns or for many terms.
MOST_DRAWS, FEWEST_DRAWS, DRAWN_VALUES = 1000, 100, 20_000_000

#: Terms of a formula below this share of its largest are left out.
LEAST_SHARE = 0.01

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, eq=False, repr=False)
class Terms(Sequence[Term]):
    """The terms of a map: a sequence, a table, a formula.

    Attributes
    ----------
    factors : tuple of tuples of int
        The columns that are multiplied in each term.
    coefficients : ndarray of shape (n_terms, n_outputs)
    shares : ndarray of shape (n_terms, n_outputs)
        Share of the variance of each coordinate that the term explains: its covariance with the coordinate over
        the variance of that. They add up to 1, and terms that cancel others have negative ones. NaN where it is
        not known what samples are like.
    deviations : ndarray of shape (n_terms,)
        Standard deviation of each monomial, columns in units of `scale`.
    scale : float
    column_names, coordinate_names : tuple of str
    is_whole : bool
        Whether all terms of the polynomial are listed.
    """

    factors: tuple[tuple[int, ...], ...]
    coefficients: NDArray[np.float64]
    shares: NDArray[np.float64]
    deviations: NDArray[np.float64]
    scale: float
    column_names: tuple[str, ...]
    coordinate_names: tuple[str, ...]
    is_whole: bool

    def __len__(self) -> int:
        return len(self.factors)

    @overload
    def __getitem__(self, position: int) -> Term: ...
    @overload
    def __getitem__(self, position: slice) -> list[Term]: ...
    def __getitem__(self, position: int | slice) -> Term | list[Term]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        return Term(self.factors[position], self.coefficients[position])

    def __iter__(self) -> Iterator[Term]:
        return map(Term, self.factors, self.coefficients)

    @property
    def monomials(self) -> tuple[str, ...]:
        """The products of columns, written out; 1 for the constant."""
        return tuple(_write_product(Counter(factors), self.column_names) or "1" for factors in self.factors)

    @property
    def table(self) -> Table:
        """Monomial, coefficient in each coordinate, share of its variance."""
        names = (*self.coordinate_names, *(f"share of {name}" for name in self.coordinate_names))
        return Table("monomial", self.monomials, names, np.hstack([self.coefficients, self.shares]))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table by name, for any data frame."""
        return self.table.to_dict()

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame, monomials as its index."""
        return self.table.to_pandas()

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def rank(self, coordinate: int, largest: int, digits: int) -> tuple[list[RankedTerm], bool]:
        """Return the terms that move a coordinate most, constant last, and whether these are all there are.

        Terms below 1 % of the largest are left out.

        Parameters
        ----------
        coordinate : int
        largest : int
            How many terms at most, the constant not counted.
        digits : int
            Significant digits of coefficients.
        """
        check_integer("largest", largest, 1)
        check_integer("digits", digits, 1)
        degrees = np.array([len(factors) for factors in self.factors])
        with np.errstate(divide="ignore"):  # logarithms do not overflow
            sizes = np.log(np.abs(self.coefficients[:, coordinate])) + degrees * np.log(self.scale)
            sizes += np.log(self.deviations)
        counted = sizes[(degrees > 0) & (sizes > -np.inf)]
        sizes = np.exp(sizes - (counted.max() if len(counted) else 0.0))
        constants = [i for i, factors in enumerate(self.factors) if not factors]
        sizes[constants] = 0.0
        order = np.argsort(-sizes, kind="stable")
        kept = [int(i) for i in order[:largest] if sizes[i] > LEAST_SHARE * sizes.max()]
        is_all = self.is_whole and len(kept) == np.count_nonzero(self.coefficients[degrees > 0, coordinate])
        kept += [i for i in constants if self.coefficients[i, coordinate]]
        ranked = [
            RankedTerm(*_split_number(self.coefficients[i, coordinate], digits), Counter(self.factors[i]))
            for i in kept
        ]
        return ranked, is_all

    def formula(self, *, largest: int = 6, digits: int = 3) -> str:
        """Write the polynomial in a line for each coordinate, what moves it most first.

        Parameters
        ----------
        largest : int, default=6
            Terms of each coordinate at most, the constant not counted. Those below 1 % of the largest are left out
            too; an ellipsis says so.
        digits : int, default=3
            Significant digits of coefficients.

        Returns
        -------
        str
        """
        width = max(map(len, self.coordinate_names))
        lines = []
        for c, name in enumerate(self.coordinate_names):
            ranked, is_all = self.rank(c, largest, digits)
            pieces = [(term.sign, self._write_term(term)) for term in ranked]
            pieces += [] if is_all else [("+", "…")]
            lines.append(f"{name.ljust(width)} = {_join_signed(pieces)}")
        return "\n".join(lines)

    def _write_term(self, term: RankedTerm) -> str:
        power = f"·10{str(term.exponent).translate(SUPERSCRIPTS)}" if term.exponent else ""
        product = make_printable(_write_product(term.powers, self.column_names))
        return "·".join(filter(None, [term.digits + power, product]))


class RankedTerm(NamedTuple):
    """A term to be written: the sign, the rounded digits and the power of ten of its coefficient, and its columns.

    The power of ten is 0 where the number reads well without one.
    """

    sign: str
    digits: str
    exponent: int
    powers: Mapping[int, int]


def _join_signed(pieces: Sequence[tuple[str, str]]) -> str:
    """Join signed pieces to a sum; the first has a sign only where that is minus."""
    if not pieces:
        return "0"
    (sign, text), *rest = pieces
    start = ("−" if sign == "-" else "") + text
    return start + "".join(f" {'−' if sign == '-' else '+'} {text}" for sign, text in rest)


def _write_product(powers: Mapping[int, int], names: Sequence[str]) -> str:
    """Write a product of columns, powers raised, what is no word in brackets; nothing for the constant."""
    return "·".join(
        (names[column] if names[column].isidentifier() else f"[{names[column]}]")
        + (str(power).translate(SUPERSCRIPTS) if power > 1 else "")
        for column, power in powers.items()
    )


def _split_number(value: float, digits: int) -> tuple[str, str, int]:
    """Return the sign, the rounded digits and the power of ten of a number, 0 where it reads well without."""
    text, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    power = int(exponent)
    if -4 <= power < max(digits, 4):
        text, power = f"{text}e{power}", 0
    text = np.format_float_positional(float(text), trim="-")
    return "-" if value < 0 else "+", text, power


def list_terms(learned: PolynomialMap, largest: int | None, centered: bool, samples: Any) -> Terms:
    """Write a map out as one polynomial of its columns; see `PolynomialMap.terms`."""
    basis = learned.basis if learned.axes is None else "kronecker"
    count = 1 + count_features(basis, learned.n_inputs, learned.degree)
    check_term_count(count, learned.n_inputs, largest)
    if learned.axes is not None:
        check_tensor_size(learned.n_axes, learned.degree, learned.n_outputs)
    if samples is not None and samples.shape[0] < 2:
        raise ValueError(f"X must have at least 2 samples, to tell how terms vary; got {samples.shape[0]}.")
    with np.errstate(all="ignore"):
        blocks = _expand_terms(learned, np.zeros(learned.n_inputs) if centered else learned.shift)
        if largest is not None:
            terms = keep_largest(blocks, largest, learned.scale)
        else:
            listed = (term for block in blocks for term in block.list_terms())
            terms = sorted(listed, key=lambda term: (len(term.columns), term.columns))
    with np.errstate(all="ignore"):
        is_in_range = 0 < np.float64(learned.scale) ** learned.degree < np.inf
    if not is_in_range or not all(np.isfinite(term.coefficients).all() for term in terms):
        raise ValueError(
            f"Coefficients of columns of size {learned.scale:.0e} overflow. Give the columns another unit."
        )
    names = learned.column_names
    if centered:
        names = tuple(
            f"{name} {'−' if shift >= 0 else '+'} {abs(shift):.4g}"
            for name, shift in zip(names, learned.shift, strict=True)
        )
    deviations, shares = _weigh_terms(learned, terms, samples, centered)
    return Terms(
        factors=tuple(term.columns for term in terms),
        coefficients=np.stack([term.coefficients for term in terms]),
        shares=shares,
        deviations=deviations,
        scale=learned.scale,
        column_names=names,
        coordinate_names=learned.coordinate_names,
        is_whole=len(terms) == count,
    )


def _expand_terms(learned: PolynomialMap, shift: NDArray[np.float64]) -> Iterator[TermBlock]:
    polynomial: Polynomial = {(): learned.offset} | dict(zip(learned.monomials, learned.weights, strict=True))
    if learned.axes is None:
        yield block_polynomial(shift_polynomial(polynomial, shift / learned.scale), learned.scale)
    else:
        polynomial = shift_polynomial(polynomial, shift @ learned.axes / learned.scale)
        yield from project_polynomial(polynomial, learned.axes / learned.scale)


def _weigh_terms(
    learned: PolynomialMap, terms: list[Term], samples: Any, centered: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the deviations of monomials, and their shares, over samples or what is known of the training ones."""
    if samples is None:
        samples = _draw_samples(learned, len(terms))
    if samples is None:
        return np.ones(len(terms)), np.full((len(terms), learned.n_outputs), np.nan)
    samples = np.asarray(samples.toarray() if is_sparse(samples) else samples, dtype=np.float64)
    with np.errstate(all="ignore"):
        placed = np.asarray(learned.transform(samples), dtype=np.float64)
        scaled = (samples - learned.shift if centered else samples) / learned.scale
        return _measure_terms(terms, scaled, placed, learned.scale)


def _draw_samples(learned: PolynomialMap, n_terms: int) -> NDArray[np.float64] | None:
    """Return samples spread as the training ones were, the same each time; None where that is not known."""
    if learned.domain is None:
        return None
    n_draws = max(FEWEST_DRAWS, min(MOST_DRAWS, DRAWN_VALUES // max(learned.n_inputs, n_terms)))
    located = learned.domain.draw(n_draws, np.random.default_rng(0)) * learned.scale
    return (located if learned.axes is None else located @ learned.axes.T) + learned.domain.center


def _measure_terms(
    terms: Sequence[Term], samples: NDArray[np.float64], placed: NDArray[np.float64], scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the deviation of each monomial over samples, and the share of variance that it explains.

    Parameters
    ----------
    terms : sequence of Term
    samples : ndarray of shape (n_samples, n_columns)
        In units of `scale`.
    placed : ndarray of shape (n_samples, n_outputs)
        Their coordinates.
    """
    deviations, shares = np.empty(len(terms)), np.empty((len(terms), placed.shape[1]))
    about_mean = placed - placed.mean(axis=0)
    variances = np.square(about_mean).mean(axis=0)
    rows = np.ascontiguousarray(samples.T)  # a monomial is a product of whole rows
    for block in row_slices(len(terms), 8 * len(samples), SMALL_BLOCK_BYTES):
        values = np.ones((block.stop - block.start, len(samples)))
        for value, term in zip(values, terms[block], strict=True):
            for column in term.columns:
                value *= rows[column]
        values -= values.mean(axis=1, keepdims=True)
        deviations[block] = np.sqrt(np.square(values).mean(axis=1))
        coefficients = np.stack([term.coefficients * scale ** len(term.columns) for term in terms[block]])
        explained = coefficients * (values @ about_mean) / len(samples)
        shares[block] = explained / np.where(variances > 0, variances, 1) + 0.0  # no negative zeros
    return deviations, shares
