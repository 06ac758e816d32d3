"""Tables of text: comma or tab between cells, compressed or not, from a file or from standard input."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from polyfold._table import make_printable
from polyfold.io.table import Batch, DataError, Table, TextError

#: What cells hold where a value is missing, white space aside.
MISSING = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "none", "."})

#: Characters of one cell at most: a quote that is never closed is told of before it swallows the file.
LONGEST_CELL = 1_000_000

#: Likewise of a row, which may go on over many lines within quotes, and its cells.
LONGEST_LINE, WIDEST_LINE = 20_000_000, 1_000_000

#: Characters of a batch at most, about.
BATCH_CHARACTERS = 16_000_000

#: How some write numbers, and what they are told.
DECIMAL_COMMA, POINT = re.compile(r"[+-]?\d[\d.]*,\d+"), " Numbers are written with a point."

#: Characters of the longest piece of a cell that a message shows.
SHOWN_CELL = 40


class Lines:
    """The lines of a text, its characters counted; a row that does not come to an end is an error."""

    def __init__(self, stream: TextIO, delimiter: str) -> None:
        self._stream, self._delimiter = stream, delimiter
        self.n_characters = self._row_start = self._n_cells = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        left = LONGEST_LINE - (self.n_characters - self._row_start)
        line = self._stream.readline(left)
        if not line:
            raise StopIteration
        if len(line) == left:
            raise csv.Error(f"a line is longer than {LONGEST_LINE:,} characters")
        self.n_characters += len(line)
        self._n_cells += line.count(self._delimiter)
        if self._n_cells >= WIDEST_LINE:
            raise csv.Error(f"a line has more than {WIDEST_LINE:,} cells, which .npy and .parquet are for")
        return line

    def split(self) -> Iterator[list[str]]:
        """Return the cells of each row; empty lines, and lines of spaces, are no rows."""
        for row in csv.reader(self, delimiter=self._delimiter, strict=True):
            self._row_start, self._n_cells = self.n_characters, 0
            if len(row) > 1 or (row and row[0].strip()):
                yield row


class DelimitedTable(Table):
    """A file of text with a row in each line.

    Parameters
    ----------
    path : Path or None
        None is standard input. A pipe can be read once, and so all are.
    delimiter : str
    has_header : bool
        Whether the first line names the columns.
    """

    def __init__(self, path: Path | None, delimiter: str, *, has_header: bool = True) -> None:
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise DataError(f"--delimiter must be one character, got {delimiter!r}.")
        self.source = "standard input" if path is None else make_printable(path.name)
        self._size = path.stat().st_size if path is not None and path.is_file() else None
        self._raw: Any = sys.stdin.buffer if path is None else path.open("rb")
        csv.field_size_limit(LONGEST_CELL)
        self._lines = Lines(self._unpack(), delimiter)
        self._rows: Iterator[list[str]] = self._lines.split()
        try:
            self._read_header(has_header)
        except BaseException:
            self.close()
            raise

    def _read_header(self, has_header: bool) -> None:
        with self._explain():
            first = next(self._rows, None)
        if first is None:
            raise DataError(f"{self.source} is empty.")
        self.n_columns = len(first)
        if has_header:
            self.names = tuple(name.strip() for name in first)
            self._check_header()
        else:
            self._rows = chain([first], self._rows)

    def close(self) -> None:
        """Close the file."""
        self._raw.close()

    def _unpack(self) -> TextIO:
        packed = self._raw.peek(2)[:2] == b"\x1f\x8b"
        content = gzip.GzipFile(fileobj=self._raw) if packed else self._raw
        return io.TextIOWrapper(content, encoding="utf-8-sig", newline="")

    @contextmanager
    def _explain(self) -> Iterator[None]:
        """Say in one error what is wrong with the text."""
        try:
            yield
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.source} is not text in UTF-8 (byte {error.object[error.start]:#04x}). Convert it, as "
                "with iconv -f LATIN1 -t UTF-8; if it is of another kind, give it the ending of that."
            ) from error
        except csv.Error as error:
            raise DataError(f"{self.source} is not a table of text: {make_printable(str(error))}.") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(f"{self.source} is compressed, and cut short or damaged: {error}") from error
        except OSError as error:
            raise DataError(f"{self.source} could not be read: {error.strerror or error}") from error

    def _check_header(self) -> None:
        assert self.names is not None
        if len(self.names) == 1 and any(mark in self.names[0] for mark in ";\t|"):
            mark = next(mark for mark in ";\t|" if mark in self.names[0])
            shown = r"$'\t'" if mark == "\t" else f"'{mark}'"
            raise DataError(
                f"{self.source} has one column, {make_printable(self.names[0])[:SHOWN_CELL]!r}. If cells end at "
                f"another character, pass it: --delimiter {shown}"
            )
        if all(_is_number(name) for name in self.names):
            raise DataError(
                f"The first line of {self.source} holds numbers, not names of columns. If it is data, pass "
                "--no-header."
            )

    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the rows; see :class:`Table`."""
        start = 0
        while cells := self._take_cells():
            yield self._make_batch(cells, columns, keep, start)
            start += len(cells)

    def _take_cells(self) -> list[list[str]]:
        """Return the cells of the next rows: not too many, nor too long, and none after one that is odd."""
        lines, n_columns = self._lines, self.n_columns
        most_characters = lines.n_characters + BATCH_CHARACTERS
        cells: list[list[str]] = []
        with self._explain():
            for row in islice(self._rows, self.count_batch_rows(n_columns)):
                cells.append(row)
                if len(row) != n_columns or lines.n_characters >= most_characters:
                    break
        return cells

    def _make_batch(
        self, cells: list[list[str]], columns: Sequence[int], keep: Sequence[str], start: int
    ) -> Batch:
        kept = {}
        if set(map(len, cells)) != {self.n_columns}:
            row = next(k for k, row in enumerate(cells) if len(row) != self.n_columns)
            raise DataError(
                f"{self.source}: data row {start + row + 1:,} has {len(cells[row])} cells, and the table has "
                f"{self.n_columns} columns."
            )
        for name in keep:
            assert self.names is not None
            kept[name] = list(map(itemgetter(self.names.index(name)), cells))
        if list(columns) == list(range(self.n_columns)):
            chosen: Any = cells
        elif len(columns) == 1:
            chosen = [[row[columns[0]]] for row in cells]
        else:
            chosen = list(map(itemgetter(*columns), cells))
        try:
            values = np.array(chosen, dtype=np.float64)
        except ValueError:
            values = self._read_numbers(chosen, columns, start)
        else:
            if any("_" in "".join(row) for row in chosen):  # 1_000 is a number to Python, and to nobody else
                values = self._read_numbers(chosen, columns, start)
        return Batch(values, kept, start)

    def _read_numbers(self, cells: list[Sequence[str]], columns: Sequence[int], start: int) -> NDArray[np.float64]:
        """Read numbers of which some are missing, or say which cell holds none."""
        values = np.empty((len(cells), len(columns)))
        for k, row in enumerate(cells):
            for c, cell in enumerate(row):
                text = cell.strip()
                try:
                    values[k, c] = np.nan if text in MISSING else _read_number(text)
                except ValueError:
                    shown = make_printable(text[:SHOWN_CELL]) + ("…" if len(text) > SHOWN_CELL else "")
                    name = self.name_column(columns[c])
                    raise TextError(
                        f"{self.source}: column {name} holds {shown!r} in data row {start + k + 1:,}, which is no "
                        f"number.{POINT if DECIMAL_COMMA.fullmatch(text) else ''}",
                        None if self.names is None else name,
                    ) from None
        return values

    def read_share(self) -> float | None:
        """Return how much of the file has been read."""
        if self._raw.closed or not self._size:
            return None
        return min(float(self._raw.tell()) / self._size, 1.0)


def _read_number(text: str) -> float:
    if "_" in text:
        raise ValueError(text)
    return float(text)


def _is_number(text: str) -> bool:
    try:
        _read_number(text)
    except ValueError:
        return False
    return True
