"""A map as a SELECT statement.

The statement computes in stages, each a common table expression that the database is told not to merge with the
next: the shifted and scaled columns, the axes, the coordinates. Polynomials are nested by Horner's rule,
``z0·(a + z0·(b + …) + z1·(c + …)) + …``, so that no power is computed twice, and sums are balanced trees: a
database that parses ``a + b + c + …`` goes one level deeper for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from polyfold.polymap import PolynomialMap

#: Databases that the statements are run in, by sqlglot's names; and those that know MATERIALIZED.
DIALECTS = ("duckdb", "postgres", "spark", "sqlite")
CAN_MATERIALIZE = ("duckdb", "postgres", "sqlite")

#: Terms that Spark adds up in one column.
SPARK_TERMS = 50

#: Symbols that SQLite's parser may have to remember, of the 100 that it can.
SQLITE_DEPTH = 85


def write_sql(
    learned: PolynomialMap,
    dialect: str,
    table: str | Sequence[str],
    columns: Sequence[str] | None,
    keep: Sequence[str],
) -> str:
    """Return the statement."""
    names, kept = _check_parameters(learned, dialect, columns, keep)
    passed = [f"k{i}" for i in range(len(kept))]  # under names that cannot clash with ours
    through = [(name, name) for name in passed]
    source = _table(table)
    prefix = "stage"
    while source.name.casefold().startswith(prefix):  # the table may have any name
        prefix = f"_{prefix}"
    stages: list[Any] = []

    def add_stage(
        values: list[Any], letter: str, columns: list[tuple[str, str]], table: Any
    ) -> tuple[list[str], Any]:
        """Select values from a table; return their names, and the table that they are in now."""
        stages.append(_select(values, letter, columns, table))
        return [f"{letter}{i}" for i in range(len(values))], exp.table_(f"{prefix}{len(stages) - 1}", quoted=True)

    source = source.as_("source", quoted=True)  # columns are looked for there, and nowhere else
    located = [_locate(name, shift, learned.scale) for name, shift in zip(names, learned.shift, strict=True)]
    variables, source = add_stage(located, "x", list(zip(kept, passed, strict=True)), source)
    if learned.axes is not None:
        sums = [_weigh(variables, axis) for axis in learned.axes.T]
        if dialect == "spark":  # in parts: what Java compiles to one long method, it runs slowly
            starts = range(0, learned.n_inputs, SPARK_TERMS)
            parts = [_add(terms[i : i + SPARK_TERMS]) for terms in sums for i in starts]
            partial, source = add_stage(parts, "p", through, source)
            each = len(starts)
            sums = [[_column(name) for name in partial[k : k + each]] for k in range(0, len(partial), each)]
        variables, source = add_stage([_add(terms) for terms in sums], "z", through, source)
    tree = _nest(learned.monomials)
    coordinates = [
        _add([_number(offset), *_write_horner(tree, variables, weights)])
        for offset, weights in zip(learned.offset, learned.weights.T, strict=True)
    ]
    if dialect == "sqlite" and max(map(_measure_depth, coordinates)) > SQLITE_DEPTH:
        raise ValueError(f"A polynomial of degree {learned.degree} is nested too deeply for SQLite's parser.")
    statement = _select(coordinates, "y", list(zip(passed, kept, strict=True)), source)
    for number, stage in enumerate(stages):
        statement = statement.with_(
            exp.to_identifier(f"{prefix}{number}", quoted=True),
            stage,
            materialized=True if dialect in CAN_MATERIALIZE else None,
            copy=False,
        )
    return str(statement.sql(dialect=dialect, pretty=False, identify=True))


def _check_parameters(
    learned: PolynomialMap, dialect: str, columns: Sequence[str] | None, keep: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the names of the columns that are read, and of those that are kept."""
    if dialect not in DIALECTS:
        raise ValueError(f"`dialect` must be one of {', '.join(map(repr, DIALECTS))}, got {dialect!r}.")
    names = _check_names("columns", learned.column_names if columns is None else columns)
    kept = _check_names("keep", keep)
    if len(names) != learned.n_inputs:
        raise ValueError(f"`columns` must name {learned.n_inputs} columns, got {len(names)}.")
    outputs = [*kept, *learned.coordinate_names]
    if len({name.casefold() for name in outputs}) != len(outputs):
        raise ValueError(f"`keep` must hold different names, and none of {', '.join(learned.coordinate_names)}.")
    return names, kept


def _check_names(parameter: str, names: Any) -> list[str]:
    given: list[Any] = [None] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if not all(isinstance(name, str) for name in given):
        raise ValueError(f"`{parameter}` must be a sequence of names, got {names!r}.")
    for name in given:
        _check_name(parameter, name)
    if len(set(given)) != len(given):
        raise ValueError(f"`{parameter}` must be different names.")
    return given


def _check_name(parameter: str, name: Any) -> str:
    """Names are quoted whatever is in them; no database has an empty one, or one with NUL or half a character."""
    if not isinstance(name, str) or not name or re.search("[\0\ud800-\udfff]", name):
        raise ValueError(
            f"`{parameter}` must hold names of at least one character, without NUL or lone surrogates; "
            f"got {name!r}."
        )
    return name


def _table(table: str | Sequence[str]) -> Any:
    parts = [table] if isinstance(table, str) or not isinstance(table, Iterable) else list(table)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"`table` must be a name, or up to three that qualify it; got {table!r}.")
    names = ("this", "db", "catalog")
    identifiers = (exp.to_identifier(_check_name("table", part), quoted=True) for part in reversed(parts))
    return exp.Table(**dict(zip(names, identifiers, strict=False)))


def _select(values: Sequence[Any], letter: str, passed: Sequence[tuple[str, str]], table: Any) -> Any:
    """Select columns under other names, and values under a letter and a number."""
    columns = [_alias(_column(name, table.alias or None), alias) for name, alias in passed]
    named = [_alias(value, f"{letter}{position}") for position, value in enumerate(values)]
    return exp.Select(expressions=[*columns, *named]).from_(table, copy=False)


def _alias(value: Any, name: str) -> Any:
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def _column(name: str, table: str | None = None) -> Any:
    qualifier = None if table is None else exp.to_identifier(table, quoted=True)
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=qualifier)


def _locate(name: str, shift: float, scale: float) -> Any:
    """Return ``(column − shift) / scale``, the column cast to double."""
    double = exp.Cast(this=_column(name, "source"), to=exp.DataType.build("double"))
    difference = exp.Paren(this=exp.Sub(this=double, expression=_number(shift)))
    return exp.Div(this=difference, expression=_number(scale), typed=True)


def _weigh(variables: list[str], weights: NDArray[np.float64]) -> list[Any]:
    """Return the products of variables with numbers."""
    return [exp.Mul(this=_column(x), expression=_number(a)) for x, a in zip(variables, weights, strict=True)]


def _number(value: float) -> Any:
    """Write all digits of a number, with an exponent: without one, some databases take it for a decimal."""
    digits = np.format_float_scientific(abs(value), unique=True, trim="0")
    literal = exp.Literal.number(digits)
    return exp.Paren(this=exp.Neg(this=literal)) if value < 0 else literal


def _add(terms: list[Any]) -> Any:
    """Return the sum of terms as a balanced tree."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    left, right = (_add(half) for half in (terms[:middle], terms[middle:]))
    return exp.Add(this=left, expression=exp.Paren(this=right) if isinstance(right, exp.Add) else right)


def _measure_depth(expression: Any) -> int:
    """Return how many symbols a parser remembers at most: what stands before what it is at."""
    if isinstance(expression, exp.Paren):
        return 1 + _measure_depth(expression.this)
    if isinstance(expression, (exp.Add, exp.Mul)):
        return max(_measure_depth(expression.this), 2 + _measure_depth(expression.expression))
    return 1


def _nest(monomials: list[tuple[int, ...]]) -> dict[int, Any]:
    """Arrange monomials as a tree: variable to (position of the monomial that ends there, what follows)."""
    tree: dict[int, Any] = {}
    for position, factors in enumerate(monomials):
        node = tree
        for variable in factors[:-1]:
            node = node[variable][1]
        node[factors[-1]] = (position, {})
    return tree


def _write_horner(tree: dict[int, Any], variables: list[str], weights: NDArray[np.float64]) -> list[Any]:
    """Return the terms ``z·(weight + terms that follow)`` of a tree."""
    terms = []
    for variable, (position, following) in tree.items():
        inner = _add([_number(weights[position]), *_write_horner(following, variables, weights)])
        factor = exp.Paren(this=inner) if isinstance(inner, exp.Add) else inner
        terms.append(exp.Mul(this=_column(variables[variable]), expression=factor))
    return terms
