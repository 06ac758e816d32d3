"""Numbers in a table with a name for each row and each column."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that are shown at most.
SHOWN_ROWS = 20


def make_printable(text: str) -> str:
    """Return a text without what moves the cursor: line breaks, escapes and their like become spaces."""
    return "".join(character if character.isprintable() else " " for character in text)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A labelled table; prints as one, in a terminal and in a notebook.

    Attributes
    ----------
    heading : str
        What the rows are.
    labels : tuple of str
        One for each row.
    names : tuple of str
        One for each column of `values`.
    values : ndarray of shape (n_rows, n_names)
    """

    heading: str
    labels: tuple[str, ...]
    names: tuple[str, ...]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self.names:
            raise KeyError(f"{name!r} is none of {', '.join(self.names)}")
        return self.values[:, self.names.index(name)]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, labels first: what ``polars.DataFrame`` and ``pandas.DataFrame`` take."""
        columns = {name: self.values[:, k].tolist() for k, name in enumerate(self.names)}
        return {self.heading: list(self.labels)} | columns

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame, labels as its index."""
        try:
            from pandas import DataFrame, Index
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from error
        return DataFrame(self.values, index=Index(self.labels, name=self.heading), columns=list(self.names))

    def __repr__(self) -> str:
        rows = self._list_cells()
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = [
            "  ".join([cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])]).rstrip()
            for cells in rows
        ]
        return "\n".join(lines + self._count_hidden())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def _repr_html_(self) -> str:
        head, *body = self._list_cells()
        titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        rows = "".join(
            f"<tr><th>{escape(cells[0])}</th>" + "".join(f"<td>{cell}</td>" for cell in cells[1:]) + "</tr>"
            for cells in body
        )
        hidden = "".join(f"<p>{line}</p>" for line in self._count_hidden())
        return f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>{hidden}"

    def _list_cells(self) -> list[list[str]]:
        labels = map(make_printable, self.labels[:SHOWN_ROWS])
        shown = zip(labels, self.values[:SHOWN_ROWS].tolist(), strict=True)
        return [[self.heading, *self.names], *([label, *(f"{v:.4g}" for v in row)] for label, row in shown)]

    def _count_hidden(self) -> list[str]:
        n_hidden = len(self) - SHOWN_ROWS
        return [f"… and {n_hidden:,} more"] if n_hidden > 0 else []
