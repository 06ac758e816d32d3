"""Parquet files, a few rows at a time; needs pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from polyfold._table import make_printable
from polyfold.io.table import Batch, DataError, Table, TextError, list_names, show_name

#: Of a column that is read at a time, and of a batch at most, about.
BUFFER_BYTES, BATCH_BYTES = 2**20, 2**24

#: Of a file whose groups of rows are read whole: pages are parts of these then, and cannot claim more memory.
SMALL_FILE_BYTES = 2**26

#: Of texts that are carried along with some rows, at most, about.
TEXT_BYTES = 2**25

#: What pyarrow raises where a file is not what it should be.
UNREADABLE = (OSError, pa.ArrowException, ValueError, OverflowError, MemoryError)

#: Characters of what pyarrow says that a message shows.
SHOWN_REASON = 300


class ParquetTable(Table):
    """A parquet file, or some groups of its rows: the first, and the one after the last."""

    def __init__(self, path: Path, groups: tuple[int, int] | None = None, source: str | None = None) -> None:
        self.source = make_printable(source or path.name)
        self._path = path
        self._file = self._open()
        self.names = tuple(self._file.schema_arrow.names)
        self.n_columns = len(self.names)
        every = range(self._file.num_row_groups)
        self._groups = every if groups is None else every[slice(*groups)]
        self.n_rows = sum(self.count_group_rows())
        before = every[: self._groups.start] if self._groups else ()
        self._first = sum(self._file.metadata.row_group(group).num_rows for group in before)
        self._done = 0

    def _open(self, as_dictionaries: Sequence[str] = ()) -> Any:
        try:
            # Of a large file a megabyte of each column instead of a whole group of rows: memory stays bounded.
            buffered = BUFFER_BYTES if self._path.stat().st_size > SMALL_FILE_BYTES else 0
            return pq.ParquetFile(
                self._path, pre_buffer=False, buffer_size=buffered, read_dictionary=list(as_dictionaries)
            )
        except UNREADABLE as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # it may not be read, or is not there
            raise DataError(f"{self.source} is not a readable parquet file: {_quote(error)}") from error

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
        counts = Counter(self.names)
        if twice := [name for name in names if counts[name] > 1]:
            raise DataError(f"{self.source} has more than one column named {list_names(twice)}. Rename them.")
        for part in self._split(names, len(wanted), keep):
            values = np.empty((part.num_rows, len(wanted)))
            for k, name in enumerate(wanted):
                values[:, k] = self._read_numbers(name, part.column(name))
            kept = {name: self._restore(name, part.column(name)) for name in keep}
            yield Batch(values, kept, self._first + self._done)
            self._done += part.num_rows

    def _split(self, names: Sequence[str], n_wanted: int, keep: Sequence[str]) -> Iterator[Any]:
        """Read some columns, a few rows at a time.

        Texts are read as dictionaries: one long text in a dictionary that a million rows refer to takes no room in
        a file, and only so does it take none in memory. Rows are let out as far as their texts fit.
        """
        kinds = {name: self._file.schema_arrow.field(name).type for name in keep}
        texts = [name for name, kind in kinds.items() if _is_text(kind)]
        rows = min(self.count_batch_rows(n_wanted), max(1, BATCH_BYTES // self._count_row_bytes(names)))
        file = self._open(texts) if texts else self._file
        try:
            batches = file.iter_batches(rows, row_groups=list(self._groups), columns=names, use_threads=False)
            while (batch := self._take(batches)) is not None:
                sizes = sum((_measure_texts(batch.column(name)) for name in texts), np.zeros(batch.num_rows, int))
                ends = np.flatnonzero(np.diff(np.cumsum(sizes) // TEXT_BYTES)) + 1
                for start, end in pairwise([0, *ends.tolist(), batch.num_rows]):
                    yield batch.slice(start, end - start)
        finally:
            if file is not self._file:
                file.close()

    def _take(self, batches: Any) -> Any:
        try:
            batch = next(batches, None)
            for column in batch or ():
                _check_indices(column)
        except UNREADABLE as error:
            raise DataError(f"{self.source} is damaged after {self._done:,} rows: {_quote(error)}") from error
        return batch

    def _restore(self, name: str, column: pa.Array) -> pa.Array:
        """Return a column that is carried along in its own type."""
        kind = self._file.schema_arrow.field(name).type
        if column.type == kind or not pa.types.is_dictionary(column.type):
            return column
        return column.dictionary_decode().cast(kind)

    def check_numbers(self, columns: Sequence[int]) -> None:
        """Check that columns are of types that hold numbers."""
        others = []
        for position in columns:
            field = self._file.schema_arrow.field(position)
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            if not _holds_numbers(kind):
                others.append((repr(show_name(field.name)), kind))
        if others:
            raise TextError(_tell_text(self.source, others), " --exclude ".join(name for name, _ in others))

    def _read_numbers(self, name: str, column: pa.Array) -> NDArray[np.float64]:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if not _holds_numbers(column.type):
            shown = repr(show_name(name))
            raise TextError(_tell_text(self.source, [(shown, column.type)]), shown)
        try:
            numbers: Any = column.cast(pa.float64(), safe=False)
        except pa.ArrowException as error:
            raise DataError(
                f"{self.source}: column {show_name(name)!r} cannot be read as numbers: {_quote(error)}"
            ) from error
        return np.asarray(numbers.to_numpy(zero_copy_only=False))

    def _count_row_bytes(self, names: Sequence[str]) -> int:
        """Return how many bytes a row has in some columns, or in all where one of them is as long as it likes.

        What the file tells of single columns is not asked for: where it is damaged, pyarrow ends the process.
        """
        kinds = [self._file.schema_arrow.field(name).type for name in names]
        if all(map(_is_of_one_length, kinds)):
            return max(1, sum(int(kind.bit_width) for kind in kinds) // 8)
        total = sum(int(self._file.metadata.row_group(group).total_byte_size) for group in self._groups)
        return max(1, total // max(self.n_rows or 1, 1))

    def read_share(self) -> float | None:
        """Return how much of the file has been read."""
        return self._done / self.n_rows if self.n_rows else None


def _quote(error: BaseException) -> str:
    return make_printable(str(error)[:SHOWN_REASON])


def _is_of_one_length(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_primitive(kind) or types.is_fixed_size_binary(kind) or types.is_dictionary(kind))


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary())


def _check_indices(column: pa.Array) -> None:
    """Check that rows refer to entries of their dictionary: Arrow decodes others from whatever is in memory."""
    if pa.types.is_dictionary(column.type) and len(column) > column.null_count:
        extremes = pc.min_max(column.indices).as_py()
        if extremes["min"] < 0 or extremes["max"] >= len(column.dictionary):
            raise ValueError(f"there is no entry {extremes['max']} in a dictionary of {len(column.dictionary)}")


def _measure_texts(column: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each text in a dictionary that rows refer to."""
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return np.asarray(pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False), dtype=np.int64)


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
