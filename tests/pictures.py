"""What tests of pictures share."""

from functools import cache
from pathlib import Path

from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from polyfold import NPPE


@cache
def load_threes():
    X, y = load_digits(return_X_y=True)
    return X[y == 3]


@cache
def fit_threes():
    return NPPE().fit(load_threes())


def draw(ax):
    """Bring a picture to pixels, so that what matplotlib finds out late is found."""
    ax.figure.savefig(Path("/dev/null"), format="png", dpi=40)


def list_legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def match_rows(found, points):
    """Return for each found row which of the points it is."""
    distances = cdist(found, points)
    assert distances.min(axis=1).max(initial=0) < 1e-12
    return distances.argmin(axis=1)
