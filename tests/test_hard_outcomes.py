"""Hard inputs, one test each, which says what happens: to fit, to transform and to a map.

What is expected comes from the same samples as a plain array of float64, row by row in memory.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

import polyfold
from polyfold import NPPE, SNPPE, ExplicitEmbedding, KernelExtrapolation, NystromExtension, PolynomialEmbedding
from polyfold.datasets import make_twin_peaks
from polyfold.metrics import trustworthiness
from polyfold.objectives import GRAPHS

MODELS = [NPPE(n_neighbors=10), SNPPE(n_neighbors=10), ExplicitEmbedding("precomputed")]
NAMES = ["a", "b", "c"]
FEW_FEATURES = pytest.mark.filterwarnings("ignore:Only .* polynomial features are linearly:UserWarning")
NOT_FOLLOWED = pytest.mark.filterwarnings("ignore:The map does not follow the coordinates given:UserWarning")


@pytest.fixture(params=range(3))
def seed(request):
    return request.param


@pytest.fixture(name="X")
def draw_samples(seed):
    return make_twin_peaks(120, random_state=seed)[0]


@pytest.fixture
def targets(seed):
    """Coordinates that an ExplicitEmbedding follows."""
    return make_twin_peaks(120, random_state=seed)[1]


@pytest.fixture
def frame(X):
    return pd.DataFrame(X, columns=NAMES)


def assert_read_as(given, plain, targets, *, atol=0.0, by_map=True):
    """Fit and transform make of the samples what they make of plain ones, and so does a map."""
    for model in MODELS:
        expected, fitted = clone(model).fit(plain, targets), clone(model).fit(given, targets)
        assert np.isfinite(fitted.map_.coefficients).all()
        np.testing.assert_allclose(fitted.embedding_, expected.embedding_, rtol=0, atol=atol)
        np.testing.assert_allclose(fitted.transform(given), expected.embedding_, rtol=0, atol=atol)
        if by_map:
            np.testing.assert_allclose(fitted.map_.transform(given), expected.embedding_, rtol=0, atol=atol)
            far = expected.map_.extrapolation(plain)
            np.testing.assert_allclose(fitted.map_.extrapolation(given), far, rtol=max(1e4 * atol, 1e-10))


def assert_refused(given, plain, targets, message, by_map=None):
    """Fit, and transform and a map that have learned from plain samples, raise a ValueError and no subclass."""
    for model in MODELS:
        fitted = clone(model).fit(plain, targets)
        uses = [lambda X, model=model: clone(model).fit(X, targets), fitted.transform]
        of_map = [fitted.map_.transform, fitted.map_.extrapolation, fitted.map_.jacobian]
        for use in uses + of_map:
            with pytest.raises(ValueError, match=message if use in uses else by_map or message) as refused:
                use(given)
            assert refused.type is ValueError


def test_values_of_1e300(X, targets):
    """Values of 1e300 give the map of the same samples at ordinary scale."""
    assert_read_as(X * 1e300, X, targets, atol=1e-8)


def test_values_of_1e300_given_to_an_ordinary_map(X, targets):
    """A sample of 1e300 given to a map that was learned at ordinary scale is an error that names its row."""
    mixed = np.concatenate([X[:4], X[4:5] * 1e300])
    for model in MODELS:
        fitted = clone(model).fit(X, targets)
        for place in (fitted.transform, fitted.map_.transform):
            with pytest.raises(ValueError, match="Row 4 of X is finite but so far from the training data"):
                place(mixed)


def test_values_of_1e_300(X, targets):
    """Values of 1e-300 give the map of the same samples at ordinary scale."""
    assert_read_as(X * 1e-300, X, targets, atol=1e-8)


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_denormals(X, targets, offset):
    """Denormal values (1e-310, multiples of 5e-324) give the map of the same samples at ordinary scale."""
    X = X + offset  # whether or not they lie about zero
    assert_read_as(X * 1e-310, X, targets, atol=1e-7)
    steps = np.round((X + 2) * 1e6)  # multiples of the least number above 0 are exact
    assert_read_as(steps * 5e-324, steps, targets, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_integers_at_their_limits(X, targets, dtype):
    """Integers up to the limits of their type give the map of the same values as float64: no power wraps."""
    limits = np.iinfo(dtype)
    inner = (X - X.min(axis=0)) / np.ptp(X, axis=0) * (float(limits.max) - limits.min) * 0.99 + limits.min
    whole = inner.astype(dtype)
    whole[0], whole[1] = limits.min, limits.max
    plain = whole.astype(np.float64)
    assert_read_as(whole, plain, targets)
    for model in MODELS:
        ordinary = clone(model).fit(X, targets).map_
        np.testing.assert_array_equal(ordinary.transform(whole), ordinary.transform(plain))
        np.testing.assert_array_equal(ordinary.jacobian(whole), ordinary.jacobian(plain))


def test_integers_above_the_signed_ones(X, targets):
    """Unsigned integers above 2**63 give the map of the same values as float64."""
    steps = np.round(1e6 * X)
    whole = np.uint64(2**63) + (steps - steps.min() + 1).astype(np.uint64) * np.uint64(2**40)
    assert_read_as(whole, whole.astype(np.float64), targets)


def test_one_column(X):
    """One column gives a map, of degree 1 the column standardised, and at most `degree` coordinates."""
    X = X[:, :1]
    expected = (X - X.mean()) / np.linalg.norm(X - X.mean())
    linear = NPPE(1, degree=1, n_neighbors=10).fit(X)
    np.testing.assert_allclose(linear.embedding_ * np.sign(linear.embedding_.T @ expected), expected, atol=1e-9)
    np.testing.assert_array_equal(linear.map_.transform(X), linear.transform(X))
    np.testing.assert_allclose(ExplicitEmbedding("precomputed").fit(X, X).transform(X), X, atol=1e-6)
    assert NPPE(2, n_neighbors=10).fit(X).transform(X).shape == (120, 2)
    with pytest.raises(ValueError, match="`n_components`=3 exceeds the rank of the features: only 2 of 2"):
        NPPE(3, n_neighbors=10).fit(X)


def test_100_000_columns():
    """100,000 columns that are three others in a turned frame give the map of these three with `reduce=3`."""
    X, targets = make_twin_peaks(60, random_state=0)
    wide = X @ np.linalg.qr(np.random.default_rng(0).normal(size=(100_000, 3)))[0].T
    for model in (NPPE(n_neighbors=10), ExplicitEmbedding("precomputed")):
        plain = clone(model).fit(X[:40], targets[:40])
        fitted = clone(model).set_params(reduce=3).fit(wide[:40], targets[:40])
        signs = np.sign(np.sum(plain.embedding_ * fitted.embedding_, axis=0))
        np.testing.assert_allclose(fitted.transform(wide) * signs, plain.transform(X), atol=1e-9)
        np.testing.assert_array_equal(fitted.map_.transform(wide), fitted.transform(wide))


def test_100_000_columns_without_axes():
    """100,000 columns with `reduce=None` are an error that counts the features: they are above the limit."""
    with pytest.raises(ValueError, match=r"makes 5,000,150,000 features, above the limit of 5,000.*`reduce`"):
        NPPE(n_neighbors=1, reduce=None).fit(np.eye(3, 100_000))


@FEW_FEATURES
@NOT_FOLLOWED
@pytest.mark.parametrize("n_columns", [1, 3])
def test_two_samples(n_columns):
    """Two samples give one coordinate and a warning that they are too few; two coordinates are an error."""
    X = np.random.default_rng(0).normal(size=(2, n_columns))
    for model in (NPPE(1), SNPPE(1)):
        with pytest.warns(UserWarning, match="2 samples are too few to hold some out"):
            fitted = model.fit(X)
        np.testing.assert_allclose(np.abs(fitted.transform(X)), np.sqrt(0.5))
        assert np.sign(fitted.map_.transform(X)).sum() == 0
        with pytest.raises(ValueError, match="`n_components`=2 exceeds the rank of the features: only 1 of"):
            clone(model).set_params(n_components=2).fit(X)
    followed = ExplicitEmbedding("precomputed").fit(X, [0.0, 1.0])
    np.testing.assert_allclose(followed.transform(X).ravel(), [0, 1], atol=1e-6)


@pytest.mark.parametrize("shape", [(50, 25), (50, 2500)])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_equal_rows_in_fit(container, shape, value):
    """Rows that are all equal are an error of fit: no feature tells them apart."""
    X = container(np.full(shape, value))
    for graph in ("lle", "isomap"):
        with pytest.raises(ValueError, match="only 0 of 9 are linearly independent"):
            PolynomialEmbedding(graph=graph, reduce=3).fit(X)
    with pytest.raises(ValueError, match="All samples of X are equal"):
        ExplicitEmbedding("precomputed", reduce=3).fit(X, np.arange(50.0))


def test_equal_rows_in_transform(X, targets):
    """Rows that are all equal get equal coordinates, to the bit."""
    for model in MODELS:
        fitted = clone(model).fit(X, targets)
        for place in (fitted.transform, fitted.map_.transform):
            alone = place(X[:1])
            np.testing.assert_array_equal(place(np.repeat(X[:1], 50, axis=0)), np.repeat(alone, 50, axis=0))


@FEW_FEATURES
@NOT_FOLLOWED
def test_an_outlier_of_1e12_in_fit(X, targets):
    """One training sample at 1e12 is an error that says to remove it, and a warning of ExplicitEmbedding."""
    X[7, 0] = 1e12
    for model in MODELS[:2]:
        with pytest.raises(ValueError, match=r"only 1 of \d are linearly independent.*remove outliers"):
            clone(model).fit(X)
    with pytest.warns(UserWarning, match=r"Column 0 carries 100\.00% of the variance"):
        ExplicitEmbedding("precomputed").fit(X, targets)


def test_an_outlier_of_1e12_in_transform(X, targets):
    """One new sample at 1e12 changes no coordinate of the others, and `extrapolation` tells it from them."""
    far = np.concatenate([X, [[1e12, 0, 0]]])
    for model in MODELS:
        fitted = clone(model).fit(X, targets)
        placed, outside = fitted.transform(far), fitted.map_.extrapolation(far)
        np.testing.assert_array_equal(placed[:-1], fitted.embedding_)
        np.testing.assert_array_equal(fitted.map_.transform(far), placed)
        assert outside[:-1].max() < 10 < 1e10 < outside[-1] < np.inf


@FEW_FEATURES
def test_columns_equal_up_to_1e_14(X, targets, seed):
    """Columns that are equal up to 1e-14 give the map of equal columns, and the same warning."""
    nearly = np.column_stack([X, X[:, 0] + 1e-14 * np.random.default_rng(seed).normal(size=120)])
    assert_read_as(nearly, nearly[:, [0, 1, 2, 0]], targets, atol=1e-9)
    with pytest.warns(UserWarning, match="Only 9 of 14 polynomial features are linearly independent"):
        NPPE(n_neighbors=10).fit(nearly)


@pytest.mark.parametrize("graph", ["lle", "laplacian", "isomap"])
def test_a_graph_of_1_000_components(graph, seed):
    """A neighbour graph of 1,000 components gives a finite map and a warning that counts them."""
    random = np.random.default_rng(seed)
    X = np.repeat(100 * random.normal(size=(1000, 3)), 4, axis=0) + 1e-3 * random.normal(size=(4000, 3))
    assert connected_components(kneighbors_graph(X, 3))[0] == 1000
    with pytest.warns(UserWarning, match="The neighbour graph has 1000 connected components.*Raise `n_neighbors`"):
        fitted = PolynomialEmbedding(graph=graph, n_neighbors=3).fit(X)
    assert fitted.diagnostics_.n_connected_components == 1000
    assert np.linalg.matrix_rank(fitted.embedding_) == 2
    np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)


@pytest.mark.parametrize("graph", GRAPHS)
def test_all_other_samples_as_neighbours(X, graph):
    """With all others as neighbours (k = N - 1) every graph gives a map, and a linear Isomap is that of PCA."""
    X = X[:60]
    fitted = PolynomialEmbedding(graph=graph, n_neighbors=59).fit(X)
    assert np.linalg.matrix_rank(fitted.embedding_) == 2
    np.testing.assert_array_equal(fitted.map_.transform(X), fitted.embedding_)
    if graph == "isomap":
        straight = PolynomialEmbedding(graph=graph, n_neighbors=59, degree=1, alpha=0).fit_transform(X)
        np.testing.assert_allclose(np.abs(straight), np.abs(PCA(2).fit_transform(X)), atol=1e-9)


def test_categories_of_numbers(frame, targets):
    """Categorical columns of numbers are read as these numbers."""
    assert_read_as(frame.assign(b=frame["b"].astype("category")), frame, targets)


def test_categories_of_text(frame, targets):
    """Categorical columns of text are an error: they must be encoded first."""
    text = pd.Categorical(["z"] * 120)
    for given in (frame.assign(b=text), pl.from_pandas(frame.assign(b=text))):
        said = "could not convert string to float: 'z'"
        assert_refused(given, frame, targets, said, by_map="X must hold real numbers, got an array of type object")


def test_times(X, frame, targets):
    """Columns of dates, times or durations are an error that names the column: give them a unit first."""
    days = pd.Series(pd.date_range("2020-01-01", periods=120))
    missing = days.where(days.index > 0)  # read as a number it is -9.2e18
    for times in (days, missing, days.dt.tz_localize("UTC"), days - days[0]):
        for given in (frame.assign(b=times), pl.from_pandas(frame.assign(b=times)), pd.DataFrame({"b": times})):
            assert_refused(given, frame, targets, r"X must hold real numbers, got .* in column 'b'\. Turn times")
    assert_refused(np.tile(days.to_numpy(), (3, 1)).T, X, targets, r"real numbers, got datetime64\[\w+\]\. Turn")


def test_duplicate_column_names(X, frame, targets):
    """Columns of the same name are an error of estimators; a map without names takes columns by their place."""
    doubled = frame.set_axis(["a", "b", "a"], axis=1)
    assert_refused(doubled, frame, targets, "X has more than one column of the name 'a'", by_map="X lacks 'c'")
    fitted = NPPE(n_neighbors=10).fit(X)
    np.testing.assert_array_equal(fitted.map_.transform(doubled), fitted.embedding_)
    for use in (NPPE(n_neighbors=10).partial_fit, polyfold.suggest, NystromExtension(n_neighbors=10).fit):
        with pytest.raises(ValueError, match="X has more than one column of the name 0"):
            use(pd.DataFrame(X, columns=[0, 1, 0]))


def test_masked_arrays_without_masked_values(X, targets):
    """A masked array without masked values is read as the array that it holds."""
    assert_read_as(np.ma.array(X), X, targets)
    assert_read_as(np.ma.array(X, mask=np.zeros(X.shape, dtype=bool)), X, targets)


@pytest.mark.parametrize("below", [1e6, 0.5, np.nan])
def test_masked_values(X, targets, below):
    """A masked value is an error that says how to fill it in: what lies below the mask is never used."""
    hidden = np.ma.array(X, copy=True)
    hidden[3, 1], hidden[3, 1] = below, np.ma.masked
    said = r"X has 1 masked value\(s\), which are not data\. Fill them in, for example with X\.filled\(value\)"
    assert_refused(hidden, X, targets, said)
    stream, kernel = NPPE(n_neighbors=10).partial_fit(X), KernelExtrapolation("precomputed").fit(X, targets)
    by_part, anew = NPPE(n_neighbors=10, reference_size=50), NPPE(n_neighbors=10)
    uses = (by_part.fit, anew.partial_fit, stream.partial_fit, stream.score, kernel.transform, polyfold.suggest)
    for use in (*uses, NystromExtension(n_neighbors=10).fit):
        with pytest.raises(ValueError, match=said):
            use(hidden)


def test_masked_values_beside_the_samples(X, targets):
    """Masked values in weights, or in coordinates to follow, to go back from or to judge, are errors as well."""
    hidden = np.ma.masked_greater(targets, 0)
    back = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X)
    with pytest.raises(ValueError, match=r"sample_weight has 9 masked value"):
        NPPE(n_neighbors=10).fit(X, sample_weight=np.ma.array(np.ones(120), mask=np.arange(120) < 9))
    for use in (
        lambda: ExplicitEmbedding("precomputed").fit(X, hidden),
        lambda: KernelExtrapolation("precomputed").fit(X, hidden),
        lambda: back.inverse_transform(hidden),
        lambda: back.map_.inverse(hidden),
        lambda: trustworthiness(X, hidden),
    ):
        with pytest.raises(ValueError, match=r"^[yY] has \d+ masked value\(s\)"):
            use()


@FEW_FEATURES
def test_nullable_columns(frame, targets):
    """Columns of nullable types of pandas are read as their numbers; a map asks for X.astype(float)."""
    for dtype, values in (("Float64", frame), ("Int64", (9 * frame).round()), ("boolean", frame > 0)):
        plain = (9 * frame).assign(b=values["b"].astype(float))
        nullable = plain.astype({"b": dtype})
        assert_read_as(nullable, plain, targets, by_map=False)
        learned = NPPE(n_neighbors=10).fit(plain).map_
        np.testing.assert_array_equal(learned.transform(nullable.astype(float)), learned.transform(plain))
        with pytest.raises(ValueError, match=r"got an array of type object\. .* X\.astype\(float\)"):
            learned.transform(nullable)


def test_missing_values_in_nullable_columns(frame, targets):
    """Missing values in columns of nullable types of pandas are errors, as NaN is."""
    for dtype in ("Float64", "Int64", "boolean"):
        column = pd.Series([pd.NA] + [1] * 119, dtype=dtype)
        assert_refused(frame.assign(b=column), frame, targets, "X contains NaN", by_map="array of type object")


def test_polars(X, targets):
    """Frames of Polars are read as their numbers, by name, and `set_output` returns such; a null is an error."""
    frame = pl.DataFrame(X, schema=NAMES)
    assert_read_as(frame, X, targets)
    fitted = NPPE(n_neighbors=10).set_output(transform="polars").fit(frame)
    assert fitted.feature_names_in_.tolist() == list(fitted.map_.columns) == NAMES
    placed = fitted.transform(frame)
    assert isinstance(placed, pl.DataFrame)
    assert placed.columns == ["nppe0", "nppe1"]
    np.testing.assert_array_equal(placed.to_numpy(), fitted.embedding_)
    for place, said in ((fitted.transform, "in the same order"), (fitted.map_.transform, "in another order")):
        with pytest.raises(ValueError, match=said):
            place(frame.select("b", "a", "c"))
    assert_refused(frame.with_columns(b=pl.lit(None, pl.Float64)), frame, targets, "X contains NaN")


def test_objects(X, targets):
    """Arrays of Python numbers are read as these; a map asks for X.astype(float), and text is an error."""
    assert_read_as(X.astype(object), X, targets, by_map=False)
    for bad, said in (("text", "could not convert string to float: 'text'"), (None, "X contains NaN")):
        held = X.astype(object)
        held[3, 1] = bad
        assert_refused(held, X, targets, said, by_map=r"got an array of type object\. .* X\.astype\(float\)")


def test_complex_numbers(X, targets):
    """Complex numbers are an error, even where all imaginary parts are 0."""
    assert_refused(X + 0j, X, targets, "Complex data not supported", by_map="real numbers, got .* complex128")


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_swapped_bytes(X, targets, dtype):
    """Numbers of the byte order of other machines are read as the same numbers in float64."""
    given = (1e6 * X).astype(np.dtype(dtype).newbyteorder())
    assert_read_as(given, given.astype(np.float64), targets, atol=1e-12)


def test_fortran_order(X, targets):
    """Samples that lie column by column in memory are read as samples row by row."""
    assert_read_as(np.asfortranarray(X), X, targets, atol=1e-12)


def test_negative_strides(X, targets):
    """Samples that lie backwards in memory, rows and columns, are read as samples that lie forwards."""
    assert_read_as(np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1], X, targets, atol=1e-12)


def test_no_samples_to_place(X, targets):
    """No new samples are an error of an estimator, as in scikit-learn, and give an empty array from a map."""
    for model in MODELS:
        fitted = clone(model).fit(X, targets)
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
            fitted.transform(X[:0])
        assert fitted.map_.transform(X[:0]).shape == (0, 2)
        assert fitted.map_.jacobian(X[:0]).shape == (0, 2, 3)
        assert fitted.map_.extrapolation(X[:0]).shape == (0,)
