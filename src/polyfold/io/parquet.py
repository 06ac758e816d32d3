"""Parquet files, a few rows at a time; needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from polyfold._table import make_printable
from polyfold.io.table import Batch, DataError, Table, TextError, list_names

#: Of a column that is read at a time, and of a batch at most, about.
BUFFER_BYTES, BATCH_BYTES = 2**20, 2**24


class ParquetTable(Table):
    """A parquet file, or some groups of its rows: the first, and the one after the last."""

    def __init__(self, path: Path, groups: tuple[int, int] | None = None, source: str | None = None) -> None:
        self.source = make_printable(source or path.name)
        try:
            # A buffer of a megabyte for each column instead of a whole group of rows: memory stays bounded.
            self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER_BYTES)
        except (OSError, pa.ArrowException) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # it may not be read, or is not there
            raise DataError(f"{self.source} is not a readable parquet file: {error}") from error
        self.names = tuple(self._file.schema_arrow.names)
        self.n_columns = len(self.names)
        every = range(self._file.num_row_groups)
        self._groups = every if groups is None else every[slice(*groups)]
        self.n_rows = sum(self.count_group_rows())
        before = every[: self._groups.start] if self._groups else ()
        self._first = sum(self._file.metadata.row_group(group).num_rows for group in before)
        self._done = 0

    def count_group_rows(self) -> list[int]:
        """Return the rows of each group."""
        return [self._file.metadata.row_group(group).num_rows for group in self._groups]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the rows; see :class:`Table`."""
        assert self.names is not None
        wanted = [self.names[position] for position in columns]
        self._done = 0
        names = [*dict.fromkeys([*wanted, *keep])]
        batch_rows = min(self.count_batch_rows(len(wanted)), max(1, BATCH_BYTES // self._count_row_bytes(names)))
        batches = self._file.iter_batches(
            batch_rows, row_groups=list(self._groups), columns=names, use_threads=False
        )
        while True:
            try:
                batch = next(batches, None)
            except (OSError, pa.ArrowException) as error:
                raise DataError(f"{self.source} is damaged after {self._done:,} rows: {error}") from error
            if batch is None:
                return
            values = np.empty((batch.num_rows, len(wanted)))
            for k, name in enumerate(wanted):
                values[:, k] = self._read_numbers(name, batch.column(name))
            yield Batch(values, {name: batch.column(name) for name in keep}, self._first + self._done)
            self._done += batch.num_rows

    def check_numbers(self, columns: Sequence[int]) -> None:
        """Check that columns are of types that hold numbers."""
        others = []
        for position in columns:
            field = self._file.schema_arrow.field(position)
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            if not _holds_numbers(kind):
                others.append((repr(make_printable(field.name)), kind))
        if others:
            raise TextError(_tell_text(self.source, others), " --exclude ".join(name for name, _ in others))

    def _read_numbers(self, name: str, column: pa.Array) -> NDArray[np.float64]:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if not _holds_numbers(column.type):
            shown = repr(make_printable(name))
            raise TextError(_tell_text(self.source, [(shown, column.type)]), shown)
        numbers: Any = column.cast(pa.float64(), safe=False)
        return np.asarray(numbers.to_numpy(zero_copy_only=False))

    def _count_row_bytes(self, names: Sequence[str]) -> int:
        """Return how many bytes a row has in some columns, on average."""
        wanted, total = set(names), 1
        for group in self._groups:
            chunks = self._file.metadata.row_group(group)
            for k in range(chunks.num_columns):
                chunk = chunks.column(k)
                if chunk.path_in_schema in wanted or chunk.path_in_schema.split(".")[0] in wanted:
                    total += chunk.total_uncompressed_size
        return max(1, total // max(self.n_rows or 1, 1))

    def read_share(self) -> float | None:
        """Return how much of the file has been read."""
        return self._done / self.n_rows if self.n_rows else None


def _holds_numbers(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    )


def _tell_text(source: str, others: Sequence[tuple[str, pa.DataType]]) -> str:
    """Say which columns hold no numbers, by the names that are shown and their types."""
    (name, kind), *rest = others
    more = f", and so are {list_names(each for each, _ in rest)} of such types" if rest else ""
    return f"{source}: column {name} is of type {kind}, which holds no numbers{more}."
