"""One surface, every graph: learn an explicit map with each, place unseen points, draw them.

Run by `make demo`. The roll has a turn more than usual: on a long strip the coordinates that only follow its
length come first, and independent ones are kept. Prints a table and the path of a figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from polyfold import LPP, NPE, ONPP, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance

GRAPHS = ("lle", "mlle", "ltsa", "hessian", "laplacian", "diffusion", "isomap")
COMMON: dict[str, Any] = {"n_neighbors": 10, "degree": 3}


def build_methods() -> dict[str, PolynomialEmbedding]:
    """Return a model for each panel."""
    methods = {f'graph="{graph}"': PolynomialEmbedding(graph=graph, **COMMON) for graph in GRAPHS}
    methods['graph="laplacian",\ncoordinates="smallest"'] = PolynomialEmbedding(
        graph="laplacian", coordinates="smallest", **COMMON
    )
    methods["NPE (linear)"] = NPE(n_neighbors=10)
    methods["ONPP (linear)"] = ONPP(n_neighbors=10)
    methods["LPP (linear)"] = LPP(n_neighbors=10)
    return methods


def draw(
    X: NDArray[np.float64],
    Z: NDArray[np.float64],
    truth: NDArray[np.float64],
    placed: dict[str, tuple[NDArray[Any], float]],
    path: Path,
) -> None:
    """Draw the training points, and the unseen ones as each map places them."""
    figure = plt.figure(figsize=(13, 8.2), layout="constrained")
    colours = {"cmap": "viridis", "vmin": truth[:, 0].min(), "vmax": truth[:, 0].max(), "linewidths": 0}
    axes = figure.add_subplot(3, 4, 1, projection="3d", computed_zorder=False)
    axes.scatter(*X.T, c=Z[:, 0], s=4, depthshade=False, **colours)
    axes.view_init(elev=14, azim=-76)
    axes.set_box_aspect((1, 1, 1), zoom=1.2)
    axes.set(xticks=[], yticks=[], zticks=[])
    axes.set_title(f"{len(X):,} training points", fontsize=10)
    for position, (name, (Y, rho)) in enumerate(placed.items(), start=2):
        axes = figure.add_subplot(3, 4, position)
        axes.scatter(*Y.T, c=truth[:, 0], s=2, **colours)
        axes.set(xticks=[], yticks=[])
        axes.set_title(f"{name}: {rho:.3f}", fontsize=10)
    figure.suptitle(
        f"{len(truth):,} unseen points placed by explicit maps of each graph; residual variance, 0 is perfect",
        fontsize=12,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Fit, place, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=Path("demo_output/family.png"))
    figure_path = parser.parse_args().figure

    X, Z = make_swiss_roll(3000, random_state=0, turns=3)
    unseen, truth = make_swiss_roll(5000, random_state=1, turns=3)
    placed = {}
    print("A longer Swiss roll: 3,000 points to learn from, 5,000 unseen ones to place, degree 3, every graph.\n")
    print(f"{'':<48}{'residual variance':>18}   coordinates")
    for name, model in build_methods().items():
        Y = model.fit(X).transform(unseen)
        placed[name] = Y, residual_variance(Y, truth)
        kept = ", ".join(str(position + 1) for position in model.diagnostics_.kept)
        title = name.replace("\n", " ")
        print(f"{title:<48}{placed[name][1]:>18.4f}   eigenvectors {kept}")
    draw(X, Z, truth, placed, figure_path)
    print(f"\nFigure: {figure_path.resolve()}")


if __name__ == "__main__":
    main()
