"""A map as a SELECT statement.

The statement computes in stages, each a common table expression that the database is told not to merge with the
next: the shifted and scaled columns, the axes, the coordinates. Polynomials are nested by Horner's rule,
``z0·(a + z0·(b + …) + z1·(c + …)) + …``, so that no power is computed twice, and sums are balanced trees: a
database that parses ``a + b + c + …`` goes one level deeper for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from polyfold.polymap import PolynomialMap

#: Databases that the statements are run in, by sqlglot's names; and those that know MATERIALIZED.
DIALECTS = ("duckdb", "postgres", "spark", "sqlite")
CAN_MATERIALIZE = ("duckdb", "postgres", "sqlite")

#: SQLite's parser goes so deep and no deeper.
SQLITE_DEGREE = 16


def write_sql(
    learned: PolynomialMap,
    dialect: str,
    table: str | Sequence[str],
    columns: Sequence[str] | None,
    keep: Sequence[str],
) -> str:
    """Return the statement."""
    if dialect not in DIALECTS:
        raise ValueError(f"`dialect` must be one of {', '.join(map(repr, DIALECTS))}, got {dialect!r}.")
    if dialect == "sqlite" and learned.degree > SQLITE_DEGREE:
        raise ValueError(
            f"SQLite parses polynomials up to degree {SQLITE_DEGREE}, this one is of degree {learned.degree}."
        )
    names = _check_names("columns", learned.column_names if columns is None else columns)
    kept = _check_names("keep", keep)
    if len(names) != learned.n_inputs:
        raise ValueError(f"`columns` must name {learned.n_inputs} columns, got {len(names)}.")
    outputs = [*kept, *learned.coordinate_names]
    if len({name.casefold() for name in outputs}) != len(outputs):
        raise ValueError(f"`keep` must hold different names, and none of {', '.join(learned.coordinate_names)}.")

    passed = [f"k{i}" for i in range(len(kept))]  # under names that cannot clash with ours
    scale = _number(learned.scale)
    located = [
        exp.Div(
            this=exp.Paren(this=exp.Sub(this=_to_double(name), expression=_number(shift))),
            expression=scale.copy(),
            typed=True,
        )
        for name, shift in zip(names, learned.shift, strict=True)
    ]
    source = _table(table)
    prefix = "stage"
    while source.name.casefold().startswith(prefix):  # the table may have any name
        prefix = f"_{prefix}"
    stages = [_select(located, "x", list(zip(kept, passed, strict=True)), source)]
    variables = [f"x{j}" for j in range(learned.n_inputs)]
    if learned.axes is not None:
        axes = [
            _add([exp.Mul(this=_column(x), expression=_number(a)) for x, a in zip(variables, axis, strict=True)])
            for axis in learned.axes.T
        ]
        stages.append(_select(axes, "z", [(name, name) for name in passed], exp.table_(f"{prefix}0", quoted=True)))
        variables = [f"z{k}" for k in range(learned.n_axes)]
    tree = _nest(learned.monomials)
    coordinates = [
        _add([_number(offset), *_write_horner(tree, variables, weights)])
        for offset, weights in zip(learned.offset, learned.weights.T, strict=True)
    ]
    renamed = list(zip(passed, kept, strict=True))
    statement = _select(coordinates, "y", renamed, exp.table_(f"{prefix}{len(stages) - 1}", quoted=True))
    for number, stage in enumerate(stages):
        statement = statement.with_(
            exp.to_identifier(f"{prefix}{number}", quoted=True),
            stage,
            materialized=True if dialect in CAN_MATERIALIZE else None,
            copy=False,
        )
    return str(statement.sql(dialect=dialect, pretty=False, identify=True))


def _check_names(parameter: str, names: Any) -> list[str]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"`{parameter}` must be a sequence of names, got {names!r}.")
    for name in names:
        _check_name(parameter, name)
    if len(set(names)) != len(names):
        raise ValueError(f"`{parameter}` must be different names.")
    return list(names)


def _check_name(parameter: str, name: Any) -> str:
    """Names are quoted whatever is in them; no database has an empty one, or one with a NUL."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"`{parameter}` must hold names of at least one character, without NUL; got {name!r}.")
    return name


def _table(table: str | Sequence[str]) -> Any:
    parts = [table] if isinstance(table, str) else list(table)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"`table` must be a name, or up to three that qualify it; got {table!r}.")
    names = ("this", "db", "catalog")
    identifiers = (exp.to_identifier(_check_name("table", part), quoted=True) for part in reversed(parts))
    return exp.Table(**dict(zip(names, identifiers, strict=False)))


def _select(values: Sequence[Any], letter: str, passed: Sequence[tuple[str, str]], table: Any) -> Any:
    """Select columns under other names, and values under a letter and a number."""
    columns = [_alias(_column(name), alias) for name, alias in passed]
    named = [_alias(value, f"{letter}{position}") for position, value in enumerate(values)]
    return exp.Select(expressions=[*columns, *named]).from_(table, copy=False)


def _alias(value: Any, name: str) -> Any:
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def _column(name: str) -> Any:
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def _to_double(name: str) -> Any:
    return exp.Cast(this=_column(name), to=exp.DataType.build("double"))


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
