"""Coordinates written as they come, batch by batch: text, parquet or an array."""

from __future__ import annotations

import csv
import gzip
import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import numpy as np
from numpy.typing import NDArray

from polyfold.io import DELIMITERS, load_format, read_ending
from polyfold.io.table import OutputKindError

#: Rows of a batch that become texts at a time.
TEXT_ROWS = 50_000


class Writer(ABC):
    """What writes columns carried along and columns of numbers to an open file, which stays open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.finish()
            return
        with suppress(Exception):  # what is written is thrown away, and the first error is the one to tell
            self.abandon()

    @abstractmethod
    def write(self, kept: dict[str, Any], values: NDArray[Any]) -> None:
        """Write some rows."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is left."""

    def abandon(self) -> None:
        """Let go of the file, whatever state it is in."""
        return


def make_writer(path: Path | None, file: BinaryIO, keep: Sequence[str], names: Sequence[str]) -> Writer:
    """Return what writes the kind of file that the name's ending says; None is text for standard output."""
    if twice := sorted({*keep} & {*names}):
        raise OutputKindError(
            f"A column that is kept is named {twice[0]!r}, as a coordinate is. Rename it in the data, or do not "
            "keep it."
        )
    ending = ".csv" if path is None else read_ending(path)
    is_packed = path is not None and path.suffix.lower() == ".gz"
    if ending in DELIMITERS:
        return TextWriter(file, keep, names, DELIMITERS[ending], is_packed)
    if ending in (".parquet", ".pq") and not is_packed:
        return cast("Writer", load_format("parquet_writing").ParquetWriter(file, keep, names))
    if ending == ".npy" and not is_packed:
        if keep:
            raise OutputKindError("An .npy file holds coordinates only: to keep columns, write .csv or .parquet.")
        return ArrayWriter(file, len(names))
    assert path is not None
    raise OutputKindError(
        f"What {path.name} shall hold cannot be told from its name: end it in .csv, .tsv (also .gz), .parquet or "
        ".npy, or write to '-', standard output."
    )


class TextWriter(Writer):
    """Writes text that gives back the same numbers."""

    def __init__(
        self, file: BinaryIO, keep: Sequence[str], names: Sequence[str], delimiter: str, is_packed: bool
    ) -> None:
        # No time and no name in what is packed: equal tables are equal bytes.
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if is_packed else None
        raw: Any = self._packed or file
        self._text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        self._writer = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        # Of a carriage return alone the csv module does not see that it would end a line.
        self._quoting = csv.writer(self._text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        self._choose_writer([keep]).writerow([*keep, *names])

    def _choose_writer(self, columns: Sequence[Sequence[Any]]) -> Any:
        """Return what writes some texts so that they can be read again."""
        is_odd = any(isinstance(text, str) and "\r" in text for column in columns for text in column)
        return self._quoting if is_odd else self._writer

    def write(self, kept: dict[str, Any], values: NDArray[Any]) -> None:
        """Write some rows."""
        columns = [make_texts(column) for column in kept.values()]
        writer = self._choose_writer(columns)
        for start in range(0, len(values), TEXT_ROWS):
            rows = slice(start, start + TEXT_ROWS)
            # A float32 is written as the shortest text that gives it back, as a float64 is.
            block = values[rows]
            numbers = block.tolist() if block.dtype != np.float32 else [list(map(str, row)) for row in block]
            texts = zip(*(column[rows] for column in columns), strict=True) if columns else [()] * len(numbers)
            writer.writerows([*text, *row] for text, row in zip(texts, numbers, strict=True))

    def finish(self) -> None:
        """Write what is left."""
        self._text.flush()
        self.abandon()
        if self._packed is not None:
            self._packed.close()

    def abandon(self) -> None:
        """Let go of the file, which closing the text would close."""
        self._text.detach()


def make_texts(column: Any) -> list[Any]:
    """Return a column as the csv module writes it: nothing for what is missing."""
    if hasattr(column, "to_pylist"):
        return list(column.to_pylist())
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


class ArrayWriter(Writer):
    """Writes an .npy file, whose number of rows is known at the end only."""

    def __init__(self, file: BinaryIO, n_columns: int) -> None:
        self._file, self._n_columns, self._n_rows = file, n_columns, 0
        self._type: np.dtype[Any] | None = None

    def _write_header(self) -> None:
        assert self._type is not None
        facts = {"descr": self._type.str, "fortran_order": False, "shape": (self._n_rows, self._n_columns)}
        np.lib.format.write_array_header_1_0(self._file, facts)  # leaves room for more rows

    def write(self, kept: dict[str, Any], values: NDArray[Any]) -> None:
        """Write some rows."""
        if self._type is None:
            self._type = values.dtype
            self._write_header()
            self._length = self._file.tell()
        self._file.write(np.ascontiguousarray(values, dtype=self._type).data)
        self._n_rows += len(values)

    def finish(self) -> None:
        """Write the number of rows."""
        if self._type is None:
            self.write({}, np.empty((0, self._n_columns)))
        self._file.seek(0)
        self._write_header()
        assert self._file.tell() == self._length, "the header of an .npy file has grown"
        self._file.seek(0, io.SEEK_END)
