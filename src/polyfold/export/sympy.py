"""A map as SymPy expressions."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.core.parameters import distribute

from polyfold.polymap import PolynomialMap

#: Decimal digits that tell any two doubles apart.
DIGITS = 17


def write_sympy(learned: PolynomialMap, expanded: bool) -> Any:
    """Return a column of expressions, one for each coordinate."""
    with distribute(expanded):  # c·(x − s) is c·x − c·s only where all is multiplied out: it costs digits
        return _write_sums(learned, expanded)


def _write_sums(learned: PolynomialMap, expanded: bool) -> Any:
    symbols = [sympy.Symbol(name, real=True) for name in learned.column_names]
    if expanded:
        terms = learned.terms()
        factors_of, weights = list(terms.factors), terms.coefficients
        variables, totals = symbols, [sympy.Integer(0)] * learned.n_outputs
    else:
        factors_of, weights = learned.monomials, learned.weights
        variables = _locate(learned, symbols)
        totals = [_hold(value) for value in learned.offset.tolist()]
    products = [sympy.Mul(*(variables[v] for v in factors)) for factors in factors_of]
    sums = [
        sympy.Add(
            total,
            *(_hold(weight[c]) * product for weight, product in zip(weights, products, strict=True)),
        )
        for c, total in enumerate(totals)
    ]
    return sympy.Matrix(sums)


def _locate(learned: PolynomialMap, symbols: list[Any]) -> list[Any]:
    """Return the variables of the polynomial as expressions of the columns."""
    scale = _hold(learned.scale)
    centered = [(x - _hold(shift)) / scale for x, shift in zip(symbols, learned.shift.tolist(), strict=True)]
    if learned.axes is None:
        return centered
    return [
        sympy.Add(*(_hold(entry) * x for entry, x in zip(axis, centered, strict=True)))
        for axis in learned.axes.T.tolist()
    ]


def _hold(value: float) -> Any:
    """Return a number with all its digits: SymPy writes, and hands on, as many as it computes with."""
    return sympy.Float(float(value), DIGITS)
