"""What scikit-learn asks of an estimator, and what its users expect of one."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import Isomap
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from polyfold import (
    LLTSA,
    LPP,
    NPE,
    NPPE,
    OLPP,
    ONPP,
    SNPPE,
    ExplicitEmbedding,
    KernelExtrapolation,
    NystromExtension,
    PolynomialEmbedding,
)
from polyfold.datasets import make_swiss_roll
from polyfold.objectives import GRAPHS

NONLINEAR = [PolynomialEmbedding, NPPE, SNPPE]
ESTIMATORS = [*NONLINEAR, NPE, ONPP, LPP, OLPP, LLTSA]
GRAPHS_BEYOND_LLE = sorted({*GRAPHS} - {"lle"})

EXPLICIT = [ExplicitEmbedding(Isomap()), ExplicitEmbedding("precomputed")]
IMPLICIT = [
    KernelExtrapolation(),
    KernelExtrapolation("precomputed"),
    *(NystromExtension(graph=graph) for graph in ("lle", "laplacian", "isomap")),
]

REASON = "a repeated sample is its own nearest neighbour, which a weighted one is not"
WEIGHTS_ARE_NOT_REPEATS = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}


def takes_sparse(estimator):
    """Of those that do not take sparse samples, old versions of scikit-learn let the errors of this check pass."""
    return get_tags(estimator).input_tags.sparse


# The checks use tiny and degenerate data, of which the estimators rightly warn.
@pytest.mark.filterwarnings("ignore:The neighbour graph has:UserWarning")
@pytest.mark.filterwarnings("ignore:.*samples are duplicates:UserWarning")
@pytest.mark.filterwarnings("ignore:.*polynomial features are linearly independent:UserWarning")
@pytest.mark.filterwarnings("ignore:The map does not generalise:UserWarning")
@pytest.mark.filterwarnings("ignore:The map does not follow:UserWarning")
@pytest.mark.filterwarnings("ignore:The map follows Isomap from afar:UserWarning")
@pytest.mark.filterwarnings("ignore:The map follows the coordinates given from afar:UserWarning")
@pytest.mark.filterwarnings("ignore:Some of .* samples cannot be left out:UserWarning")
@pytest.mark.filterwarnings("ignore:The number of connected components of the neighbors graph:UserWarning")
@pytest.mark.filterwarnings("ignore:Changing the sparsity structure:scipy.sparse.SparseEfficiencyWarning")
@parametrize_with_checks(
    [
        *(estimator() for estimator in ESTIMATORS),
        *(PolynomialEmbedding(graph=graph) for graph in GRAPHS_BEYOND_LLE),
        PolynomialEmbedding(constraint="orthogonal"),
        *EXPLICIT,
        *IMPLICIT,
    ],
    expected_failed_checks=lambda estimator: (
        {}
        if estimator in IMPLICIT
        else dict.fromkeys(WEIGHTS_ARE_NOT_REPEATS, "axes see no weights, and one of two alike is left out alone")
        if estimator in EXPLICIT
        else {
            name: why
            for name, why in WEIGHTS_ARE_NOT_REPEATS.items()
            if takes_sparse(estimator) or "dense" in name
        }
    ),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(300, random_state=0)[0]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pandas_in_gives_named_columns_out(estimator, roll):
    frame = pd.DataFrame(roll, columns=["x", "y", "z"], index=np.arange(300) + 7)
    fitted = estimator(n_components=3, n_neighbors=10).set_output(transform="pandas").fit(frame)
    out = fitted.transform(frame)
    name = estimator.__name__.lower()
    assert list(out.columns) == [f"{name}0", f"{name}1", f"{name}2"]
    assert list(fitted.get_feature_names_out()) == list(out.columns)
    assert (out.index == frame.index).all()
    assert list(fitted.feature_names_in_) == ["x", "y", "z"]
    np.testing.assert_array_equal(out, fitted.map_.transform(roll))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[["z", "y", "x"]])


def test_polars_in_and_out(roll):
    frame = pl.DataFrame(roll, schema=["x", "y", "z"])
    out = NPPE(n_neighbors=10).set_output(transform="polars").fit_transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == ["nppe0", "nppe1"]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_float32_in_gives_float32_out(estimator, roll):
    single = roll.astype(np.float32)
    fitted = estimator(n_neighbors=10).fit(single)
    assert fitted.transform(single).dtype == np.float32
    assert fitted.embedding_.dtype == np.float32
    assert fitted.map_.coefficients.dtype == np.float64
    double = estimator(n_neighbors=10).fit(single.astype(np.float64))
    np.testing.assert_allclose(fitted.embedding_, double.embedding_, atol=1e-6)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pipeline_cross_validates(estimator):
    X, y = load_wine(return_X_y=True)
    reduced = estimator(n_components=3, n_neighbors=30)
    model = make_pipeline(StandardScaler(), reduced, StandardScaler(), LogisticRegression())
    scores = cross_val_score(model, X, y)
    assert len(scores) == 5
    assert scores.mean() > (0.8 if estimator not in (ONPP, OLPP) else 0.6)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_and_pickle_round_trip(estimator, roll):
    parameters = {"degree": 3} if estimator in NONLINEAR else {}
    fitted = estimator(n_components=3, n_neighbors=12, alpha=1e-4, center=False, **parameters).fit(roll)
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "map_")
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.transform(roll), fitted.transform(roll))
    assert not restored.map_.coefficients.flags.writeable
    assert repr(restored.diagnostics_) == repr(fitted.diagnostics_)


def test_presets_are_points_of_the_family(roll):
    for preset, basis in ((NPPE, "kronecker"), (SNPPE, "hadamard")):
        general = PolynomialEmbedding(graph="lle", basis=basis, n_neighbors=10).fit(roll)
        np.testing.assert_array_equal(preset(n_neighbors=10).fit(roll).embedding_, general.embedding_)
        assert "basis" not in preset().get_params()
        assert "graph" not in preset().get_params()


@pytest.mark.parametrize("estimator", NONLINEAR)
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_fit_transform_is_fit_then_transform(estimator, degree, roll):
    model = estimator(n_neighbors=10, degree=degree)
    np.testing.assert_array_equal(model.fit_transform(roll), model.fit(roll).transform(roll))


def test_fit_does_not_change_its_input_nor_depend_on_jobs(roll):
    before = roll.copy()
    serial = NPPE(n_neighbors=10).fit(roll)
    np.testing.assert_array_equal(roll, before)
    threaded = NPPE(n_neighbors=10, n_jobs=2).fit(roll)
    np.testing.assert_array_equal(serial.map_.coefficients, threaded.map_.coefficients)


def test_verbose_shows_progress_on_standard_error_only(roll, capsys):
    NPPE(n_neighbors=10, verbose=1).fit(roll)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "neighbours" in shown.err
    assert "Gram pair" in shown.err
    NPPE(n_neighbors=10).fit(roll)
    assert capsys.readouterr().err == ""


LEARNERS = [
    ExplicitEmbedding(Isomap(n_neighbors=8), degree=3),
    KernelExtrapolation(Isomap(n_neighbors=8)),
    NystromExtension(graph="isomap", n_neighbors=8),
]


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_followers_of_learners_are_transformers_too(model, roll):
    frame = pd.DataFrame(roll, columns=["x", "y", "z"], index=np.arange(300) + 7)
    fitted = clone(model).set_output(transform="pandas").fit(frame)
    out = fitted.transform(frame)
    name = type(model).__name__.lower()
    assert list(out.columns) == list(fitted.get_feature_names_out()) == [f"{name}0", f"{name}1"]
    assert (out.index == frame.index).all()
    np.testing.assert_allclose(out, clone(model).fit_transform(roll), rtol=1e-7)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(frame[["z", "y", "x"]])
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.transform(frame), out)
    single = clone(model).fit(roll.astype(np.float32))
    assert single.transform(roll.astype(np.float32)).dtype == np.float32
    polars = clone(model).set_output(transform="polars").fit_transform(pl.DataFrame(roll, schema=["x", "y", "z"]))
    assert isinstance(polars, pl.DataFrame)


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_followers_of_learners_cross_validate(model):
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), clone(model), StandardScaler(), LogisticRegression())
    assert cross_val_score(pipeline, X, y).mean() > 0.8
