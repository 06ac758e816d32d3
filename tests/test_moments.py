"""Moments and draws of rows in blocks: what they must be, however the rows are cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyfold._draw import draw_from_block, draw_rows, hash_numbers, merge_drawn
from polyfold._frame import frame_moments
from polyfold._moments import measure_moments, merge_moments
from strategies import count_examples, sample_clouds


def cut(X, ends):
    return np.split(X, sorted(end % (len(X) - 1) + 1 for end in set(ends)))


@given(sample_clouds(), st.lists(st.integers(0, 100), max_size=5), st.booleans())
@count_examples(100)
def test_moments_of_parts_are_those_of_all(X, ends, with_products):
    parts = [part for part in cut(X, ends) if len(part)]
    merged = merge_moments([measure_moments(part, with_products=with_products) for part in parts])
    assert merged.n_samples == len(X)
    about_mean = X - X.mean(axis=0)
    products = about_mean.T @ about_mean
    size = np.abs(X).max()
    np.testing.assert_allclose(merged.mean, X.mean(axis=0), atol=1e-14 * size)
    expected = products if with_products else np.diagonal(products)
    np.testing.assert_allclose(merged.products, expected, atol=1e-12 * np.trace(products))
    np.testing.assert_array_equal(merged.ranges, [X.min(axis=0), X.max(axis=0)])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-5, 1e150, 1e300])
def test_moments_of_huge_and_tiny_values(scale):
    X = np.random.default_rng(0).uniform(-1, 1, size=(60, 3))
    parts = np.split(X, 3)
    parts[1] = parts[1] * 1e-8  # so that parts are in different units
    X = np.concatenate(parts)
    moments = merge_moments([measure_moments(part * scale, with_products=True) for part in parts])
    spread = moments.products / (scale / moments.unit) ** 2
    np.testing.assert_allclose(spread, 60 * np.cov(X.T, bias=True), rtol=1e-9, atol=1e-12)
    unscaled = frame_moments(measure_moments(X, with_products=True), 2, center=True)
    frame = frame_moments(moments, 2, center=True)
    assert frame.scale == pytest.approx(scale * unscaled.scale)
    np.testing.assert_allclose(frame.axes, unscaled.axes, atol=1e-9)


def test_equal_values_have_no_variance_to_the_bit():
    X = np.column_stack([np.full(700, 0.1), np.arange(700.0)])
    moments = merge_moments([measure_moments(part, with_products=False) for part in np.split(X, 7)])
    assert moments.variances[0] == 0 < moments.variances[1]
    frame = frame_moments(moments, None, center=True)
    assert (frame.locate(X)[0][:, 0] == 0).all()


def test_bad_rows_are_named():
    X = np.ones((50, 2))
    X[33, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 1,033"):
        measure_moments(X, with_products=False, first=1000)
    with pytest.raises(ValueError, match="range too large"):
        frame_moments(measure_moments(np.array([[-1.7e308], [1.7e308]]), with_products=False), None, center=True)


def draw(X, starts, size, n_samples):
    ends = [*starts[1:], len(X)]
    parts = [draw_from_block(X[a:b], a, size, n_samples) for a, b in zip(starts, ends, strict=True)]
    return merge_drawn([merge_drawn(parts[:2]), *parts[2:]]).settle()


@pytest.mark.parametrize("size", [1, 10, 500, 5000])
def test_the_same_rows_are_drawn_however_they_are_cut(size):
    X = np.arange(3000.0)[:, np.newaxis]
    expected = draw_rows(3000, size)
    assert len(expected) == min(size, 3000)
    assert (np.diff(expected) > 0).all()
    for starts in ([0], [0, 1, 2, 700], list(range(0, 3000, 100))):
        for n_samples in (3000, None):  # a stream does not know how many will come
            numbers, rows = draw(X, starts, size, n_samples)
            np.testing.assert_array_equal(numbers, expected)
            np.testing.assert_array_equal(rows[:, 0], expected)


def test_draws_are_uniform():
    """Each row is as likely as any other, near ones are not drawn together, and no number collides."""
    drawn = draw_rows(1_000_000, 100_000)
    counts = np.histogram(drawn, bins=100, range=(0, 1_000_000))[0]
    assert np.square(counts - 1000).sum() / 900 < 160  # chi squared with 99 degrees of freedom
    gaps = np.diff(drawn)
    assert np.mean(gaps == 1) == pytest.approx(0.1, abs=0.01)
    assert np.corrcoef(gaps[:-1], gaps[1:])[0, 1] == pytest.approx(0, abs=0.02)
    assert len(np.unique(hash_numbers(np.arange(100_000)))) == 100_000
