"""Measure default maps on real data: ten random splits a set, the worst and the mean of each figure.

    python benchmarks/real_data.py [--splits 10] [--sets frey,usps] [--jobs 2]

A row gives, over the splits: the spread of unseen over training coordinates (two a split), the same of PCA, and
the trustworthiness (10 neighbours) of unseen samples beside that of training samples and of scikit-learn's
LocallyLinearEmbedding.transform with the same number of neighbours.
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.preprocessing import StandardScaler

from polyfold import NPPE
from polyfold.datasets import load_coil20, load_frey_faces, load_isomap_faces, load_mnist, load_usps
from polyfold.metrics import trustworthiness


def load_zeros():
    X, y = load_usps()
    return X[y == 0]


def load_coil_object():
    X, y = load_coil20()
    return X[y == y[0]]


def standardise(load):
    return lambda: StandardScaler().fit_transform(load().data)


#: name -> (loader, training samples, unseen samples, whether trustworthiness is compared with LLE's)
SETS = {
    "frey": (lambda: load_frey_faces(), 1500, 400, True),
    "usps": (load_zeros, 600, 150, True),
    "isomap": (lambda: load_isomap_faces()[0], 548, 150, True),
    "mnist": (lambda: load_mnist()[0], 5000, 5000, False),
    "digits": (lambda: load_digits().data, 1200, 597, False),
    "wine": (standardise(load_wine), 120, 58, False),
    "cancer": (standardise(load_breast_cancer), 400, 169, False),
    "coil": (load_coil_object, 48, 24, False),
}


def spread(model, train, unseen):
    return model.transform(unseen).std(axis=0) / model.transform(train).std(axis=0)


def draw_split(X, n_train, n_unseen, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[:n_train]].astype(float), X[order[n_train : n_train + n_unseen]].astype(float)


def measure_split(X, n_train, n_unseen, compare, seed, parameters):
    train, unseen = draw_split(X, n_train, n_unseen, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NPPE(**parameters).fit(train)
    k = min(10, n_unseen // 2 - 1)
    row = {
        "spread": spread(model, train, unseen),
        "PCA's": spread(PCA(2, random_state=0).fit(train), train, unseen),
        "training": trustworthiness(train, model.embedding_, n_neighbors=k, max_samples=1000),
        "unseen": trustworthiness(unseen, model.transform(unseen), n_neighbors=k, max_samples=1000),
        "LLE's": np.nan,
        "k": model.n_neighbors_,
        "alpha": model.alpha_,
        "space": model.diagnostics_.space,
        "dimension": model.diagnostics_.intrinsic_dimension,
    }
    if compare:
        lle = LocallyLinearEmbedding(n_neighbors=model.n_neighbors_, n_components=2, random_state=0).fit(train)
        row["LLE's"] = trustworthiness(unseen, lle.transform(unseen), n_neighbors=k)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="seed of the first split")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--parameters", default="{}", help='of NPPE as JSON, for example {"n_neighbors": 30}')
    arguments = parser.parse_args()
    parameters = json.loads(arguments.parameters)
    print(
        f"{'set':<8} {'spread worst':>13} {'mean':>11} {'PCA worst':>11}   "
        f"{'trust: unseen':>13} {'training':>8} {'LLE':>6}   k, ridges, measured in"
    )
    for name in arguments.sets.split(","):
        load, n_train, n_unseen, compare = SETS[name]
        X = load()
        seeds = range(arguments.first, arguments.first + arguments.splits)
        rows = Parallel(arguments.jobs)(
            delayed(measure_split)(X, n_train, n_unseen, compare, seed, parameters) for seed in seeds
        )
        column = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        ours, pca = column["spread"], column["PCA's"]
        mean = ours.mean(axis=0)
        trust = [column[key].mean() for key in ("unseen", "training", "LLE's")]
        ridges = " ".join(f"{alpha:.0e}" for alpha in sorted(set(column["alpha"])))
        in_columns = np.mean(column["space"] == "columns")
        print(
            f"{name:<8} {ours.min():>6.2f}-{ours.max():<6.2f} {mean.min():>5.2f}-{mean.max():<5.2f} "
            f"{pca.min():>5.2f}-{pca.max():<5.2f}   {trust[0]:>13.3f} {trust[1]:>8.3f} {trust[2]:>6.3f}   "
            f"{column['k'].min()}-{column['k'].max()}, {ridges}, columns {in_columns:.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
