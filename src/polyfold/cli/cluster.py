"""The Dask cluster that a command computes on: one that runs already, or one of this machine for the while."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from polyfold._extras import import_needing
from polyfold.cli.terminal import FAILED, CommandError, say

#: Seconds to wait for a scheduler to answer.
PATIENCE = 5


@contextmanager
def open_cluster(scheduler: str | None, n_jobs: int | None) -> Iterator[Any]:
    """Connect to a scheduler, or start one worker for each processor here, of one thread each.

    Workers of one thread leave it to Dask to share out the processors: BLAS, compiled loops and neighbour searches
    have one each.
    """
    import_needing("polyfold.dask", "dask")
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise CommandError(f"No Dask scheduler answers at {scheduler}: {error}", FAILED) from error
        with client, _explain_lost_workers():
            yield client
        return
    n_workers = n_jobs if n_jobs is not None and n_jobs > 0 else os.cpu_count()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # what was under way when someone stopped it
    with _keep_ctrl_c_from_others():
        cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        )
    with cluster, Client(cluster) as client, _explain_lost_workers():
        say(f"Computes on {n_workers} workers of this machine; watch them at {client.dashboard_link}")
        yield client


@contextmanager
def _keep_ctrl_c_from_others() -> Iterator[None]:
    """Have threads and processes that are started meanwhile, and those that they start, not see Ctrl-C.

    A terminal sends it to all of them, and it is this process that stops the others. Pressed meanwhile, it comes
    after.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which would let the thread that first needs it see Ctrl-C again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _explain_lost_workers() -> Iterator[None]:
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise CommandError(
            "Workers were lost again and again at the same task, as where memory does not suffice: "
            f"{error} Take fewer workers (--n-jobs), a smaller --reference-size, or smaller row groups.",
            FAILED,
        ) from error
