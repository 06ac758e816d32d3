"""
Place new images
================

Images of one thing that turns, under a lamp that moves, have a thousand pixels and two degrees of freedom. Here a
map finds the two from 600 images, places 400 that it has not seen, and is judged by the pose that these were drawn
from, which it was never told.
"""

# %%
# Images whose truth is known
# ---------------------------
#
# A ball with a face, 32 × 32 pixels with noise. ``pan`` turns the ball about the vertical, ``light`` moves the
# lamp.
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

import polyfold
from polyfold import NPPE, PolynomialEmbedding
from polyfold.metrics import trustworthiness
from polyfold.plotting import plot_embedding, plot_thumbnails

up, right = np.mgrid[1:-1:32j, -1:1:32j]
on_ball = up**2 + right**2 < 1
front = np.sqrt(np.where(on_ball, 1 - up**2 - right**2, 0))
#: Where on the ball the face has an eye, an eye, the mouth, an ear, an ear; how wide and how dark each is.
SPOTS = (
    (-0.4, 0.3, 0.87, 0.2),
    (0.4, 0.3, 0.87, 0.2),
    (0, -0.45, 0.89, 0.25),
    (-0.93, 0, -0.37, 0.35),
    (0.93, 0, -0.37, 0.35),
)


def draw_face(pan: float, light: float) -> NDArray[np.float64]:
    """Return one image: how bright each pixel is, from 0 to 1. Angles are in radians."""
    x, z = np.cos(pan) * right - np.sin(pan) * front, np.sin(pan) * right + np.cos(pan) * front
    dark = sum(np.exp(-((x - a) ** 2 + (up - b) ** 2 + (z - c) ** 2) / (2 * width**2)) for a, b, c, width in SPOTS)
    facing_lamp = np.maximum(np.sin(light) * right + 0.3 * up + np.cos(light) * front, 0)
    return np.asarray(on_ball * (0.15 + 0.8 * facing_lamp) * (1 - 0.8 * dark))


def draw_faces(n_faces: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return faces as rows of pixels, and the pan and light of each in degrees."""
    random = np.random.default_rng(seed)
    poses = random.uniform([-60, -50], [60, 50], size=(n_faces, 2))
    faces = np.array([draw_face(pan, light).ravel() for pan, light in np.deg2rad(poses)])
    return faces + random.normal(scale=0.03, size=faces.shape), poses


faces, poses = draw_faces(600, seed=0)
unseen, true_poses = draw_faces(400, seed=1)

# %%
# Pixels share a unit, so they are not standardised.
#
# Learn a map, and judge it by unseen images
# ------------------------------------------
#
# How much of the pose do two coordinates tell? A straight line from coordinates to angles is fitted to the
# training images; its R² is taken on the unseen ones. Trustworthiness needs no truth: it says whether neighbours
# in the embedding are neighbours in pixels.


def judge(name: str, embedding: Any) -> None:
    """Print how well the coordinates of unseen images tell their pose."""
    line = LinearRegression().fit(embedding.transform(faces), poses)
    placed = embedding.transform(unseen)
    pan, light = r2_score(true_poses, line.predict(placed), multioutput="raw_values")
    print(f"{name:<34}{pan:>8.2f}{light:>8.2f}{trustworthiness(unseen, placed, n_neighbors=10):>12.3f}")


print(f"{'unseen images':<34}{'R² pan':>8}{'light':>8}{'trust':>12}")
pca = PCA(2).fit(faces)
judge("PCA", pca)
judge("NPPE, 10 neighbours", NPPE(n_neighbors=10).fit(faces))
embedding = PolynomialEmbedding(graph="isomap", n_neighbors=10).fit(faces)
judge('graph="isomap", 10 neighbours', embedding)

# %%
# The lamp makes most of the variance: PCA and the local relations of LLE tell the light, and lose the pan.
# ``graph="isomap"`` keeps distances along the surface of images and finds both. Trustworthiness points the same
# way, but a value above 0.9 does not look like a lost pan.
#
# When there is no truth
# ----------------------
#
# :func:`polyfold.suggest` sees only the pixels. It tries graphs, neighbour counts and degrees on held-out images,
# and ranks these among all, which shows a dimension that is lost. 250 of the images are enough to choose by.
found = polyfold.suggest(faces[:250], verbose=0)
print(f"{'the best, and PCA':<34}{'degree':>8}{'score':>8}")
for trial in found.trials:
    if trial in found.trials[:5] or "PCA" in trial.name:
        print(f"{trial.name:<34}{trial.estimator.degree:>8}{trial.score:>8.2f}")
print()
judge("the first, learned from the 250", found.estimator)

# %%
# Look at it
# ----------
#
# Unseen images where the map of Isomap's graph places them; grey dots are those for which there was no room. One
# direction turns the head, the other moves the light.
figure, ax = plt.subplots(figsize=(9, 6.5), layout="constrained")
plot_thumbnails(
    embedding.transform(unseen), unseen, shape=(32, 32), max_images=70, cmap="gray", color="0.6", ax=ax
)
ax.set_title("unseen images, where the map places them")

# %%
# Coloured by their true pan, beside the same images in two principal components:
figure, (map_axes, pca_axes) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
pan = true_poses[:, 0]
plot_embedding(embedding.transform(unseen), pan, cmap="coolwarm", color_label="true pan, degrees", ax=map_axes)
map_axes.set_title("the map of the graph isomap")
plot_embedding(pca.transform(unseen), pan, cmap="coolwarm", color_label="true pan, degrees", ax=pca_axes)
pca_axes.set_title("PCA")

# %%
# What to keep
# ------------
#
# The map alone places images. Most of its size is the principal axes of 1,024 pixels each; ``reduce`` takes fewer.
small = PolynomialEmbedding(graph="isomap", n_neighbors=10, reduce=10).fit(faces)
print(f"600 training images    {faces.nbytes / 1000:>7,.0f} kB")
print(f"the map                {embedding.map_.nbytes / 1000:>7,.0f} kB")
print(f"the map in 10 axes     {small.map_.nbytes / 1000:>7,.0f} kB")
judge("in 10 axes", small)

# %%
# The image sets of the literature are at hand too: ``polyfold.datasets.load_isomap_faces``, ``load_frey_faces``,
# ``load_usps``, ``load_mnist`` and ``load_coil20`` read them from the folder that you have them in, and MNIST is
# fetched. :doc:`/real-data` and :doc:`/which-one` have what was measured on them: where images are of real things,
# R² is lower than here, and it depends more on the number of neighbours.
