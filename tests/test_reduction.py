"""Principal axes first: how many, whose neighbourhoods, and what stays true of the map."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array
from scipy.stats import ortho_group
from sklearn.decomposition import PCA

from polyfold import NPPE, PolynomialEmbedding
from polyfold._frame import choose_n_axes, find_leading_axes, find_principal_axes
from polyfold._moments import measure_moments
from polyfold.datasets import make_twin_peaks

RANDOM = np.random.default_rng(0)
#: On random columns no map generalises, and the library says so.
NOISE = pytest.mark.filterwarnings("ignore:The map does not generalise:UserWarning")

#: A curved sheet in 40 columns, with noise off it.
SHEET = make_twin_peaks(500, random_state=0)[0] @ RANDOM.normal(size=(3, 40)) + 0.2 * RANDOM.normal(size=(500, 40))


@pytest.mark.parametrize(
    ("reduce", "shape", "kind", "degree", "m", "expected"),
    [
        ("auto", (1000, 3), "auto", 2, 2, None),
        ("auto", (1000, 3), "kronecker", 15, 2, None),
        ("auto", (1000, 10), "kronecker", 2, 2, None),
        ("auto", (300, 10), "kronecker", 4, 2, 6),
        ("auto", (5000, 784), "auto", 2, 2, 30),
        ("auto", (5000, 784), "kronecker", 3, 2, 12),
        ("auto", (600, 256), "auto", 2, 2, 29),
        ("auto", (48, 1024), "auto", 2, 2, 7),
        ("auto", (1000, 12), "auto", 2, 2, None),
        ("auto", (100, 12), "auto", 2, 2, 11),
        ("auto", (1000, 2000), "hadamard", 2, 2, 250),
        ("auto", (4, 50), "auto", 2, 4, 2),
        (None, (600, 256), "auto", 2, 2, None),
        (5, (600, 256), "auto", 2, 2, 5),
        (40, (20, 256), "auto", 2, 2, 20),
        (256, (600, 256), "hadamard", 2, 2, None),
        (0.9, (600, 256), "auto", 2, 2, 0.9),
    ],
)
def test_number_of_axes(reduce, shape, kind, degree, m, expected):
    assert choose_n_axes(reduce, shape, kind, degree, m) == expected


@pytest.mark.parametrize("reduce", ["none", 0, -1, 1.0, 0.0, 1.5, True, [3]])
def test_wrong_reduce(reduce):
    with pytest.raises(ValueError, match=r'`reduce` must be "auto", None, an integer >= 1 .* or a fraction'):
        NPPE(reduce=reduce).fit(SHEET)
    with pytest.raises(ValueError, match="`reduce`=41 exceeds the number of columns, 40"):
        NPPE(reduce=41).fit(SHEET)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("n_axes", [5, 0.9])
def test_axes_are_the_principal_ones(shape, n_axes):
    X = np.random.default_rng(1).normal(size=shape) @ np.diag(0.9 ** np.arange(shape[1]))
    if shape[0] < shape[1]:
        axes, explained = find_principal_axes(X - X.mean(axis=0), n_axes, None)
    else:
        axes, explained = find_leading_axes(measure_moments(X, with_products=True).products, n_axes)
    _, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    share = np.cumsum(s**2) / np.sum(s**2)
    r = 5 if n_axes == 5 else int(np.argmax(share > 0.9)) + 1
    assert axes.shape == (shape[1], r)
    np.testing.assert_allclose(axes.T @ axes, np.eye(r), atol=1e-14)
    np.testing.assert_allclose(np.abs(Vt[:r] @ axes), np.eye(r), atol=1e-6)
    assert explained == pytest.approx(share[r - 1])


def test_random_axes_are_the_same_every_time():
    X = np.random.default_rng(2).normal(size=(2001, 2010))
    X[:, :4] *= 30
    first, _ = find_principal_axes(X, 4, None)
    np.testing.assert_array_equal(first, find_principal_axes(X, 4, None)[0])
    assert np.linalg.norm(first[:4]) > 1.99


@pytest.mark.parametrize("reduce", [4, 0.8, np.float32(0.8), "auto"])
def test_map_is_a_polynomial_of_the_columns(reduce, monkeypatch):
    """The same as an embedding of the principal components, where neighbourhoods are measured there."""
    monkeypatch.setattr("polyfold._neighborhoods.CLEARLY", np.inf)
    fitted = NPPE(reduce=reduce, n_neighbors=12, alpha=1e-3).fit(SHEET)
    r = fitted.diagnostics_.n_axes
    assert fitted.map_.n_axes == r
    assert fitted.map_.axes.shape == (40, r)
    scores = PCA(r).fit_transform(SHEET)
    assert fitted.diagnostics_.explained_variance == pytest.approx(
        scores.var(axis=0).sum() / SHEET.var(axis=0).sum()
    )
    assert fitted.diagnostics_.space == "axes"
    direct = PolynomialEmbedding(reduce=None, basis="kronecker", n_neighbors=12, alpha=1e-3).fit(scores)
    np.testing.assert_allclose(fitted.embedding_, direct.embedding_, atol=1e-9)


def test_neighbourhoods_are_measured_where_a_trial_scores_better(monkeypatch):
    chosen = {}
    for space, factor in (("columns", 0.0), ("axes", np.inf)):
        monkeypatch.setattr("polyfold._neighborhoods.CLEARLY", factor)
        chosen[space] = NPPE(reduce=4, n_neighbors=12, alpha=1e-3, coordinates="smallest").fit(SHEET)
        assert chosen[space].diagnostics_.space == space
    assert np.abs(chosen["columns"].embedding_ - chosen["axes"].embedding_).max() > 1e-4
    monkeypatch.undo()
    scores = (
        NPPE(reduce=4, n_neighbors=12, alpha=1e-3, coordinates="smallest").fit(SHEET).diagnostics_.space_scores
    )
    for space, fitted in chosen.items():
        assert scores[space] == pytest.approx(fitted.score(SHEET), abs=0.02)


@pytest.mark.parametrize("reduce", ["auto", 6])
@pytest.mark.parametrize("alpha", ["auto", 1e-3])
def test_rotation_of_many_columns_changes_nothing(reduce, alpha):
    model = NPPE(reduce=reduce, alpha=alpha)
    fitted = model.fit(SHEET)
    Y, chosen = fitted.embedding_, (fitted.alpha_, fitted.n_neighbors_)
    for seed in range(3):
        turned = SHEET @ ortho_group.rvs(40, random_state=seed)
        again = model.fit(3 * turned + 5)
        assert (again.alpha_, again.n_neighbors_) == chosen
        np.testing.assert_allclose(again.embedding_, Y, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_axes", [1, 9, 10])
def test_batches_get_the_same_bits(n_axes, dtype):
    learned = NPPE(n_components=1, reduce=n_axes).fit(SHEET).map_
    samples = SHEET.astype(dtype)
    whole = learned.transform(samples)
    for size in range(1, 10):
        for start in (0, 3):
            batch = samples[start : start + size]
            np.testing.assert_array_equal(learned.transform(batch), whole[start : start + size])
            np.testing.assert_array_equal(learned.transform(np.asfortranarray(batch)), whole[start : start + size])
    np.testing.assert_array_equal(learned.transform(samples[::-1]), whole[::-1])


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e5])
def test_float32_is_as_good_as_its_digits(shift):
    samples = (SHEET + shift).astype(np.float32)
    learned = NPPE(reduce=10).fit(samples.astype(np.float64)).map_
    exact = learned.transform(samples.astype(np.float64))
    single = learned.transform(samples)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, atol=5e-6 * np.abs(exact).max())
    located = (samples.astype(np.float64) - learned.shift) @ learned.axes / learned.scale
    np.testing.assert_allclose(learned._locate(samples, learned.shift), located, atol=2e-6 * np.abs(located).max())
    np.testing.assert_allclose(learned._locate(samples.astype(np.float64), learned.shift), located, atol=1e-12)
    np.testing.assert_allclose(
        learned.extrapolation(samples), learned.extrapolation(samples.astype(np.float64)), rtol=1e-3
    )


@pytest.mark.parametrize("scale", [1e-40, 1e-35, 1e35])
def test_float32_of_sizes_that_products_in_float32_cannot_hold(scale):
    samples = (SHEET * scale).astype(np.float32)
    fitted = NPPE(reduce=10, n_neighbors=12).fit(samples)
    expected = fitted.map_.transform(samples.astype(np.float64))
    np.testing.assert_allclose(fitted.transform(samples), expected, atol=1e-6 * np.abs(expected).max())


# -- sparse


@NOISE
@pytest.mark.parametrize("container", [csr_array, csr_matrix])
@pytest.mark.parametrize("reduce", ["auto", 5, 0.4])
def test_sparse_is_the_same_as_dense(container, reduce, monkeypatch):
    monkeypatch.setattr(
        "polyfold._neighborhoods.CLEARLY", np.inf
    )  # sparse neighbourhoods are measured in the axes
    X = random_array((300, 60), density=0.3, rng=np.random.default_rng(3), format="csr")
    parameters = {"reduce": reduce, "n_neighbors": 12, "alpha": 1e-3, "fit_inverse_transform": True}
    dense, sparse = NPPE(**parameters).fit(X.toarray()), NPPE(**parameters).fit(container(X))
    assert sparse.diagnostics_.space == "axes"
    np.testing.assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-8)
    for learned in (sparse.map_, dense.map_):
        np.testing.assert_allclose(learned.transform(container(X)), dense.embedding_, atol=1e-8)
        np.testing.assert_allclose(
            learned.extrapolation(container(X)), dense.map_.extrapolation(X.toarray()), rtol=1e-6
        )
    assert sparse.diagnostics_.round_trip_error == pytest.approx(dense.diagnostics_.round_trip_error, rel=1e-6)
    assert sparse.diagnostics_.dominant_share == pytest.approx(dense.diagnostics_.dominant_share)
    assert sparse.score(X) == pytest.approx(dense.score(X.toarray()), abs=1e-6)


@NOISE
def test_few_and_many_sparse_columns():
    few = csr_array(make_twin_peaks(200, random_state=0)[0])
    np.testing.assert_allclose(
        NPPE(n_neighbors=10, alpha=0).fit(few).embedding_,
        NPPE(n_neighbors=10, alpha=0).fit(few.toarray()).embedding_,
        atol=1e-8,
    )
    many = random_array((120, 3000), density=0.02, rng=np.random.default_rng(3), format="csr")
    fitted = NPPE(reduce=5).fit(many)
    assert fitted.transform(many).shape == (120, 2)
    np.testing.assert_array_equal(NPPE(reduce=5).fit(many).embedding_, fitted.embedding_)
    with pytest.raises(
        ValueError, match=r"Sparse X of 3,000 columns needs `reduce` as a number of axes below 120"
    ):
        NPPE(reduce=0.9).fit(many)
    bad = few.copy()
    bad.data[0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        NPPE().fit(bad)
    with pytest.raises(ValueError, match=r"X contains NaN \(row 0, column 0\)"):
        NPPE(n_neighbors=10).fit(few).map_.transform(bad)


@NOISE
def test_hadamard_is_taken_only_when_asked_or_beyond_reach():
    wide = np.random.default_rng(0).normal(size=(60, 120))
    assert PolynomialEmbedding(n_neighbors=10).fit(wide).diagnostics_.basis == "kronecker"
    assert PolynomialEmbedding(n_neighbors=10, basis="hadamard").fit(wide).diagnostics_.basis == "hadamard"
    with pytest.warns(UserWarning, match="linearly independent"):
        fitted = PolynomialEmbedding(n_neighbors=10, reduce=None).fit(wide)
    assert fitted.diagnostics_.basis == "hadamard"
    assert fitted.diagnostics_.n_axes is None
