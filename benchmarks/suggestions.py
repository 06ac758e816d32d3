"""What `polyfold.suggest` finds on image sets, judged on samples that it never saw.

    python benchmarks/suggestions.py [--sets faces,frey,zeros] [--splits 5]

Isomap's faces: mean R² of light, pan and tilt predicted by an affine function of three unseen coordinates. Frey
faces and USPS zeros: trustworthiness (10 neighbours) of two unseen coordinates.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
from isomap_faces import draw_split as draw_faces
from isomap_faces import predict_truth
from real_data import SETS, draw_split

import polyfold
from polyfold.metrics import trustworthiness

IMAGES = {"frey": "frey", "zeros": "usps"}


def measure_faces(seed, verbose=0):
    """Return what is suggested for a split of Isomap's faces, and mean R² on unseen ones."""
    X, truth, unseen, unseen_truth = draw_faces(seed)
    found = polyfold.suggest(X, 3, verbose=verbose)
    model = found.estimator
    figures = predict_truth(model.embedding_, truth, model.transform(unseen), unseen_truth)
    return found, float(figures.mean())


def measure_images(name, seed, verbose=0):
    """Return what is suggested for a split of an image set, and trustworthiness on unseen ones."""
    load, n_train, n_unseen, _ = SETS[IMAGES[name]]
    train, unseen = draw_split(load(), n_train, n_unseen, seed)
    found = polyfold.suggest(train, verbose=verbose)
    return found, trustworthiness(unseen, found.estimator.transform(unseen), n_neighbors=10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="faces,frey,zeros")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="seed of the first split")
    arguments = parser.parse_args()
    print(f"{'set':<6} split  figure  score  seconds  tried  suggested")
    for name in arguments.sets.split(","):
        figures = []
        for seed in range(arguments.first, arguments.first + arguments.splits):
            start = perf_counter()
            found, figure = measure_faces(seed) if name == "faces" else measure_images(name, seed)
            seconds, best = perf_counter() - start, found.trials[0]
            figures.append(figure)
            print(
                f"{name:<6} {seed:>5}  {figure:>6.3f}  {best.score:.3f}  {seconds:>7.0f}  {len(found.trials):>5}  "
                f"{best.name}, degree {best.estimator.degree}",
                flush=True,
            )
        print(f"{name:<6}  mean  {np.mean(figures):>6.3f}   worst {min(figures):.3f}", flush=True)


if __name__ == "__main__":
    main()
