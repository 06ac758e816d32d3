"""What NumPy and SciPy would read as numbers without a word: masks, times, records and damaged matrices."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.lib import recfunctions
from sklearn.base import clone

import polyfold
from maps import random_map
from polyfold import (
    NPPE,
    ExplicitEmbedding,
    KernelExtrapolation,
    ModelFormatError,
    NystromExtension,
    PolynomialEmbedding,
    PolynomialMap,
)
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import trustworthiness

X, Z = make_swiss_roll(120, random_state=0)
DAYS = np.datetime64("2020-01-01") + np.arange(240).reshape(120, 2)
TIMES = r"X must hold real numbers, got .*\. Turn times into numbers"


def list_uses(columns=3):
    """What takes samples of so many columns: learned from these, or placed by what was."""
    training = np.random.default_rng(0).normal(size=(120, columns))
    fitted = NPPE(1, n_neighbors=10).fit(training)
    return [
        NPPE(1, n_neighbors=10).fit,
        NPPE(1, n_neighbors=10).partial_fit,
        NPPE(1, n_neighbors=10, reference_size=50).fit,
        lambda X: ExplicitEmbedding("precomputed").fit(X, Z),
        lambda X: KernelExtrapolation("precomputed").fit(X, Z),
        NystromExtension(1, n_neighbors=10).fit,
        polyfold.suggest,
        fitted.transform,
        fitted.map_.transform,
        fitted.map_.jacobian,
        fitted.map_.extrapolation,
        fitted.map_.sensitivity,
        lambda X: trustworthiness(X, Z),
    ]


def assert_refused(given, said, columns=3):
    for use in list_uses(columns):
        with pytest.raises(ValueError, match=said):
            use(given)


def test_lists_of_masked_rows():
    assert_refused([np.ma.array(row, mask=[0, 0, 1]) for row in X], r"[Xx] has 120 masked value\(s\)")
    unmasked = [np.ma.array(row) for row in X]
    np.testing.assert_array_equal(NPPE().fit(unmasked).embedding_, NPPE().fit(X).embedding_)


def test_masked_graphs():
    W = np.exp(-(np.linalg.norm(X[:, np.newaxis] - X, axis=2) ** 2) / 10)
    masked = np.ma.array(W, mask=np.eye(120, dtype=bool))
    with pytest.raises(ValueError, match=r"`graph` has 120 masked value\(s\)"):
        PolynomialEmbedding(graph=masked).fit(X)
    L, D = np.eye(120) - 1 / 120, np.ones(120)
    hidden = np.ma.array(D, mask=D > 0)
    for answer, part in ((np.ma.array(L, mask=L > 0.5), D), "L"), ((L, hidden), "D"):
        with pytest.raises(ValueError, match=rf"{part} of a callable `graph` has 120 masked value\(s\)"):
            PolynomialEmbedding(graph=lambda _, answer=answer: answer).fit(X)


@pytest.mark.parametrize(
    "given",
    [
        [list(row) for row in DAYS],
        [tuple(row) for row in DAYS - DAYS[0]],
        list(DAYS),
        np.array([list(row) for row in DAYS] + [[None, None]], dtype=object)[:-1],
        [[np.datetime64("NaT"), day] for day in DAYS[:, 0]],
        pa.table({"a": DAYS[:, 0].astype("M8[s]"), "b": DAYS[:, 1].astype("M8[ms]")}),
        pa.table({"a": (DAYS[:, 0] - DAYS[0, 0]).astype("m8[s]"), "b": np.arange(120.0)}),
        pd.DataFrame({"a": pd.Categorical(pd.date_range("2020", periods=120)), "b": 1.0}),
        pd.DataFrame({"a": pd.period_range("2020", periods=120), "b": 1.0}),
    ],
    ids=["rows", "durations", "arrays", "objects", "missing", "arrow", "arrow durations", "categories", "periods"],
)
def test_times_in_any_container(given):
    assert_refused(given, TIMES.replace("X", "[Xx]"), columns=2)


def test_dates_of_python_are_no_numbers():
    with pytest.raises(TypeError, match=r"must be a string or a real number, not 'datetime\.date'"):
        NPPE(1).fit([[datetime.date(2020, 1, day)] for day in range(1, 28)])


def test_records():
    records = recfunctions.unstructured_to_structured(X)
    said = r"must hold real numbers, got records of the fields \['f0', 'f1', 'f2'\]\. .*structured_to_unstructured"
    assert_refused(records, said)
    assert_refused(np.ma.array(records), said)


@pytest.mark.parametrize(
    "given",
    [
        np.array([[1 + 2j, 1]]),
        [["1", "2"]],
        [np.ma.array([1.0, 2.0], mask=[1, 0])],
        [[np.datetime64("2020-01-01")] * 2],
        np.array([[1.0, 2.0]], dtype=object),
    ],
    ids=["complex", "text", "masked", "times", "objects"],
)
def test_coordinates_to_go_back_from(given):
    learned = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X).map_
    with pytest.raises(ValueError, match=r"Y must hold real numbers|Y has 1 masked"):
        learned.inverse(given)
    expected = learned.inverse([[1.0, 2.0]])
    for same in ([[1, 2]], np.array([[1, 2]], dtype=np.float32), np.array([[1, 2]], dtype=np.uint8)):
        np.testing.assert_array_equal(learned.inverse(same), expected)


def damage(matrix):
    """The same matrix with an entry in a row or column that it has not."""
    for format_ in ("csr", "csc", "bsr", "coo"):
        for index in (10**8, -5):
            other = matrix.asformat(format_).copy()
            if format_ == "coo":
                other.coords[1][0] = index
            else:
                other.indices[0] = index
            yield other
    short = matrix.asformat("csr").copy()
    short.indptr[-1] += 10**6
    yield short


def test_sparse_matrices_that_refer_to_what_is_not_there():
    """SciPy goes after such indices, which ends the process or shows what else is in memory."""
    samples = sp.random_array((120, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    embedding = PolynomialEmbedding(n_neighbors=10, reduce=3, alpha=1e-3)
    fitted = embedding.fit(samples)
    followed = ExplicitEmbedding("precomputed", reduce=3)
    learned = fitted.map_
    uses = [
        embedding.fit, fitted.transform, fitted.score, learned.transform, learned.jacobian, learned.extrapolation,
        learned.sensitivity, lambda X: followed.fit(X, Z),
    ]  # fmt: skip
    for damaged in damage(samples):
        for use in uses:
            with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
                use(damaged)
    W = sp.csr_array(np.exp(-(np.linalg.norm(X[:, np.newaxis] - X, axis=2) ** 2)))
    for damaged in damage(W):
        with pytest.raises(ValueError, match="`graph` is a damaged sparse matrix"):
            PolynomialEmbedding(graph=damaged).fit(X)
        with pytest.raises(ValueError, match="L of a callable `graph` is a damaged sparse matrix"):
            PolynomialEmbedding(graph=lambda _, L=damaged: (L, np.ones(120))).fit(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sparse_sample_has_one_form(dtype):
    """Entries in any order, and in parts that add up, are the same sample, to the bit; what is given stays."""
    samples = sp.random_array((60, 20), density=0.3, rng=np.random.default_rng(0), format="csr", dtype=dtype)
    halves = (np.repeat(samples.data / 2, 2), np.repeat(samples.indices, 2), 2 * samples.indptr)
    repeated = sp.csr_array(halves, shape=samples.shape)
    turned = sp.csr_array(samples[:, ::-1])[:, ::-1]
    kept = repeated.data.copy()
    embedding = PolynomialEmbedding(n_neighbors=10, reduce=3, alpha=1e-3)
    learned = embedding.fit(samples).map_
    for same in (repeated, turned, samples.tocsc(), samples.tocoo()):
        np.testing.assert_array_equal(learned.transform(same), learned.transform(samples))
        np.testing.assert_array_equal(learned.sensitivity(same).values, learned.sensitivity(samples).values)
        np.testing.assert_array_equal(embedding.fit(same).embedding_, learned.transform(samples))
    assert repeated.nnz == 2 * samples.nnz
    np.testing.assert_array_equal(repeated.data, kept)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_both_ends_of_what_a_type_holds(dtype):
    """The sum of all values is not a number; no warning of it comes through."""
    signs = np.random.default_rng(0).choice([-0.9, 0.9], size=(300, 3))
    given = (signs * np.finfo(dtype).max).astype(dtype)
    kernel = KernelExtrapolation("precomputed")
    for use in (NPPE(n_neighbors=8).fit, NPPE(n_neighbors=8).partial_fit, lambda X: kernel.fit(X, X[:, 0] / 2)):
        try:
            assert np.isfinite(use(given).embedding_).all()
        except ValueError as error:
            assert "range too large for float64" in str(error)  # noqa: PT017


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_coordinates_of_any_size_are_followed():
    samples = np.vander(np.linspace(0, 1, 40), 3)
    Y = np.random.default_rng(0).normal(size=(40, 2))
    for size in (1e302, 1e-290):
        fitted = ExplicitEmbedding("precomputed", fit_inverse_transform=True).fit(samples, size * Y)
        assert np.isfinite(fitted.inverse_transform(fitted.embedding_)).all()
    for size in (1e307, 3e307):
        for alpha in ("auto", 0.0):
            with pytest.raises(ValueError, match="coordinates to follow are too large for float64"):
                ExplicitEmbedding("precomputed", alpha=alpha).fit(samples, size * Y)
    ExplicitEmbedding("precomputed").fit(samples, 1e-310 * Y)
    with pytest.raises(ValueError, match="coordinates are too small for float64 to lead back from"):
        ExplicitEmbedding("precomputed", fit_inverse_transform=True).fit(samples, 1e-310 * Y)


@pytest.mark.parametrize("alpha", [1e308, 10**400, -1, np.nan, np.inf, "0.1", True])
def test_ridges_that_are_none(alpha):
    for estimator in (NPPE(alpha=alpha), ExplicitEmbedding("precomputed", alpha=alpha)):
        with pytest.raises(ValueError, match='`alpha` must be "auto" or'):
            estimator.fit(X, Z)


@pytest.mark.parametrize("n_jobs", ["a", 0, 1.5, True])
def test_workers_that_are_none(n_jobs):
    learners = [
        NPPE(n_jobs=n_jobs),
        ExplicitEmbedding("precomputed", n_jobs=n_jobs),
        NystromExtension(n_jobs=n_jobs),
    ]
    for estimator in learners:
        with pytest.raises(ValueError, match="`n_jobs` must be None or an integer other than 0"):
            estimator.fit(X, Z)
    with pytest.raises(ValueError, match="`n_jobs` must be None or an integer other than 0"):
        polyfold.suggest(X, n_jobs=n_jobs)


LEARNERS = [NPPE(), ExplicitEmbedding("precomputed"), KernelExtrapolation("precomputed"), NystromExtension()]


@pytest.mark.parametrize("estimator", LEARNERS, ids=lambda estimator: type(estimator).__name__)
def test_seeds_and_progress_that_are_none(estimator):
    for seed in ("a", -1, 2**32, 1.5, True, np.random.default_rng(0), [0]):
        with pytest.raises(ValueError, match="`random_state` must be None, an integer from 0 to 4294967295, or"):
            clone(estimator).set_params(random_state=seed).fit(X, Z)
    for verbose in ("a", -1, 1.5, None):
        with pytest.raises(ValueError, match="`verbose` must be an integer >= 0, got"):
            clone(estimator).set_params(verbose=verbose).fit(X, Z)
    for seed in (np.uint32(2**32 - 1), np.random.RandomState(0)):
        clone(estimator).set_params(random_state=seed, verbose=False).fit(X, Z)


@pytest.mark.parametrize("text", [None, 123, ["a"], memoryview(b"{}")])
def test_json_that_is_no_text(text):
    with pytest.raises(ModelFormatError, match="It must be a text, got"):
        PolynomialMap.from_json(text)
    learned = random_map("kronecker", 2)
    for same in (learned.to_json().encode(), bytearray(learned.to_json().encode())):
        np.testing.assert_array_equal(PolynomialMap.from_json(same).coefficients, learned.coefficients)


def test_two_samples_of_the_default_learner():
    fitted = KernelExtrapolation().fit(X[:2])
    assert fitted.embedding_.shape == (2, 1)
    assert np.isfinite(fitted.transform(X)).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("degree", [1, 2])
def test_coordinates_beyond_single_precision(degree):
    """They are told, with the cure, where samples in float32 would get coordinates in it."""
    samples = np.array([[1.0], [0.0], [2.0]], dtype=np.float32)
    for coordinates in ([9e302] * 3, [1e60, 2e60, 4e60]):
        embedding = ExplicitEmbedding("precomputed", degree=degree)
        with pytest.raises(ValueError, match=r"polynomial overflows\. Pass X\.astype\(float\)"):
            embedding.fit(samples, coordinates)
        assert np.isfinite(embedding.fit(samples.astype(float), coordinates).embedding_).all()
