"""What a map does beside placing samples, on maps made by hand, against the formulas; and what it refuses."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import polyfold.polymap as polymap
from maps import evaluate_naively, random_map
from polyfold import PolynomialMap
from polyfold._domain import Domain

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(9, 4)) * 3


def map_with_domain(n_axes, thickness=0.7):
    """A map of 4 columns whose domain has two directions; `random_map` has a scale of 1.7."""
    variables = n_axes or 4
    directions = np.linalg.qr(RANDOM.normal(size=(variables, 2)))[0]
    domain = Domain(RANDOM.normal(size=4), directions, np.array([0.5, 0.2]), 2.5, thickness)
    return random_map("kronecker", 2, 4, 2, n_axes, domain=domain)


def expect_scores(learned, samples):
    """The larger of the distance along the directions and the one off them, each over its edge."""
    domain = learned.domain
    moved = (samples - domain.center) / learned.scale
    located = moved if learned.axes is None else moved @ learned.axes
    along = located @ domain.directions
    inside = np.linalg.norm(along / domain.spreads, axis=1) / domain.reach
    off = np.sqrt(np.maximum(np.square(moved).sum(axis=1) - np.square(along).sum(axis=1), 0))
    return np.maximum(inside, off / domain.thickness)


@pytest.mark.parametrize("n_axes", [None, 2, 3])
@pytest.mark.parametrize("block", [None, 1])
def test_extrapolation(n_axes, block, monkeypatch):
    if block:
        monkeypatch.setattr(polymap, "BLOCK_BYTES", 1)
    learned = map_with_domain(n_axes)
    expected = expect_scores(learned, X)
    assert len(set(np.round(expected, 6))) == len(X)
    np.testing.assert_allclose(learned.extrapolation(X), expected, rtol=1e-9)
    np.testing.assert_allclose(learned.extrapolation(X.astype(np.float32)), expected, rtol=1e-4)
    if n_axes:
        sparse = np.where(np.abs(X) > 2, X, 0)
        np.testing.assert_allclose(
            learned.extrapolation(csr_array(sparse)), expect_scores(learned, sparse), rtol=1e-9
        )
        np.testing.assert_allclose(
            learned.transform(csr_array(sparse)), evaluate_naively(learned, sparse)[0], rtol=1e-9
        )


@pytest.mark.parametrize("n_axes", [None, 2])
def test_far_and_missing_samples_in_extrapolation(n_axes):
    learned = map_with_domain(n_axes)
    far = np.concatenate([X, np.full((1, 4), 1e200)])
    scores = learned.extrapolation(far)
    assert np.isinf(scores[-1])
    np.testing.assert_allclose(scores[:-1], expect_scores(learned, X), rtol=1e-9)
    for value, name in ((np.nan, "NaN"), (np.inf, "inf")):
        bad = X.copy()
        bad[3, 1] = value
        with pytest.raises(ValueError, match=rf"^X contains {name} \(row 3, column 1\)\.$"):
            learned.extrapolation(bad)
        with pytest.raises(ValueError, match=rf"^X contains {name} \(row 3, column 1\)\.$"):
            learned.jacobian(bad)
        if n_axes:
            with pytest.raises(ValueError, match=rf"^X contains {name} \(row 3, column 1\)\.$"):
                learned.extrapolation(csr_array(bad))


def test_blocks_of_rows(monkeypatch):
    monkeypatch.setattr(polymap, "BLOCK_BYTES", 8 * 4 * 3)
    learned = random_map("kronecker", 2, 4, 2, 3)
    assert [part.stop - part.start for part in learned._row_slices(X)] == [3, 3, 3]
    # Of sparse samples what they hold, 2 numbers a row here, and their places in 3 axes.
    sparse = csr_array(np.where(np.arange(4) < 2, X, 0))
    monkeypatch.setattr(polymap, "BLOCK_BYTES", 8 * (2 + 3) * 4)
    assert [part.stop - part.start for part in learned._row_slices(sparse)] == [4, 4, 1]
    assert learned._row_slices(csr_array((0, 4))) == []


@pytest.mark.parametrize("n_axes", [None, 3])
def test_the_way_back(n_axes):
    variables = n_axes or 4
    decoder = random_map("kronecker", 2, 2, variables, seed=5)
    learned = random_map("kronecker", 2, 4, 2, n_axes, decoder=decoder)
    Y = RANDOM.normal(size=(6, 2))
    located, _ = evaluate_naively(decoder, Y)
    spanned = located if n_axes is None else located @ learned.axes.T
    np.testing.assert_allclose(learned.inverse(Y), spanned * learned.scale + learned.shift, atol=1e-10)
    np.testing.assert_allclose(learned.inverse(Y.tolist()), learned.inverse(Y))
    assert learned.inverse(Y.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize("turned", [False, True])
def test_a_way_back_that_overflows(turned):
    """In the polynomial, or in the unit of the columns only, or where two infinities meet in the axes."""
    axes = np.array([[0.6, -0.8], [0.8, 0.6]]) if turned else None
    square = PolynomialMap([0.0], 1.0, "hadamard", 2, [[1.0, 1.0], [1.0, -1.0]], [0.0, 0.0])
    learned = PolynomialMap([0.0, 0.0], 1e8, "hadamard", 1, [[1.0], [1.0]], [0.0], axes, decoder=square)
    with np.errstate(over="raise", invalid="raise"):
        assert np.abs(learned.inverse([[1e140]])).max() == pytest.approx(1.4e288 if turned else 1e288)
        for far in (1e152, 1e200):
            with pytest.raises(ValueError, match=r"^Row 1 of Y is finite but so far from the training data that"):
                learned.inverse([[1.0], [far]])
        with pytest.raises(ValueError, match=r"^Y contains NaN \(row 1, column 0\)\.$"):
            learned.inverse([[1.0], [np.nan]])


def test_what_a_map_does_not_hold_is_told():
    learned = random_map("hadamard", 2, 4, 2)
    way_back = "This map has no way back. Fit with fit_inverse_transform=True to learn one."
    with pytest.raises(ValueError, match=f"^{re.escape(way_back)}$"):
        learned.inverse(np.zeros((1, 2)))
    domain = "This map does not hold what its training samples covered: it was given no `domain`."
    with pytest.raises(ValueError, match=f"^{re.escape(domain)}$"):
        learned.extrapolation(X)
    with pytest.raises(TypeError, match=r"^`other` must be a PolynomialMap, got str\.$"):
        learned.align_to("last year", X)
    assert learned.alignment is None


def test_alignment():
    learned = random_map("hadamard", 1, 4, 2)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    turned = PolynomialMap(
        learned.shift, learned.scale, "hadamard", 1, 2 * learned.coefficients @ turn, 2 * learned.offset @ turn + 3
    )
    aligned = turned.align_to(learned, X)
    np.testing.assert_allclose(aligned.transform(X), learned.transform(X), atol=1e-10)
    assert min(aligned.alignment.r2) == pytest.approx(1)
    named = PolynomialMap(
        learned.shift, learned.scale, "hadamard", 1, learned.coefficients, learned.offset, columns=list("abcd")
    )
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="lacks 'd' and has 'e' besides"):
        turned.align_to(named, pandas.DataFrame(X, columns=list("abce")))


def test_slopes_see_overflow_and_planes_see_their_samples():
    square = PolynomialMap([0.0], 1.0, "hadamard", 3, [[0.0], [0.0], [1.0]], [0.0])
    with pytest.raises(ValueError, match=r"^Row 1 of X is finite but so far from the training data"):
        square.jacobian([[1.0], [1e200]])
    plane = PolynomialMap([0.0], 1.0, "hadamard", 1, [[2.0]], [0.0])
    np.testing.assert_array_equal(plane.jacobian([[5.0], [6.0]]), [[[2.0]], [[2.0]]])
    assert plane.jacobian(np.ones((2, 1), dtype=np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match=r"^X contains NaN \(row 0, column 0\)\.$"):
        plane.jacobian([[np.nan]])


GOOD = {
    "shift": [0.0, 0.0],
    "scale": 1.0,
    "basis": "hadamard",
    "degree": 2,
    "coefficients": np.ones((4, 1)),
    "offset": [0.0],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shift": [[0.0, 0.0]]}, "`shift` must be a finite array of 1 dimension(s)."),
        ({"shift": [0.0, np.nan]}, "`shift` must be a finite array of 1 dimension(s)."),
        ({"coefficients": np.ones(4)}, "`coefficients` must be a finite array of 2 dimension(s)."),
        ({"coefficients": np.full((4, 1), np.inf)}, "`coefficients` must be a finite array of 2 dimension(s)."),
        ({"offset": 0.0}, "`offset` must be a finite array of 1 dimension(s)."),
        ({"axes": [1.0, 0.0]}, "`axes` must be a finite array of 2 dimension(s)."),
        ({"scale": 0.0}, "`scale` must be above 0, and `shift` and `offset` must not be empty."),
        ({"shift": []}, "`scale` must be above 0, and `shift` and `offset` must not be empty."),
        (
            {"offset": [], "coefficients": np.ones((4, 0))},
            "`scale` must be above 0, and `shift` and `offset` must not be empty.",
        ),
        ({"scale": -1.0}, "`scale` must be a finite number >= 0, got -1.0."),
        ({"axes": np.ones((3, 1))}, "`axes` must have 2 rows and at least one column, got (3, 1)."),
        ({"axes": np.ones((2, 0))}, "`axes` must have 2 rows and at least one column, got (2, 0)."),
        ({"coefficients": np.ones((3, 1))}, "`coefficients` must have shape (4, 1), got (3, 1)."),
        ({"offset": [0.0, 0.0]}, "`coefficients` must have shape (4, 2), got (4, 1)."),
        (
            {"domain": Domain([0.0], [[1.0]], [1.0], 1.0, 0.0)},
            "`domain` must be of 2 columns and 2 variables.",
        ),
        ({"decoder": random_map("hadamard", 1, 1, 3)}, "`decoder` must take 1 columns to 2 coordinates."),
        ({"decoder": random_map("hadamard", 1, 2, 2)}, "`decoder` must take 1 columns to 2 coordinates."),
        ({"columns": ["a", "a"]}, "`columns` must be 2 different names."),
        ({"columns": ["a", "b", "c"]}, "`columns` must be 2 different names."),
        ({"columns": ["a", 1]}, "`columns` must be 2 different names."),
        ({"degree": 0}, "`degree` must be an integer >= 1, got 0."),
        ({"basis": "auto"}, "`basis` must be one of 'hadamard', 'kronecker', got 'auto'."),
    ],
)
def test_parts_that_do_not_fit(change, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        PolynomialMap(**GOOD | change)


def test_parts_that_fit():
    learned = PolynomialMap(
        **GOOD | {"degree": np.int64(2), "columns": iter(["a", "b"]), "training": {"parameters": {"alpha": 1}}},
        domain=Domain([0.0, 0.0], np.eye(2), [1.0, 1.0], 1.0, 0.0),
        decoder=random_map("hadamard", 1, 1, 2),
    )
    assert type(learned.degree) is int
    assert learned.columns == ("a", "b")
    assert learned.training["parameters"]["alpha"] == 1
    for name in ("shift", "coefficients", "offset"):
        array = getattr(learned, name)
        assert not array.flags.writeable
        assert array.flags.c_contiguous
        assert array.dtype == np.float64
    turned = PolynomialMap(**GOOD | {"axes": np.asfortranarray(np.eye(2)), "coefficients": np.ones((1, 4)).T})
    assert turned.axes.flags.c_contiguous
    assert not turned.axes.flags.writeable


def test_types_of_coordinates():
    learned = random_map("kronecker", 2, 4, 2)
    assert learned.transform(X.astype(np.float32)).dtype == np.float32
    for dtype in (np.float64, np.int32, np.float16, bool):
        assert learned.transform(X.astype(dtype)).dtype == np.float64
    assert len(learned._plans) == 2  # one for each precision, prepared once
    plans = dict(learned._plans)
    learned.transform(X)
    assert learned._plans == plans


def test_collections_of_dask_are_placed_lazily():
    """As samples in memory are, with the shape, the type and the chunks that Dask is told beforehand."""
    da = pytest.importorskip("dask.array")
    decoder = random_map("kronecker", 2, 2, 4, seed=5)
    learned = map_with_domain(None)
    learned = replace(learned, decoder=decoder)
    Y = learned.transform(X)
    chunks = da.from_array(X, chunks=(4, 4)), da.from_array(Y, chunks=(4, 2))
    for lazy, expected in (
        (learned.transform(chunks[0]), Y),
        (learned.transform(chunks[0].astype(np.float32)), learned.transform(X.astype(np.float32))),
        (learned.extrapolation(chunks[0]), learned.extrapolation(X)),
        (learned.inverse(chunks[1]), learned.inverse(Y)),
    ):
        assert isinstance(lazy, da.Array)
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        assert lazy.chunks[0] == (4, 4, 1)
        computed = lazy.compute(scheduler="sync")
        np.testing.assert_allclose(computed, expected, rtol=1e-5 if expected.dtype == np.float32 else 1e-12)


def test_masked_coordinates_have_no_way_back():
    learned = random_map("kronecker", 2, 4, 2, decoder=random_map("kronecker", 2, 2, 4, seed=5))
    Y = np.ma.masked_greater(np.arange(6.0).reshape(3, 2), 4)
    with pytest.raises(ValueError, match=r"^Y has 1 masked value\(s\), which are not data\."):
        learned.inverse(Y)
    for given in (np.arange(6).reshape(3, 2), RANDOM.normal(size=(3, 2)).astype(np.float32)):
        np.testing.assert_array_equal(learned.inverse(given), learned.inverse(given.astype(np.float64)))


def test_what_a_map_says_of_itself():
    axes = random_map("kronecker", 2, 4, 2, 3)
    assert repr(axes).startswith(
        "PolynomialMap(4 columns -> 3 principal axes -> 2 coordinates, degree 2, kronecker"
    )
    wide = random_map("hadamard", 1, 500, 25)
    assert repr(wide) == (
        "PolynomialMap(500 columns -> 25 coordinates, degree 1, hadamard basis of 500 monomials, "
        f"{wide.nbytes / 1000:.1f} kB)"
    )
    assert wide.nbytes > 100_000
