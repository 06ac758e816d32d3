"""What is known of an image without a manifold: the quantities that an embedding is to recover, by measurement."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

#: Neighbours whose mean predicts a quantity.
N_NEIGHBORS = 15


def measure_balance(faces: NDArray[Any]) -> NDArray[np.float64]:
    """Return the brightness of the left half of each image less that of the right, which follows its turning."""
    half = faces.shape[2] // 2
    left, right = faces[:, :, :half], faces[:, :, -half:]
    return np.asarray(left.mean(axis=(1, 2)) - right.mean(axis=(1, 2)))[:, np.newaxis]


def measure_zeros(zeros: NDArray[Any]) -> NDArray[np.float64]:
    """Return stroke width, aspect and slant of each zero.

    The stroke width is twice the area over the edge; the aspect is width over height, both standard deviations of
    the ink, across and down; the slant is how many columns the ink moves with each row.
    """
    facts = []
    for image in zeros.astype(np.float64):
        ink = image - image.min()
        shape = ink > ink.max() / 2
        edge = np.count_nonzero(shape & ~binary_erosion(shape))
        height, width = (_measure_spread(ink.sum(axis=axis)) for axis in (1, 0))
        rows, columns = np.nonzero(shape)
        slant = np.cov(rows, columns)[0, 1] / rows.var()
        facts.append([2 * shape.sum() / edge, width / height, slant])
    return np.array(facts)


def _measure_spread(weights: NDArray[np.float64]) -> float:
    places = np.arange(len(weights))
    mean = np.average(places, weights=weights)
    return float(np.sqrt(np.average((places - mean) ** 2, weights=weights)))


def predict_facts(
    train: NDArray[Any], facts: NDArray[Any], unseen: NDArray[Any], unseen_facts: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return R² of each quantity of unseen images, predicted from their coordinates.

    Once by an affine function, and once by the mean of the nearest training images in the embedding, which also
    finds a quantity that lies along a curve.
    """
    affine = LinearRegression().fit(train, facts).predict(unseen)
    nearby = make_pipeline(StandardScaler(), KNeighborsRegressor(N_NEIGHBORS)).fit(train, facts).predict(unseen)
    first, second = (r2_score(unseen_facts, p, multioutput="raw_values") for p in (affine, nearby))
    return np.asarray(first), np.asarray(second)


def reduce_images(train: NDArray[Any], unseen: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return 20 principal coordinates: what is in the pixels, without a manifold."""
    axes = PCA(20, random_state=0).fit(train)
    return axes.transform(train), axes.transform(unseen)
