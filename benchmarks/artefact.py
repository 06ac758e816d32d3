"""Figures of docs/artefact.md: gradients beside transform, the start of a service, statements in databases.

Run by ``python benchmarks/artefact.py`` on a machine that does nothing else.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from polyfold import PolynomialMap
from polyfold.bench.timing import time_import

RANDOM = np.random.default_rng(0)


def make_map(basis: str, degree: int, n_inputs: int, n_outputs: int, n_axes: int | None = None) -> PolynomialMap:
    from polyfold._basis import count_features

    axes = None if n_axes is None else np.linalg.qr(RANDOM.normal(size=(n_inputs, n_axes)))[0]
    shape = count_features(basis, n_axes or n_inputs, degree), n_outputs
    coefficients, offset = RANDOM.normal(size=shape), RANDOM.normal(size=n_outputs)
    return PolynomialMap(RANDOM.normal(size=n_inputs), 1.7, basis, degree, coefficients, offset, axes)


def time_best(functions: list[Callable[[], object]], repeats: int = 9) -> list[float]:
    """Return the best time of each, taken in turns."""
    times = [[] for _ in functions]
    for _ in range(repeats + 1):
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [min(taken[1:]) for taken in times]


def show_gradients() -> None:
    print("| samples | outputs | degree | jacobian, per output, over transform | jacobian over X.copy() |")
    print("|---|---|---|---|---|")
    for n_rows, n_inputs in ((1_000_000, 3), (300_000, 10), (100_000, 64), (20_000, 784)):
        X = RANDOM.normal(size=(n_rows, n_inputs))
        for n_outputs in (1, 2, 3):
            for degree in (2, 3):
                learned = make_map("hadamard", degree, n_inputs, n_outputs)
                run = [
                    lambda learned=learned, X=X: learned.transform(X),
                    lambda learned=learned, X=X: learned.jacobian(X),
                    X.copy,
                ]
                transform, jacobian, copy = time_best(run)
                ratio = jacobian / n_outputs / transform
                print(
                    f"| {n_rows:,} × {n_inputs} | {n_outputs} | {degree} | {ratio:.2f} | {jacobian / copy:.2f} |"
                )


def show_start() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map"
        make_map("kronecker", 2, 784, 2, 30).save(path)
        load = f"from polyfold import PolynomialMap; PolynomialMap.load({str(path)!r})"
        place = f"{load}.transform([[0.0] * 784])"
        statements = {
            "import numpy": "import numpy",
            "load a map": load,
            "load a map and place a sample": place,
            "import sklearn.manifold": "import sklearn.manifold",
        }
        print("\n| a new process that does | takes |\n|---|---|")
        for name, statement in statements.items():
            print(f"| {name} | {time_import(statement, 5) * 1000:.0f} ms |")


def show_statements() -> None:
    import duckdb
    import pandas

    print("\n| map | characters | DuckDB, 10,000 rows | SQLite, 10,000 rows |\n|---|---|---|---|")
    for basis, n_inputs, n_axes in (
        ("kronecker", 3, None),
        ("hadamard", 64, None),
        ("hadamard", 784, None),
        ("kronecker", 784, 30),
    ):
        learned = make_map(basis, 2, n_inputs, 2, n_axes)
        X = RANDOM.normal(size=(10_000, n_inputs))
        statement = learned.to_sql("duckdb")
        with duckdb.connect() as connection:
            connection.register("frame", pandas.DataFrame(X, columns=list(learned.column_names)))
            connection.execute("CREATE TABLE samples AS SELECT * FROM frame")
            (in_duckdb,) = time_best([lambda c=connection, s=statement: c.execute(s).fetchnumpy()], 3)
        connection = sqlite3.connect(":memory:")
        connection.execute(f"CREATE TABLE samples ({', '.join(learned.column_names)})")
        connection.executemany(f"INSERT INTO samples VALUES ({', '.join('?' * n_inputs)})", X.tolist())
        statement = learned.to_sql("sqlite")
        (in_sqlite,) = time_best([lambda c=connection, s=statement: c.execute(s).fetchall()], 1)
        through = f"{n_inputs} → {n_axes} → 2" if n_axes else f"{n_inputs} → 2"
        print(f"| {through}, {basis} | {len(statement):,} | {in_duckdb:.2f} s | {in_sqlite:.2f} s |", flush=True)


if __name__ == "__main__":
    show_gradients()
    show_start()
    show_statements()
