"""NumPy's own files: .npy, mapped into memory, and .npz."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from polyfold._table import make_printable
from polyfold.io.table import Batch, DataError, Table, list_names


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
        self.source = source
        self.image_shape = array.shape[1:] if array.ndim > 2 else None
        self._array = array.reshape(len(array), -1) if array.ndim > 2 else array
        self._load = load
        self._first = first
        self._done = 0
        self.labels = tuple(along)
        self.n_rows, self.n_columns = self._array.shape

    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the rows; see :class:`Table`."""
        is_whole = list(columns) == list(range(self.n_columns))
        step = self.count_batch_rows(self.n_columns)
        along = {name: self._load(name) for name in keep} if self._load else {}
        for start in range(0, len(self._array), step):
            rows = slice(start, start + step)
            values = self._array[rows] if is_whole else self._array[rows][:, list(columns)]
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
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError, BadZipFile) as error:
        why = "it is of another kind, or holds objects of Python" if "pickle" in str(error) else error
        raise DataError(f"{source} is not a readable .npy file: {why}.") from error
    if not isinstance(array, np.ndarray):
        array.close()
        raise DataError(f"{source} is an .npz file by its content. Give it that ending.")
    return ArrayTable(source, array) if rows is None else ArrayTable(source, array[slice(*rows)], first=rows[0])


def open_npz(path: Path, name: str | None = None) -> ArrayTable:
    """Read an .npz file: the array of that name, X, or the only table in it; vectors as long can be kept."""
    source = make_printable(path.name)
    with _explain_archive(source):
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise DataError(f"{source} is an .npy file by its content. Give it that ending.")
        kinds = {each: _read_header(archive, each) for each in archive.files}
    tables = [each for each, (shape, kind) in kinds.items() if len(shape) >= 2 and kind in "biuf"]
    if name is None:
        name = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if name is None or name not in kinds:
        found = list_names(f"{each} {shape}" for each, (shape, _) in kinds.items()) or "none"
        cure = f"Name one with --array {tables[0]}." if tables else "None of them is a table of numbers."
        archive.close()
        raise DataError(f"{source} holds the arrays {found}. {cure}")
    # Only what is asked for is unpacked: vectors when they are kept, and nothing else.
    along = [each for each, (shape, kind) in kinds.items() if shape == kinds[name][0][:1] and kind != "O"]

    def load(each: str) -> NDArray[Any]:
        with _explain_archive(source):
            return np.asarray(archive[each])

    return ArrayTable(f"{source}[{make_printable(name)}]", load(name), along, load)


@contextmanager
def _explain_archive(source: str) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except (OSError, TypeError, ValueError, EOFError, BadZipFile, SyntaxError, KeyError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{source} is not a readable .npz file: {error}") from error


def _read_header(archive: Any, name: str) -> tuple[tuple[int, ...], str]:
    """Return the shape and the kind of an array in an archive, without unpacking it."""
    member = name if name in archive.zip.namelist() else f"{name}.npy"
    with archive.zip.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        return shape, dtype.kind
