"""Measure what the number of neighbours does on real data: why ``n_neighbors="auto"`` is what it is.

    python benchmarks/neighbors.py [--splits 5] [--sets frey,usps] [--jobs 2]

For each set and number: the worst spread of unseen over training coordinates, and the mean trustworthiness of
unseen samples. The last column is the automatic choice, with the estimated intrinsic dimension.
"""

from __future__ import annotations

import argparse

import numpy as np
from joblib import Parallel, delayed
from real_data import SETS, measure_split

NUMBERS = [5, 10, 15, 30, 50, 80]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", default="frey,usps,isomap,digits,cancer,wine")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{'set':<8}" + "".join(f"{f'k = {k}':>18}" for k in NUMBERS) + f"{'auto':>18}")
    for name in arguments.sets.split(","):
        load, n_train, n_unseen, _ = SETS[name]
        X = load()
        cells = []
        for k in [*NUMBERS, "auto"]:
            rows = Parallel(arguments.jobs)(
                delayed(measure_split)(X, n_train, n_unseen, False, 1000 + split, {"n_neighbors": k})
                for split in range(arguments.splits)
            )
            spread = np.array([row["spread"] for row in rows])
            trust = np.mean([row["unseen"] for row in rows])
            cells.append(f"{spread.min():.2f}-{spread.max():.2f} {trust:.3f}")
        chosen = [row["k"] for row in rows]
        dimension = np.mean([row["dimension"] for row in rows])
        shown = "".join(f"{cell:>18}" for cell in cells)
        print(f"{name:<8}{shown}   k = {min(chosen)}-{max(chosen)}, dimension {dimension:.1f}", flush=True)


if __name__ == "__main__":
    main()
