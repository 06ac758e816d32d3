"""How a map places samples: every type, order and path against the polynomial written out in NumPy."""

import os
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from polyfold import NPPE, SNPPE, PolynomialMap, _evaluation, _threads
from polyfold._basis import build_basis
from polyfold._domain import find_ranges, learn_domain
from polyfold.bench.timing import measure_peak

RANDOM = np.random.default_rng(0)


def make_map(basis, n_columns, degree, n_outputs, n_axes=None, scale=2.0):
    axes = None if n_axes is None else np.linalg.qr(RANDOM.normal(size=(n_columns, n_axes)))[0]
    n_variables = n_axes or n_columns
    n_features = build_basis(basis, n_variables, degree).n_features
    coefficients = RANDOM.normal(size=(n_features, n_outputs)) / np.sqrt(n_features)
    offset = RANDOM.normal(size=n_outputs)
    learned = PolynomialMap(
        RANDOM.normal(size=n_columns) * scale, scale, basis, degree, coefficients, offset, axes
    )
    located = RANDOM.normal(size=(200, n_variables))
    lengths, ranges = np.square(located).sum(axis=1), np.zeros((2, n_columns))
    return replace(learned, domain=learn_domain(learned.shift, located, lengths + (n_axes is not None), ranges))


def write_out(learned, X):
    """The polynomial by its definition."""
    located = (np.asarray(X, dtype=np.float64) - learned.shift) / learned.scale
    located = located if learned.axes is None else located @ learned.axes
    table = build_basis(learned.basis, learned.n_axes, learned.degree)
    features = np.empty((len(located), table.n_features))
    for f, (parent, variable) in enumerate(zip(table.parents, table.variables, strict=True)):
        features[:, f] = located[:, variable] * table.factors[f] * (features[:, parent] if parent >= 0 else 1)
    return features @ learned.coefficients + learned.offset


MAPS = {
    "few columns": make_map("hadamard", 3, 2, 2),
    "few columns, three outputs": make_map("hadamard", 2, 3, 3),
    "one column, one output": make_map("hadamard", 1, 5, 1),
    "linear": make_map("hadamard", 17, 1, 4),
    "powers": make_map("hadamard", 40, 2, 2),
    "powers, one output": make_map("hadamard", 65, 4, 1),
    "powers, odd": make_map("hadamard", 33, 3, 5),
    "cross terms": make_map("kronecker", 4, 3, 2),
    "many cross terms": make_map("kronecker", 12, 4, 3),
    "axes": make_map("kronecker", 50, 2, 2, n_axes=7),
    "axes, powers": make_map("hadamard", 50, 3, 3, n_axes=8),
}


@pytest.fixture(params=list(MAPS))
def learned(request):
    return MAPS[request.param]


@pytest.fixture
def samples(learned):
    return learned.shift + learned.scale * np.random.default_rng(1).normal(size=(301, learned.n_inputs))


@pytest.fixture(params=["one thread", "many threads"])
def threads(request, monkeypatch):
    if request.param == "many threads":
        monkeypatch.setattr(_evaluation, "MANY_MULTIPLICATIONS", 0)
        monkeypatch.setattr(_evaluation, "count_threads", lambda: 3)
        monkeypatch.setattr(_threads, "count_threads", lambda: 3)
        monkeypatch.setattr(_evaluation, "BLOCK_BYTES", 2**12)


def strided(X):
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    return wide[:, ::2]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


ORDERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": strided,
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "swapped bytes": lambda X: X.astype(">f8"),
    "long double": lambda X: X.astype(np.longdouble),
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_in_memory_is_the_polynomial(learned, samples, order, threads):
    expected = write_out(learned, samples)
    placed = learned.transform(ORDERS[order](samples))
    assert placed.dtype == np.float64
    np.testing.assert_allclose(placed, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_float32_is_the_polynomial(learned, samples, order, threads):
    single = samples.astype(np.float32)
    expected = write_out(learned, single)
    placed = learned.transform(ORDERS[order](single).astype(np.float32, copy=False))
    assert placed.dtype == np.float32
    assert np.abs(placed - expected).max() < 2e-5 * expected.std()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float16"])
def test_other_numbers_are_the_polynomial(learned, dtype, threads):
    X = (
        np.random.default_rng(2)
        .integers(0, 2 if dtype == "bool" else 100, size=(60, learned.n_inputs))
        .astype(dtype)
    )
    expected = write_out(learned, X)
    np.testing.assert_allclose(learned.transform(X), expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sample_gets_the_same_bits_in_any_batch(learned, samples, dtype, monkeypatch):
    X = samples.astype(dtype)
    alone = np.concatenate([learned.transform(X[i : i + 1]) for i in range(len(X))])
    for size in (2, 3, 5, 257, 301):
        np.testing.assert_array_equal(learned.transform(X[:size]), alone[:size])
    np.testing.assert_array_equal(learned.transform(np.asfortranarray(X)), alone)
    monkeypatch.setattr(_evaluation, "MANY_MULTIPLICATIONS", 0)
    for number in (2, 5):
        monkeypatch.setattr(_evaluation, "count_threads", lambda number=number: number)
        monkeypatch.setattr(_threads, "count_threads", lambda number=number: number)
        np.testing.assert_array_equal(learned.transform(X), alone)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 150, 300])
def test_bad_values_are_found_wherever_they_are(learned, samples, bad, row, threads):
    samples[row, -1] = bad
    told = "NaN" if np.isnan(bad) else str(bad)
    with pytest.raises(ValueError, match=rf"X contains {told} \(row {row}, column {learned.n_inputs - 1}\)"):
        learned.transform(samples)
    with pytest.raises(ValueError, match=f"X contains {told}"):
        learned.transform(samples.astype(np.float32))


def test_float32_overflow_is_told():
    far = np.full((3, 3), 1e30, dtype=np.float32)
    with pytest.raises(ValueError, match="Row 0 of X is finite but so far"):
        MAPS["few columns"].transform(far)


@pytest.mark.parametrize("scale", [1e-290, 1e-160, 1e-30, 1e30, 1e160, 1e290])
@pytest.mark.parametrize("kind", ["few columns", "powers", "cross terms", "axes"])
def test_any_scale_is_the_polynomial(kind, scale, threads):
    unit = MAPS[kind]
    X = unit.shift + unit.scale * np.random.default_rng(3).normal(size=(40, unit.n_inputs))
    expected = unit.transform(X)
    learned = replace(unit, shift=unit.shift * scale, scale=unit.scale * scale, domain=None)
    np.testing.assert_allclose(learned.transform(X * scale), expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("scale", [1e-70, 1e-30, 1e30])
@pytest.mark.parametrize("kind", ["few columns, three outputs", "cross terms", "axes", "axes, powers"])
def test_units_that_float32_cannot_hold_cost_no_digits(kind, scale):
    unit = MAPS[kind]
    learned = replace(unit, shift=unit.shift * 0, scale=scale, domain=None)
    X = np.zeros((3, unit.n_inputs), dtype=np.float32)
    if scale >= 1e-30:
        X[1:] = scale * np.random.default_rng(3).normal(size=(2, unit.n_inputs))
    expected = write_out(learned, X)
    np.testing.assert_allclose(learned.transform(X), expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("n_columns", [3, 40])
def test_float32_is_not_summed_in_float32_where_terms_cancel(n_columns):
    """Two columns that are nearly alike, with coefficients that nearly cancel."""
    random = np.random.default_rng(4)
    located = random.normal(size=(500, n_columns)) / 10
    located[:, 1] = located[:, 0] + 1e-4 * random.normal(size=500)
    coefficients = np.zeros((2 * n_columns, 1))
    coefficients[0], coefficients[1] = 1e4, -1e4
    domain = learn_domain(np.zeros(n_columns), located, np.square(located).sum(axis=1), find_ranges(located))
    cancels = PolynomialMap(np.zeros(n_columns), 1.0, "hadamard", 2, coefficients, [0.0], domain=domain)
    X = located.astype(np.float32)
    expected = write_out(cancels, X)
    assert np.abs(cancels.transform(X) - expected).max() < 1e-6 * expected.std()
    slopes = cancels.coefficients.reshape(2, n_columns, 1)
    assert not _evaluation._is_safe_in_single(cancels, slopes, 1.0)
    gentle = replace(cancels, coefficients=np.abs(coefficients))
    assert _evaluation._is_safe_in_single(gentle, np.abs(slopes), 1.0)
    assert not _evaluation._is_safe_in_single(replace(gentle, domain=None), np.abs(slopes), 1.0)


def test_centres_that_float32_cannot_hold_cost_no_digits():
    learned = replace(MAPS["powers"], shift=MAPS["powers"].shift + 1000.123456789)
    X = (learned.shift + learned.scale * np.random.default_rng(5).normal(size=(200, 40))).astype(np.float32)
    expected = write_out(learned, X)
    assert np.abs(learned.transform(X) - expected).max() < 2e-5 * expected.std()


def test_threads_at_once_get_the_same_answer(monkeypatch):
    monkeypatch.setattr(_evaluation, "MANY_MULTIPLICATIONS", 0)
    learned = MAPS["powers"]
    X = np.random.default_rng(6).normal(size=(5000, 40))
    expected, wrong = learned.transform(X), []

    def place():
        wrong.extend(True for _ in range(20) if not np.array_equal(learned.transform(X), expected))

    workers = [threading.Thread(target=place) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_places_samples_too():
    script = """
import os, sys, warnings
import numpy as np
import polyfold._evaluation as evaluation, polyfold._threads as threads
evaluation.MANY_MULTIPLICATIONS = 0
evaluation.count_threads = threads.count_threads = lambda: 2
from polyfold import PolynomialMap
learned = PolynomialMap(np.zeros(40), 1.0, "hadamard", 2, np.ones((80, 2)), np.zeros(2))
X = np.ones((5000, 40))
expected = learned.transform(X)
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(learned.transform(X), expected) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@pytest.mark.parametrize(("setting", "expected"), [("1", 1), ("0", None), ("many", None), (None, None)])
def test_the_number_of_threads_can_be_set(setting, expected):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if setting is not None:
        environment["OMP_NUM_THREADS"] = setting
    script = "from polyfold._threads import count_threads; print(count_threads())"
    shown = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    available = min(os.cpu_count(), _threads.MOST_THREADS)
    assert int(shown.stdout) == expected or (expected is None and 1 <= int(shown.stdout) <= available)


@pytest.mark.parametrize("number", [1, 3])
def test_an_error_stops_the_other_blocks(number, monkeypatch):
    monkeypatch.setattr(_threads, "count_threads", lambda: number)
    done = []

    def work(block):
        if block.start == 3:
            raise KeyboardInterrupt
        done.append(block.start)

    with pytest.raises(KeyboardInterrupt):
        _threads.share_blocks(work, [slice(start, start + 1) for start in range(10_000)])
    assert len(done) < 10_000
    if number == 1:
        assert done == [0, 1, 2]
    done.clear()
    _threads.share_blocks(done.append, [slice(start, start + 1) for start in range(100)])
    assert sorted(block.start for block in done) == list(range(100))


@pytest.mark.parametrize(
    ("dtype", "order"), [("float64", "C"), ("float32", "C"), ("float64", "F"), ("int16", "C")]
)
def test_transform_needs_64_megabytes_beside_input_and_output(dtype, order):
    script = f"""
import numpy as np
from polyfold import PolynomialMap
X = np.ones((1_000_000, 20), dtype=np.{dtype}, order="{order}")
learned = PolynomialMap(np.zeros(20), 1.0, "hadamard", 2, np.ones((40, 2)), np.zeros(2))
learned.transform(X[:100])
"""
    idle, busy = measure_peak(script), measure_peak(script + "learned.transform(X)\n")
    assert busy - idle < 1_000_000 * 2 * (4 if dtype == "float32" else 8) + 64e6


@pytest.mark.parametrize("method", [NPPE, SNPPE])
def test_the_estimator_does_not_look_at_plain_samples(method, monkeypatch):
    X = np.random.default_rng(7).normal(size=(200, 5))
    model = method(n_neighbors=10).fit(X)
    expected = model.transform(X.tolist())

    def refuse(*arguments, **keywords):
        raise AssertionError("checked")

    monkeypatch.setattr("polyfold._transformer.validate_data", refuse)
    np.testing.assert_array_equal(model.transform(X), expected)
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.transform(X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slopes_that_only_the_units_of_the_map_can_hold(dtype):
    """y = 1e302 (x − s) / 1e-7: its slope by x is beyond float64, its values are not."""
    learned = PolynomialMap([3e-7], 1e-7, "kronecker", 1, [[1e302]], [0.0])
    X = np.array([[3e-7], [4e-7], [1e-7]], dtype=dtype)
    expected = 1e302 * (X.astype(np.float64) - 3e-7) / 1e-7
    if dtype == np.float64:
        np.testing.assert_allclose(learned.transform(X), expected, rtol=1e-9, atol=1e290)
    else:
        with pytest.raises(ValueError, match="the polynomial overflows"):
            learned.transform(X)
