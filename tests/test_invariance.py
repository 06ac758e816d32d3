"""What the answer must not depend on: axes, origin and unit of the data, order of the rows, batch."""

import numpy as np
import pytest
from scipy.stats import special_ortho_group

from polyfold import NPPE, SNPPE
from polyfold.datasets import make_gaussian, make_swiss_roll, make_twin_peaks
from polyfold.metrics import residual_variance

SURFACES = [make_swiss_roll, make_gaussian, make_twin_peaks]
#: Scale, and shift in multiples of the size of the scaled data.
MOVES = [(1.0, 0.0), (1.0, 1000.0), (1e-6, 0.0), (1e6, 0.0), (1e6, -1000.0)]


def size_of(X):
    return np.sqrt(X.var(axis=0).sum())


def relative_difference(Y, Z):
    return np.abs(Y - Z).max() / np.abs(Z).max()


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize("make", SURFACES)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:Only 33 of 34 polynomial features:UserWarning")
def test_nppe_is_indifferent_to_rotation_shift_and_scale(make, alpha, degree, seed):
    X, _ = make(400, random_state=seed)
    model = NPPE(n_neighbors=10, degree=degree, alpha=alpha)
    Y = model.fit(X).embedding_
    turned = X @ special_ortho_group.rvs(3, random_state=seed)
    for scale, shift in MOVES:
        moved = scale * turned + shift * scale * size_of(X) * np.array([1.0, -0.5, 0.2])
        assert relative_difference(model.fit(moved).embedding_, Y) < 1e-6


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("alpha", [0.0, 1e-3])
@pytest.mark.parametrize("make", SURFACES)
@pytest.mark.parametrize("seed", range(3))
def test_snppe_is_indifferent_to_shift_and_scale(make, alpha, degree, seed):
    X, _ = make(400, random_state=seed)
    model = SNPPE(n_neighbors=10, degree=degree, alpha=alpha)
    Y = model.fit(X).embedding_
    for scale, shift in MOVES:
        moved = scale * X + shift * scale * size_of(X) * np.array([1.0, -0.5, 0.2])
        assert relative_difference(model.fit(moved).embedding_, Y) < 1e-6


@pytest.mark.parametrize("make", [make_swiss_roll, make_twin_peaks])
@pytest.mark.parametrize("degree", [2, 3])
def test_automatic_choices_do_not_see_a_rotation(make, degree):
    for seed in range(4):
        X, _ = make(600, random_state=seed)
        plain = NPPE(degree=degree).fit(X)
        turned = NPPE(degree=degree).fit(7 * X @ special_ortho_group.rvs(3, random_state=seed) + 3)
        assert (turned.alpha_, turned.n_neighbors_) == (plain.alpha_, plain.n_neighbors_)
        assert relative_difference(turned.embedding_, plain.embedding_) < 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_snppe_depends_on_the_axes(seed):
    """Why cross terms are the default: without them a turned roll is not unrolled."""
    X, Z = make_swiss_roll(1000, random_state=seed)
    turned = X @ special_ortho_group.rvs(3, random_state=seed)
    model = SNPPE(n_neighbors=10, alpha=0, coordinates="smallest")
    plain = residual_variance(model.fit(X).embedding_, Z)
    assert residual_variance(model.fit(turned).embedding_, Z) > plain + 0.2


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
@pytest.mark.parametrize("center", [True, False])
def test_order_of_the_rows_does_not_matter(estimator, center):
    X, _ = make_twin_peaks(300, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    model = estimator(n_neighbors=10, degree=3, center=center, alpha=1e-4)  # folds do depend on the order
    Y = model.fit(X).embedding_
    assert relative_difference(model.fit(X[order]).embedding_, Y[order]) < 1e-9


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
def test_order_and_sign_of_the_columns_do_not_matter(estimator):
    X, _ = make_twin_peaks(300, random_state=0)
    model = estimator(n_neighbors=10, degree=3)
    Y = model.fit(X).embedding_
    assert relative_difference(model.fit(X[:, [2, 0, 1]] * [1, -1, 1]).embedding_, Y) < 1e-9


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("degree", [1, 2, 5])
@pytest.mark.filterwarnings("ignore:Only .* polynomial features:UserWarning")
def test_a_sample_gets_the_same_bits_alone_and_in_a_batch(estimator, degree, dtype):
    X = make_swiss_roll(500, random_state=0)[0].astype(dtype)
    fitted = estimator(n_components=3, n_neighbors=10, degree=degree).fit(X)
    unseen = make_swiss_roll(2000, random_state=1)[0].astype(dtype)
    batch = fitted.transform(unseen)
    for i in [0, 1, 17, 999, 1999]:
        np.testing.assert_array_equal(fitted.transform(unseen[i : i + 1])[0], batch[i])
    np.testing.assert_array_equal(fitted.transform(np.asfortranarray(unseen)), batch)
    np.testing.assert_array_equal(fitted.transform(unseen[::-3]), batch[::-3])


def test_batch_independence_across_the_map_s_own_blocks(monkeypatch):
    X, _ = make_swiss_roll(300, random_state=0)
    fitted = NPPE(n_neighbors=10).fit(X)
    whole = fitted.transform(X)
    monkeypatch.setattr("polyfold.polymap.BLOCK_BYTES", 8 * 3 * 7)
    np.testing.assert_array_equal(fitted.transform(X), whole)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore:Only 4 of 5 polynomial features:UserWarning")  # on a parabola, y is x²
def test_signs_of_mirror_symmetric_data(seed):
    """Both tails are equally long but for rounding, which must not decide."""
    g = np.linspace(-1, 1, 40)
    bow = np.column_stack([g, g**2])
    model = NPPE(1, n_neighbors=4)
    Y = model.fit(bow).embedding_
    moved = bow @ special_ortho_group.rvs(2, random_state=seed) * (seed + 1) + seed
    assert relative_difference(model.fit(moved).embedding_, Y) < 1e-6


def test_scale_of_the_scalar_that_divides_the_data():
    """One isotropic scalar, the RMS distance to the mean, so that the coefficients belong to data of size 1."""
    X, _ = make_twin_peaks(200, random_state=0)
    learned = NPPE(n_neighbors=10).fit(5 * X + 3).map_
    np.testing.assert_allclose(learned.shift, (5 * X + 3).mean(axis=0))
    assert learned.scale == pytest.approx(np.sqrt(np.square(5 * (X - X.mean(axis=0))).sum(axis=1).mean()))
    uncentered = NPPE(n_neighbors=10, center=False).fit(5 * X + 3).map_
    np.testing.assert_array_equal(uncentered.shift, 0)
    np.testing.assert_array_equal(uncentered.offset, 0)
