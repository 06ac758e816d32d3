"""Coordinates written to a parquet file, batch by batch; needs pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from polyfold.io.writing import Writer

#: Rows of a group, about: small enough to be held, large enough to be read well.
GROUP_ROWS = 250_000


class ParquetWriter(Writer):
    """Writes a parquet file; columns carried along keep their type."""

    def __init__(self, file: BinaryIO, keep: Sequence[str], names: Sequence[str]) -> None:
        self._file, self._keep, self._names = file, keep, names
        self._writer: Any = None
        self._waiting: list[Any] = []

    def write(self, kept: dict[str, Any], values: NDArray[Any]) -> None:
        """Write some rows, or hold them until they fill a group."""
        columns = [_make_array(column) for column in kept.values()]
        columns += [pa.array(values[:, k]) for k in range(values.shape[1])]
        self._waiting.append(pa.table(dict(zip([*self._keep, *self._names], columns, strict=True))))
        if sum(map(len, self._waiting)) >= GROUP_ROWS:
            self._write_group()

    def _write_group(self) -> None:
        group = pa.concat_tables(self._waiting)
        self._waiting = []
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, group.schema)
        self._writer.write_table(group.cast(self._writer.schema))

    def finish(self) -> None:
        """Write what is left."""
        if self._waiting:
            self._write_group()
        elif self._writer is None:  # no rows at all
            fields = [(name, pa.string()) for name in self._keep] + [(name, pa.float64()) for name in self._names]
            self._writer = pq.ParquetWriter(self._file, pa.schema(fields))
        self._writer.close()

    def abandon(self) -> None:
        """Let go of the file."""
        if self._writer is not None:
            self._writer.close()


def _make_array(column: Any) -> Any:
    if isinstance(column, pa.Array):
        return column
    return pa.array(column, pa.string()) if isinstance(column, list) else pa.array(column)
