"""Defaults on real data: unseen samples are placed as training samples are. Ten splits a set in `make check`."""

import warnings

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.preprocessing import StandardScaler

from image_sets import needs
from polyfold import NPPE, SNPPE
from polyfold.datasets import load_coil20, load_frey_faces, load_isomap_faces, load_mnist, load_usps
from polyfold.metrics import trustworthiness

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def load_zeros():
    X, y = load_usps()
    return X[y == 0]


def load_object():
    X, y = load_coil20()
    return X[y == y[0]]


SETS = {
    "frey": (load_frey_faces, 1500, 400),
    "usps": (load_zeros, 600, 150),
    "isomap": (lambda: load_isomap_faces()[0], 548, 150),
    "mnist": (lambda: load_mnist()[0], 5000, 5000),
    "digits": (lambda: load_digits().data, 1200, 597),
    "wine": (lambda: StandardScaler().fit_transform(load_wine().data), 120, 58),
    "cancer": (lambda: StandardScaler().fit_transform(load_breast_cancer().data), 400, 169),
    "coil20": (load_object, 48, 24),
}


def split(name, X, seed):
    _, n_train, n_unseen = SETS[name]
    order = np.random.default_rng(seed).permutation(len(X))
    return X[order[:n_train]].astype(float), X[order[n_train : n_train + n_unseen]].astype(float)


def spread(model, train, unseen):
    return model.transform(unseen).std(axis=0) / model.transform(train).std(axis=0)


def measure(name, X, seed, compare):
    train, unseen = split(name, X, seed)
    model = NPPE().fit(train)
    row = [spread(model, train, unseen), spread(PCA(2, random_state=0).fit(train), train, unseen)]
    if compare:
        lle = LocallyLinearEmbedding(n_neighbors=model.n_neighbors_, random_state=0).fit(train)
        pairs = [(unseen, model.transform(unseen)), (train, model.embedding_), (unseen, lle.transform(unseen))]
        row.append([trustworthiness(A, B, n_neighbors=10) for A, B in pairs])
    return row


def measure_splits(name, seeds, compare=False):
    X = SETS[name][0]()
    rows = Parallel(n_jobs=2)(delayed(measure)(name, X, seed, compare) for seed in seeds)
    return [np.array(part) for part in zip(*rows, strict=True)]


IMAGES = [pytest.param(name, marks=needs(name)) for name in ("frey", "usps", "isomap")]


@pytest.mark.parametrize("name", [*IMAGES, "digits"])
def test_unseen_samples_spread_as_training_samples_do(name):
    ours, _ = measure_splits(name, range(2))
    assert ours.min() >= 0.85
    assert ours.max() <= 1.15


@pytest.mark.slow
@pytest.mark.parametrize("name", [*IMAGES, pytest.param("mnist", marks=needs("mnist")), "digits"])
def test_spread_on_every_of_ten_splits(name):
    ours, _ = measure_splits(name, range(10))
    assert ours.min() >= 0.85
    assert ours.max() <= 1.15


@pytest.mark.parametrize("name", ["wine", "cancer", pytest.param("coil20", marks=needs("coil20"))])
def test_spread_of_small_sets(name):
    """Where a split itself moves the spread: on average right, and hardly farther off than PCA."""
    ours, pca = measure_splits(name, range(10))
    assert ours.mean(axis=0).min() >= 0.85
    assert ours.mean(axis=0).max() <= 1.15
    assert ours.min() >= pca.min() - 0.10
    assert ours.max() <= pca.max() + 0.10


@pytest.mark.slow
@pytest.mark.parametrize("name", IMAGES)
def test_unseen_samples_keep_their_neighbours(name):
    """As well as with LLE's own transform, which needs the training samples, and as those keep theirs."""
    _, _, trust = measure_splits(name, range(10), compare=True)
    unseen, train, theirs = trust.mean(axis=0)
    assert unseen >= train - 0.03
    assert unseen >= theirs - 0.01
    if name == "frey":
        assert unseen >= 0.87
    if name == "isomap":
        assert unseen > theirs


@needs("usps")
def test_what_the_defaults_are_for():
    """The paper's simplified form without a ridge places unseen zeros far outside, and warns of it."""
    train, unseen = split("usps", load_zeros(), 0)
    with pytest.warns(UserWarning, match="does not generalise: on held-out folds a coordinate spreads"):
        paper = SNPPE(alpha=0, n_neighbors=5).fit(train)
    assert spread(paper, train, unseen).max() > 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = NPPE().fit(train)
    assert fitted.alpha_ > 0
    np.testing.assert_allclose(fitted.diagnostics_.held_out_spread, 1, atol=0.1)
