"""Threads that share the blocks of one call: a pool that is kept, and is made anew in a forked child."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import lru_cache

#: More threads than this wait for memory, not for processors.
MOST_THREADS = 8


@lru_cache(maxsize=1)
def count_threads() -> int:
    """Return how many threads a call may use: one per processor, or what OMP_NUM_THREADS says."""
    from joblib import cpu_count

    wanted = os.environ.get("OMP_NUM_THREADS", "")
    available = min(int(cpu_count()), MOST_THREADS)
    return min(int(wanted), available) if wanted.isdigit() and int(wanted) > 0 else available


@lru_cache(maxsize=1)
def _start_pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(count_threads() - 1, 1), thread_name_prefix="polyfold")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_pool.cache_clear)  # threads do not survive a fork


def share_blocks(function: Callable[[slice], None], blocks: Iterable[slice]) -> None:
    """Call ``function(block)`` for each block, in this thread and in those of the pool.

    An error, or Ctrl-C, stops all after the blocks that they are at.
    """
    waiting = deque(blocks)

    def take() -> slice | None:
        try:
            return waiting.popleft()
        except IndexError:
            return None

    def work() -> None:
        try:
            while (block := take()) is not None:
                function(block)
        except BaseException:
            waiting.clear()
            raise

    helpers: list[Future[None]] = []
    with suppress(RuntimeError):  # while the interpreter shuts down there are no new threads
        helpers.extend(_start_pool().submit(work) for _ in range(min(count_threads(), len(waiting)) - 1))
    try:
        work()
    finally:
        for helper in helpers:
            helper.cancel()  # where it has not begun
        wait(helpers)
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
