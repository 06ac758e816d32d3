"""Samples that are visited a block at a time, wherever they lie: what a fit out of core is written in.

A fit asks three things of them. `total` calls a function on every block and merges what it returns; `share`
computes a value once, where the blocks are worked on, for the functions to use; `fetch` brings a value here. In
this process all three are plain calls; with Dask (`polyfold.dask`) values stay with the workers until fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import map_blocks, row_slices, show_stage

#: Bytes of samples in a block, or more, as so many rows have, but not too many.
CHUNK_BYTES, CHUNK_ROWS, LARGE_CHUNK_BYTES = 2**22, 10_000, 2**26

#: Memory maps above this size are visited in blocks; smaller ones, like other arrays, are held in memory.
LARGE_MAP_BYTES = 2**30

#: What a block is turned into: the block, the number of its first row, and what is shared.
OfBlock = Callable[..., Any]
Merge = Callable[[Sequence[Any]], Any]


class Rows(Protocol):
    """Samples in blocks."""

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and columns."""

    @property
    def first(self) -> int:
        """Number of the first sample."""

    @property
    def n_jobs(self) -> int | None:
        """Threads for what `share` computes."""

    def total(self, of_block: OfBlock, merge: Merge, *shared: Any, description: str) -> Any:
        """Merge ``of_block(block, number of its first row, *shared)`` over all blocks, in their order."""

    def share(self, function: Callable[..., Any], *arguments: Any, description: str = "") -> Any:
        """Return the value of a function, to be passed to others here; with a bar where it is described."""

    def fetch(self, value: Any) -> Any:
        """Return what `total` or `share` returned as itself."""


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Samples in an array, which may be mapped from a file.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
    n_jobs, verbose : int
        Threads, and whether progress is shown.
    first : int
        Number of the first sample.
    """

    X: NDArray[Any]
    n_jobs: int | None
    verbose: int
    first: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and columns."""
        return self.X.shape[0], self.X.shape[1]

    def total(self, of_block: OfBlock, merge: Merge, *shared: Any, description: str) -> Any:
        """Merge what a function makes of each block."""

        def of_rows(rows: slice) -> Any:
            return of_block(self.X[rows], self.first + rows.start, *shared)

        blocks = row_slices(len(self.X), 1, choose_chunk_rows(self.X.shape[1]))
        shares = map_blocks(of_rows, blocks, n_jobs=self.n_jobs, verbose=self.verbose, description=description)
        total = next(shares)
        for share in shares:
            total = merge([total, share])
        return total

    def share(self, function: Callable[..., Any], *arguments: Any, description: str = "") -> Any:
        """Call the function."""
        with show_stage(description, self.verbose if description else 0):
            return function(*arguments)

    def fetch(self, value: Any) -> Any:
        """Return the value."""
        return value


def choose_chunk_rows(n_columns: int) -> int:
    """Return the rows of a block: enough that its sums are worth their size, few enough to be held."""
    row_bytes = 8 * n_columns
    return max(1, CHUNK_BYTES // row_bytes, min(CHUNK_ROWS, LARGE_CHUNK_BYTES // row_bytes))


def is_dask(X: Any) -> bool:
    """Say whether X is a collection of Dask, without importing it."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")


def is_dask_frame(X: Any) -> bool:
    """Say whether X is a data frame of Dask."""
    return is_dask(X) and type(X).__name__ == "DataFrame"


def check_collection(X: Any) -> None:
    """Check that a Dask collection is one of rows and columns."""
    if not is_dask_frame(X) and type(X).__name__ != "Array":
        raise TypeError(f"A Dask collection must be an array or a data frame, got {type(X).__name__}.")


def is_large_map(X: Any) -> bool:
    """Say whether X is an array that is mapped from a file and too large to be held."""
    return isinstance(X, np.memmap) and X.nbytes > LARGE_MAP_BYTES


def check_reference_size(reference_size: Any) -> int | None:
    """Return the number of samples among which neighbours are looked for, None for "auto"."""
    from polyfold._validation import check_integer, is_auto

    if is_auto(reference_size):
        return None
    if isinstance(reference_size, str):
        raise ValueError(f'`reference_size` must be "auto" or an integer >= 2, got {reference_size!r}.')
    return check_integer("reference_size", reference_size, 2)


def count_rows(X: Any) -> int:
    """Return how many samples X has, 0 where that cannot be told yet."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) > 0:
        return int(shape[0])
    return len(X) if hasattr(X, "__len__") else 0


def check_table(X: Any) -> NDArray[Any]:
    """Check what costs nothing of an array that may be too large to be looked at twice."""
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold numbers in 2 dimensions, with samples and columns, got shape {X.shape} of {X.dtype}."
        )
    return np.asarray(X)


def read_columns(X: Any) -> Any:
    """Return what tells the number and the names of the columns: X, or of a Dask data frame its empty like."""
    if not is_dask(X):
        return X
    check_collection(X)
    return X._meta if is_dask_frame(X) else X
