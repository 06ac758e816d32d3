"""Defaults on real data: unseen samples are placed as training samples are. Ten splits a set in `make check`."""

import warnings

import numpy as np
import pytest
from explicit_faces import follow_isomap, follow_umap
from isomap_faces import measure_split as measure_faces
from joblib import Parallel, delayed
from real_data import SETS, draw_split, load_zeros, measure_split, spread

from image_sets import needs
from polyfold import NPPE, SNPPE
from polyfold.metrics import trustworthiness
from processes import N_JOBS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def measure_splits(name, seeds, compare=False):
    """Return the spreads, PCA's, and the trustworthiness of unseen samples, training samples and LLE's."""
    load, n_train, n_unseen, _ = SETS[name]
    X = load()
    rows = Parallel(n_jobs=N_JOBS)(
        delayed(measure_split)(X, n_train, n_unseen, compare, seed, {}) for seed in seeds
    )
    trust = np.array([[row[key] for key in ("unseen", "training", "LLE's")] for row in rows])
    return np.array([row["spread"] for row in rows]), np.array([row["PCA's"] for row in rows]), trust


IMAGES = [pytest.param(name, marks=needs(name)) for name in ("frey", "usps", "isomap")]


@pytest.mark.parametrize("name", [*IMAGES, "digits"])
def test_unseen_samples_spread_as_training_samples_do(name):
    ours, _, _ = measure_splits(name, range(1))
    assert ours.min() >= 0.85
    assert ours.max() <= 1.15


@pytest.mark.slow
@pytest.mark.parametrize("name", [*IMAGES, pytest.param("mnist", marks=needs("mnist")), "digits"])
def test_spread_on_every_of_ten_splits(name):
    ours, _, _ = measure_splits(name, range(10))
    assert ours.min() >= 0.85
    assert ours.max() <= 1.15


@pytest.mark.parametrize(
    "name", ["wine", pytest.param("cancer", marks=pytest.mark.slow), pytest.param("coil", marks=needs("coil20"))]
)
def test_spread_of_small_sets(name):
    """Where a split itself moves the spread: on average right, and hardly farther off than PCA."""
    ours, pca, _ = measure_splits(name, range(10))
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
    train, unseen = draw_split(load_zeros(), 600, 150, seed=0)
    with pytest.warns(UserWarning, match="does not generalise: on held-out folds a coordinate spreads"):
        paper = SNPPE(alpha=0, n_neighbors=5).fit(train)
    assert spread(paper, train, unseen).max() > 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = NPPE().fit(train)
    assert fitted.alpha_ > 0
    np.testing.assert_allclose(fitted.diagnostics_.held_out_spread, 1, atol=0.1)


@pytest.mark.parametrize(
    "seeds", [pytest.param(range(1), id="few"), pytest.param(range(10), id="all", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", IMAGES)
def test_independent_coordinates_do_no_harm_to_images(name, seeds):
    """Their tangent planes are noise, so the smallest are kept."""
    load, n_train, n_unseen, _ = SETS[name]
    X = load()
    for seed in seeds:
        train, unseen = draw_split(X, n_train, n_unseen, seed)
        independent, smallest = (NPPE(coordinates=c).fit(train) for c in ("independent", "smallest"))
        assert independent.diagnostics_.tangent_agreement < 0.8
        trust = [
            trustworthiness(unseen, model.transform(unseen), n_neighbors=10) for model in (independent, smallest)
        ]
        assert trust[0] >= trust[1]


@needs("isomap")
@pytest.mark.parametrize("seed", range(5))
def test_explicit_isomap_knows_light_pan_and_tilt(seed):
    """As well as Isomap's own out-of-sample step, which keeps the training set."""
    theirs, ours, _, explicit = measure_faces(seed)
    assert (ours >= theirs - 0.02).all()
    assert explicit.map_.nbytes < 500_000


@needs("isomap")
@pytest.mark.parametrize("seed", range(5))
def test_a_map_of_isomap_knows_light_pan_and_tilt(seed):
    """As well as Isomap's own out-of-sample step."""
    theirs, ours, _, explicit = follow_isomap(seed)
    assert (ours >= theirs - 0.02).all()
    assert (explicit.diagnostics_.left_out_r2 > 0.97).all()


@pytest.mark.slow
@needs("isomap")
@pytest.mark.parametrize("seed", range(5))
def test_a_map_of_umap_keeps_neighbours(seed):
    """As well as UMAP's own out-of-sample step, less 0.02."""
    pytest.importorskip("umap", reason="pip install 'polyfold[umap]'", exc_type=ImportError)
    theirs, ours, _, explicit = follow_umap(seed)
    assert ours >= theirs - 0.02
    assert (explicit.diagnostics_.left_out_r2 > 0.95).all()


@pytest.mark.parametrize("seed", range(3))
@needs("coil20")
def test_a_closed_curve_is_not_torn_by_the_choice(seed):
    """An object turned once round: with few samples a third of the whole turn would pass for a tangent plane."""
    load, n_train, n_unseen, _ = SETS["coil"]
    train, _ = draw_split(load(), n_train, n_unseen, seed)
    assert NPPE().fit(train).diagnostics_.kept == (0, 1)
