"""NPPE beside the implicit methods that the paper compares it with: how well and how fast new samples are placed.

    python benchmarks/implicit.py [--splits 5]

The paper's experiments 5.2 and 5.3: SwissRoll (1,000 to train, 1,000 unseen, laid evenly and at random, k = 10),
Frey faces (1,500 and 400, k = 15), USPS zeros (600 and 150, k = 5), two coordinates, on unseen samples:

roll        residual variance against the true coordinates, 0 is perfect
trust       trustworthiness with 10 neighbours, 1 is perfect
balance     R² of the brightness of the left less that of the right half of a face, which follows its turning
width       R² of the stroke width of a zero
slant       R² of its slant

each R² by the mean of the 15 training samples that are nearest in standardised coordinates. Means over the splits,
the worst in brackets. Then the time of one `transform` of the unseen samples over that of NPPE (best of 5,
interleaved), and what must be kept to place samples.
"""

from __future__ import annotations

import argparse
import pickle
import warnings
from time import perf_counter

import numpy as np
from isomap_faces import measure_times
from real_data import SETS, draw_split
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polyfold import NPE, NPPE, SNPPE, KernelExtrapolation, NystromExtension
from polyfold.datasets import make_swiss_roll
from polyfold.experiments.image_facts import measure_balance, measure_zeros
from polyfold.metrics import residual_variance, trustworthiness

PAPER = {"degree": 2, "alpha": 0.0, "center": False, "coordinates": "smallest"}
METHODS = {
    "NPPE": lambda k: NPPE(n_neighbors=k),
    "SNPPE, to the letter": lambda k: SNPPE(n_neighbors=k, **PAPER),
    "NPP": lambda k: NPE(n_neighbors=k),
    "KE of LLE": lambda k: KernelExtrapolation(LocallyLinearEmbedding(n_neighbors=k, random_state=0)),
    "Nyström, lle": lambda k: NystromExtension(graph="lle", n_neighbors=k),
    "Nyström, laplacian": lambda k: NystromExtension(graph="laplacian", n_neighbors=k),
    "Nyström, isomap": lambda k: NystromExtension(graph="isomap", n_neighbors=k),
}


def describe_faces(X):
    return measure_balance(X.reshape(-1, 28, 20))


def describe_zeros(X):
    """Return stroke width and slant."""
    return measure_zeros(X.reshape(-1, 16, 16))[:, [0, 2]]


def load_roll(seed, spacing):
    X, Z = make_swiss_roll(2000, random_state=seed, spacing=spacing)
    order = np.random.default_rng(seed).permutation(2000)
    return X[order[:1000]], X[order[1000:]], Z[order[1000:]]


def measure_roll(make, seed, spacing):
    train, unseen, truth = load_roll(seed, spacing)
    return [residual_variance(make(10).fit(train).transform(unseen), truth)]


def measure_images(make, seed, name, k, describe):
    load, n_train, n_unseen, _ = SETS[name]
    train, unseen = draw_split(load(), n_train, n_unseen, seed)
    model = make(k).fit(train)
    Y = model.transform(unseen)
    nearby = make_pipeline(StandardScaler(), KNeighborsRegressor(15)).fit(model.transform(train), describe(train))
    known = r2_score(describe(unseen), nearby.predict(Y), multioutput="raw_values")
    return [trustworthiness(unseen, Y, n_neighbors=10), *known]


EXPERIMENTS = {
    ("even roll",): lambda make, seed: measure_roll(make, seed, "even"),
    ("random roll",): lambda make, seed: measure_roll(make, seed, "random"),
    ("Frey trust", "balance"): lambda make, seed: measure_images(make, seed, "frey", 15, describe_faces),
    ("zeros trust", "width", "slant"): lambda make, seed: measure_images(make, seed, "usps", 5, describe_zeros),
}


def measure_quality(name, splits):
    """Return the figures of a method, shape (n_splits, n_figures)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make = METHODS[name]
        return np.array(
            [[f for measure in EXPERIMENTS.values() for f in measure(make, seed)] for seed in range(splits)]
        )


def count_kept(model):
    """Return the bytes that placing samples needs: the map, or all but what they were learned for."""
    if hasattr(model, "map_"):
        return len(pickle.dumps(model.map_))
    learned = ("estimator_", "embedding_", "target_")
    return len(pickle.dumps({name: value for name, value in vars(model).items() if name not in learned}))


def measure_costs():
    """Return the time of placing unseen samples, over NPPE's, and the bytes kept, for each method and set."""
    splits = {"roll": (*load_roll(0, "random")[:2], 10)}
    for name, k in (("frey", 15), ("usps", 5)):
        load, n_train, n_unseen, _ = SETS[name]
        splits[name] = (*draw_split(load(), n_train, n_unseen, 0), k)
    columns = []
    for train, unseen, k in splits.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = [make(k).fit(train) for make in METHODS.values()]
        seconds = measure_times([lambda m=m, X=unseen: m.transform(X) for m in models], repeats=5)
        columns.append((seconds / seconds[0], [count_kept(model) for model in models]))
    return columns


def measure_growth(sizes=(1000, 10_000)):
    """Return how many times longer each method takes for ten times as many samples of the roll."""
    train = load_roll(0, "random")[0]
    batches = [make_swiss_roll(size, random_state=1)[0] for size in sizes]
    growth = {}
    for name in ("NPPE", "NPP", "KE of LLE"):
        model = METHODS[name](10).fit(train)
        seconds = measure_times([lambda X=X, m=model: m.transform(X) for X in batches])
        growth[name] = seconds[1] / seconds[0]
    return growth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    start = perf_counter()
    names = [name for group in EXPERIMENTS for name in group]
    print(f"| placed by | {' | '.join(names)} |")
    print("|---" * (len(names) + 1) + "|")
    for method in METHODS:
        figures = measure_quality(method, splits)
        worst = [
            column.max() if "roll" in name else column.min() for name, column in zip(names, figures.T, strict=True)
        ]
        cells = [f"{mean:.3f} ({bad:.3f})" for mean, bad in zip(figures.mean(axis=0), worst, strict=True)]
        print(f"| {method} | {' | '.join(cells)} |", flush=True)
    print()
    print("| placed by | time: roll | Frey | zeros | kept: roll | Frey | zeros |")
    print("|---" * 7 + "|")
    costs = measure_costs()
    for position, method in enumerate(METHODS):
        times = [f"{ratios[position]:.1f}" for ratios, _ in costs]
        kept = [f"{sizes[position] / 1000:,.0f} kB" for _, sizes in costs]
        print(f"| {method} | {' | '.join(times + kept)} |")
    print()
    growth = ", ".join(f"{name} {ratio:.1f}" for name, ratio in measure_growth().items())
    print(f"Ten times as many samples take so many times as long: {growth}.")
    print(f"({splits} splits, {perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
