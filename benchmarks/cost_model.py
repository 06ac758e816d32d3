"""What a row of 256 columns costs one core in each pass of a fit in blocks, and so 10⁹ of them on 100 machines.

Run by `benchmarks/scale.py costs`.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from polyfold import NPPE
from polyfold._reference import accumulate_block, merge_folds
from polyfold._rows import HeldRows, choose_chunk_rows
from polyfold._streaming import choose_survey_sizes, plan_fit, solve_folds, sum_block_monomials, survey_rows
from polyfold._survey import survey_block

#: The fit that is computed: rows, columns, machines and their cores, and the bytes/s of their network (assumed).
N, COLUMNS, MACHINES, CORES, NETWORK = 10**9, 256, 100, 2, 1.25e9

#: Passes over the data.
PASSES = 3


def make_wide(n_rows: int, n_columns: int, seed: int) -> np.ndarray:
    """Return a curved sheet of five dimensions in many columns, with noise off it."""
    mixing = np.random.default_rng(0).normal(size=(2, 5, n_columns))
    random = np.random.default_rng(seed + 1)
    t = random.normal(size=(n_rows, 5))
    return np.tanh(t @ mixing[0] / 2) + 0.1 * (t * t) @ mixing[1] + 0.1 * random.normal(size=(n_rows, n_columns))


def time_best(function: Callable[[], Any], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


@dataclass(frozen=True)
class Costs:
    """Seconds of one core, for a row where nothing else is said, and bytes."""

    read: float
    survey: float
    monomials: float
    relations: float
    merge: float  # of the sums of a chunk
    plan: float
    solve: float
    task: float  # of the scheduler
    bandwidth: float  # bytes a second between two workers here
    sums: int  # bytes of a chunk's sums
    reference: int  # bytes of the reference set
    index: int  # bytes of its index
    chunk: int  # rows
    n_features: int
    n_neighbors: int
    n_reference: int
    n_axes: int


def measure_costs(folder: Path) -> Costs:
    from threadpoolctl import threadpool_limits

    X = make_wide(100_000, COLUMNS, 0)
    read = measure_reading(folder / "costs.parquet", X[:20_000])
    settings, rows, chunk = NPPE()._check_parameters(), HeldRows(X, 1, 0), choose_chunk_rows(COLUMNS)
    with threadpool_limits(1):
        sizes, block = choose_survey_sizes((N, COLUMNS), settings), X[:chunk]
        survey_seconds = time_best(lambda: survey_block(block, 0, sizes))
        survey, seen = survey_rows(rows, settings)
        start = time.perf_counter()
        plan = plan_fit(rows, settings, survey, seen)
        plan_seconds = time.perf_counter() - start
        reference, basis = plan.reference, plan.basis
        folds = accumulate_block(block[:500], 0, reference, basis, plan.n_folds)
        monomials = time_best(lambda: sum_block_monomials(block, 0, plan.frame, basis.monomials))
        relations = time_best(lambda: accumulate_block(block, 0, reference, basis, plan.n_folds))
        merge = time_best(lambda: merge_folds([folds] * 2))
        solve = time_best(lambda: solve_folds(plan, folds, seen.sample), 1)
    task, bandwidth = measure_cluster()
    return Costs(
        read,
        survey_seconds / chunk,
        monomials / chunk,
        relations / chunk,
        merge,
        plan_seconds,
        solve,
        task,
        bandwidth,
        len(pickle.dumps(folds)),
        len(pickle.dumps(reference)),
        len(pickle.dumps(reference.index)),
        chunk,
        basis.monomials.n_features,
        plan.facts.n_neighbors,
        plan.facts.n_reference,
        plan.frame.n_axes,
    )


def measure_reading(path: Path, X: np.ndarray) -> float:
    """Return the seconds that a row takes from a parquet file into an array."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from polyfold.io.many import cut_file

    names = [f"c{j}" for j in range(X.shape[1])]
    pq.write_table(pa.table(dict(zip(names, X.T, strict=True))), path, row_group_size=10_000)
    pieces = [replace(piece, columns=tuple(range(X.shape[1]))) for piece in cut_file(path, X.shape[1])]
    return time_best(lambda: [piece.load() for piece in pieces]) / len(X)


def measure_cluster(n_tasks: int = 5000, n_floats: int = 2**24) -> tuple[float, float]:
    """Return the seconds that a task takes the scheduler, and the bytes a second from one worker to the other."""
    from distributed import Client, LocalCluster, wait

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as own, Client(own) as client:
        client.gather(client.map(_give_back, range(100)))
        task = time_best(lambda: client.gather(client.map(_give_back, range(n_tasks), pure=False))) / n_tasks
        one, other = client.scheduler_info()["workers"]
        seconds = []
        for _ in range(3):
            made = client.submit(np.ones, n_floats, workers=[one], pure=False)
            wait(made)
            start = time.perf_counter()
            client.submit(len, made, workers=[other], pure=False).result()
            seconds.append(time.perf_counter() - start)
    return task, 8 * n_floats / min(seconds)


def _give_back(number: int) -> int:
    return number


def bench_costs(folder: Path) -> str:
    """Return the table."""
    costs = measure_costs(folder)
    workers, chunks = MACHINES * CORES, N / costs.chunk
    n_tasks = PASSES * chunks * 3  # one that reads, one that computes, and one that merges
    merged, row_bytes, d = chunks * costs.sums, 8 * COLUMNS, costs.n_features

    def of_rows(what: str, seconds: float, flops: float) -> tuple[str, str, str, str, float]:
        measured = f"{seconds * 1e6:.0f} µs a row, {flops / seconds / 1e9:.1f} Gflop/s"
        return what, measured, f"{flops * N:.1e} flops", f"{flops * N / MACHINES:.1e}", seconds * N / workers

    table = [
        (
            f"read parquet, {PASSES} passes",
            f"{row_bytes / costs.read / 1e6:.0f} MB/s",
            f"{PASSES * row_bytes * N / 1e12:.1f} TB",
            f"{PASSES * row_bytes * N / MACHINES / 1e9:.0f} GB",
            PASSES * costs.read * N / workers,
        ),
        of_rows("survey: products of columns, 2 n² flops", costs.survey, 2 * COLUMNS**2),
        of_rows("monomials: their products, 2 d² flops", costs.monomials, 2 * d * d),
        of_rows(
            "relations: search, weights, sums over neighbours, Gram pair, 8 d² + 4 k d flops",
            costs.relations,
            8 * d * d + 4 * costs.n_neighbors * d,
        ),
        (
            "sums added up",
            f"{costs.sums / 1e6:.0f} MB a chunk, {costs.merge * 1e3:.0f} ms",
            f"{merged / 1e12:.1f} TB",
            f"{merged / MACHINES / 1e9:.0f} GB",
            costs.merge * chunks / workers,
        ),
        (
            "the same through the network, if each goes to another machine",
            f"{costs.bandwidth / 1e9:.1f} GB/s from worker to worker, here",
            f"{merged / 1e12:.1f} TB",
            f"{merged / MACHINES / 1e9:.0f} GB at {NETWORK / 1e9:.2f} GB/s, which is assumed",
            merged / MACHINES / NETWORK,
        ),
        (
            f"reference set of {costs.n_reference:,}, and its index, on each worker",
            f"{costs.reference / 1e6:.0f} MB, {costs.index / 1e6:.0f} MB",
            f"{(costs.reference + costs.index) * workers / 1e9:.0f} GB",
            f"{(costs.reference + costs.index) * CORES / 1e9:.2f} GB",
            costs.reference * np.log2(workers) / NETWORK,
        ),
        (
            "Dask's scheduler, one process",
            f"{costs.task * 1e3:.2f} ms a task",
            f"{n_tasks:.1e} tasks",
            "one machine's",
            n_tasks * costs.task,
        ),
        (
            "plan and solution, one core",
            f"{costs.plan:.0f} s and {costs.solve:.0f} s",
            "once",
            "one machine's",
            costs.plan + costs.solve,
        ),
    ]
    busy = sum(row[-1] for row in table[:5])
    scheduling = n_tasks * costs.task
    lines = [
        f"{N:,} rows of {COLUMNS} columns, {costs.n_axes} axes, d = {d}, k = {costs.n_neighbors}, in chunks of "
        f"{costs.chunk:,} rows, on {MACHINES} machines of {CORES} cores like this one:",
        "",
        "| what | measured here, on one core | in all | on each machine | hours |",
        "|---|---|---|---|---|",
        *(f"| {' | '.join(row[:-1])} | {row[-1] / 3600:.2f} |" for row in table),
        "",
        f"Workers are busy for {busy / 3600:.1f} hours, the scheduler meanwhile for {scheduling / 3600:.2f}: it "
        f"keeps up with {MACHINES * busy / scheduling:,.0f} such machines. It is one process, and that is where "
        f"it breaks first; chunks of {8 * costs.chunk:,} rows ({8 * costs.chunk * row_bytes / 1e6:.0f} MB) put it "
        "off eightfold.",
    ]
    return "\n".join(lines)
