"""Which one should I use? Each kind of map on a rolled sheet, on faces of known pose, and on digits.

    python benchmarks/which_one.py [--splits 3] [--figure which_one.png]

Prints a table and draws a picture, all on unseen samples; means over the splits, the worst in brackets:

roll      residual variance against the true coordinates of a Swiss roll, 1,000 to train; 0 is perfect
faces     R² of light, pan and tilt from three coordinates of Isomap's faces, 548 to train (where they are found)
digits    trustworthiness (10 neighbours) of scikit-learn's digits, 1,200 to train, and the share of unseen ones
          that the 10 nearest training samples in two coordinates classify rightly
time      of placing 597 digits, over that of the bare product of the images with a matrix of two columns
kept      what must be kept to place digits
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from implicit import count_kept
from isomap_faces import draw_split as draw_faces
from isomap_faces import measure_times, predict_truth
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, LocallyLinearEmbedding
from sklearn.neighbors import KNeighborsClassifier

import polyfold
from polyfold import NPPE, ExplicitEmbedding, KernelExtrapolation, NystromExtension, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance, trustworthiness


def tsne(m):
    return TSNE(m, early_exaggeration=4, random_state=0)


METHODS = {
    "PCA": lambda X, m: PCA(m).fit(X),
    "`NPPE()`": lambda X, m: NPPE(m, n_neighbors=10).fit(X),
    '`graph="isomap"`': lambda X, m: PolynomialEmbedding(m, graph="isomap", n_neighbors=8).fit(X),
    '`graph="laplacian"`': lambda X, m: PolynomialEmbedding(m, graph="laplacian", n_neighbors=10).fit(X),
    "`ExplicitEmbedding(TSNE)`": lambda X, m: ExplicitEmbedding(tsne(m), degree=3).fit(X),
    "`suggest(X).estimator`": lambda X, m: polyfold.suggest(X, m, verbose=0).estimator,
    "`KernelExtrapolation`": lambda X, m: KernelExtrapolation(
        LocallyLinearEmbedding(n_components=m, n_neighbors=10, random_state=0)
    ).fit(X),
    '`NystromExtension("isomap")`': lambda X, m: NystromExtension(m, graph="isomap", n_neighbors=8).fit(X),
}
DRAWN = [name for name in METHODS if "suggest" not in name and name != "PCA"]


def split_digits(seed):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[:1200]], y[order[:1200]], X[order[1200:]], y[order[1200:]]


def measure_roll(fit, seed):
    X, _ = make_swiss_roll(1000, random_state=seed)
    unseen, truth = make_swiss_roll(2000, random_state=1000 + seed)
    Y = fit(X, 2).transform(unseen)
    return [residual_variance(Y, truth)], Y, truth[:, 0], None


def measure_faces(fit, seed):
    X, truth, unseen, unseen_truth = draw_faces(seed)
    model = fit(X, 3)
    Y = model.transform(unseen)
    return [predict_truth(model.transform(X), truth, Y, unseen_truth).mean()], Y, unseen_truth[:, 1], None


def measure_digits(fit, seed):
    X, y, unseen, unseen_y = split_digits(seed)
    model = fit(X, 2)
    Y = model.transform(unseen)
    accuracy = KNeighborsClassifier(10).fit(model.transform(X), y).score(Y, unseen_y)
    return [trustworthiness(unseen, Y, n_neighbors=10), accuracy], Y, unseen_y, model


def find_experiments():
    """Return the columns of the table and what measures them; faces only where they are found."""
    experiments = {
        ("roll",): measure_roll,
        ("faces",): measure_faces,
        ("digits: trust", "classes"): measure_digits,
    }
    try:
        draw_faces(0)
    except (FileNotFoundError, OSError, ValueError, ImportError) as error:
        print(f"Isomap's faces are left out: {error}")
        del experiments[("faces",)]
    return experiments


def measure_costs(models):
    """Return the time and the bytes that each model needs to place digits."""
    unseen = split_digits(0)[2]
    columns = np.random.default_rng(0).normal(size=(64, 2))
    actions = [lambda: unseen @ columns, *(lambda m=m: m.transform(unseen) for m in models)]
    seconds = measure_times(actions, 10)
    return seconds[1:] / seconds[0], [count_kept(model) for model in models]


def print_table(figures, names, models):
    times, kept = measure_costs(models)
    print(f"| | {' | '.join(names)} | time | kept |")
    print("|---" * (len(names) + 3) + "|")
    for position, (method, rows) in enumerate(figures.items()):
        table = np.array(rows)
        worst = [
            column.max() if name == "roll" else column.min() for name, column in zip(names, table.T, strict=True)
        ]
        cells = [f"{mean:.3f} ({bad:.3f})" for mean, bad in zip(table.mean(axis=0), worst, strict=True)]
        print(f"| {method} | {' | '.join(cells)} | {times[position]:,.0f} | {kept[position] / 1000:,.0f} kB |")


def draw(placed, path):
    rows = len(next(iter(placed.values())))
    figure, axes = plt.subplots(rows, len(DRAWN), figsize=(2.3 * len(DRAWN), 2.35 * rows), layout="constrained")
    titles = (
        ["Swiss roll, by length", "faces, by pan", "digits, by class"]
        if rows == 3
        else [
            "Swiss roll, by length",
            "digits, by class",
        ]
    )
    for column, method in enumerate(DRAWN):
        for row, (Y, colour) in enumerate(placed[method]):
            ax = axes[row, column]
            is_class = titles[row].startswith("digits")
            ax.scatter(*Y[:, :2].T, c=colour, s=5, cmap="tab10" if is_class else "viridis", linewidths=0)
            ax.set(xticks=[], yticks=[])
            if row == 0:
                ax.set_title(
                    method.replace("`", "").replace("(TSNE)", "\n(TSNE)").replace('("isomap")', '\n"isomap"')
                )
            if column == 0:
                ax.set_ylabel(titles[row])
    figure.suptitle("Unseen samples, where each method places them")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    print(f"\nFigure: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--figure", type=Path, default=Path("demo_output/which_one.png"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    experiments = find_experiments()
    names = [name for group in experiments for name in group]
    figures, placed, models = {}, {}, []
    for method, fit in METHODS.items():
        figures[method] = []
        for seed in range(arguments.splits):
            results = [measure(fit, seed) for measure in experiments.values()]
            figures[method].append([figure for result in results for figure in result[0]])
            placed.setdefault(method, [result[1:3] for result in results])
            if seed == 0:
                models.append(results[-1][3])
            print(f"{method}, split {seed}", file=sys.stderr)
    print_table(figures, names, models)
    draw(placed, arguments.figure)


if __name__ == "__main__":
    main()
