"""
Give UMAP an explicit map
=========================

UMAP draws a picture; to place a new sample in it, it needs the training data, a search and an optimisation.
:class:`polyfold.ExplicitEmbedding` lets UMAP draw, and fits a polynomial to what it drew. Here is what that gains
in time and size, how faithful it is where UMAP keeps the data in one piece, and what is lost where it tears them
into clusters.
"""

# %%
# Data in one piece
# -----------------
#
# The ball with a face of the page "Place new images": 600 images to learn from, 600 unseen. A random state makes
# UMAP draw the same picture every time, in one thread.
import pickle
import warnings
from textwrap import fill
from time import perf_counter
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from polyfold import ExplicitEmbedding
from polyfold.metrics import trustworthiness
from polyfold.plotting import plot_embedding

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ImportWarning)  # of UMAP, where Tensorflow is not installed
    from umap import UMAP

up, right = np.mgrid[1:-1:32j, -1:1:32j]
on_ball = up**2 + right**2 < 1
front = np.sqrt(np.where(on_ball, 1 - up**2 - right**2, 0))
SPOTS = ((-0.4, 0.3, 0.87), (0.4, 0.3, 0.87), (0, -0.45, 0.89))  # eyes and mouth, on the ball


def draw_face(pan: float, light: float) -> NDArray[np.float64]:
    """Return one image: how bright each pixel is, from 0 to 1. Angles are in radians."""
    x, z = np.cos(pan) * right - np.sin(pan) * front, np.sin(pan) * right + np.cos(pan) * front
    dark = sum(np.exp(-((x - a) ** 2 + (up - b) ** 2 + (z - c) ** 2) / 0.1) for a, b, c in SPOTS)
    facing_lamp = np.maximum(np.sin(light) * right + 0.3 * up + np.cos(light) * front, 0)
    return np.asarray(on_ball * (0.15 + 0.8 * facing_lamp) * (1 - 0.8 * dark))


random = np.random.default_rng(0)
poses = np.deg2rad(random.uniform([-60, -50], [60, 50], size=(1200, 2)))
faces = np.array([draw_face(pan, light).ravel() for pan, light in poses])
faces += random.normal(scale=0.03, size=faces.shape)
train, unseen, train_poses, unseen_poses = faces[:600], faces[600:], poses[:600], poses[600:]

# %%
# Fit, and ask how faithful it is
# -------------------------------
#
# ``left_out_r2`` is the share of each coordinate's variance that the map gives back for samples left out of the
# regression, ``local_r2`` the share within neighbourhoods: below 0 these are blurred.
explicit = ExplicitEmbedding(UMAP(n_neighbors=30, random_state=0, n_jobs=1)).fit(train)
print(explicit.diagnostics_)

# %%
# Compare with UMAP's own step
# ----------------------------
#
# Both place the same unseen images. R² is of the true pose, by the 10 nearest training images in the coordinates.


def measure(place: Any, samples: NDArray[np.float64], times: int) -> tuple[Any, float]:
    """Return coordinates, and the seconds they take once all is compiled."""
    place(samples)
    start = perf_counter()
    for _ in range(times):
        placed = place(samples)
    return placed, (perf_counter() - start) / times


own, own_seconds = measure(explicit.estimator_.transform, unseen, 1)
mapped, map_seconds = measure(explicit.map_.transform, unseen, 20)
print(f"{'600 unseen images':<24}{'R² pan':>8}{'light':>8}{'trust':>8}{'kept':>12}")
for name, drawn, placed, kept in (
    ("UMAP.transform", explicit.target_, own, len(pickle.dumps(explicit.estimator_))),
    ("the map", explicit.embedding_, mapped, len(pickle.dumps(explicit.map_))),
):
    told = KNeighborsRegressor(10).fit(drawn, train_poses).predict(placed)
    pan, light = r2_score(unseen_poses, told, multioutput="raw_values")
    print(f"{name:<24}{pan:>8.2f}{light:>8.2f}{trustworthiness(unseen, placed):>8.3f}{kept / 1000:>9,.0f} kB")
print(f"\nUMAP.transform takes {own_seconds / map_seconds:,.0f} times as long")

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, name, placed in zip(axes, ("UMAP.transform", "the map of UMAP"), (own, mapped), strict=True):
    plot_embedding(placed, np.rad2deg(unseen_poses[:, 0]), cmap="coolwarm", color_label="true pan, degrees", ax=ax)
    ax.set_title(f"unseen images, by {name}")

# %%
# The map is as good as UMAP's own step, takes a small part of the time and of the space, and places a sample the
# same way alone and in any batch. Where UMAP left a gap the map draws the images together: a polynomial is
# continuous. It also has what every map has: ``map_.extrapolation``, ``map_.jacobian``, files, SQL.
#
# Where UMAP tears
# ----------------
#
# Of handwritten digits UMAP makes islands. A polynomial is continuous: it reaches each island and blurs what lies
# within and between. ``fit`` warns, and how much is lost shows in how many of the nearest neighbours have the
# right digit.
images, digits = load_digits(return_X_y=True)
known, new, known_digits, new_digits = train_test_split(
    images, digits, train_size=1000, stratify=digits, random_state=0
)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torn = ExplicitEmbedding(UMAP(random_state=0, n_jobs=1)).fit(known)
print(fill(str(caught[0].message), 100))
print(f"\nleft-out R² {torn.diagnostics_.left_out_r2.round(2)}, nearby {torn.diagnostics_.local_r2:.1f}\n")

own, mapped = torn.estimator_.transform(new), torn.transform(new)
print(f"{'unseen digits classified by':<32}{'the nearest':>12}{'the 10 nearest':>16}")
for name, drawn, placed in (("UMAP.transform", torn.target_, own), ("the map", torn.embedding_, mapped)):
    one, ten = (KNeighborsClassifier(k).fit(drawn, known_digits).score(placed, new_digits) for k in (1, 10))
    print(f"{name:<32}{one:>12.0%}{ten:>16.0%}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for ax, name, placed in zip(axes, ("UMAP.transform", "the map of UMAP"), (own, mapped), strict=True):
    plot_embedding(placed, new_digits, color_label="digit", legend=ax is axes[1], ax=ax)
    ax.set_title(f"unseen digits, by {name}")

# %%
# A high left-out R² alone does not tell: between islands there is most of the variance. Where clusters are what
# you want to see and new samples must not be confused, keep UMAP's own step, or fit a map to each cluster.
#
# Coordinates from elsewhere
# --------------------------
#
# UMAP need not run again to try another polynomial, nor run here at all: ``"precomputed"`` follows coordinates
# that are given, from a cluster, another language, or an earlier run.
print(f"{'degree':<8}{'left-out R²':<16}{'nearby':>8}{'the 10 nearest':>16}")
for degree in (2, 3, 4):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The map (follows|does not follow) the coordinates given")
        given = ExplicitEmbedding("precomputed", degree=degree).fit(known, torn.target_)
    told = KNeighborsClassifier(10).fit(given.embedding_, known_digits).score(given.transform(new), new_digits)
    found = given.diagnostics_
    print(f"{degree:<8}{found.left_out_r2.round(2)!s:<16}{found.local_r2:>8.1f}{told:>16.0%}")

# %%
# Another degree hardly mends what is torn. What was measured on faces, and on other learners: :doc:`/any-learner`.
