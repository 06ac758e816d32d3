"""Wrong input gets an error that names the parameter, the rule and the cure."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsTransformer

from polyfold import NPPE, SNPPE, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll

ESTIMATORS = [PolynomialEmbedding, NPPE, SNPPE]
X, _ = make_swiss_roll(60, random_state=0)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "`n_components` must be an integer >= 1, got 0"),
        ({"n_components": 2.0}, "`n_components` must be an integer >= 1, got 2.0"),
        ({"n_components": True}, "`n_components` must be an integer >= 1, got True"),
        ({"degree": 0}, "`degree` must be an integer >= 1, got 0"),
        ({"degree": 1.5}, "`degree` must be an integer >= 1, got 1.5"),
        ({"n_neighbors": 0}, "`n_neighbors` must be an integer >= 1, got 0"),
        ({"n_neighbors": "many"}, "`n_neighbors` must be \"auto\" or an integer >= 1, got 'many'"),
        ({"n_neighbors": 60}, "`n_neighbors` must be below the number of samples.*n_neighbors=60.*n_samples=60"),
        ({"n_neighbors": 75}, "Lower `n_neighbors` or add samples"),
        ({"alpha": -1.0}, '`alpha` must be "auto" or a finite number >= 0, got -1.0'),
        ({"alpha": np.nan}, '`alpha` must be "auto" or a finite number >= 0, got nan'),
        ({"alpha": "big"}, "`alpha` must be \"auto\" or a finite number >= 0, got 'big'"),
        ({"center": "no"}, "`center` must be True or False, got 'no'"),
        (
            {"neighbors": "fast"},
            '`neighbors` must be "auto", "exact", "approx" or a scikit-learn neighbours transformer.*\'fast\'',
        ),
        ({"neighbors": np.eye(60)}, '`neighbors` must be "auto", "exact", "approx" or a scikit-learn'),
        ({"neighbors": csr_array(np.eye(60))}, '`neighbors` must be "auto", "exact", "approx" or a scikit-learn'),
        ({"neighbors": KNeighborsTransformer}, '`neighbors` must be "auto", "exact", "approx" or a scikit-learn'),
    ],
)
def test_wrong_parameters(estimator, parameters, message):
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"graph": "umap"},
            "`graph` must be one of 'diffusion', .*'mlle', a symmetric affinity .* or a callable, got 'umap'",
        ),
        ({"basis": "legendre"}, "`basis` must be one of 'auto', 'hadamard', 'kronecker', got 'legendre'"),
        ({"basis": None}, "`basis` must be one of .*, got None"),
    ],
)
def test_wrong_parameters_of_the_general_form(parameters, message):
    with pytest.raises(ValueError, match=message):
        PolynomialEmbedding(**parameters).fit(X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_more_components_than_rank(estimator):
    with pytest.raises(ValueError, match=r"`n_components`=10 exceeds the rank.*only 3 of 3.*raise `degree`"):
        estimator(n_components=10, degree=1).fit(X)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (np.empty((0, 3)), ValueError, r"0 sample\(s\).*minimum of 2"),
        (np.ones((1, 3)), ValueError, r"1 sample\(s\).*minimum of 2"),
        (np.empty((10, 0)), ValueError, r"0 feature\(s\)"),
        (np.ones(10), ValueError, "Expected 2D array, got 1D array"),
        (np.ones((4, 4, 4)), ValueError, "Found array with dim 3"),
        (np.where(np.arange(180).reshape(60, 3) == 7, np.nan, 1.0), ValueError, "contains NaN"),
        (np.where(np.arange(180).reshape(60, 3) == 7, np.inf, 1.0), ValueError, "contains inf"),
        (
            [["a", "b"], ["c", "d"], ["e", "f"]],
            ValueError,
            "could not convert string to float|incompatible|strings",
        ),
        (None, ValueError, "array|None"),
    ],
)
def test_wrong_data(estimator, bad, error, message):
    with pytest.raises(error, match=message):
        estimator(n_neighbors=1).fit(bad)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sparse_data_without_axes(estimator):
    with pytest.raises(TypeError, match="Sparse data was passed"):
        estimator(n_neighbors=1, reduce=None).fit(csr_array(np.eye(10)))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_wrong_data_at_transform(estimator):
    fitted = estimator(n_neighbors=10).fit(X)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        fitted.transform(X[:, :2])
    with pytest.raises(ValueError, match="contains NaN"):
        fitted.transform(np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="contains inf"):
        fitted.transform(np.full((2, 3), np.inf))
    with pytest.raises(ValueError, match="Expected 2D array"):
        fitted.transform(X[0])
    with pytest.raises(TypeError, match="Sparse data was passed"):
        fitted.transform(csr_array(X))
    with pytest.raises(ValueError, match="Row 1 of X is finite but so far"):
        fitted.transform([[0.0, 0.0, 0.0], [1e200, 1e200, 1e200]])
    with pytest.raises(ValueError, match="Row 0 of X is finite but so far"):
        fitted.transform(np.full((1, 3), 1e22, dtype=np.float32))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_not_fitted(estimator):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        estimator().transform(X)


def test_too_many_features():
    wide = np.random.default_rng(0).normal(size=(30, 200))
    with pytest.raises(ValueError, match=r"makes 20,300 features, above the limit of 5,000.*SNPPE"):
        NPPE(n_neighbors=5, reduce=None).fit(wide)


def test_data_that_spans_more_than_a_double():
    with pytest.raises(ValueError, match="too large for float64"):
        NPPE(n_neighbors=2).fit([[1.7e308], [1.6e308], [1.7e308], [-1.7e308]])


@pytest.mark.parametrize("place", [0, 1235])
def test_powers_that_overflow(place):
    """Also where the sample on which the features are conditioned does not hold the outlier."""
    outlying = np.random.default_rng(0).normal(size=(2000, 1))
    outlying[place] = 1e3
    with pytest.raises(ValueError, match=r"Powers of the data overflow.*Lower `degree`"):
        SNPPE(n_neighbors=5, degree=150, n_jobs=2).fit(outlying)


def test_a_failed_fit_leaves_an_earlier_one_whole():
    fitted = NPPE(n_neighbors=10).fit(X)
    before = fitted.transform(X)
    fitted.set_params(n_components=50)
    with pytest.raises(ValueError, match="exceeds the rank"):
        fitted.fit(X)
    with pytest.raises(ValueError, match="exceeds the rank"):
        fitted.fit(pd.DataFrame(X[:, :2], columns=["x", "y"]))
    np.testing.assert_array_equal(fitted.transform(X), before)
