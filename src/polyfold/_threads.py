"""Threads that share the blocks of one call: a pool that is kept, and is made anew in a forked child."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import lru_cache
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import Any

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


class _ThreadLimit:
    """One thread for some libraries while somebody asks for it: who ask at once share the limit of the process.

    Whoever asks first sets it, in whatever thread, and whoever is done last lifts it.

    Parameters
    ----------
    kind : {"blas", "openmp"}
        What threadpoolctl calls the libraries.
    """

    def __init__(self, kind: str) -> None:
        self.kind, self.lock, self.n_asking, self.n_modules = kind, Lock(), 0, 0
        self.controller: Any = None
        self.limiter: Any = None

    def acquire(self) -> None:
        with self.lock:
            if self.limiter is None:
                libraries = self._find_libraries()
                with _any_thread_may_limit():
                    self.limiter = libraries.limit(limits=1, user_api=self.kind)
            self.n_asking += 1

    def _find_libraries(self) -> Any:
        """Look for the libraries of the process, anew only where a module has been imported since."""
        from threadpoolctl import ThreadpoolController

        if self.controller is None or self.n_modules != len(sys.modules):
            self.controller, self.n_modules = ThreadpoolController(), len(sys.modules)
        return self.controller

    def release(self) -> None:
        with self.lock:
            self.n_asking = max(self.n_asking - 1, 0)
            if self.n_asking == 0 and self.limiter is not None:
                self.limiter, limiter = None, self.limiter
                with _any_thread_may_limit():
                    limiter.restore_original_limits()

    def forget_askers(self) -> None:
        """Start anew in a forked child, where nobody asks; a limit that was in force ends with the next fit."""
        self.lock, self.n_asking = Lock(), 0


@contextmanager
def _any_thread_may_limit() -> Iterator[None]:
    """Let this thread set limits: from 3.8 on threadpoolctl ignores all but the one that did so before."""
    from threadpoolctl import OpenBLASController

    free = getattr(OpenBLASController, "clear_controlling_thread", None)
    if free is not None:
        free(force=True)
    try:
        yield
    finally:
        if free is not None:
            free(force=True)


_BLAS_LIMIT, _OPENMP_LIMIT = _ThreadLimit("blas"), _ThreadLimit("openmp")

#: Set in the fork of a process that had imported this module.
_FORKED = Event()


def is_forked() -> bool:
    """Say whether this process is the fork of one that had imported this module."""
    return _FORKED.is_set()


@contextmanager
def use_one_blas_thread() -> Iterator[None]:
    """Let BLAS sum in one order, whatever number of threads it has: threads of ours share blocks instead."""
    with _hold(_BLAS_LIMIT), use_living_threads():
        yield


@contextmanager
def use_living_threads() -> Iterator[None]:
    """Give OpenMP one thread in a forked child, where GNU's would wait for those that its parent had, for ever."""
    if not is_forked():
        yield
        return
    with _hold(_OPENMP_LIMIT):
        yield


@contextmanager
def _hold(limit: _ThreadLimit) -> Iterator[None]:
    limit.acquire()
    try:
        yield
    finally:
        limit.release()


def _forget_threads() -> None:
    """Start anew in a forked child: threads do not survive a fork, nor do those that would release a lock."""
    _FORKED.set()
    _start_pool.cache_clear()
    _BLAS_LIMIT.forget_askers()
    _OPENMP_LIMIT.forget_askers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


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


def call_aside(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call what may take long without the GIL in a thread of its own: Ctrl-C is heard meanwhile.

    Such a call cannot be stopped. After Ctrl-C it goes on until it is done, and what it returns is thrown away.
    """
    if current_thread() is not main_thread():
        return function(*arguments)  # Ctrl-C goes to the main thread only, which waits where it can hear
    returned: list[Any] = []
    raised: list[BaseException] = []
    done, context = Event(), copy_context()

    def call() -> None:
        try:
            returned.append(context.run(function, *arguments))
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    try:
        Thread(target=call, name="polyfold", daemon=True).start()
    except RuntimeError:  # there are no more threads
        return function(*arguments)
    done.wait()
    if raised:
        raise raised[0]
    return returned[0]
