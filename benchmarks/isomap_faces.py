"""An explicit map of Isomap's coordinates against Isomap's own out-of-sample step, on faces of known pose.

    python benchmarks/isomap_faces.py [--splits 5]

548 faces to train, 150 unseen, 8 neighbours, 3 coordinates. R² of light, pan and tilt predicted by an affine
function of unseen coordinates, and the time that placing the 150 takes (interleaved, best of 20), beside that of
the bare product of the images with a matrix of three columns.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.manifold import Isomap

from polyfold import PolynomialEmbedding
from polyfold.datasets import load_isomap_faces


def predict_truth(train, truth, unseen, unseen_truth):
    """Return R² of each column of the truth, predicted from the coordinates by an affine function."""
    predicted = LinearRegression().fit(train, truth).predict(unseen)
    missed, varied = unseen_truth - predicted, unseen_truth - unseen_truth.mean(axis=0)
    return 1 - np.square(missed).sum(axis=0) / np.square(varied).sum(axis=0)


def draw_split(seed):
    X, truth = load_isomap_faces()
    order = np.random.default_rng(seed).permutation(len(X))
    train, unseen = order[:548], order[548:698]
    return X[train], truth[train], X[unseen], truth[unseen]


def fit_both(X):
    isomap = Isomap(n_neighbors=8, n_components=3).fit(X)
    return isomap, PolynomialEmbedding(3, graph="isomap", n_neighbors=8).fit(X)


def measure_split(seed):
    """Return R² with Isomap's own step and with the explicit map, and both models."""
    X, truth, unseen, unseen_truth = draw_split(seed)
    models = fit_both(X)
    scores = [predict_truth(m.embedding_, truth, m.transform(unseen), unseen_truth) for m in models]
    return *scores, *models


def measure_times(actions, repeats=20):
    best = np.full(len(actions), np.inf)
    for _ in range(repeats):
        for position, action in enumerate(actions):
            start = perf_counter()
            action()
            best[position] = min(best[position], perf_counter() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'split':>5}  {'Isomap: light, pan, tilt':<26} {'explicit map':<22} {'difference':<24} times faster")
    for seed in range(arguments.splits):
        theirs, ours, isomap, explicit = measure_split(seed)
        unseen = draw_split(seed)[2]
        double, columns = unseen.astype(np.float64), np.random.default_rng(0).normal(size=(unseen.shape[1], 3))
        seconds = measure_times(
            [
                lambda model=isomap, X=unseen: model.transform(X),
                lambda model=explicit, X=unseen: model.transform(X),
                lambda model=explicit.map_, X=unseen: model.transform(X),
                lambda X=double, U=columns: X @ U,
            ]
        )
        ratios = seconds[0] / seconds[1:]
        print(
            f"{seed:>5}  {np.array2string(theirs, precision=3):<26} {np.array2string(ours, precision=3):<22} "
            f"{np.array2string(ours - theirs, precision=3):<24} transform {ratios[0]:.0f}, map_.transform "
            f"{ratios[1]:.0f}, bare product {ratios[2]:.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
