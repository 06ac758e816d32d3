"""What every table of samples offers, whatever file it comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import SMALL_BLOCK_BYTES, row_slices
from polyfold._table import make_printable

#: Cells of a batch, about: 4 MB of numbers, and ten times that where they come as text.
BATCH_CELLS = 500_000

#: Names that a message lists at most, and how many characters of each.
SHOWN_NAMES, SHOWN_CHARACTERS = 8, 80


class DataError(ValueError):
    """Data that cannot be used: a file that is damaged or of another kind, columns or values that do not fit."""


class OutputKindError(ValueError):
    """An output that cannot be written as its name says."""


class TextError(DataError):
    """A column that holds something else than numbers; its name, if it has one, as it is quoted in messages."""

    def __init__(self, message: str, column: str | None) -> None:
        super().__init__(message)
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        # An error may come from another process.
        return type(self), (*self.args, self.column)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        The columns asked for, in the order asked for; NaN where a value is missing.
    kept : dict
        Columns carried along, by name, as the file has them: texts, an array, or an Arrow array.
    start : int
        Rows of the table before these.
    positions : ndarray of shape (n_rows,), default=None
        Of the rows in the table, counted from 0; None where they follow each other.
    """

    values: NDArray[Any]
    kept: dict[str, Any]
    start: int
    positions: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def list_positions(self) -> NDArray[np.intp]:
        """Return where each row stands in the table, counted from 0."""
        if self.positions is None:
            return np.arange(self.start, self.start + len(self))
        return self.positions

    def take(self, rows: NDArray[np.intp]) -> Batch:
        """Return a batch of some rows."""
        kept = {
            name: [column[row] for row in rows.tolist()] if isinstance(column, list) else column.take(rows)
            for name, column in self.kept.items()
        }
        return Batch(self.values[rows], kept, self.start, self.list_positions()[rows])


class Table(ABC):
    """Samples in a file or a folder, that can be read once, a few rows at a time.

    Attributes
    ----------
    source : str
        Where it comes from, for messages.
    names : tuple of str or None
        Of the columns; None where they have no names.
    labels : tuple of str
        Further columns that can be carried along but hold no variables.
    n_columns : int
    n_rows : int or None
        Where it is known before all is read.
    image_shape : tuple of int or None
        Where a row is an image: height, width and, in colour, 3.
    """

    source: str
    names: tuple[str, ...] | None = None
    labels: tuple[str, ...] = ()
    n_columns: int
    n_rows: int | None = None
    image_shape: tuple[int, ...] | None = None

    @abstractmethod
    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the rows, batch by batch: the columns at some positions, and others to be carried along."""

    def close(self) -> None:
        """Close what is open."""
        return

    def read_share(self) -> float | None:
        """Return how much of the table has been read, from 0 to 1, where that is known."""
        return None

    def count_batch_rows(self, n_columns: int) -> int:
        """Return the rows of a batch of so many columns."""
        return max(1, BATCH_CELLS // max(n_columns, 1))

    def locate_row(self, number: int) -> tuple[str, int]:
        """Return where a row is for a message, and its number there; numbers are counted from 0."""
        return self.source, number

    def name_column(self, position: int) -> str:
        """Return what to call a column in a message."""
        return str(position) if self.names is None else repr(show_name(self.names[position]))


def show_name(name: str) -> str:
    """Return a name for a message: not too long, and without what moves a terminal's cursor."""
    return make_printable(name if len(name) <= SHOWN_CHARACTERS else f"{name[:SHOWN_CHARACTERS]}…")


def list_names(names: Iterable[str]) -> str:
    """List names in a message, not too many."""
    shown = list(names)
    listed = ", ".join(show_name(name) for name in shown[:SHOWN_NAMES])
    rest = len(shown) - SHOWN_NAMES
    return f"{listed} and {rest:,} more" if rest > 0 else listed


def take_columns(values: NDArray[Any], columns: Sequence[int]) -> NDArray[Any]:
    """Return the columns at some positions: the array itself where they are all of them, in order."""
    is_whole = len(columns) == values.shape[1] and all(map(eq, columns, count()))
    return values if is_whole else values[:, list(columns)]


class CompleteRows:
    """The rows of a table that miss no value, batch by batch.

    Where rows miss some, they are left out if `drop_missing` says so. Otherwise the rest of the table is read to
    count them, and a DataError tells how many each column misses.

    Attributes
    ----------
    n_incomplete : int
        Rows found so far that miss a value.
    """

    def __init__(
        self, table: Table, columns: Sequence[int], keep: Sequence[str] = (), *, drop_missing: bool = False
    ) -> None:
        self._table, self._columns, self._keep, self._drop_missing = table, columns, keep, drop_missing
        self.n_incomplete = 0

    def __iter__(self) -> Iterator[Batch]:
        with closing(self._table):
            yield from self._read()

    def _read(self) -> Iterator[Batch]:
        missing = np.zeros(len(self._columns), dtype=np.int64)
        for batch in self._table.read(self._columns, self._keep):
            holes = _find_missing(self._table, batch, self._columns)
            if holes is not None:
                missing += holes.sum(axis=0)
                incomplete = holes.any(axis=1)
                self.n_incomplete += int(incomplete.sum())
                batch = batch.take(np.flatnonzero(~incomplete))
            if len(batch) and (self._drop_missing or not self.n_incomplete):
                yield batch
        if self.n_incomplete and not self._drop_missing:
            raise DataError(_tell_missing(self._table, self._columns, missing, self.n_incomplete))

    def tell_dropped(self) -> str:
        """Say how many rows were left out; nothing where none was."""
        return tell_dropped(self.n_incomplete) if self.n_incomplete else ""


def tell_dropped(n_rows: int) -> str:
    """Say how many rows were left out."""
    some = "row that misses a value was" if n_rows == 1 else "rows that miss a value were"
    return f"{n_rows:,} {some} left out."


def _find_missing(table: Table, batch: Batch, columns: Sequence[int]) -> NDArray[np.bool_] | None:
    """Return which values of a batch are missing, None if none; infinity is an error."""
    values = batch.values
    if values.dtype.kind != "f":
        return None
    holes = None
    for rows in row_slices(len(values), values.itemsize * values.shape[1], SMALL_BLOCK_BYTES):
        block = values[rows]
        if np.isfinite(block).all():
            continue
        row, column = np.unravel_index(np.argmax(np.isinf(block)), block.shape)
        if np.isinf(block[row, column]):
            source, number = table.locate_row(batch.start + rows.start + int(row))
            name = table.name_column(columns[int(column)])
            raise DataError(
                f"{source}: column {name} holds {block[row, column]} in data row {number + 1:,}. A map takes "
                "finite numbers only: correct the value or remove the row."
            )
        if holes is None:
            holes = np.zeros(values.shape, dtype=bool)
        holes[rows] = np.isnan(block)
    return holes


def _tell_missing(table: Table, columns: Sequence[int], missing: NDArray[np.int64], n_incomplete: int) -> str:
    order = [k for k in np.argsort(-missing, kind="stable").tolist() if missing[k]]
    counts = list_names(f"{missing[k]:,} in {table.name_column(columns[k])}" for k in order)
    return (
        f"{table.source}: values are missing in {n_incomplete:,} row{'s' if n_incomplete > 1 else ''}: {counts}. "
        "Leave these rows out with --drop-missing, or fill the values in."
    )
