"""ExplicitEmbedding: a polynomial map that follows any manifold learner."""

import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.manifold import MDS, TSNE, Isomap, SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polyfold import ExplicitEmbedding, PolynomialMap
from polyfold._basis import build_basis
from polyfold.datasets import make_gaussian, make_swiss_roll
from polyfold.metrics import residual_variance

DEGREES = [1, 2, 3, 4]
MDS_START = {"init": "random"} if "init" in MDS().get_params() else {}  # which older ones do without asking


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(300, random_state=0)


def draw_polynomial(degree, n_columns, n_outputs, seed):
    """Return a function of random coefficients, evaluated monomial by monomial."""
    rng = np.random.default_rng(seed)
    powers = [power for power in product(range(degree + 1), repeat=n_columns) if 0 < sum(power) <= degree]
    coefficients = rng.normal(size=(len(powers), n_outputs))
    constant = rng.normal(size=n_outputs)

    def evaluate(X):
        monomials = np.stack([np.prod(X ** np.array(power), axis=1) for power in powers], axis=1)
        return monomials @ coefficients + constant

    return evaluate


# ------------------------------------------------------------------------------------------- recovery


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize(("n_columns", "shift"), [(3, 0.0), (5, 2.0)])
def test_exactly_polynomial_targets_are_recovered(degree, n_columns, shift, seed):
    rng = np.random.default_rng(seed)
    polynomial = draw_polynomial(degree, n_columns, 3, seed)
    X, unseen = (rng.uniform(-1, 1, size=(size, n_columns)) + shift for size in (400, 200))
    model = ExplicitEmbedding("precomputed", degree=degree, reduce=None).fit(X, polynomial(X))
    truth = polynomial(unseen)
    assert np.abs(model.transform(unseen) - truth).max() <= 1e-8 * truth.std()
    assert (model.diagnostics_.left_out_r2 > 1 - 1e-12).all()
    assert model.map_.degree == degree


@pytest.mark.parametrize("degree", DEGREES)
def test_the_recovered_polynomial_has_the_coefficients_that_made_the_targets(degree):
    rng = np.random.default_rng(0)
    made = build_basis("kronecker", 3, degree)
    source = PolynomialMap(
        rng.normal(size=3), 1.7, "kronecker", degree, rng.normal(size=(made.n_features, 2)), rng.normal(size=2)
    )
    X = rng.uniform(-1, 1, size=(300, 3))
    model = ExplicitEmbedding("precomputed", degree=degree).fit(X, source.transform(X))
    for ours, theirs in zip(model.map_.terms(), source.terms(), strict=True):
        assert ours.columns == theirs.columns
        np.testing.assert_allclose(ours.coefficients, theirs.coefficients, atol=1e-8)


# --------------------------------------------------------------------- ridge regression and leaving one out


def expand(model, X):
    """Return the monomials of samples in the map's variables."""
    m = model.map_
    located = (X - m.shift) / m.scale
    return build_basis(m.basis, m.n_axes, m.degree).expand(located if m.axes is None else located @ m.axes)


def ridge_strength(Phi, alpha, weights):
    centered = (Phi - np.average(Phi, axis=0, weights=weights)) * np.sqrt(weights)[:, np.newaxis]
    return alpha * np.linalg.norm(centered, 2) ** 2


@pytest.mark.filterwarnings("ignore:The map does not follow:UserWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1e-9, 1e-5, 1e-2])
@pytest.mark.parametrize(("degree", "columns"), [(1, 3), (3, 3), (2, 30)])
def test_the_leave_one_out_figure_is_that_of_refitting(degree, columns, alpha, weighted):
    rng = np.random.default_rng(degree)
    X = rng.normal(size=(90, columns))
    targets = np.column_stack([np.sin(X[:, 0]) + X[:, 1] ** 2, 1e3 * np.exp(X[:, 2]) + 5e3])
    targets += 0.1 * rng.normal(size=targets.shape)
    weights = rng.uniform(0.2, 2, 90) if weighted else np.ones(90)
    model = ExplicitEmbedding("precomputed", degree=degree, alpha=alpha).fit(X, targets, weights)

    weights = weights / weights.mean()
    Phi = expand(model, X)
    strength = ridge_strength(Phi, alpha, weights)
    predicted = np.empty_like(targets)
    for i in range(90):
        rest = np.arange(90) != i
        refitted = Ridge(strength, solver="svd").fit(Phi[rest], targets[rest], sample_weight=weights[rest])
        predicted[i] = refitted.predict(Phi[[i]])[0]
    about_mean = targets - np.average(targets, axis=0, weights=weights)
    expected = 1 - weights @ np.square(targets - predicted) / (weights @ np.square(about_mean))
    np.testing.assert_allclose(model.diagnostics_.left_out_r2, expected, atol=1e-8)

    everything = Ridge(strength, solver="svd").fit(Phi, targets, sample_weight=weights)
    np.testing.assert_allclose(model.embedding_, everything.predict(Phi), atol=1e-8 * np.abs(targets).max())
    missed = weights @ np.square(targets - model.embedding_)
    np.testing.assert_allclose(model.diagnostics_.r2, 1 - missed / (weights @ np.square(about_mean)), atol=1e-8)


@pytest.mark.filterwarnings("ignore:The map does not follow:UserWarning")
def test_the_ridge_is_that_which_misses_least_of_samples_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    targets = X[:, :2] ** 2 + rng.normal(size=(80, 2))
    model = ExplicitEmbedding("precomputed", degree=3).fit(X, targets)
    curve = model.diagnostics_.alpha_curve
    assert len(curve) == 16
    assert model.alpha_ == curve[np.argmin(curve[:, 1]), 0] > 0
    for alpha, missed in curve[8:]:
        given = ExplicitEmbedding("precomputed", degree=3, alpha=alpha).fit(X, targets)
        assert 1 - given.diagnostics_.left_out_r2.mean() == pytest.approx(missed, rel=1e-8)
        assert missed >= 1 - model.diagnostics_.left_out_r2.mean() - 1e-12


def test_blocks_of_rows_change_nothing(monkeypatch, roll):
    X, Z = roll
    whole = ExplicitEmbedding("precomputed", degree=3).fit(X, Z)
    monkeypatch.setattr("polyfold._blocks.BLOCK_BYTES", 20_000)
    pieces = ExplicitEmbedding("precomputed", degree=3, n_jobs=2).fit(X, Z)
    np.testing.assert_allclose(pieces.embedding_, whole.embedding_, atol=1e-10 * np.abs(Z).max())
    np.testing.assert_allclose(pieces.diagnostics_.left_out_r2, whole.diagnostics_.left_out_r2, atol=1e-10)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
def test_the_unit_of_samples_and_coordinates_does_not_matter(factor, roll):
    X, Z = roll
    base = ExplicitEmbedding("precomputed", degree=3).fit(X, Z)
    of_samples = ExplicitEmbedding("precomputed", degree=3).fit(X * factor, Z)
    np.testing.assert_allclose(of_samples.embedding_, base.embedding_, atol=1e-8 * np.abs(Z).max())
    of_targets = ExplicitEmbedding("precomputed", degree=3).fit(X, Z * [1.0, factor])
    assert of_targets.alpha_ == base.alpha_
    np.testing.assert_allclose(of_targets.embedding_ / [1.0, factor], base.embedding_, atol=1e-8 * np.abs(Z).max())


def test_a_repeated_sample_is_one_of_weight_two_for_a_given_ridge(roll):
    X, Z = roll
    weights = np.ones(300)
    weights[:100] = 2
    model = ExplicitEmbedding("precomputed", degree=3, alpha=0.0)
    weighted = model.fit(X, Z, weights).transform(X)
    repeated = model.fit(np.concatenate([X, X[:100]]), np.concatenate([Z, Z[:100]])).transform(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9 * np.abs(Z).max())


def test_samples_of_weight_zero_are_left_out(roll):
    X, Z = roll
    weights = np.ones(300)
    weights[::3] = 0
    kept = weights > 0
    spoiled = np.where(kept[:, np.newaxis], Z, 1e6)
    ours = ExplicitEmbedding("precomputed").fit(X, spoiled, weights)
    alone = ExplicitEmbedding("precomputed").fit(X[kept], Z[kept])
    np.testing.assert_allclose(ours.map_.coefficients, alone.map_.coefficients, rtol=1e-9)
    assert len(ours.embedding_) == 300
    assert len(ours.target_) == 200
    learned = ExplicitEmbedding(Isomap(n_neighbors=8), degree=3).fit(pd.DataFrame(X), None, weights)
    alone = Isomap(n_neighbors=8).fit_transform(X[kept])
    np.testing.assert_allclose(learned.target_, alone, atol=1e-8 * np.abs(alone).max())


# ------------------------------------------------------------------------------------------- learners


class OnlyFit(BaseEstimator):
    """A learner without `fit_transform`, whose `fit` takes no y."""

    def fit(self, X):
        self.embedding_ = np.asarray(X)[:, :2] ** 2
        return self


class TakesTarget(BaseEstimator):
    def fit_transform(self, X, y=None):
        return np.asarray(X) * (1 if y is None else np.asarray(y)[:, np.newaxis])


class OneColumn(BaseEstimator):
    def fit_transform(self, X):
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize(
    "learner",
    [
        Isomap(n_neighbors=8),
        SpectralEmbedding(n_neighbors=10, random_state=0),
        MDS(n_init=1, max_iter=20, random_state=0, **MDS_START),
        TSNE(random_state=0, max_iter=250),
        PCA(2),
        make_pipeline(StandardScaler(), Isomap(n_neighbors=8)),
        OnlyFit(),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.filterwarnings("ignore:The map does not follow:UserWarning")
def test_any_learner_is_followed(learner, roll):
    X, _ = roll
    model = ExplicitEmbedding(learner, degree=3).fit(X)
    reference = clone(learner)
    own = reference.fit_transform(X) if hasattr(learner, "fit_transform") else reference.fit(X).embedding_
    np.testing.assert_allclose(model.target_, own, atol=1e-6 * np.abs(own).max())
    np.testing.assert_array_equal(model.embedding_, model.transform(X))
    followed = 1 - np.square(model.embedding_ - own).sum(axis=0) / np.square(own - own.mean(axis=0)).sum(axis=0)
    np.testing.assert_allclose(followed, model.diagnostics_.r2, atol=1e-6)
    assert type(model.estimator_) is type(learner)
    assert not hasattr(learner, "embedding_")  # a clone was fitted


def test_linear_learners_are_followed_exactly(roll):
    X, _ = roll
    model = ExplicitEmbedding(PCA(2), degree=1).fit(X)
    np.testing.assert_allclose(model.transform(X), PCA(2).fit_transform(X), atol=1e-10)


def test_a_learner_that_is_fitted_already_is_used_as_it_is(roll):
    X, _ = roll
    fitted = Isomap(n_neighbors=8).fit(X)
    model = ExplicitEmbedding(FrozenEstimator(fitted), degree=3).fit(X)
    np.testing.assert_array_equal(model.target_, fitted.embedding_)
    assert model.estimator_.estimator is fitted
    assert model.diagnostics_.learner == "Isomap"
    with pytest.raises(ValueError, match="shape \\(300, 2\\) for 200 samples"):
        ExplicitEmbedding(FrozenEstimator(fitted)).fit(X[:200])


def test_y_reaches_a_learner_that_takes_it(roll):
    X, Z = roll
    np.testing.assert_array_equal(ExplicitEmbedding(TakesTarget()).fit(X, Z[:, 0]).target_, X * Z[:, :1])
    np.testing.assert_array_equal(ExplicitEmbedding(OneColumn()).fit(X, Z[:, 0]).target_, X[:, :1])


def test_the_seed_is_passed_to_a_learner_that_has_none(roll):
    X, _ = roll
    first, second = (
        ExplicitEmbedding(TSNE(max_iter=250, init="random"), degree=3, random_state=seed).fit(X).target_
        for seed in (7, 7)
    )
    np.testing.assert_array_equal(first, second)
    kept = ExplicitEmbedding(TSNE(max_iter=250, random_state=1), degree=3, random_state=7).fit(X)
    assert kept.estimator_.random_state == 1


def test_precomputed_coordinates_of_one_or_more_columns(roll):
    X, Z = roll
    flat = ExplicitEmbedding("precomputed", degree=3).fit(X, Z[:, 1])
    assert flat.transform(X).shape == (300, 1)
    table = pd.DataFrame(Z, columns=["t", "h"])
    both = ExplicitEmbedding("precomputed", degree=3).fit(X, table)
    np.testing.assert_allclose(both.transform(X)[:, 1:], flat.transform(X), atol=0.1)
    assert both.estimator_ is None
    assert both.diagnostics_.learner == "precomputed"
    np.testing.assert_array_equal(both.fit_transform(X, Z), both.embedding_)


def test_new_samples_of_a_roll_are_placed_as_the_learner_would(roll):
    X, _ = make_swiss_roll(800, random_state=0)
    unseen, truth = make_swiss_roll(2000, random_state=1)
    isomap = Isomap(n_neighbors=8)
    model = ExplicitEmbedding(isomap, degree=3).fit(X)
    ours, theirs = model.transform(unseen), isomap.fit(X).transform(unseen)
    assert residual_variance(ours, truth) < 0.02
    assert residual_variance(ours, theirs) < 0.02


def test_the_map_holds_no_training_data_and_goes_back(roll):
    X, _ = make_gaussian(400, random_state=0)
    model = ExplicitEmbedding(Isomap(n_neighbors=10), degree=3, fit_inverse_transform=True).fit(X)
    assert len(pickle.dumps(model.map_)) < 20_000
    back = model.inverse_transform(model.transform(X))
    assert np.square(back - X).sum() < 0.05 * np.square(X - X.mean(axis=0)).sum()
    assert model.diagnostics_.round_trip_error < 0.05
    assert "round trip" in repr(model.diagnostics_)
    assert (model.map_.extrapolation(X * 5)[np.abs(X).max(axis=1) > 1] > 1).all()


# ---------------------------------------------------------------------------------------- faithfulness


def tear(X, Z, seed):
    """Return coordinates of the sheet in which 6 pieces have been put at random places, turned and far apart."""
    rng = np.random.default_rng(seed)
    pieces = np.argsort(np.argsort(Z[:, 0])) * 6 // len(Z)
    angles, places = rng.uniform(0, 2 * np.pi, 6)[pieces], (100 * rng.permutation(6))[pieces]
    centered = Z - np.array([Z[pieces == piece].mean(axis=0) for piece in range(6)])[pieces]
    turned = [
        np.cos(angles) * centered[:, 0] - np.sin(angles) * centered[:, 1] + places,
        np.sin(angles) * centered[:, 0] + np.cos(angles) * centered[:, 1],
    ]
    return np.column_stack(turned)


@pytest.mark.parametrize("seed", range(10))
def test_a_map_that_cannot_follow_torn_pieces_warns(seed):
    X, Z = make_swiss_roll(600, random_state=seed)
    with pytest.warns(UserWarning, match="does not follow the coordinates given.*torn apart"):
        model = ExplicitEmbedding("precomputed").fit(X, tear(X, Z, seed))
    assert model.diagnostics_.left_out_r2.min() < 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = ExplicitEmbedding("precomputed").fit(X, Z)
    assert whole.diagnostics_.left_out_r2.min() > 0.95


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("degree", [2, 3])
def test_pieces_that_were_moved_apart_in_order_warn_too(degree, seed):
    """Each coordinate is followed from afar, R² above 0.9, and nothing within the pieces."""
    X, Z = make_swiss_roll(600, random_state=seed)
    apart = Z + np.outer(200 * (Z[:, 0] > np.median(Z[:, 0])), [1, 0])
    with pytest.warns(UserWarning, match="follows the coordinates given from afar only"):
        model = ExplicitEmbedding("precomputed", degree=degree).fit(X, apart)
    assert model.diagnostics_.left_out_r2.min() > 0.9
    assert model.diagnostics_.local_r2 < 0
    assert ExplicitEmbedding("precomputed", degree=degree).fit(X, Z).diagnostics_.local_r2 > 0.9


def test_local_r2_is_that_of_each_neighbourhood_about_its_mean(roll):
    X, Z = roll
    model = ExplicitEmbedding("precomputed", degree=2).fit(X, Z)
    T, F = (S / Z.std(axis=0) for S in (Z, model.embedding_))
    missed = varied = 0.0
    for i in range(300):
        near = np.argsort(np.linalg.norm(T - T[i], axis=1))[:15]
        missed += np.square((T - F)[near] - (T - F)[near].mean(axis=0)).sum()
        varied += np.square(T[near] - T[near].mean(axis=0)).sum()
    assert model.diagnostics_.local_r2 == pytest.approx(1 - missed / varied, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_one_coordinate_that_is_followed_is_no_false_alarm(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5))
    target = X[:, 0] + X[:, 1] ** 2 / 4 + 0.15 * rng.normal(size=200)  # R² about 0.97
    alone = ExplicitEmbedding("precomputed").fit(X, target)
    beside = ExplicitEmbedding("precomputed").fit(X, np.column_stack([target, np.ones(200)]))
    assert alone.diagnostics_.local_r2 > 0
    assert beside.diagnostics_.local_r2 == pytest.approx(alone.diagnostics_.local_r2, abs=1e-9)


@pytest.mark.filterwarnings("ignore:The map does not follow:UserWarning")
def test_targets_of_few_values_have_no_neighbourhoods(roll):
    X, Z = roll
    model = ExplicitEmbedding("precomputed").fit(X, np.round(Z[:, 0] / 5) // 2)
    assert np.isnan(model.diagnostics_.local_r2)
    assert "neighbours have the same coordinates" in repr(model.diagnostics_)


@pytest.mark.filterwarnings("ignore:Only .* features are linearly independent:UserWarning")
def test_advice_fits_the_cause(roll):
    X, Z = roll
    shuffled = np.random.default_rng(0).permutation(Z)
    with pytest.warns(UserWarning, match=r"rows of X and of the coordinates in the same order\?"):
        ExplicitEmbedding("precomputed").fit(X, shuffled)
    with pytest.warns(UserWarning, match='Use alpha="auto", lower `degree`'):
        ExplicitEmbedding("precomputed", degree=8, alpha=0.0).fit(X[:180], (Z + 5 * np.sin(3 * X[:, :2]))[:180])


def test_a_sample_that_only_itself_determines_is_not_left_out():
    X, Z = make_swiss_roll(200, random_state=0)
    X[0] = 1e4
    with pytest.warns(UserWarning, match="cannot be left out|carries|independent"):
        model = ExplicitEmbedding("precomputed", degree=2, alpha=0.0).fit(X, Z)
    assert model.diagnostics_.left_out_r2.max() < 0.5


def test_too_many_features_without_a_ridge_say_that_nothing_is_known():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 6)), rng.normal(size=(20, 2))
    with pytest.warns(UserWarning, match="cannot be left out|linearly independent") as caught:
        model = ExplicitEmbedding("precomputed", degree=2, alpha=0.0, reduce=None).fit(X, Y)
    assert any("cannot be left out" in str(each.message) for each in caught)
    assert np.isinf(model.diagnostics_.left_out_r2).all()
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-6)


def test_the_report_says_what_was_followed_and_how_well(roll):
    X, _ = roll
    report = repr(ExplicitEmbedding(Isomap(n_neighbors=8), degree=3).fit(X).diagnostics_)
    for part in ("follows              Isomap", "R², left out", "19 monomials", "auto: misses least"):
        assert part in report
    assert "R², nearby" in report
    assert "given)" in repr(ExplicitEmbedding(Isomap(n_neighbors=8), degree=3, alpha=1e-9).fit(X).diagnostics_)


# ------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        ("isomap", "must be \"precomputed\" or an object with `fit_transform`.*got 'isomap'"),
        (Isomap, r"must be an object, got the class Isomap\. Write Isomap\(\)"),
        (None, "got None"),
        (StandardScaler().fit, 'must be "precomputed" or an object'),
    ],
)
def test_what_is_no_learner_is_refused(estimator, match, roll):
    with pytest.raises(ValueError, match=match):
        ExplicitEmbedding(estimator).fit(roll[0])


def test_a_learner_that_gives_no_coordinates_is_named(roll):
    from sklearn.linear_model import LinearRegression

    with pytest.raises(ValueError, match="LinearRegression has neither"):
        ExplicitEmbedding(LinearRegression()).fit(roll[0], roll[1])


@pytest.mark.parametrize(
    ("targets", "match"),
    [
        (None, "requires y to be passed"),
        (np.ones((7, 2)), "y gives coordinates of shape \\(7, 2\\) for 300 samples"),
        (np.full((300, 2), np.nan), "Input y contains NaN"),
        (np.full((300, 2), np.inf), "contains infinity"),
        (np.ones((300, 2, 2)), "Found array with dim 3"),
        (np.array(["a"] * 300), "could not convert"),
    ],
)
def test_coordinates_that_cannot_be_followed(targets, match, roll):
    with pytest.raises(ValueError, match=match):
        ExplicitEmbedding("precomputed").fit(roll[0], targets)


@pytest.mark.filterwarnings("ignore:The map:UserWarning")
def test_coordinates_of_deviation_one_are_not_constant(roll):
    X, Z = roll
    sides = np.where(Z[:, 0] > np.median(Z[:, 0]), 1.0, -1.0)
    model = ExplicitEmbedding("precomputed", degree=1).fit(X, sides)
    other = ExplicitEmbedding("precomputed", degree=1).fit(X, sides + 1)
    np.testing.assert_allclose(model.diagnostics_.left_out_r2, other.diagnostics_.left_out_r2, atol=1e-9)
    np.testing.assert_allclose(model.embedding_ + 1, other.embedding_, atol=1e-9)


class Plain:
    """A learner that knows nothing of scikit-learn."""

    def fit_transform(self, X):
        return X[:, :2] ** 2


def test_learners_that_are_no_estimators_or_overwrite_their_input(roll):
    X, _ = roll
    np.testing.assert_allclose(ExplicitEmbedding(Plain()).fit(X).embedding_, X[:, :2] ** 2, atol=1e-8)
    careless = make_pipeline(StandardScaler(copy=False), PCA(2))
    ours = ExplicitEmbedding(careless, degree=1).fit(X.copy())
    np.testing.assert_allclose(ours.embedding_, ours.target_, atol=1e-9)
    assert "ExplicitEmbedding" in ExplicitEmbedding("foo")._repr_html_()


def test_the_seed_reaches_a_step_of_a_pipeline(roll):
    learner = make_pipeline(StandardScaler(), TSNE(max_iter=250, init="random"))
    model = ExplicitEmbedding(learner, degree=3, random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(model.fit(roll[0]).target_, model.fit(roll[0]).target_)


def test_y_of_another_length_with_weights(roll):
    weights = np.ones(300)
    weights[0] = 0
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ExplicitEmbedding("precomputed").fit(roll[0], roll[1][:100], weights)


def test_equal_samples_and_constant_coordinates(roll):
    X, Z = roll
    with pytest.raises(ValueError, match="All samples of X are equal"):
        ExplicitEmbedding("precomputed").fit(np.ones((20, 3)), np.arange(20.0))
    for constant in (0.0, 1e300, 0.1):
        model = ExplicitEmbedding("precomputed", degree=3).fit(
            X, np.column_stack([Z[:, 0], np.full(300, constant)])
        )
        np.testing.assert_allclose(model.transform(X)[:, 1], constant, rtol=1e-12)
        assert model.diagnostics_.left_out_r2[1] == 1.0


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"degree": 0}, "`degree` must be an integer >= 1"),
        ({"alpha": -1}, "`alpha` must be"),
        ({"basis": "fourier"}, "`basis` must be one of"),
        ({"reduce": 0}, "`reduce` must be"),
        ({"fit_inverse_transform": 1}, "True or False"),
    ],
)
def test_parameters_are_checked(parameters, match, roll):
    with pytest.raises(ValueError, match=match):
        ExplicitEmbedding("precomputed", **parameters).fit(*roll)
