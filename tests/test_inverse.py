"""The way back from coordinates to samples."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from polyfold import NPPE, SNPPE, PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold._decoder import learn_decoder
from polyfold.datasets import make_gaussian, make_swiss_roll

RANDOM = np.random.default_rng(0)
WIDE = (
    make_gaussian(300, random_state=0)[0] @ RANDOM.normal(size=(3, 30)) + 0.05 * RANDOM.normal(size=(300, 30)) + 9
)


@pytest.mark.parametrize("estimator", [NPPE, SNPPE, PolynomialEmbedding])
@pytest.mark.parametrize("center", [True, False])
def test_round_trip_on_a_surface(estimator, center):
    X, _ = make_swiss_roll(1000, random_state=0)
    fitted = estimator(n_neighbors=10, center=center, fit_inverse_transform=True).fit(X)
    unseen, _ = make_swiss_roll(500, random_state=1)
    back = fitted.inverse_transform(fitted.transform(unseen))
    lost = np.square(back - unseen).sum() / np.square(unseen - unseen.mean(axis=0)).sum()
    assert lost < (0.05 if center else 0.5)
    assert fitted.diagnostics_.round_trip_error == pytest.approx(lost, rel=0.5)
    np.testing.assert_array_equal(fitted.map_.inverse(fitted.transform(unseen)), back)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("reduce", [None, 4])
def test_round_trip_error_counts_what_the_axes_drop(reduce, center):
    fitted = NPPE(reduce=reduce, n_neighbors=12, degree=1, center=center, fit_inverse_transform=True).fit(WIDE)
    back = fitted.inverse_transform(fitted.embedding_)
    assert back.shape == WIDE.shape
    lost = np.square(back - WIDE).sum() / np.square(WIDE - WIDE.mean(axis=0)).sum()
    assert lost < fitted.diagnostics_.round_trip_error < 1.3 * lost + 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_error_is_that_of_leaving_each_sample_out(weighted):
    """The closed form against as many ridge regressions as there are samples."""
    random = np.random.default_rng(1)
    Y = random.normal(size=(60, 2))
    targets = np.column_stack([Y[:, 0] ** 2, Y.prod(axis=1), Y[:, 1]]) + 0.3 * random.normal(size=(60, 3))
    weights = random.uniform(0.5, 2, size=60) if weighted else np.ones(60)
    decoder = learn_decoder(Y, targets, weights)
    learned = decoder.map
    features = build_basis("kronecker", 2, learned.degree).expand((Y - learned.shift) / learned.scale)

    def fit(rows, ridge):
        w = weights[rows, np.newaxis]
        mean, center = [(w * S[rows]).sum(axis=0) / w.sum() for S in (features, targets)]
        F = (features[rows] - mean) * np.sqrt(w)
        V = np.linalg.solve(F.T @ F + ridge * np.eye(F.shape[1]), F.T @ ((targets[rows] - center) * np.sqrt(w)))
        return V, center - mean @ V

    whole = (features - np.average(features, axis=0, weights=weights)) * np.sqrt(weights)[:, np.newaxis]
    largest = np.linalg.norm(whole, 2) ** 2
    errors = {}
    for ridge in 10.0 ** np.arange(-14, 0.5) * largest:
        V, offset = fit(np.arange(60), ridge)
        if np.allclose(V, learned.coefficients, rtol=1e-6):
            np.testing.assert_allclose(offset, learned.offset, rtol=1e-6)
            errors[ridge] = 0.0
            for i in range(60):
                V, offset = fit(np.delete(np.arange(60), i), ridge)
                errors[ridge] += weights[i] * np.square(features[i] @ V + offset - targets[i]).sum()
    assert errors
    assert min(errors.values()) == pytest.approx(decoder.squared_error, rel=1e-8)


def test_degree_is_chosen_by_what_predicts():
    random = np.random.default_rng(2)
    Y = random.normal(size=(400, 2))
    bent = Y[:, :1] + 0.3 * Y[:, 1:] ** 2
    for degree, targets in ((1, Y @ random.normal(size=(2, 5))), (2, bent), (3, Y[:, :1] ** 3 - Y[:, 1:])):
        noisy = targets + 0.2 * random.normal(size=targets.shape)
        assert learn_decoder(Y, noisy, np.ones(400)).map.degree == degree


def test_without_it():
    fitted = NPPE(n_neighbors=12).fit(WIDE)
    assert fitted.diagnostics_.round_trip_error is None
    with pytest.raises(NotFittedError, match="Set fit_inverse_transform=True and fit again"):
        fitted.inverse_transform(fitted.embedding_)
    with pytest.raises(ValueError, match="no way back"):
        fitted.map_.inverse(fitted.embedding_)
    with pytest.raises(NotFittedError):
        NPPE().inverse_transform(WIDE)
    with pytest.raises(ValueError, match="`fit_inverse_transform` must be True or False, got 1"):
        NPPE(fit_inverse_transform=1).fit(WIDE)
    fitted = NPPE(n_neighbors=12, fit_inverse_transform=True).fit(WIDE)
    with pytest.raises(ValueError, match=r"shape \(n_samples, 2\)"):
        fitted.inverse_transform(np.ones((3, 5)))


@pytest.mark.filterwarnings("ignore:The map does not generalise:UserWarning")
@pytest.mark.parametrize("n_components", [1, 3])
def test_few_samples_and_other_dimensions(n_components):
    X = np.random.default_rng(0).normal(size=(9, 3))
    fitted = NPPE(n_components, n_neighbors=5, alpha=1e-2, degree=1, fit_inverse_transform=True).fit(X)
    assert np.isfinite(fitted.inverse_transform(fitted.embedding_)).all()


@pytest.mark.parametrize("reduce", [None, 4])
def test_coordinates_without_a_way_back_are_named(reduce):
    fitted = NPPE(reduce=reduce, n_neighbors=12, degree=1, fit_inverse_transform=True).fit(1e9 * WIDE)
    Y = np.zeros((5, 2))
    for value, name in ((np.nan, "NaN"), (np.inf, "inf")):
        Y[3, 1] = value
        with pytest.raises(ValueError, match=rf"Y contains {name} \(row 3, column 1"):
            fitted.map_.inverse(Y)
    Y[3, 1] = 1e300
    with pytest.raises(ValueError, match="Row 3 of Y is finite but so far from the training data"):
        fitted.map_.inverse(Y)
    with pytest.raises(ValueError, match=r"Y must have shape \(n_samples, 2\), got \(5, 3\)"):
        fitted.map_.inverse(np.zeros((5, 3)))
