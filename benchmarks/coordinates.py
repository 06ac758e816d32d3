"""Measure independent coordinates against the smallest: long strips, surfaces, and the share of a fit's time.

    python benchmarks/coordinates.py [--seeds 30] [--first 0] [--jobs 2]

Residual variance (0 is a perfect unrolling) over seeds without a short-cut edge: mean and worst with
"independent", mean with "smallest", and how often the choice differs.
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter
from unittest import mock

import numpy as np
from joblib import Parallel, delayed
from sklearn.manifold import Isomap

from polyfold import NPPE, PolynomialEmbedding, _local
from polyfold.datasets import make_gaussian, make_swiss_hole, make_swiss_roll, make_twin_peaks
from polyfold.experiments.surfaces import count_short_cuts
from polyfold.metrics import residual_variance

#: name -> (surface, training samples, degrees)
CASES = {
    "strip, T = 3": (lambda n, seed: make_swiss_roll(n, random_state=seed, turns=3), 4000, (2, 3, 4, 5)),
    "strip, T = 4": (lambda n, seed: make_swiss_roll(n, random_state=seed, turns=4), 4000, (2, 3, 4, 5)),
    "twin peaks": (lambda n, seed: make_twin_peaks(n, random_state=seed), 1000, (2, 3, 4)),
    "Swiss roll": (lambda n, seed: make_swiss_roll(n, random_state=seed), 1000, (2, 3, 4)),
    "Swiss hole": (lambda n, seed: make_swiss_hole(n, random_state=seed), 1000, (2, 3, 4)),
    "Gaussian": (lambda n, seed: make_gaussian(n, random_state=seed), 1000, (2, 3, 4)),
}

#: Those that are rolled up, where a neighbour edge may short-cut.
ROLLED = ("strip, T = 3", "strip, T = 4", "Swiss roll", "Swiss hole")


def measure_seed(case, seed, degrees=None):
    """Return per degree (independent, smallest, choice), or None where an edge short-cuts."""
    make, n_samples, all_degrees = CASES[case]
    X, Z = make(n_samples, seed)
    if case in ROLLED and count_short_cuts(X, Z, 10):
        return None
    rows = []
    for degree in degrees or all_degrees:
        fitted = [NPPE(n_neighbors=10, degree=degree, coordinates=c).fit(X) for c in ("independent", "smallest")]
        rhos = [residual_variance(model.embedding_, Z) for model in fitted]
        rows.append((*rhos, fitted[0].diagnostics_.kept))
    return rows


def measure_isomap(seed):
    X, Z = make_twin_peaks(1000, random_state=seed)
    return residual_variance(Isomap(n_neighbors=10).fit_transform(X), Z)


def measure_share(n_samples=2000):
    """Return the smallest share, of five fits at m = 16, of the time that the choice of coordinates takes."""
    X = np.random.default_rng(0).uniform(size=(n_samples, 16)) * np.r_[4, 3, 2, np.ones(13)]
    spent = []

    def timed(function):
        def wrapper(*arguments, **parameters):
            start = perf_counter()
            result = function(*arguments, **parameters)
            spent.append(perf_counter() - start)
            return result

        return wrapper

    shares = []
    steps = {name: timed(getattr(_local, name)) for name in ("learn_tangents", "select_coordinates")}
    with mock.patch.multiple(_local, **steps):
        for _ in range(5):
            spent.clear()
            start = perf_counter()
            fitted = PolynomialEmbedding(16).fit(X)
            shares.append(sum(spent) / (perf_counter() - start))
    assert fitted.diagnostics_.n_candidates == 24
    return min(shares)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    header = ("surface", "degree", "seeds", "independent", "worst", "smallest", "changed")
    print("{:<14} {:>6} {:>6} {:>12} {:>7} {:>9} {:>8}".format(*header))
    for case, (_, _, degrees) in CASES.items():
        found = Parallel(arguments.jobs)(delayed(measure_seed)(case, seed) for seed in seeds)
        found = [rows for rows in found if rows is not None]
        for position, degree in enumerate(degrees):
            ours = np.array([rows[position][0] for rows in found])
            theirs = np.array([rows[position][1] for rows in found])
            changed = sum(rows[position][2] != (0, 1) for rows in found)
            print(
                f"{case:<14} {degree:>6} {len(found):>6} {ours.mean():>12.4f} {ours.max():>7.4f} "
                f"{theirs.mean():>9.4f} {changed:>8}",
                flush=True,
            )
    isomap = Parallel(arguments.jobs)(delayed(measure_isomap)(seed) for seed in seeds)
    print(f"Isomap on twin peaks: mean {np.mean(isomap):.4f}")
    print(f"share of a fit at m = 16, 2,000 samples: {measure_share():.1%}")


if __name__ == "__main__":
    main()
