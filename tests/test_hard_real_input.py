"""Hard input where columns are reduced, weighted or sparse: a result or a clear error, and never a bare one."""

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_matrix, csc_array, csr_array
from sklearn.neighbors import KNeighborsTransformer

from polyfold import NPPE, PolynomialEmbedding
from polyfold.datasets import make_gaussian

RANDOM = np.random.default_rng(0)
WIDE = make_gaussian(120, random_state=0)[0] @ RANDOM.normal(size=(3, 25)) + 0.1 * RANDOM.normal(size=(120, 25))
WEIGHTS = (np.arange(120) % 4 > 0) * 1.0
QUIET = pytest.mark.filterwarnings("ignore::UserWarning")


@QUIET
@pytest.mark.parametrize("container", [coo_matrix, csr_array, csc_array, bsr_array])
def test_any_sparse_container(container):
    fitted = NPPE(alpha=1e-3).fit(container(WIDE), sample_weight=WEIGHTS)
    np.testing.assert_allclose(fitted.transform(container(WIDE)), fitted.embedding_, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(WIDE), fitted.embedding_, atol=1e-10)


@QUIET
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
def test_scales_do_not_matter(scale):
    plain = NPPE(alpha=1e-3, fit_inverse_transform=True).fit(WIDE)
    scaled = NPPE(alpha=1e-3, fit_inverse_transform=True).fit(WIDE * scale)
    np.testing.assert_allclose(scaled.embedding_, plain.embedding_, atol=1e-8)
    np.testing.assert_allclose(scaled.map_.extrapolation(WIDE * scale), plain.map_.extrapolation(WIDE), rtol=1e-6)
    np.testing.assert_allclose(
        scaled.inverse_transform(plain.embedding_) / scale, plain.inverse_transform(plain.embedding_), atol=1e-6
    )


@QUIET
@pytest.mark.parametrize("n_samples", range(2, 13))
@pytest.mark.parametrize("n_columns", [1, 2, 4, 25])
def test_few_samples(n_samples, n_columns):
    X = np.random.default_rng(n_samples).normal(size=(n_samples, n_columns))
    for container in (np.asarray, csr_array):
        fitted = NPPE(1, fit_inverse_transform=True).fit(container(X))
        assert np.isfinite(fitted.embedding_).all()
        assert np.isfinite(fitted.map_.extrapolation(X)).all()
        assert np.isfinite(fitted.inverse_transform(fitted.embedding_)).all()


@QUIET
@pytest.mark.parametrize("reduce", ["auto", 12, 0.999])
def test_more_axes_than_rank(reduce):
    flat = RANDOM.normal(size=(200, 2)) @ RANDOM.normal(size=(2, 25))
    fitted = NPPE(reduce=reduce).fit(flat)
    assert fitted.diagnostics_.rank == 5
    assert np.abs(fitted.map_.coefficients).max() < 1e4


@QUIET
def test_samples_of_which_every_third_is_zero():
    """The trial must not depend on which rows it draws, nor fail the fit."""
    X = np.random.default_rng(0).normal(size=(2400, 20))
    X[::2] = 0
    for moved in (X, np.roll(X, 1, axis=0)):
        assert np.isfinite(NPPE(n_neighbors=12, alpha=1e-3, reduce=3).fit(moved).embedding_).all()


def test_sparse_columns_that_are_all_mean():
    with pytest.raises(ValueError, match=r"its mean dwarfs its spread.*X\.toarray\(\)"):
        NPPE().fit(csr_array(WIDE + 1e8))
    np.testing.assert_allclose(
        NPPE(reduce=4, alpha=1e-3).fit(WIDE + 1e6).embedding_,
        NPPE(reduce=4, alpha=1e-3).fit(WIDE).embedding_,
        atol=1e-6,
    )


@QUIET
@pytest.mark.parametrize(
    "weights", [np.full(120, 1e308), np.full(120, 1e-308), np.where(np.arange(120) < 2, 1e12, 1)]
)
def test_extreme_weights(weights):
    fitted = NPPE(reduce=4).fit(WIDE, sample_weight=weights)
    assert np.isfinite(fitted.embedding_).all()


def test_far_outside_is_infinitely_far():
    learned = NPPE(reduce=4).fit(WIDE).map_
    assert np.isinf(learned.extrapolation(WIDE * 1e200)).all()
    assert np.isinf(learned.extrapolation(csr_array(WIDE * 1e200))).all()
    assert learned.extrapolation(np.empty((0, 25))).shape == (0,)


def test_terms_that_overflow():
    learned = NPPE(n_neighbors=10).fit(WIDE[:, :3] * 1e-200).map_
    with pytest.raises(ValueError, match="Give the columns another unit"):
        learned.terms()


def test_paper_form_with_axes_keeps_the_mean():
    """Without centring, axes are those of the second moments, and what is off them includes the mean."""
    fitted = NPPE(reduce=6, center=False, alpha=1e-3, fit_inverse_transform=True, n_neighbors=12).fit(WIDE + 10)
    back = fitted.inverse_transform(fitted.embedding_)
    lost = np.square(back - WIDE - 10).sum() / np.square(WIDE - WIDE.mean(axis=0)).sum()
    assert lost < fitted.diagnostics_.round_trip_error < 1.5 * lost + 0.05
    assert lost < 1


@QUIET
def test_layouts_and_read_only_memory(tmp_path):
    expected = NPPE(alpha=1e-3).fit(WIDE).embedding_
    np.save(tmp_path / "X.npy", WIDE)
    for X in (
        np.asfortranarray(WIDE),
        np.repeat(WIDE, 2, axis=0)[::2],
        np.load(tmp_path / "X.npy", mmap_mode="r"),
    ):
        before = X.copy()
        np.testing.assert_allclose(NPPE(alpha=1e-3).fit(X).embedding_, expected, atol=1e-10)
        np.testing.assert_array_equal(X, before)
    assert NPPE(alpha=1e-3).fit(WIDE.astype(np.float32)).embedding_.dtype == np.float32
    counts = csr_array(np.random.default_rng(0).poisson(1.0, size=(100, 30)))
    before = counts.copy()
    NPPE(alpha=1e-3).fit(counts)
    assert (counts != before).nnz == 0


def test_a_fitted_transformer_and_weights_of_zero():
    transformer = KNeighborsTransformer(n_neighbors=10).fit(WIDE)
    with pytest.raises(ValueError, match="less the samples of weight 0"):
        PolynomialEmbedding(n_neighbors=8, neighbors=transformer).fit(WIDE, sample_weight=WEIGHTS)
    report = repr(PolynomialEmbedding(neighbors=transformer).fit(WIDE).diagnostics_)
    assert "10 (given)" in report


def test_more_threads_give_the_same_bits():
    serial, threaded = NPPE().fit(WIDE), NPPE(n_jobs=2).fit(WIDE)
    np.testing.assert_array_equal(serial.map_.coefficients, threaded.map_.coefficients)
    assert not serial.map_.domain.spreads.flags.writeable
