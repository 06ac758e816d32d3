"""The map: immutable, self-contained, readable, and equal to the formula it stands for."""

import copy
import gc
import pickle
import subprocess
import sys
import warnings
import weakref

import numpy as np
import pytest
import sympy

from monomial_powers import powers_of
from polyfold import NPPE, SNPPE, PolynomialMap
from polyfold._basis import build_basis
from polyfold.datasets import make_swiss_roll

X, _ = make_swiss_roll(200, random_state=0)


def make_map(basis="kronecker", degree=3, n_inputs=3, n_outputs=2, seed=0):
    random = np.random.default_rng(seed)
    n_features = build_basis(basis, n_inputs, degree).n_features
    return PolynomialMap(
        shift=random.normal(size=n_inputs),
        scale=1.7,
        basis=basis,
        degree=degree,
        coefficients=random.normal(size=(n_features, n_outputs)),
        offset=random.normal(size=n_outputs),
    )


@pytest.mark.parametrize("basis", ["kronecker", "hadamard"])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_transform_is_the_polynomial(basis, degree):
    """Against SymPy: each monomial written out, multinomial scaling included, in exact arithmetic."""
    learned = make_map(basis, degree)
    x = sympy.symbols("x:3")
    z = [(x[j] - sympy.Float(learned.shift[j], 30)) / sympy.Float(learned.scale, 30) for j in range(3)]
    for output in range(2):
        formula = sympy.Float(learned.offset[output], 30)
        for powers, coefficient in zip(
            powers_of(build_basis(basis, 3, degree)).tolist(), learned.coefficients[:, output], strict=True
        ):
            term = sympy.Float(coefficient, 30)
            if basis == "kronecker":
                term *= sympy.sqrt(sympy.factorial(sum(powers)) / sympy.prod(map(sympy.factorial, powers)))
            formula += term * sympy.prod([z[j] ** power for j, power in enumerate(powers)])
        for sample in np.random.default_rng(1).normal(size=(4, 3)):
            values = {symbol: sympy.Float(float(value), 30) for symbol, value in zip(x, sample, strict=True)}
            exact = float(formula.evalf(25, subs=values))
            assert learned.transform([sample])[0, output] == pytest.approx(exact, rel=1e-12)


def test_it_cannot_be_changed():
    learned = make_map()
    with pytest.raises(AttributeError):
        learned.scale = 2.0
    for array in (learned.shift, learned.coefficients, learned.offset):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_it_copies_what_it_is_given():
    shift = np.zeros(1)
    learned = PolynomialMap(shift, 1.0, "hadamard", 1, [[1.0]], [0.0])
    shift[0] = 5.0
    assert learned.transform([[1.0]]) == 1.0


def test_it_holds_no_training_data_and_no_estimator():
    fitted = NPPE(n_neighbors=10).fit(X)
    learned, estimator = fitted.map_, weakref.ref(fitted)
    assert learned.nbytes < 400
    assert len(pickle.dumps(learned)) < 2500
    del fitted
    gc.collect()
    assert estimator() is None
    assert learned.transform(X).shape == (200, 2)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_equal_and_immutable(duplicate):
    learned = make_map()
    other = duplicate(learned)
    np.testing.assert_array_equal(other.transform(X), learned.transform(X))
    assert not other.coefficients.flags.writeable


def test_repr_says_what_it_is():
    assert repr(SNPPE(n_neighbors=10).fit(X).map_) == (
        "PolynomialMap(3 columns -> 2 coordinates, degree 2, hadamard basis of 6 monomials, 0.3 kB)"
    )


def nest(depth):
    nested = {}
    for _ in range(depth):
        nested = {"a": nested}
    return nested


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": 0.0}, "`scale` must be above 0"),
        ({"scale": np.nan}, "`scale` must be a finite number >= 0"),
        ({"scale": None}, "`scale` must be a finite number >= 0"),
        ({"shift": []}, "must not be empty"),
        ({"shift": [[0.0]]}, "`shift` must be a finite array of 1 dimension"),
        ({"coefficients": [[np.inf], [1.0]]}, "`coefficients` must be a finite array"),
        ({"coefficients": [[1.0]]}, r"`coefficients` must have shape \(2, 1\), got \(1, 1\)"),
        ({"offset": [0.0, 1.0]}, r"`coefficients` must have shape \(2, 2\)"),
        ({"basis": "fourier"}, "`basis` must be one of 'hadamard', 'kronecker', got 'fourier'"),
        ({"degree": 0}, "`degree` must be an integer >= 1, got 0"),
        ({"shift": np.ma.array([1.0], mask=[True])}, r"`shift` has 1 masked value\(s\)"),
        ({"shift": np.array(["2020-01-01"], dtype="M8[D]")}, "`shift` must hold real numbers, got datetime64"),
        ({"shift": ["1"]}, "`shift` must hold real numbers, got an array of type <U1"),
        ({"shift": [10**400]}, "`shift` must hold real numbers, got an array of type object"),
        ({"offset": np.array([np.finfo(np.longdouble).max])}, "`offset` must be a finite array"),
        (
            {"coefficients": [[1j], [1.0]]},
            "`coefficients` must hold real numbers, got an array of type complex128",
        ),
        ({"columns": 5}, "`columns` must be 1 different names"),
        ({"columns": "a"}, "`columns` must be 1 different names"),
        ({"columns": [["a"]]}, "`columns` must be 1 different names"),
        ({"columns": ["a", "a"]}, "`columns` must be 1 different names"),
        ({"training": nest(100_000)}, r"^`training` holds itself, or is nested too deeply\.$"),
    ],
)
def test_wrong_parts_are_refused(change, message):
    parts = {"shift": [0.0], "scale": 1.0, "basis": "hadamard", "degree": 2}
    parts |= {"coefficients": [[0.0], [1.0]], "offset": [0.0]}
    with np.errstate(over="raise"), pytest.raises(ValueError, match=message):
        PolynomialMap(**(parts | change))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.ones(3), r"X must have shape \(n_samples, 3\), got \(3,\).*reshape\(1, -1\)"),
        (np.ones((2, 4)), r"X must have shape \(n_samples, 3\), got \(2, 4\)"),
        ([["a", "b", "c"]], "X must hold real numbers"),
        (np.ones((2, 3)) * 1j, "X must hold real numbers"),
        ([[1, 2, 3], [1, np.nan, 3]], r"X contains NaN \(row 1, column 1\)"),
        ([[1, 2, 3], [1, 2, -np.inf]], r"X contains -inf \(row 1, column 2\)"),
        ([[1e300, 1e300, 1e300]], "Row 0 of X is finite but so far"),
    ],
)
def test_wrong_samples_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        make_map().transform(bad)


def test_no_samples_give_no_coordinates():
    assert make_map().transform(np.empty((0, 3))).shape == (0, 2)


def test_a_map_works_without_scikit_learn():
    script = (
        "import sys, polyfold\n"
        "m = polyfold.PolynomialMap([0.0], 1.0, 'hadamard', 2, [[0.0], [1.0]], [0.0])\n"
        "assert m.transform([[3.0]]) == 9.0\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('sklearn', 'matplotlib', 'pandas')]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.longdouble])
def test_numbers_of_any_type_are_held_in_double(dtype):
    numbers = [np.array([0, 1], dtype=dtype), np.array([[2], [3]], dtype=dtype), np.array([1], dtype=dtype)]
    learned = PolynomialMap(numbers[0], 2, "hadamard", 1, numbers[1], numbers[2], np.eye(2, dtype=dtype))
    for held in (learned.shift, learned.coefficients, learned.offset, learned.axes):
        assert held.dtype == np.float64
        assert held.flags.c_contiguous
    np.testing.assert_array_equal(learned.transform([[2.0, 3.0]]), [[1 + 2 + 3]])


@pytest.mark.parametrize(
    ("name", "kind"), [("domain", "Domain"), ("decoder", "PolynomialMap"), ("training", "Mapping")]
)
def test_parts_of_another_kind_are_refused(name, kind):
    with pytest.raises(TypeError, match=rf"^`{name}` must be a {kind} or None, got int\.$"):
        PolynomialMap([0.0], 1.0, "hadamard", 1, [[1.0]], [0.0], **{name: 5})


def test_a_scale_in_single_precision():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert PolynomialMap([0.0], np.float32(2), "hadamard", 1, [[1.0]], [0.0]).scale == 2.0
