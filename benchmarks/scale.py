"""Past one machine's memory: fits from disk by two workers, and what larger ones would cost.

    python benchmarks/scale.py [sizes] [workers] [convergence] [costs] [--into docs/scale.md]

`sizes`: 10⁷ × 3 and 2·10⁶ × 64, and a tenth of each: seconds, and the peak memory of the whole tree of processes.
`workers`: two against one. `convergence`: how the map depends on the reference set. `costs`: what a row costs in
each pass, from which the table for 10⁹ × 256 on 100 machines is computed. Without names all are run, in three
quarters of an hour. Tables go to standard output, and with --into to the places that a page has for them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from cost_model import bench_costs, make_wide

from polyfold.bench.timing import describe_machine

GB = 1e9


def write_roll(folder: Path, n_files: int, rows: int = 10**6) -> None:
    """Write a Swiss roll as parquet files, an eighth of a file in each row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from polyfold.datasets import make_swiss_roll

    folder.mkdir()
    for k in range(n_files):
        X, _ = make_swiss_roll(rows, random_state=k)
        table = pa.table({name: X[:, j] for j, name in enumerate("xyz")})
        pq.write_table(table, folder / f"part-{k:02d}.parquet", row_group_size=rows // 8)


def write_wide(folder: Path, n_files: int, rows: int = 200_000, n_columns: int = 64) -> None:
    folder.mkdir()
    for k in range(n_files):
        np.save(folder / f"part-{k:02d}.npy", make_wide(rows, n_columns, k))


def measure_tree(process: subprocess.Popen[bytes]) -> float:
    """Return the peak of the resident memory of a process and its descendants, all added up."""
    import psutil

    root, peak = psutil.Process(process.pid), 0
    while process.poll() is None:
        total = 0
        try:
            for each in [root, *root.children(recursive=True)]:
                try:
                    total += each.memory_info().rss
                except psutil.Error:
                    continue
        except psutil.Error:
            break
        peak = max(peak, total)
        time.sleep(0.05)
    return float(peak)


def run_fit(pattern: str, *options: str) -> tuple[float, float]:
    """Fit by the command line; return the seconds that it took and the peak memory of its processes."""
    with tempfile.TemporaryDirectory() as place:
        command = [
            sys.executable,
            "-m",
            "polyfold.cli",
            "fit",
            pattern,
            "-o",
            f"{place}/map.safetensors",
            "--json",
        ]
        with (Path(place) / "told.json").open("wb") as told:
            process = subprocess.Popen([*command, *options], stdout=told, stderr=subprocess.DEVNULL)
            peak = measure_tree(process)
        if process.returncode:
            raise RuntimeError(f"{command} ended with {process.returncode}")
        return float(json.loads((Path(place) / "told.json").read_text())["seconds"]), peak


def bench_sizes(folder: Path) -> str:
    write_roll(folder / "roll", 10)
    write_wide(folder / "wide", 10)
    lines = ["| samples | seconds | exponent | peak memory | allowed |", "|---|---|---|---|---|"]
    settings = {"roll": (3, 10**6, 3.0, ["--n-neighbors", "10"], "parquet"), "wide": (64, 200_000, 6.0, [], "npy")}
    for name, (n_columns, rows, allowed, options, ending) in settings.items():
        seconds = {}
        for n_files, pattern in ((1, f"part-00*.{ending}"), (10, f"*.{ending}")):
            repeats = 1 if seconds else 3  # the small one best of three, so that an exponent is no smaller
            runs = [run_fit(str(folder / name / pattern), *options) for _ in range(repeats)]
            times, peaks = zip(*runs, strict=True)
            seconds[n_files] = min(times)
            exponent = f"{np.log10(seconds[10] / seconds[1]):.2f}" if n_files == 10 else ""
            lines.append(
                f"| {n_files * rows:,} × {n_columns} | {min(times):.0f} | {exponent} | {max(peaks) / GB:.2f} GB | "
                f"{allowed:.0f} GB |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines)


def bench_workers(folder: Path) -> str:
    """Two workers of one thread against one, taken in turns.

    Of so many rows that the sums over them take nearly all of the time: what one process does alone, some 15 s, is
    there however many rows there are.
    """
    write_wide(folder / "two", 6)
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(2):
        for n_workers in (1, 2):
            times[n_workers].append(run_fit(str(folder / "two" / "*.npy"), "--n-jobs", str(n_workers))[0])
            print(n_workers, times[n_workers], flush=True)
    best = {n_workers: min(each) for n_workers, each in times.items()}
    lines = ["| workers | seconds, best of two | times as fast |", "|---|---|---|"]
    lines += [f"| {n_workers} | {best[n_workers]:.0f} | {best[1] / best[n_workers]:.2f} |" for n_workers in (1, 2)]
    return "\n".join(lines)


def bench_convergence(folder: Path) -> str:
    from scipy.linalg import subspace_angles

    from polyfold import NPPE
    from polyfold.datasets import load_mnist, make_swiss_roll
    from polyfold.metrics import residual_variance, trustworthiness

    def angle(Y: np.ndarray, Z: np.ndarray) -> float:
        return float(np.degrees(subspace_angles(Y - Y.mean(axis=0), Z - Z.mean(axis=0)).max()))

    lines = [
        "| reference set | Swiss roll, 100,000 × 3, k = 10: angle to exact, worst of 5 draws | ρ, worst |",
        "|---|---|---|",
    ]
    rolls = [make_swiss_roll(100_000, random_state=seed) for seed in range(5)]
    exact = [NPPE(n_neighbors=10).fit(X).embedding_ for X, _ in rolls]
    for size in (300, 1000, 3000, 10_000, 30_000, 100_000):
        maps = [NPPE(n_neighbors=10, reference_size=size).fit(X).embedding_ for X, _ in rolls]
        angles = [angle(Y, Z) for Y, Z in zip(maps, exact, strict=True)]
        rho = max(residual_variance(Y, Z) for Y, (_, Z) in zip(maps, rolls, strict=True))
        lines.append(f"| {size:,} | {max(angles):.2g}° | {rho:.4f} |")
        print(lines[-1], flush=True)
    try:
        X = load_mnist(subset="train")[0]
    except Exception as error:
        return "\n".join([*lines, "", f"MNIST is not there: {error}"])
    settings = {"n_components": 10, "n_neighbors": 30, "neighbors": "exact", "alpha": 1e-2}
    exact_map = NPPE(**settings).fit(X)
    some = np.random.default_rng(0).choice(len(X), 2000, replace=False)
    lines += [
        "",
        "| reference set | MNIST, 60,000 × 784, k = 30, 10 coordinates: angle to exact, largest and median | "
        "trustworthiness |",
        "|---|---|---|",
    ]
    for size in (1000, 3000, 10_000, 30_000, 60_000):
        Y = NPPE(reference_size=size, **settings).fit(X).embedding_
        between = np.degrees(subspace_angles(*(Z - Z.mean(axis=0) for Z in (Y, exact_map.embedding_))))
        kept = trustworthiness(X[some], Y[some], n_neighbors=10)
        lines.append(f"| {size:,} | {between.max():.2g}°, {np.median(between):.2g}° | {kept:.4f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


PARTS = {"sizes": bench_sizes, "workers": bench_workers, "convergence": bench_convergence, "costs": bench_costs}


def put_into(page: Path, name: str, table: str) -> None:
    """Replace what a page has between the marks of a table."""
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{table}\n\n{end}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--into", type=Path, help="a page with places for the tables")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            table = PARTS[name](Path(folder))
        print(f"\n{name}: {describe_machine()}\n\n{table}\n", flush=True)
        if given.into:
            put_into(given.into, name, table)


if __name__ == "__main__":
    main()
