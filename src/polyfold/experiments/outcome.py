"""What an experiment returns: tables, drawings, and sentences for the report."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A line of a table: columns by name.
Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows with the same columns; each is a CSV file of the same name.

    Attributes
    ----------
    name, caption : str
    rows : list of dict
    shown : bool
        Whether the report shows it; what is not shown is there as CSV.
    timed : bool
        Whether it holds seconds, which no two runs have in common.
    """

    name: str
    caption: str
    rows: list[Row]
    shown: bool = True
    timed: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.rows[0]) if self.rows else []

    def select(self, column: str, **where: Any) -> NDArray[Any]:
        """Return a column of the rows that agree with `where`; no such row is an error."""
        found = [row[column] for row in self.rows if all(row[key] == value for key, value in where.items())]
        if not found:
            raise LookupError(f"Table {self.name} has no row with {where}.")
        return np.array(found)

    def list_values(self, column: str, **where: Any) -> list[Any]:
        """Return the different values of a column, in the order in which they occur."""
        return list(dict.fromkeys(self.select(column, **where).tolist()))

    def group(self, *keys: str) -> dict[tuple[Any, ...], list[Row]]:
        """Return the rows by the values of some columns, in the order in which they occur."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[key] for key in keys), []).append(row)
        return groups

    def write(self, folder: Path) -> None:
        """Write the table as CSV."""
        with (folder / f"{self.name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows([show_value(value, 6) for value in row.values()] for row in self.rows)


def show_value(value: Any, digits: int = 3) -> str:
    """Write a number with so many significant digits, nothing for what is missing, and anything else as it is."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        if digits < 6 and 1000 <= abs(float(value)) < 1e7:
            return f"{value:,.0f}"
        return f"{value:.{digits}g}" if np.isfinite(value) else ""
    return str(value)


def tabulate(table: Table, rows: str, columns: str, figure: str, caption: str, name: str | None = None) -> Table:
    """Return a table with the values of one column down, those of another across, and in it what the runs gave.

    A cell reads "median (least to most)".
    """
    cells: dict[Any, Row] = {}
    for (down, across), members in table.group(rows, columns).items():
        figures = np.array([row[figure] for row in members])
        text = show_value(np.median(figures))
        if len(figures) > 1:
            text += f" ({show_value(figures.min())} to {show_value(figures.max())})"
        head = across if isinstance(across, str) else f"{columns} = {across:g}"
        cells.setdefault(down, {rows: down})[head] = text
    names = dict.fromkeys(key for row in cells.values() for key in row)
    filled = [{key: row.get(key, "") for key in names} for row in cells.values()]
    return Table(name or f"{table.name}_summary", caption, filled)


@dataclass(frozen=True)
class Drawing:
    """A figure: PNG and SVG of the same name.

    Attributes
    ----------
    name, caption : str
        The caption says what is seen.
    canvas : matplotlib.figure.Figure
    """

    name: str
    caption: str
    canvas: Any

    def write(self, folder: Path, dpi: int = 150) -> None:
        """Write the figure, for the screen and for print; each is drawn once, where `savefig` draws twice."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        self.canvas.set_dpi(dpi)
        FigureCanvasAgg(self.canvas).print_png(folder / f"{self.name}.png")
        self.canvas.set_layout_engine("none")  # found once, and kept
        FigureCanvasSVG(self.canvas).print_svg(folder / f"{self.name}.svg", metadata={"Date": None})


@dataclass(frozen=True)
class Outcome:
    """What came out of an experiment.

    Attributes
    ----------
    title : str
    text : str
        What was done.
    tables, drawings : list
    left_out : list of str
        What could not be done, and why.
    """

    title: str
    text: str
    tables: list[Table]
    drawings: list[Drawing]
    left_out: list[str] = field(default_factory=list)

    def __add__(self, other: Outcome) -> Outcome:
        """Join what came out of the parts of an experiment."""
        return Outcome(
            self.title,
            f"{self.text} {other.text}".strip(),
            self.tables + other.tables,
            self.drawings + other.drawings,
            self.left_out + other.left_out,
        )


def collect_tables(outcomes: Iterable[Outcome]) -> dict[str, Table]:
    """Return all tables by name."""
    return {table.name: table for outcome in outcomes for table in outcome.tables}
