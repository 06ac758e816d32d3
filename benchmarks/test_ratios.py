"""Guard the main figures against going backwards: ratios to a peer in the same run, with some room for noise.

Run by ``make bench-guard``.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from polyfold import NPPE, SNPPE
from polyfold._neighbors import find_exact_neighbors
from polyfold.bench.suites import learn_map, make_sheet, take_outputs
from polyfold.bench.timing import time_side_by_side
from polyfold.datasets import make_swiss_roll

#: A figure may be worse than its target by so much before a test fails: machines are noisy.
ROOM = 1.3


def guard(benchmark, ours, theirs, limit, rounds=9):
    """Record our time, and compare the best of ours and theirs, which take turns, with the target."""
    seconds = time_side_by_side({"ours": ours, "theirs": theirs}, rounds)
    ratio = seconds["ours"] / seconds["theirs"]
    benchmark.extra_info.update(ratio=ratio, target=limit)
    benchmark.pedantic(ours, rounds=3)
    assert ratio <= ROOM * limit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_samples", "n_columns", "limit"), [(10**6, 3, 1.5), (300_000, 64, 1), (30_000, 784, 1)]
)
def test_transform_costs_a_matrix_product(benchmark, n_samples, n_columns, limit, dtype):
    learned, X = take_outputs(learn_map(n_columns), 2), make_sheet(n_samples, n_columns, dtype)
    U = np.ones((n_columns, 2), dtype=dtype)
    guard(benchmark, partial(learned.transform, X), partial(np.matmul, X, U), limit)


def test_a_reduced_map_costs_two_products(benchmark):
    learned, X = NPPE(reduce=30, alpha=1e-3).fit(make_sheet(1500, 784)).map_, make_sheet(20_000, 784)
    guard(benchmark, partial(learned.transform, X), partial(np.matmul, X, np.ones((784, 30))), 2.0)


def test_one_row_costs_a_few_small_products(benchmark):
    learned, row = SNPPE(alpha=1e-3).fit(make_sheet(1500, 64)).map_, make_sheet(1, 64)
    guard(benchmark, partial(learned.transform, row), partial(np.matmul, row, np.ones((64, 2))), 6.0, rounds=50)


def test_a_fit_costs_two_searches(benchmark):
    X, _ = make_swiss_roll(300_000, random_state=0)
    search = partial(find_exact_neighbors, X, 10, n_jobs=-1, verbose=0)
    guard(benchmark, partial(NPPE(n_neighbors=10, n_jobs=-1).fit, X), search, 2.2, rounds=5)
