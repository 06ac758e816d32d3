"""Explicit maps of Isomap and of UMAP against their own out-of-sample steps, on faces of known pose.

    python benchmarks/explicit_faces.py [--splits 5] [--axes 14]      (UMAP needs: pip install umap-learn)

548 faces to train, 150 unseen, 3 coordinates. Of Isomap (8 neighbours) R² of light, pan and tilt predicted by an
affine function of unseen coordinates; of UMAP (its defaults) the trustworthiness of unseen coordinates with 10
neighbours. And how many times faster than the learner's own `transform` the map is, the best of several,
interleaved: for all 150 faces, beside the bare product of the images with a matrix of three columns, which is as
fast as anything that reads every pixel in float64 can be; for all faces by a map in fewer principal axes; and for
one face.
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
    X, _, unseen, _ = draw_split(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # UMAP's, of its single thread and of what it imports
        from umap import UMAP

        model = ExplicitEmbedding(UMAP(n_components=3, random_state=seed)).fit(X)
        learner = model.estimator_
        theirs = trustworthiness(unseen, learner.transform(unseen), n_neighbors=10)
    return theirs, trustworthiness(unseen, model.transform(unseen), n_neighbors=10), learner, model


def compare_times(learner, model, small, unseen, repeats):
    """Return how many times faster the map is: for all faces, as a bare product, in fewer axes, for one face."""
    double, columns = unseen.astype(np.float64), np.random.default_rng(0).normal(size=(unseen.shape[1], 3))
    slow = [lambda: learner.transform(unseen), lambda: learner.transform(unseen[:1])]
    quick = [
        lambda: model.transform(unseen),
        lambda: double @ columns,
        lambda: small.transform(unseen),
        lambda: model.transform(unseen[:1]),
    ]
    before = measure_times(slow, repeats)
    best = measure_times(quick, 20 * repeats)
    everything, one = np.minimum(before, measure_times(slow, repeats))
    return np.array([everything, everything, everything, one]) / best


def describe_speed(ratios):
    return f"{ratios[0]:>8,.0f} {ratios[1]:>8,.0f} {ratios[2]:>8,.0f} {ratios[3]:>8,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--axes", type=int, default=14)
    arguments = parser.parse_args()
    times = f"times faster: the map, bare product, {arguments.axes} axes, one face"
    print(f"split  Isomap: its own step, the map, in {arguments.axes} axes{'':<26} left-out R²{'':<9} {times}")
    for seed in range(arguments.splits):
        theirs, ours, isomap, model = follow_isomap(seed)
        X, truth, unseen, unseen_truth = draw_split(seed)
        small = ExplicitEmbedding("precomputed", reduce=arguments.axes).fit(X, model.target_)
        in_few = predict_truth(small.embedding_, truth, small.transform(unseen), unseen_truth)
        figures = " ".join(f"{np.array2string(each, precision=3):<20}" for each in (theirs, ours, in_few))
        left_out = np.array2string(model.diagnostics_.left_out_r2, precision=3)
        ratios = compare_times(isomap, model, small, unseen, 20)
        print(f"{seed:>5}  {figures} {left_out:<20} {describe_speed(ratios)}", flush=True)
    try:
        import umap  # noqa: F401
    except ImportError:
        print("UMAP is left out: pip install umap-learn")
        return
    print(f"split  UMAP: its own step, the map, in {arguments.axes} axes{'':<28} left-out R²{'':<9} {times}")
    for seed in range(arguments.splits):
        theirs, ours, learner, model = follow_umap(seed)
        X, _, unseen, _ = draw_split(seed)
        small = ExplicitEmbedding("precomputed", reduce=arguments.axes).fit(X, model.target_)
        in_few = trustworthiness(unseen, small.transform(unseen), n_neighbors=10)
        left_out = np.array2string(model.diagnostics_.left_out_r2, precision=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ratios = compare_times(learner, model, small, unseen, 3)
        figures = f"{theirs:<20.3f} {ours:<20.3f} {in_few:<20.3f}"
        print(f"{seed:>5}  {figures} {left_out:<20} {describe_speed(ratios)}", flush=True)


if __name__ == "__main__":
    main()
