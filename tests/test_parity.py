"""A map has the same values wherever it runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maps import evaluate_naively, random_map
from polyfold.datasets import make_swiss_roll
from runners import NEEDS, RUNNERS, run_c, run_onnx, run_sympy
from strategies import count_examples, polynomial_maps

#: Of the largest coordinate, or the largest sum of sizes of terms.
DOUBLE, SINGLE = 1e-12, 1e-5


@pytest.fixture(params=sorted(RUNNERS))
def run(request):
    program, path = NEEDS.get(request.param, (None, "here"))
    if path is None:
        pytest.skip(f"{program} is not installed")
    return RUNNERS[request.param]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_outputs", [1, 2, *(pytest.param(m, marks=pytest.mark.slow) for m in (3, 4)), 5])
@pytest.mark.parametrize("n_axes", [None, 2])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
def test_every_runner_agrees(run, basis, degree, n_axes, n_outputs, dtype):
    learned = random_map(basis, degree, 4, n_outputs, n_axes, seed=degree)
    X = np.random.default_rng(1).normal(size=(12, 4)).astype(dtype)
    expected, _ = evaluate_naively(learned, X)
    limit = DOUBLE if dtype == "float64" else SINGLE
    placed = run(learned, X)
    assert placed.shape == (12, n_outputs)
    np.testing.assert_allclose(placed, expected, rtol=0, atol=limit * np.abs(expected).max())


@given(learned=polynomial_maps(), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(["float64", "float32"]))
@count_examples(40)
def test_every_runner_agrees_on_generated_maps(run, learned, seed, dtype):
    random = np.random.default_rng(seed)
    X = (learned.shift + learned.scale * random.normal(size=(5, learned.n_inputs))).astype(dtype)
    expected, sizes = evaluate_naively(learned, X)
    # Where the shift dwarfs the scale, rounding of the samples themselves is large in units of the scale.
    lost = np.finfo(np.float64).eps * np.abs(learned.shift).max() / learned.scale
    limit = (DOUBLE if dtype == "float64" else SINGLE) + 10 * learned.degree * lost
    np.testing.assert_allclose(run(learned, X), expected, rtol=0, atol=limit * sizes.max())


@pytest.mark.parametrize("name", ["file", "json"])
@given(learned=polynomial_maps())
@count_examples(100)
def test_what_is_read_back_has_the_same_bits(name, learned):
    X = learned.shift + learned.scale * np.random.default_rng(0).normal(size=(5, learned.n_inputs))
    np.testing.assert_array_equal(RUNNERS[name](learned, X), learned.transform(X))


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_single_precision_within(degree):
    """Arithmetic in float32, for what has no other, is as good as the terms let it be."""
    learned = random_map("kronecker", degree, 6, 2, 3)
    X = np.random.default_rng(1).normal(size=(50, 6)).astype(np.float32)
    expected, sizes = evaluate_naively(learned, X)
    for placed in (run_onnx(learned, X, arithmetic="float32"), run_c(learned, X, "float32")):
        assert placed.dtype == np.float32
        np.testing.assert_allclose(placed, expected, rtol=0, atol=1e-6 * sizes.max())


def test_multiplied_out():
    X, _ = make_swiss_roll(50, random_state=0)
    learned = random_map("kronecker", 3, 3, 2)
    expected, _ = evaluate_naively(learned, X)
    np.testing.assert_allclose(run_sympy(learned, X, expanded=True), expected, atol=1e-11 * np.abs(expected).max())
