"""Explicit maps of Isomap and of UMAP against their own out-of-sample steps, on faces of known pose.

    python benchmarks/explicit_faces.py [--splits 5]        (UMAP needs: pip install umap-learn)

548 faces to train, 150 unseen, 3 coordinates. Of Isomap (8 neighbours) R² of light, pan and tilt predicted by an
affine function of unseen coordinates; of UMAP (its defaults) the trustworthiness of unseen coordinates with 10
neighbours. And how many times faster than the learner's own `transform` the map places the 150 faces: best of
several, interleaved, by the estimator and by its `map_` alone, beside the bare product of the images with a matrix
of three columns, which is as fast as anything that reads every pixel can be.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from isomap_faces import draw_split, measure_times, predict_truth
from sklearn.manifold import Isomap

from polyfold import ExplicitEmbedding
from polyfold.metrics import trustworthiness


def follow_isomap(seed):
    """Return R² by Isomap's own step and by the map, and both models."""
    X, truth, unseen, unseen_truth = draw_split(seed)
    model = ExplicitEmbedding(Isomap(n_neighbors=8, n_components=3)).fit(X)
    isomap = model.estimator_
    theirs = predict_truth(isomap.embedding_, truth, isomap.transform(unseen), unseen_truth)
    ours = predict_truth(model.embedding_, truth, model.transform(unseen), unseen_truth)
    return theirs, ours, isomap, model


def follow_umap(seed):
    """Return trustworthiness by UMAP's own step and by the map, and both models."""
    from umap import UMAP

    X, _, unseen, _ = draw_split(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # UMAP's, of its single thread
        model = ExplicitEmbedding(UMAP(n_components=3, random_state=seed)).fit(X)
        learner = model.estimator_
        theirs = trustworthiness(unseen, learner.transform(unseen), n_neighbors=10)
    return theirs, trustworthiness(unseen, model.transform(unseen), n_neighbors=10), learner, model


def compare_times(learner, model, unseen, repeats):
    """Return how many times faster the map is, the map alone, and a bare product."""
    double, columns = unseen.astype(np.float64), np.random.default_rng(0).normal(size=(unseen.shape[1], 3))
    seconds = measure_times([lambda: learner.transform(unseen)], repeats)
    quick = [lambda: model.transform(unseen), lambda: model.map_.transform(unseen), lambda: double @ columns]
    best = measure_times(quick, 20 * repeats)
    seconds = np.minimum(seconds, measure_times([lambda: learner.transform(unseen)], repeats))
    return seconds / best


def print_speed(ratios):
    return f"transform {ratios[0]:,.0f}, map_.transform {ratios[1]:,.0f}, bare product {ratios[2]:,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    print("split  Isomap's own step, the map: light, pan, tilt              left-out R²          times faster")
    for seed in range(splits):
        theirs, ours, isomap, model = follow_isomap(seed)
        ratios = compare_times(isomap, model, draw_split(seed)[2], 20)
        left_out = model.diagnostics_.left_out_r2
        print(
            f"{seed:>5}  {np.array2string(theirs, precision=3):<21} {np.array2string(ours, precision=3):<21} "
            f"{np.array2string(left_out, precision=3):<20} {print_speed(ratios)}",
            flush=True,
        )
    try:
        import umap  # noqa: F401
    except ImportError:
        print("UMAP is left out: pip install umap-learn")
        return
    print("split  UMAP's own step, the map: trustworthiness  left-out R²          times faster")
    for seed in range(splits):
        theirs, ours, learner, model = follow_umap(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ratios = compare_times(learner, model, draw_split(seed)[2], 3)
        left_out = model.diagnostics_.left_out_r2
        print(
            f"{seed:>5}  {theirs:.3f} {ours:.3f}{'':<28} {np.array2string(left_out, precision=3):<20} "
            f"{print_speed(ratios)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
