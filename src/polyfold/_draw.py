"""Rows drawn from all: those whose number has the smallest hash.

That is a uniform sample, the same whatever the blocks, their order and the number of processes that see them, and
of a stream it can be kept without knowing how long the stream will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import row_slices

#: What is found from a sample of the rows (signs, edge of the domain, tangent planes, the way back) takes so many,
#: or as many as have so many bytes in float64, but always some.
SAMPLE_ROWS, SAMPLE_BYTES, LEAST_SAMPLE_ROWS = 20_000, 2**27, 2000

#: Deviations above the expected number of rows that a block may hand on.
MARGIN = 12


def choose_sample_size(n_columns: int) -> int:
    """Return how many rows such things are found from."""
    return max(LEAST_SAMPLE_ROWS, min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * n_columns)))


def hash_numbers(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a number that looks random for each number, always the same (SplitMix64); different for different."""
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def draw_rows(n_samples: int, size: int) -> NDArray[np.intp]:
    """Return which `size` of the rows are drawn, ascending; all where there are no more."""
    if size >= n_samples:
        return np.arange(n_samples)
    numbers = np.concatenate(
        [_draw_numbers(rows.start, rows.stop, size, n_samples) for rows in row_slices(n_samples, 8, 2**26)]
    )
    return numbers[_find_smallest(numbers, size)].astype(np.intp)


def _draw_numbers(first: int, stop: int, size: int, n_samples: int | None) -> NDArray[np.int64]:
    """Return the numbers of a block that may be drawn: all, or where `n_samples` tells those of a small hash."""
    numbers = np.arange(first, stop, dtype=np.int64)
    if n_samples is None:
        return numbers
    share = (size + MARGIN * np.sqrt(size) + MARGIN**2) / n_samples
    return numbers if share >= 1 else numbers[hash_numbers(numbers) < np.uint64(share * 2.0**64)]


def _find_smallest(numbers: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """Return the positions of the `size` numbers with the smallest hashes, in the order of the numbers."""
    if len(numbers) <= size:
        return np.argsort(numbers)
    chosen = np.argpartition(hash_numbers(numbers), size - 1)[:size]
    return np.asarray(chosen[np.argsort(numbers[chosen])])


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn so far, in parts, and maybe some more than are wanted.

    Attributes
    ----------
    size : int
        How many are wanted.
    numbers : list of ndarray of shape (n_drawn,)
        Of the rows among all.
    rows : list of ndarray of shape (n_drawn, n_columns)
    """

    size: int
    numbers: list[NDArray[np.int64]]
    rows: list[NDArray[Any]]

    @property
    def n_drawn(self) -> int:
        """Rows in all parts."""
        return sum(map(len, self.numbers))

    def settle(self) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]:
        """Return the numbers of those that are wanted, ascending, and these in float32 or float64."""
        numbers, rows = np.concatenate(self.numbers), np.concatenate(self.rows)
        kept = _find_smallest(numbers, self.size)
        numbers, rows = numbers[kept], rows[kept]
        return numbers, rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)


def draw_from_block(block: NDArray[Any], first: int, size: int, n_samples: int | None) -> Drawn:
    """Draw from a block whose first row has the number `first` among `n_samples`; None where that is not known."""
    numbers = _draw_numbers(first, first + len(block), size, n_samples)
    if n_samples is None:
        numbers = numbers[_find_smallest(numbers, size)]
    return Drawn(size, [numbers], [np.take(block, numbers - first, axis=0)])


def merge_drawn(shares: Sequence[Drawn]) -> Drawn:
    """Return what is drawn from all blocks."""
    size = shares[0].size
    merged = Drawn(
        size,
        [part for share in shares for part in share.numbers],
        [part for share in shares for part in share.rows],
    )
    if merged.n_drawn <= 2 * size + MARGIN**2:
        return merged
    numbers, rows = merged.settle()
    return Drawn(size, [numbers], [rows])
