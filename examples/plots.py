"""Every picture that `polyfold.plotting` draws, on one sheet.

Learns maps of a Swiss roll and of handwritten threes, places other digits by the latter, and prints the path of a
figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from polyfold import NPE, NPPE, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll
from polyfold.plotting import (
    plot_eigenvalues,
    plot_embedding,
    plot_quality,
    plot_ridge,
    plot_sensitivity,
    plot_thumbnails,
    plot_unseen,
)

#: The digit that is learned, and how many of its images are kept back.
DIGIT, N_UNSEEN = 3, 40


def draw(path: Path) -> None:
    """Draw the sheet."""
    roll, truth = make_swiss_roll(1000, random_state=0)
    images, digits = load_digits(return_X_y=True)
    own = np.random.default_rng(0).permutation(images[digits == DIGIT])
    train, unseen = own[:-N_UNSEEN], np.vstack([own[-N_UNSEEN:], images[digits == 8][:N_UNSEEN]])
    classes = PolynomialEmbedding(graph="laplacian").fit(images)
    threes = NPPE().fit(train)
    isomap = PolynomialEmbedding(graph="isomap", n_neighbors=10)
    models = {"NPPE": NPPE(n_neighbors=10), "NPE": NPE(n_neighbors=10), 'graph="isomap"': isomap}
    placed = {name: model.fit_transform(roll) for name, model in models.items()}

    figure, panels = plt.subplots(2, 4, figsize=(17, 7.6), layout="constrained")
    (first, second, third, fourth), (fifth, sixth, seventh, eighth) = panels
    plot_embedding(placed["NPPE"], truth[:, 0], color_label="position along the roll", ax=first)
    first.set_title("plot_embedding: a scale")
    plot_embedding(classes.embedding_, digits, color_label="digit", ax=second)
    second.set_title("plot_embedding: classes")
    plot_thumbnails(threes.embedding_, train, shape=(8, 8), max_images=60, cmap="gray_r", ax=third)
    third.set_title("plot_thumbnails")
    scores = threes.map_.extrapolation(unseen)
    plot_unseen(threes.embedding_, threes.transform(unseen), extrapolation=scores, ax=fourth)
    fourth.set_title("plot_unseen: threes, and eights")
    plot_sensitivity(threes, train, shape=(8, 8), ax=fifth)
    fifth.set_title("plot_sensitivity: pixels that move y0")
    plot_ridge(threes, ax=sixth)
    sixth.set_title("plot_ridge")
    plot_eigenvalues(NPPE(6, n_neighbors=10).fit(roll), ax=seventh)
    seventh.set_title("plot_eigenvalues")
    plot_quality(roll, placed, ax=eighth)
    eighth.set_title("plot_quality")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=72)
    plt.close(figure)


def main() -> None:
    """Draw and say where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=Path("demo_output/plots.png"))
    figure_path = parser.parse_args().figure
    draw(figure_path)
    print(f"Figure: {figure_path.resolve()}")


if __name__ == "__main__":
    main()
