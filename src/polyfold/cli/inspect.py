"""``polyfold inspect``: what a person asks of a map."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from polyfold._record import thaw
from polyfold._table import make_printable
from polyfold.cli.options import Json, Model, load_model, read_image_shape
from polyfold.cli.terminal import count, show_size

if TYPE_CHECKING:
    from polyfold import PolynomialMap
    from polyfold._diagnostics import MapDiagnostics

#: Columns that are shown, unless all are asked for.
SHOWN_COLUMNS = 12

#: Characters of a line at most where it is not shown in a terminal.
FILE_WIDTH = 1000

#: Polynomials of more terms are not written out whole; the formula is of so many of the largest.
WHOLE_TERMS, LARGEST_TERMS = 5_000, 200


def inspect(
    model: Model,
    terms: Annotated[int, typer.Option(min=1, help="Terms of each coordinate at most.")] = 6,
    all_columns: Annotated[bool, typer.Option("--all-columns", help="List all columns, however many.")] = False,
    json: Json = False,
) -> None:
    """Show what a map does: columns, formula, training ranges, how it was learned, and what was found.

    Example: polyfold inspect roll.safetensors
    """
    learned = load_model(model)
    if json:
        typer.echo(json_module.dumps(describe_map(learned, terms), indent=2, ensure_ascii=False))
        return
    path = Path(model)
    title = f"{path.name}, {show_size(path.stat().st_size)}"
    show_map(learned, title, n_terms=terms, n_columns=None if all_columns else SHOWN_COLUMNS)


def list_formulas(learned: PolynomialMap, n_terms: int) -> list[str]:
    """Return the largest terms of each coordinate, or why there are none."""
    from math import comb

    count = comb(learned.n_inputs + learned.degree, learned.degree)
    try:
        listed = learned.terms(None if count <= WHOLE_TERMS else max(LARGEST_TERMS, n_terms * learned.n_outputs))
        return listed.formula(largest=n_terms).splitlines()
    except (ValueError, MemoryError) as error:
        return [f"{name} is not written out: {error}" for name in learned.coordinate_names]


def describe_map(learned: PolynomialMap, n_terms: int = 6) -> dict[str, Any]:
    """Return what there is to tell of a map, for programs."""
    domain = learned.domain
    ranges = None if domain is None or domain.ranges is None else domain.ranges
    training = thaw(learned.training) or {}
    return {
        **training,
        "n_columns": learned.n_inputs,
        "n_axes": None if learned.axes is None else learned.n_axes,
        "n_coordinates": learned.n_outputs,
        "basis": learned.basis,
        "degree": learned.degree,
        "n_monomials": learned.n_features,
        "has_inverse": learned.decoder is not None,
        "image_shape": read_image_shape(learned),
        "columns": [
            {
                "name": name,
                "smallest": None if ranges is None else float(ranges[0, j]),
                "largest": None if ranges is None else float(ranges[1, j]),
                "mean": None if domain is None else float(domain.center[j]),
            }
            for j, name in enumerate(learned.column_names)
        ],
        "formulas": dict(zip(learned.coordinate_names, list_formulas(learned, n_terms), strict=True)),
    }


def show_map(
    learned: PolynomialMap,
    title: str,
    *,
    n_terms: int = 6,
    n_columns: int | None = SHOWN_COLUMNS,
    sections: Sequence[str] = ("map", "columns", "coordinates", "fit"),
) -> None:
    """Show a map in the terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    text = None if console.is_terminal else StringIO()
    if text is not None:  # a file has lines of any length, and no spaces at their ends
        console = Console(highlight=False, markup=False, emoji=False, width=FILE_WIDTH, file=text)
    parts = {
        "map": lambda: [_show_facts(describe_shape(learned))],
        "columns": lambda: _show_columns(learned, n_columns),
        "coordinates": lambda: [_show_formulas(list_formulas(learned, n_terms))],
        "fit": lambda: _show_training(learned),
    }
    titles = {"map": title, "columns": "Columns", "coordinates": "Coordinates", "fit": "How it was learned"}
    for number, name in enumerate(sections):
        if number:
            console.print()
        console.print(Text(make_printable(titles[name]), style="bold"))
        for part in parts[name]():
            console.print(part)
    if text is not None:
        typer.echo("\n".join(line.rstrip() for line in text.getvalue().splitlines()))


def describe_shape(learned: PolynomialMap) -> list[tuple[str, str]]:
    """Return what a map takes and gives."""
    through = "" if learned.axes is None else f" → {learned.n_axes:,} principal axes"
    shape = read_image_shape(learned)
    pixels = "" if shape is None else f", images of {' × '.join(map(str, shape))} pixels"
    basis = "all monomials" if learned.basis == "kronecker" else "pure powers"
    back = "learned too" if learned.decoder else "not learned: --fit-inverse-transform"
    names = ", ".join(learned.coordinate_names[:8])
    return [
        ("takes", f"{count(learned.n_inputs, 'column')}{pixels}{through}"),
        ("gives", f"{count(learned.n_outputs, 'coordinate')}: {names}{', …' if learned.n_outputs > 8 else ''}"),
        ("polynomial", f"degree {learned.degree}, {basis}: {learned.n_features:,}"),
        ("way back", back),
    ]


def _show_facts(facts: Iterable[tuple[str, str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in facts:
        table.add_row(Text(f"  {make_printable(name)}"), Text(make_printable(text)))
    return table


def _show_columns(learned: PolynomialMap, n_columns: int | None) -> list[Any]:
    from rich.table import Table
    from rich.text import Text

    domain, ranges = learned.domain, None if learned.domain is None else learned.domain.ranges
    table = Table(box=None, pad_edge=False, header_style="cyan", padding=(0, 2, 0, 0))
    table.add_column("  column", overflow="fold")
    for heading in ("smallest", "mean", "largest"):
        table.add_column(heading, justify="right")
    names = learned.column_names[:n_columns]
    for j, name in enumerate(names):
        low, high = ("", "") if ranges is None else (f"{ranges[0, j]:.4g}", f"{ranges[1, j]:.4g}")
        mean = "" if domain is None else f"{domain.center[j]:.4g}"
        table.add_row(Text(f"  {make_printable(name)}"), low, mean, high)
    n_hidden = learned.n_inputs - len(names)
    rest = [Text(f"  … and {n_hidden:,} more: --all-columns lists them", style="dim")] if n_hidden else []
    return [table, *rest]


def _show_formulas(formulas: Sequence[str]) -> Any:
    return _show_facts(tuple(line.split(" = ", 1)) if " = " in line else (line, "") for line in formulas)  # type: ignore[misc]


def _show_training(learned: PolynomialMap) -> list[Any]:
    from rich.text import Text

    training = learned.training
    if not training or "estimator" not in training:
        return [Text("  The map does not say.", style="dim")]
    return [_show_facts([("estimator", write_call(training)), *read_report(learned)])]


def write_call(training: Mapping[str, Any]) -> str:
    """Write how the estimator was made: with the parameters that are not its defaults."""
    import polyfold

    name, given = str(training["estimator"]), training.get("parameters")
    kind = getattr(polyfold, name, None) if name in polyfold.__all__ else None
    defaults = {each.name: each.default for each in signature(kind).parameters.values()} if kind else {}
    shown = [
        f"{parameter}={thaw(value)!r}"
        for parameter, value in (given.items() if isinstance(given, Mapping) else ())
        if parameter not in ("n_jobs", "verbose") and (parameter not in defaults or value != defaults[parameter])
    ]
    return f"{name}({', '.join(shown)})"


def read_report(learned: PolynomialMap) -> list[tuple[str, str]]:
    """Return the report of the fit, as far as the map keeps what it says."""
    record = (learned.training or {}).get("diagnostics")
    try:
        return recall_diagnostics(record).list_lines()
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):  # made by hand, or by another release
        found = record.items() if isinstance(record, Mapping) else ()
        return [(str(name), str(value)) for name, value in found]


def recall_diagnostics(record: Any) -> MapDiagnostics:
    """Return the diagnostics that a map keeps a record of."""
    import numpy as np

    from polyfold._explicit_diagnostics import ExplicitDiagnostics
    from polyfold._graph_diagnostics import Diagnostics

    kind: Any = ExplicitDiagnostics if "learner" in record else Diagnostics
    values = {}
    for each in fields(kind):
        value = thaw(record[each.name])
        if each.type == "float" and value is None:
            value = float("nan")
        elif str(each.type).startswith("NDArray"):
            value = np.array(value, dtype=np.float64)  # None becomes NaN
        elif str(each.type).startswith(("frozenset", "tuple")):
            value = frozenset(value) if "frozenset" in str(each.type) else tuple(value)
        values[each.name] = value
    return cast("MapDiagnostics", kind(**values))
