"""NumPy's own files: .npy, mapped into memory, and .npz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from polyfold.io.table import Batch, DataError, Table, list_names


class ArrayTable(Table):
    """An array of two dimensions, or of images, and others with an entry for each row."""

    def __init__(self, source: str, array: NDArray[Any], along: dict[str, NDArray[Any]] | None = None) -> None:
        if array.ndim < 2 or array.ndim > 4 or array.dtype.kind not in "biuf":
            raise DataError(
                f"{source} must hold numbers in 2 dimensions, or images in 3; it has shape {array.shape} and type "
                f"{array.dtype}."
            )
        self.source = source
        self.image_shape = array.shape[1:] if array.ndim > 2 else None
        self._array = array.reshape(len(array), -1) if array.ndim > 2 else array
        self._along = along or {}
        self._done = 0
        self.labels = tuple(self._along)
        self.n_rows, self.n_columns = self._array.shape

    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the rows; see :class:`Table`."""
        is_whole = list(columns) == list(range(self.n_columns))
        step = self.count_batch_rows(self.n_columns)
        for start in range(0, len(self._array), step):
            rows = slice(start, start + step)
            values = self._array[rows] if is_whole else self._array[rows][:, list(columns)]
            yield Batch(values, {name: self._along[name][rows] for name in keep}, start)
            self._done = start + len(values)

    def take_whole(self) -> NDArray[Any]:
        """Return all rows and columns, without reading them where they are mapped into memory."""
        return self._array

    def read_share(self) -> float | None:
        """Return how much of the array has been read."""
        return self._done / max(len(self._array), 1)


def open_npy(path: Path) -> ArrayTable:
    """Map an .npy file into memory."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, TypeError, SyntaxError) as error:
        raise DataError(f"{path.name} is not a readable .npy file: {error}") from error
    return ArrayTable(path.name, array)


def open_npz(path: Path, name: str | None = None) -> ArrayTable:
    """Read an .npz file: the array of that name, X, or the only table in it; vectors as long can be kept."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {each: archive[each] for each in archive.files}
    except (OSError, TypeError, ValueError, EOFError, BadZipFile, SyntaxError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{path.name} is not a readable .npz file: {error}") from error
    tables = [each for each, array in arrays.items() if array.ndim >= 2 and array.dtype.kind in "biuf"]
    if name is None:
        name = "X" if "X" in tables else tables[0] if len(tables) == 1 else None
    if name is None or name not in arrays:
        found = list_names(f"{each} {array.shape}" for each, array in arrays.items()) or "none"
        cure = f"Name one with --array {tables[0]}." if tables else "None of them is a table of numbers."
        raise DataError(f"{path.name} holds the arrays {found}. {cure}")
    along = {each: array for each, array in arrays.items() if array.shape == arrays[name].shape[:1]}
    return ArrayTable(f"{path.name}[{name}]", arrays[name], along)
