"""The map as an artefact: read it as a formula, keep it in a file, place samples without scikit-learn.

Run by `make demo`. Prints the formula of the Swiss roll and what the map weighs in each form, and draws which
pixels move the coordinates of handwritten digits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from polyfold import NPPE, PolynomialMap
from polyfold.datasets import make_swiss_roll
from polyfold.plotting import plot_sensitivity

#: What a service runs: it never loads scikit-learn.
SERVICE = """
import sys
from polyfold import PolynomialMap
learned = PolynomialMap.load(sys.argv[1])
loaded = "has" if "sklearn" in sys.modules else "has not"
print(f"{learned.transform([[1.0, 2.0, 3.0]])[0]}, and {loaded} imported scikit-learn.")
"""


def show_formula(learned: PolynomialMap) -> None:
    """Print the map as a person reads it."""
    print("The Swiss roll is x = t cos t, z = t sin t, so that t² = x² + z². The map that was learned:\n")
    print(learned.terms().formula(), "\n")
    print(learned.terms(), "\n")


def show_forms(learned: PolynomialMap, folder: Path) -> None:
    """Write the map in every form that needs no extra, and place a sample in a process of its own."""
    path = folder / "swiss_roll.safetensors"
    learned.save(path)
    (folder / "swiss_roll.json").write_text(learned.to_json())
    files = [path, folder / "swiss_roll.json", *learned.to_c("swiss_roll").write(folder)]
    for file in files:
        print(f"{file.stat().st_size:>8,} bytes  {file}")
    placed = subprocess.run([sys.executable, "-c", SERVICE, str(path)], capture_output=True, text=True, check=True)
    print(f"\nA new process that loads the file places (1, 2, 3) at {placed.stdout}")


def draw_sensitivity(path: Path) -> None:
    """Draw which pixels move the coordinates of handwritten threes, and where these lie along them."""
    images, labels = load_digits(return_X_y=True)
    threes = images[labels == 3]
    embedding = NPPE().fit(threes)
    sensitivity = embedding.map_.sensitivity(threes, signed=True)
    figure, panels = plt.subplots(2, 6, figsize=(11, 4.2), layout="constrained")
    for c, row in enumerate(panels):
        plot_sensitivity(sensitivity, coordinate=c, shape=(8, 8), colorbar=False, ax=row[0])
        order = np.argsort(embedding.embedding_[:, c])
        for panel, share in zip(row[1:], (0.02, 0.25, 0.5, 0.75, 0.98), strict=True):
            panel.imshow(threes[order[int(share * len(order))]].reshape(8, 8), cmap="gray_r")
            panel.set_title(f"y{c} at {share:.0%}", fontsize=9)
            panel.set(xticks=[], yticks=[])
    figure.suptitle("Ink at red pixels moves a three to the right along the coordinate, at blue ones to the left")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo_output"), help="folder for what is written")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    X, _ = make_swiss_roll(1000, random_state=0)
    learned = replace(NPPE(n_neighbors=10).fit(X).map_, columns=("x", "y", "z"))
    show_formula(learned)
    show_forms(learned, folder)
    draw_sensitivity(folder / "sensitivity.png")
    print(f"Which pixels move the coordinates of digits: {folder / 'sensitivity.png'}")


if __name__ == "__main__":
    main()
