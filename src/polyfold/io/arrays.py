"""NumPy's own files: .npy, mapped into memory, and .npz."""

from __future__ import annotations

import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from errno import EINVAL
from lzma import LZMAError
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from polyfold._memory import read_free_memory
from polyfold._table import make_printable
from polyfold.io.table import Batch, DataError, Table, list_names, show_name, take_columns

#: What the headers of arrays begin with, and how long NumPy lets them be.
MAGIC, LONGEST_HEADER = b"\x93NUMPY", 10_000

#: Rows or columns that an array without a single number may claim.
MOST_EMPTY = 10_000_000

#: Characters of a number or a shape, and of what NumPy says, that a message shows.
SHOWN_NUMBER, SHOWN_REASON = 60, 200

#: What NumPy and the unpacking of archives raise where a file is not what it should be.
UNREADABLE = (
    BadZipFile, EOFError, KeyError, LZMAError, MemoryError, OSError, OverflowError, RuntimeError, SyntaxError,
    TokenError, TypeError, ValueError, zlib.error,
)  # fmt: skip


class ArrayTable(Table):
    """An array of two dimensions, or of images, and others with an entry for each row."""

    def __init__(
        self,
        source: str,
        array: NDArray[Any],
        along: Sequence[str] = (),
        load: Callable[[str], NDArray[Any]] | None = None,
        first: int = 0,
    ) -> None:
        if array.ndim < 2 or array.ndim > 4 or array.dtype.kind not in "biuf":
            raise DataError(
                f"{source} must hold numbers in 2 dimensions, or images in 3; it has shape {array.shape} and type "
                f"{array.dtype}."
            )
        if 0 in array.shape[1:]:
            raise DataError(f"{source} has no columns: its shape is {array.shape}.")
        if array.size == 0 and max(array.shape) > MOST_EMPTY:
            raise DataError(f"{source} holds no numbers, though it has shape {array.shape}.")
        self.source = source
        self.image_shape = array.shape[1:] if array.ndim > 2 else None
        if array.ndim > 2 and not array.flags.c_contiguous:
            check_fits(source, array.nbytes, "Save it in C order, which is read in parts.")
        self._array = array.reshape(len(array), prod(array.shape[1:])) if array.ndim > 2 else array
        self._load = load
        self._first = first
        self._done = 0
        self.labels = tuple(along)
        self.n_rows, self.n_columns = self._array.shape

    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the rows; see :class:`Table`."""
        step = self.count_batch_rows(self.n_columns)
        along = {name: self._load(name) for name in keep} if self._load else {}
        for start in range(0, len(self._array), step):
            rows = slice(start, start + step)
            values = take_columns(self._array[rows], columns)
            if values.dtype.itemsize > 8:  # what float64 cannot hold is infinite, and is told as such
                with np.errstate(over="ignore"):
                    values = values.astype(np.float64)
            yield Batch(values, {name: column[rows] for name, column in along.items()}, self._first + start)
            self._done = start + len(values)

    def take_whole(self) -> NDArray[Any]:
        """Return all rows and columns, without reading them where they are mapped into memory."""
        return self._array

    def read_share(self) -> float | None:
        """Return how much of the array has been read."""
        return self._done / max(len(self._array), 1)


def open_npy(path: Path, rows: tuple[int, int] | None = None, source: str | None = None) -> ArrayTable:
    """Map an .npy file into memory, or some rows of it: the first, and the one after the last."""
    source = make_printable(source or path.name)
    with _explain(source, ".npy"):
        with path.open("rb") as file:
            if file.read(4) in (b"PK\3\4", b"PK\5\6"):
                raise DataError(f"{source} is an .npz file by its content. Give it that ending.")
            file.seek(0)
            read_header(file, os.fstat(file.fileno()).st_size)
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    return ArrayTable(source, array) if rows is None else ArrayTable(source, array[slice(*rows)], first=rows[0])


def open_npz(path: Path, name: str | None = None) -> ArrayTable:
    """Read an .npz file: the array of that name, X, or the only table in it; vectors as long can be kept."""
    source = make_printable(path.name)
    with _explain(source, ".npz"):
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                raise DataError(f"{source} is an .npy file by its content. Give it that ending.")
        with ZipFile(path) as archive:
            members = {member.removesuffix(".npy"): member for member in archive.namelist()}
            kinds = {each: _read_member(archive, member)[:2] for each, member in members.items()}
    tables = [each for each, (shape, kind) in kinds.items() if len(shape) >= 2 and kind in "biuf"]
    if name is None:
        name = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if name is None or name not in kinds:
        found = list_names(f"{each} {shape}" for each, (shape, _) in kinds.items()) or "none"
        cure = (
            f"Name one with --array {show_name(tables[0])}." if tables else "None of them is a table of numbers."
        )
        raise DataError(f"{source} holds the arrays {found}. {cure}")
    # Only what is asked for is unpacked: vectors when they are kept, and nothing else.
    along = [each for each, (shape, kind) in kinds.items() if shape == kinds[name][0][:1] and kind != "O"]

    def load(each: str) -> NDArray[Any]:
        with _explain(source, ".npz"), ZipFile(path) as archive:
            cure = "Save it as .npy or .parquet, which are read in parts."
            check_fits(f"{source}[{show_name(each)}]", _read_member(archive, members[each])[2], cure)
            with archive.open(members[each]) as file:
                return np.asarray(np.lib.format.read_array(file, allow_pickle=False))

    return ArrayTable(f"{source}[{show_name(name)}]", load(name), along, load)


def read_header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], str, int]:
    """Return shape, kind and bytes of an array in a file of so many bytes, which must be as the header says.

    Nothing is read but the header, and that only where it is not longer than it can be.
    """
    start = file.read(12)
    if not start.startswith(MAGIC):
        raise ValueError("it is of another kind, or holds objects of Python")
    version = tuple(start[6:8])
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"its format version is {version}")
    n_digits = 2 if version == (1, 0) else 4
    length = int.from_bytes(start[8 : 8 + n_digits], "little")
    if length > LONGEST_HEADER:
        raise ValueError(f"its header is {length:,} bytes long")
    file.seek(8)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python's, about what stands in the header
        shape, _, dtype = read(file)
    if dtype.hasobject:
        return shape, "O", 0
    n_bytes, found = dtype.itemsize * prod(shape), size - 8 - n_digits - length
    if any(length < 0 for length in shape) or n_bytes != found:
        raise ValueError(
            f"its header promises shape {_shorten(shape)} and type {dtype}, and {found:,} bytes follow instead of "
            f"{_shorten(n_bytes)}: it was cut short or changed"
        )
    return shape, dtype.kind, n_bytes


def check_fits(what: str, n_bytes: int, cure: str) -> None:
    """Check that something that has to be in memory at once fits there."""
    free = read_free_memory()
    if free is not None and n_bytes > free:
        raise DataError(
            f"{what} takes {n_bytes / 1e9:,.2f} GB of memory, and {free / 1e9:,.2f} GB are free. {cure}"
        )


def _shorten(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text if len(text) <= SHOWN_NUMBER else f"{text[:SHOWN_NUMBER]}…"


@contextmanager
def _explain(source: str, kind: str) -> Iterator[None]:
    """Say in one error why a file of some kind cannot be read."""
    try:
        yield
    except DataError:
        raise
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise  # it may not be read, or is not there
        why = make_printable(str(error)[:SHOWN_REASON]).rstrip(".") or "its header makes no sense"
        why = (
            "it is of another kind, or holds objects of Python" if re.search("pickle|Python objects", why) else why
        )
        raise DataError(f"{source} is not a readable {kind} file: {why}.") from error


def _read_member(archive: ZipFile, member: str) -> tuple[tuple[int, ...], str, int]:
    """Return the shape, the kind and the bytes of an array in an archive, without unpacking it."""
    with archive.open(member) as file:
        return read_header(file, archive.getinfo(member).file_size)
