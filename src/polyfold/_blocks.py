"""Work over fixed blocks of rows: the same blocks, reduced in the same order, whatever the thread count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

#: Temporaries of one block stay below about this many bytes.
BLOCK_BYTES = 2**26

Step = TypeVar("Step")


def row_slices(n_rows: int, row_bytes: int, block_bytes: int | None = None) -> list[slice]:
    """Cut `n_rows` rows, each of which needs `row_bytes` of working memory, into blocks."""
    step = max(1, (block_bytes or BLOCK_BYTES) // row_bytes)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def show_progress(steps: Iterable[Step], total: int, description: str, verbose: int) -> Iterable[Step]:
    """Pass `steps` through, with a bar on standard error where `verbose` asks for one."""
    from tqdm import tqdm

    bar: Iterable[Step] = tqdm(steps, total=total, desc=description, disable=not verbose)
    return bar


def map_blocks(
    function: Callable[[slice], Step],
    blocks: list[slice],
    *,
    n_jobs: int | None,
    verbose: int,
    description: str,
) -> Iterator[Step]:
    """Yield ``function(block)`` for each block, in order, computed by `n_jobs` threads."""
    from joblib import Parallel, delayed

    results = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(function)(block) for block in blocks
    )
    yield from show_progress(results, len(blocks), description, verbose)
