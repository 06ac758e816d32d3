"""Real data: learn a map of handwritten digits with defaults, place unseen ones, and see what it says of itself.

Run by `make demo`. The digits come with scikit-learn. Prints the report of the fit and the path of a figure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from polyfold import NPPE

#: The digit that is learned, and how many of its images are kept back.
DIGIT, N_UNSEEN = 3, 40


def draw_images(axes: Any, images: NDArray[Any], places: NDArray[Any], colour: str, limit: int = 45) -> None:
    """Draw images at their places, leaving out those that would hide one drawn before."""
    size = np.ptp(axes.get_xlim()) * 0.055, np.ptp(axes.get_ylim()) * 0.075
    drawn: list[NDArray[Any]] = []
    for image, place in zip(images, places, strict=True):
        if len(drawn) < limit and not any((np.abs(place - other) < size).all() for other in drawn):
            drawn.append(place)
            box = OffsetImage(image.reshape(8, 8), zoom=2.4, cmap="gray_r")
            axes.add_artist(
                AnnotationBbox(box, place, pad=0.08, bboxprops={"edgecolor": colour, "linewidth": 1.2})
            )


def main() -> None:
    """Fit, place, report and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path, default=Path("demo_output/digits.png"))
    figure_path = parser.parse_args().figure
    X, y = load_digits(return_X_y=True)
    own, others = np.random.default_rng(0).permutation(X[y == DIGIT]), X[y != DIGIT]
    train, unseen = own[:-N_UNSEEN], own[-N_UNSEEN:]

    embedding = NPPE(fit_inverse_transform=True).fit(train)
    placed, learned = embedding.transform(unseen), embedding.map_
    outside = {
        f"unseen {DIGIT}s": learned.extrapolation(unseen),
        "other digits": learned.extrapolation(others),
    }
    print(f"NPPE() on {len(train)} handwritten {DIGIT}s of 64 pixels. What it chose and found:\n")
    print(embedding.diagnostics_)
    print(f"\n{learned}")
    for name, scores in outside.items():
        print(f"{name}: {np.mean(scores > 1):.0%} lie outside what was learned (extrapolation above 1)")

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.2), layout="constrained", width_ratios=(1.45, 1))
    left.scatter(
        *embedding.embedding_.T, s=14, color="#9bb8d3", linewidths=0, label=f"{len(train)} training images"
    )
    left.scatter(*placed.T, s=14, color="#d1602f", linewidths=0, label=f"{len(unseen)} unseen images")
    left.margins(0.08)
    draw_images(left, unseen, placed, "#d1602f")
    left.set(xticks=[], yticks=[], title="Unseen images at the places that the map gives them")
    left.legend(loc="best", frameon=False, markerscale=1.6)
    bins = np.linspace(0, 4, 41)
    for (name, scores), colour in zip(outside.items(), ("#d1602f", "#555555"), strict=True):
        right.hist(np.minimum(scores, 4), bins, density=True, color=colour, alpha=0.65, label=name)
    right.axvline(1, color="black", linewidth=1, linestyle=":")
    right.text(1.03, 0.97, "edge of what\nwas learned", transform=right.get_xaxis_transform(), va="top")
    right.set(xlabel="extrapolation score", yticks=[], title="The map knows when it extrapolates")
    right.legend(frameon=False, loc="center right")
    figure_path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(figure_path, dpi=110)
    print(f"\nFigure: {figure_path.resolve()}")


if __name__ == "__main__":
    main()
