"""
Go back from coordinates to images
==================================

With ``fit_inverse_transform=True`` a fit learns the way back too: a second polynomial, from coordinates to
columns. It rebuilds samples, and makes new ones along a coordinate, which shows what that means. Here it is tried
on images that two coordinates can hold, and on images that they cannot.
"""

# %%
# Images with two degrees of freedom
# ----------------------------------
#
# The ball with a face of the page "Place new images": ``pan`` turns it, ``light`` moves the lamp, and each image
# has noise of its own.
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from polyfold import PolynomialEmbedding

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
poses = np.deg2rad(random.uniform([-60, -50], [60, 50], size=(900, 2)))
clean = np.array([draw_face(pan, light).ravel() for pan, light in poses])
faces = clean + random.normal(scale=0.03, size=clean.shape)
train, unseen, unseen_clean = faces[:600], faces[600:], clean[600:]

embedding = PolynomialEmbedding(graph="isomap", n_neighbors=10, fit_inverse_transform=True).fit(train)
learned = embedding.map_
print(learned)
way_back: Any = learned.decoder
print(way_back)

# %%
# There and back
# --------------
#
# What share of the variance of unseen images is lost on the way to two coordinates and back? The report of the fit
# has an estimate, for which each training sample is left out of the way back.


def lose(images: NDArray[np.float64], rebuilt: NDArray[np.float64], mean: NDArray[np.float64]) -> float:
    """Return the share of the variance of the images that is not in the rebuilt ones."""
    return float(np.sum((images - rebuilt) ** 2) / np.sum((images - mean) ** 2))


mean = train.mean(axis=0)
rebuilt = embedding.inverse_transform(embedding.transform(unseen))
pca = PCA(2).fit(train)
by_pca = pca.inverse_transform(pca.transform(unseen))
print(f"lost, by the report of the fit:   {embedding.diagnostics_.round_trip_error:>6.1%}")
print(f"lost of unseen images:            {lose(unseen, rebuilt, mean):>6.1%}")
print(f"  of their noise-free originals:  {lose(unseen_clean, rebuilt, mean):>6.1%}")
print(f"lost by two principal components: {lose(unseen, by_pca, mean):>6.1%}")

# %%
# Much of what is lost is the noise, which two coordinates have no room for: rebuilt images are nearer to the
# originals than to the images that were given. Two principal components lose many times as much.
figure, axes = plt.subplots(3, 8, figsize=(10, 4.4), layout="constrained")
figure.suptitle("unseen faces, and what comes back from two coordinates")
for ax, image in zip(axes.ravel(), np.vstack([unseen[:8], rebuilt[:8], by_pca[:8]]), strict=True):
    ax.imshow(image.reshape(32, 32), cmap="gray", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[])
for ax, name in zip(axes[:, 0], ("unseen", "by the map", "by PCA"), strict=True):
    ax.set_ylabel(name)

# %%
# Move along a coordinate
# -----------------------
#
# One coordinate goes from the 5 % to the 95 % quantile of the training samples, the other stays at its median. The
# rows tell what the coordinates mean.
middle = np.median(embedding.embedding_, axis=0)
low, high = np.quantile(embedding.embedding_, [0.05, 0.95], axis=0)
figure, axes = plt.subplots(2, 9, figsize=(11, 3.2), layout="constrained")
figure.suptitle("faces along each coordinate")
for c, row in enumerate(axes):
    path = np.tile(middle, (9, 1))
    path[:, c] = np.linspace(low[c], high[c], 9)
    for ax, image in zip(row, embedding.inverse_transform(path), strict=True):
        ax.imshow(image.reshape(32, 32), cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(f"{learned.coordinate_names[c]}, rising")

# %%
# Stay near data
# --------------
#
# Beyond the training samples a polynomial swings far out. ``map_.decoder.extrapolation`` says how far outside
# coordinates lie, but it measures by an ellipsoid, and an embedding is seldom one: it has edges within it,
# corners, holes. The distance to the nearest training coordinates sees these; here it is in units of what is usual
# among them. Going out along y0, 1 being the 95 % quantile:
nearest = NearestNeighbors(n_neighbors=2).fit(embedding.embedding_)
usual = np.median(nearest.kneighbors(embedding.embedding_)[0][:, 1])
print(f"{'how far out':<14}{'extrapolation':>13}{'to the nearest':>17}{'darkest pixel':>17}{'brightest':>11}")
for times in (0, 0.5, 1, 1.5, 2, 3):
    place = middle + times * (high - middle) * [1, 0]
    outside, distance = way_back.extrapolation([place])[0], nearest.kneighbors([place])[0][0, 0]
    image = embedding.inverse_transform([place])[0]
    print(f"{times:<14}{outside:>13.2f}{distance / usual:>17.1f}{image.min():>17.1f}{image.max():>11.1f}")

# %%
# Pixels lie between 0 and 1. Where the score is about 1 the image is already none, and the distance has told. So
# make samples near those that were learned from: take some of their coordinates, and move them by the usual
# distance.
near = embedding.embedding_[random.integers(len(train), size=300)] + random.normal(scale=usual, size=(300, 2))
made = embedding.inverse_transform(near)
print(f"made near training samples: pixels from {made.min():.2f} to {made.max():.2f}")
print(
    f"back on their coordinates:  correlation {np.corrcoef(embedding.transform(made)[:, 0], near[:, 0])[0, 1]:.3f}"
)

# %%
# Where two coordinates are not enough
# ------------------------------------
#
# Handwritten threes have more degrees of freedom than two, and what a coordinate does not hold comes back as the
# mean of all samples there: an average look, not a likeness. More coordinates bring more of it back. Among them
# PCA, which is made to lose least, may rebuild better: with ten it does.
images, digits = load_digits(return_X_y=True)
threes = images[digits == 3]
known, new = threes[:140], threes[140:]
rows = [new[:8]]
print(f"{'coordinates':<14}{'lost by the map':>16}{'by PCA':>10}")
for n_components in (2, 5, 10):
    fitted = PolynomialEmbedding(n_components, graph="isomap", fit_inverse_transform=True).fit(known)
    back = fitted.inverse_transform(fitted.transform(new))
    rows.append(back[:8])
    linear = PCA(n_components).fit(known)
    by_pca = linear.inverse_transform(linear.transform(new))
    print(f"{n_components:<14}{lose(new, back, known.mean(0)):>16.0%}{lose(new, by_pca, known.mean(0)):>10.0%}")

# %%
figure, axes = plt.subplots(4, 8, figsize=(8, 4.7), layout="constrained")
figure.suptitle("unseen threes, and what comes back from 2, 5 and 10 coordinates")
for ax, image in zip(axes.ravel(), np.vstack(rows), strict=True):
    ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    ax.set(xticks=[], yticks=[])
for ax, name in zip(axes[:, 0], ("unseen", "from 2", "from 5", "from 10"), strict=True):
    ax.set_ylabel(name)

# %%
# The decoder is saved with the map, and turns with it by ``align_to``: see :doc:`/artefact`.
