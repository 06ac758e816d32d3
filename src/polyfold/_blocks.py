"""Work over fixed blocks of rows: the same blocks, reduced in the same order, whatever the thread count."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

#: Temporaries of one block stay below about this many bytes.
BLOCK_BYTES = 2**26

#: ... or below this many, where they are better kept near the processor.
SMALL_BLOCK_BYTES = 2**22

Step = TypeVar("Step")
Block = TypeVar("Block")


def row_slices(n_rows: int, row_bytes: int, block_bytes: int | None = None) -> list[slice]:
    """Cut `n_rows` rows, each of which needs `row_bytes` of working memory, into blocks."""
    step = max(1, (block_bytes or BLOCK_BYTES) // row_bytes)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def renumber(samples: NDArray[np.intp], n_samples: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the different ones among `samples`, in the order in which they occur, and where each is there."""
    from polyfold._fit_kernels import number_samples

    positions = np.empty(len(samples), dtype=np.intp)
    members = np.empty(min(len(samples), n_samples), dtype=np.intp)
    n_members = number_samples(samples, np.full(n_samples, -1, dtype=np.int32), members, positions)
    return members[:n_members], positions


#: Seconds by stage, while someone wants to know; None within a stage, whose parts are not counted twice.
_stage_seconds: ContextVar[dict[str, float] | None] = ContextVar("stage_seconds", default=None)


@contextmanager
def time_stages() -> Iterator[dict[str, float]]:
    """Fill a dictionary with the seconds that each stage takes of the fits that are made meanwhile."""
    seconds: dict[str, float] = {}
    token = _stage_seconds.set(seconds)
    try:
        yield seconds
    finally:
        _stage_seconds.reset(token)


@contextmanager
def _time_stage(description: str) -> Iterator[None]:
    seconds = _stage_seconds.get()
    if seconds is None:
        yield
        return
    token, start = _stage_seconds.set(None), perf_counter()
    try:
        yield
    finally:
        _add_seconds(seconds, description, start)
        _stage_seconds.reset(token)


def _add_seconds(seconds: dict[str, float], description: str, start: float) -> None:
    seconds[description] = seconds.get(description, 0.0) + perf_counter() - start


def show_progress(steps: Iterable[Step], total: int, description: str, verbose: int) -> Iterator[Step]:
    """Pass `steps` through, with a bar on standard error where `verbose` asks for one."""
    from tqdm import tqdm

    seconds, start = _stage_seconds.get(), perf_counter()
    yield from tqdm(steps, total=total, desc=description, disable=not verbose)
    if seconds is not None:
        _add_seconds(seconds, description, start)


@contextmanager
def show_stage(description: str, verbose: int) -> Iterator[None]:
    """Show on standard error, where `verbose` asks for it, that a stage is under way and when it is done."""
    from tqdm import tqdm

    with _time_stage(description), tqdm(total=1, desc=description, disable=not verbose) as bar:
        yield
        bar.update()


def map_blocks(
    function: Callable[[Block], Step],
    blocks: list[Block],
    *,
    n_jobs: int | None,
    verbose: int,
    description: str,
) -> Iterator[Step]:
    """Yield ``function(block)`` for each block, in order, computed by `n_jobs` threads."""
    from joblib import effective_n_jobs

    n_threads = min(int(effective_n_jobs(n_jobs)), len(blocks))
    results = map(function, blocks) if n_threads <= 1 else _map_in_threads(function, blocks, n_threads)
    yield from show_progress(results, len(blocks), description, verbose)


def _map_in_threads(function: Callable[[Block], Step], blocks: list[Block], n_threads: int) -> Iterator[Step]:
    """Yield results in order; no thread is more than a few blocks ahead, so that few results wait in memory."""
    waiting = deque(blocks)
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="polyfold")
    running: deque[Future[Step]] = deque()
    try:
        while waiting or running:
            while waiting and len(running) < 2 * n_threads:
                running.append(pool.submit(function, waiting.popleft()))
            yield running.popleft().result()
    finally:  # after an error or Ctrl-C, what has not begun does not begin, and what has is not waited for
        pool.shutdown(wait=not running, cancel_futures=True)
