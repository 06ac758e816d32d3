"""Measure the peak memory of a fit, each in its own process, beside the documented formula.

    python benchmarks/memory.py [N,n[,degree] ...]        shapes of random data, or the word mnist

The formula, in bytes, for N samples of n columns, d features, k neighbours, r axes and one thread:

    8 (3 N n + 2 N r + 3 N k + 35 d²) + 350 MB
"""

from __future__ import annotations

import subprocess
import sys
import time


def predict(n_samples: int, n_columns: int, n_features: int, n_axes: int, k: int) -> float:
    floats = n_samples * (3 * n_columns + 2 * n_axes + 3 * k) + 35 * n_features**2
    return 8 * floats + 350e6


def measure(shape: str) -> None:
    import warnings

    import numpy as np

    from polyfold import NPPE
    from polyfold.bench.timing import read_peak

    warnings.simplefilter("ignore")
    if shape == "mnist":
        from polyfold.datasets import load_mnist

        X, degree = load_mnist(subset="train")[0], 2
    else:
        n_samples, n_columns, *rest = map(int, shape.split(","))
        degree = rest[0] if rest else 2
        random = np.random.default_rng(0)
        X = np.empty((n_samples, n_columns))
        mixing = random.normal(size=(5, n_columns))
        for start in range(0, n_samples, 10_000):
            rows = X[start : start + 10_000]
            rows[:] = random.normal(size=(len(rows), 5)) @ mixing
            rows += 0.1 * random.normal(size=rows.shape)
    start = time.perf_counter()
    model = NPPE(degree=degree).fit(X)
    seconds = time.perf_counter() - start
    facts = model.diagnostics_
    peak = read_peak()
    given = X.nbytes
    n_axes = facts.n_axes or facts.n_columns
    predicted = predict(*X.shape, facts.n_features, n_axes, facts.n_neighbors)
    print(
        f"{X.shape[0]:>8,} x {X.shape[1]:<6,} d={facts.n_features:<5} k={facts.n_neighbors:<3} {seconds:6.0f} s   "
        f"peak {peak / 1e9:5.2f} GB ({given / 1e9:.2f} of it the input), formula {predicted / 1e9:5.2f} GB, "
        f"ratio {peak / predicted:.2f}"
    )


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        measure(sys.argv[2])
    else:
        for shape in sys.argv[1:] or ["mnist", "200000,20", "20000,400", "3000,3000", "5000,64,3"]:
            subprocess.run([sys.executable, __file__, "--one", shape], check=True)
