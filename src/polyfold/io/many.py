"""Several files as one table, read one after the other, or in pieces by many processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._map_input import compare_names
from polyfold._rows import choose_chunk_rows
from polyfold._table import make_printable
from polyfold.io.table import Batch, CompleteRows, DataError, Table

#: Endings of files of which some rows can be read without the others.
IN_PIECES = (".parquet", ".pq", ".npy")


def explain_remote(path: str | Path) -> str:
    """Say how to read what is not a file here."""
    return (
        f"{str(path)!r} is not on this machine. Read it in Python, for example with dask.dataframe.read_parquet."
    )


def list_files(path: str | Path) -> list[Path] | None:
    """Return the files that a pattern such as ``data/*.parquet`` stands for, None where it is no pattern."""
    if str(path) == "-" or not has_magic(str(path)) or Path(path).exists():
        return None
    found = sorted(Path(each) for each in glob(str(path), recursive=True) if not Path(each).is_dir())  # noqa: PTH207
    if not found and "://" in str(path):
        raise DataError(explain_remote(path))
    if not found:
        raise FileNotFoundError(f"No file is named like {str(path)!r}.")
    return found


class ManyTable(Table):
    """Files with the same columns, one after the other.

    Those of which the rows can be counted without reading them are opened at once, so that one that is damaged or
    has other columns is told of before any work.
    """

    def __init__(self, pattern: str, paths: Sequence[Path], open_one: Callable[[Path], Table]) -> None:
        self.source = f"{make_printable(pattern)} ({len(paths):,} file{'s' if len(paths) > 1 else ''})"
        self._paths, self._open_one = list(paths), open_one
        self._done = self._n_read = 0
        self._now = self._paths[0], 0
        first = open_one(paths[0])
        self.names, self.labels, self.n_columns = first.names, first.labels, first.n_columns
        self.image_shape = first.image_shape
        self.n_rows = first.n_rows
        first.close()
        if self.n_rows is not None:
            self.n_rows += sum(self._count(path) for path in paths[1:])

    def _open(self, path: Path) -> Table:
        table = self._open_one(path)
        if (table.names, table.n_columns, table.image_shape) != (self.names, self.n_columns, self.image_shape):
            table.close()
            one, other = make_printable(str(path)), make_printable(str(self._paths[0]))
            found = f"has {table.n_columns:,}"
            if self.names is not None and table.names is not None:
                found = compare_names(table.names, self.names)
            raise DataError(f"{one} has other columns than {other}: it {found}.")
        return table

    def _count(self, path: Path) -> int:
        table = self._open(path)
        table.close()
        return table.n_rows or 0

    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the rows; see :class:`Table`."""
        self._done = self._n_read = 0
        for path in self._paths:
            table = self._open(path)
            try:
                self._now = path, (first := self._n_read)
                for batch in table.read(columns, keep):
                    self._n_read += len(batch)
                    yield replace(batch, start=first + batch.start)
            finally:
                table.close()
            self._done += 1

    def locate_row(self, number: int) -> tuple[str, int]:
        """Return the file that is being read, and the number of a row in it."""
        path, first = self._now
        return make_printable(str(path)), number - first

    def check_numbers(self, columns: Sequence[int]) -> None:
        """Check that columns hold numbers, where a file says so without being read."""
        for path in self._paths:
            table = self._open(path)
            if hasattr(table, "check_numbers"):
                table.check_numbers(columns)
            table.close()

    def read_share(self) -> float | None:
        """Return how much has been read: by rows where they are known, else by files."""
        return self._n_read / self.n_rows if self.n_rows else self._done / len(self._paths)

    def cut(self, columns: Sequence[int], *, drop_missing: bool) -> list[Piece]:
        """Cut the files into pieces that can be read on their own, by other processes too."""
        paths = [path.resolve() for path in self._paths]  # other processes may stand elsewhere
        return [
            replace(piece, columns=tuple(columns), drop_missing=drop_missing)
            for path in paths
            for piece in cut_file(path, len(columns))
        ]


@dataclass(frozen=True)
class Piece:
    """Some rows and columns of a file.

    Attributes
    ----------
    path : Path
    part : tuple of int
        Row groups of a parquet file, or rows of an array: the first, and the one after the last.
    n_rows : int
        How many rows there are in the part.
    dtype : dtype
        Of the numbers, as they are loaded.
    columns : tuple of int
        Positions of the columns to load.
    drop_missing : bool
        Whether rows that miss a value are left out; otherwise they are an error.
    """

    path: Path
    part: tuple[int, int]
    n_rows: int
    dtype: Any
    columns: tuple[int, ...] = ()
    drop_missing: bool = False

    def load(self) -> NDArray[Any]:
        """Read the piece."""
        table = open_part(self.path, self.part)
        complete = CompleteRows(table, self.columns, drop_missing=self.drop_missing)
        batches = [batch.values for batch in complete]
        values = np.concatenate(batches) if batches else np.empty((0, len(self.columns)))
        if len(values) + complete.n_incomplete != self.n_rows:
            raise DataError(f"{table.source} was changed while it was read: it had {self.n_rows:,} rows there.")
        return values.astype(self.dtype, copy=False)


def open_part(path: Path, part: tuple[int, int] | None = None) -> Any:
    """Open a file, or some rows of it."""
    from polyfold.io import load_format, read_ending

    source = str(path)  # of many files with one name, it says which
    if read_ending(path) == ".npy":
        return load_format("arrays").open_npy(path, part, source)
    return load_format("parquet").ParquetTable(path, part, source)


def cut_file(path: Path, n_columns: int) -> list[Piece]:
    """Cut a file into pieces as large as a block: between row groups of parquet, anywhere in an array."""
    from polyfold.io import read_ending

    most = choose_chunk_rows(n_columns)
    if read_ending(path) == ".npy":
        table = open_part(path)
        dtype = table.take_whole().dtype
        ends = [*range(0, table.n_rows, most), table.n_rows]
        return [Piece(path, (a, b), b - a, dtype) for a, b in pairwise(ends)]
    table = open_part(path)
    counts, pieces, first = table.count_group_rows(), [], 0
    table.close()
    for group in range(len(counts)):
        if group + 1 == len(counts) or sum(counts[first : group + 2]) > most:
            pieces.append(Piece(path, (first, group + 1), sum(counts[first : group + 1]), np.dtype(np.float64)))
            first = group + 1
    return [piece for piece in pieces if piece.n_rows]
