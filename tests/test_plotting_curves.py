"""Curves of a fit: eigenvalues, the ridge, how neighbourhoods are kept."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap

from pictures import draw, fit_threes, list_legend, load_threes
from polyfold import NPPE, ExplicitEmbedding, PolynomialEmbedding, PolynomialMap, metrics, plotting
from polyfold.datasets import make_swiss_roll
from polyfold.plotting._axes import PALETTE


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(name="Y")
def draw_coordinates():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def threes():
    return load_threes()


@pytest.fixture
def fitted():
    return fit_threes()


def test_eigenvalues(ax):
    X, _ = make_swiss_roll(300, random_state=0)
    fitted = NPPE(4, n_neighbors=10).fit(X)
    plotting.plot_eigenvalues(fitted, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.column_stack([np.arange(4), fitted.eigenvalues_]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["y0", "y1", "y2", "y3"]
    assert ax.get_yscale() == "log"
    fitted.eigenvalues_ = np.array([1.0, 2.0, 3.0])
    linear = plotting.plot_eigenvalues(fitted, ax=Figure().subplots())
    assert linear.get_yscale() == "linear"
    assert linear.get_ylim()[0] == 0
    fitted.eigenvalues_ = np.arange(-1.0, 39.0)
    draw(plotting.plot_eigenvalues(fitted, ax=Figure().subplots()))


def test_the_ridge_curve_of_an_estimator_and_of_a_map(ax, fitted, tmp_path):
    plotting.plot_ridge(fitted, ax=ax)
    curve = fitted.diagnostics_.alpha_curve
    used, drawn, chosen = ax.lines
    np.testing.assert_array_equal(drawn.get_xydata(), curve)
    assert used.get_xdata()[0] == fitted.alpha_
    np.testing.assert_array_equal(chosen.get_xydata(), curve[curve[:, 0] == fitted.alpha_])
    assert list_legend(ax) == [f"used: {fitted.alpha_:.3g}"]
    assert ax.get_xscale() == "symlog"
    draw(ax)
    places = ax.transData.transform(curve)[:, 0]
    assert (np.diff(places) > 5).all(), "0 stands apart from the smallest ridge above it"
    shown = [label.get_text() for label in ax.get_xticklabels()]
    assert shown[0] == r"$\mathdefault{0}$"

    fitted.map_.save(tmp_path / "map.safetensors")
    for learned in (fitted.map_, PolynomialMap.load(tmp_path / "map.safetensors")):
        other = plotting.plot_ridge(learned, ax=Figure().subplots())
        np.testing.assert_allclose(other.lines[1].get_xydata(), curve, rtol=1e-5)
        np.testing.assert_allclose(other.lines[2].get_xydata(), chosen.get_xydata(), rtol=1e-5)


def test_the_ridge_curve_of_many_decades_names_a_few(threes):
    fitted = PolynomialEmbedding(graph="isomap").fit(threes)
    ax = plotting.plot_ridge(fitted, ax=Figure().subplots())
    assert len(fitted.diagnostics_.alpha_curve) > 12
    assert 4 <= len(ax.get_xticks()) <= 7
    assert ax.get_xticks()[0] == 0


def test_the_ridge_of_a_learner_and_a_ridge_that_was_given(threes):
    explicit = ExplicitEmbedding(Isomap(n_neighbors=8)).fit(threes)
    ax = plotting.plot_ridge(explicit, ax=Figure().subplots())
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), explicit.diagnostics_.alpha_curve)
    for alpha in (0, 1e-3, 30.0):
        ax = plotting.plot_ridge(NPPE(alpha=alpha).fit(threes), ax=Figure().subplots())
        assert ax.lines[2].get_xdata() == alpha
        assert ax.get_xlim()[0] <= alpha < ax.get_xlim()[1]
        draw(ax)


def test_ridges_without_a_finite_objective_are_left_out(fitted):
    curve = ((0.0, None), (1e-3, float("nan")), (1e-2, 5.0), (1e-1, 500.0))
    training = {"diagnostics": {"alpha": 1e-2, "alpha_curve": curve}}
    parts = {
        "shift": [0.0],
        "scale": 1.0,
        "basis": "hadamard",
        "degree": 1,
        "coefficients": [[1.0]],
        "offset": [0.0],
    }
    ax = plotting.plot_ridge(PolynomialMap(**parts, training=training), ax=Figure().subplots())
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), [[1e-2, 5.0], [1e-1, 500.0]])
    assert ax.get_yscale() == "log"
    draw(ax)
    training["diagnostics"]["alpha_curve"] = curve[:2]
    with pytest.raises(ValueError, match="No ridge in `alpha_curve` has a finite objective"):
        plotting.plot_ridge(PolynomialMap(**parts, training=training))
    for training in (None, {}, {"diagnostics": None}, {"diagnostics": {"alpha": 1.0}}):
        with pytest.raises(ValueError, match="This map does not say what ridge it was learned with"):
            plotting.plot_ridge(PolynomialMap(**parts, training=training))


@pytest.mark.parametrize("plot", [plotting.plot_eigenvalues, plotting.plot_ridge])
def test_what_was_not_fitted_is_not_drawn(plot):
    with pytest.raises(NotFittedError, match="NPPE instance is not fitted yet"):
        plot(NPPE())
    with pytest.raises(TypeError, match=r"`ndarray` has no `.*`\. Give an estimator that learns a map, fitted"):
        plot(np.zeros((3, 2)))
    fitted = Isomap().fit(np.random.default_rng(0).normal(size=(30, 3)))
    with pytest.raises(TypeError, match="`Isomap` has no"):
        plot(fitted)


def test_quality_is_the_coranking_curve(ax):
    X, _ = make_swiss_roll(200, random_state=0)
    placed = {r"$\plan$": X[:, :2], "front": X[:, [0, 2]]}
    plotting.plot_quality(X, placed, max_samples=50, random_state=3, ax=ax)
    curves = [line for line in ax.lines if len(line.get_xdata()) > 2]
    for line, color, (name, each) in zip(curves, PALETTE, placed.items(), strict=False):
        K, agreement = metrics.coranking_curve(X, each, max_samples=50, random_state=3)
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([K, agreement]))
        area = metrics.coranking_auc(X, each, max_samples=50, random_state=3)
        assert line.get_label() == f"{name} (AUC {area:.3f})"
        assert line.get_color() == color
    assert list_legend(ax) == [line.get_label() for line in curves]
    assert ax.get_xscale() == "log"
    draw(ax)
    plotting.plot_quality(X, X, label="all", ax=ax)
    assert list_legend(ax)[-1] == "all (AUC 1.000)"
    assert ax.lines[-2].get_color() == PALETTE[2], "a curve that is added has a colour of its own"
    alone = plotting.plot_quality(X, X[:, 0], ax=Figure().subplots())
    assert list_legend(alone) == [f"AUC {metrics.coranking_auc(X, X[:, 0]):.3f}"]


def test_bad_quality(ax, Y):
    def check(message, *arguments, **settings):
        with pytest.raises(ValueError, match=message):
            plotting.plot_quality(*arguments, ax=ax, **settings)

    check("`Y` must have a row for each of the 60 samples, got 50", Y, Y[:50])
    check("`Y\\['short'\\]` must have a row for each of the 60 samples, got 50", Y, {"good": Y, "short": Y[:50]})
    check("`Y` must hold at least one embedding, got none", Y, {})
    check("`label` must be None with several embeddings", Y, {"a": Y}, label="b")
    check("contains NaN", Y, np.where(Y > 2, np.nan, Y))
    check("`max_samples` must be an integer >= 1", Y, Y, max_samples=0)
    check("at least 3 samples", Y[:2], Y[:2])
    assert not ax.has_data()
