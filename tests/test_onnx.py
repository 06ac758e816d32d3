"""ONNX models of maps and of pipelines."""

import numpy as np
import onnx
import onnxruntime
import pandas
import pytest
import skl2onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import Isomap
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import polyfold
from maps import random_map
from polyfold import LPP, NPPE, SNPPE, ExplicitEmbedding
from polyfold.datasets import make_swiss_roll
from runners import run_onnx

STANDARD = {"Sub", "Mul", "MatMul", "Add", "Gather", "Identity", "Cast"}


def run_model(model, X):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("opset", [14, 17, 21])
def test_the_model_is_plain(dtype, opset):
    model = random_map("kronecker", 3, 6, 2, 3).to_onnx(dtype=dtype, opset=opset)
    onnx.checker.check_model(model, full_check=True)
    assert {node.op_type for node in model.graph.node} <= STANDARD
    assert {node.domain for node in model.graph.node} == {""}
    assert [(each.domain, each.version) for each in model.opset_import] == [("", opset)]
    for value, size in ((model.graph.input[0], 6), (model.graph.output[0], 2)):
        tensor = value.type.tensor_type
        assert tensor.elem_type == (1 if dtype == "float32" else 11)
        assert tensor.shape.dim[0].dim_param == "N"
        assert tensor.shape.dim[1].dim_value == size


@pytest.mark.parametrize("n_rows", [0, 1, 7, 1000])
def test_batches_of_any_size(n_rows):
    learned = random_map("hadamard", 2, 5)
    X = np.random.default_rng(0).normal(size=(n_rows, 5))
    placed = run_onnx(learned, X)
    assert placed.shape == (n_rows, 2)
    np.testing.assert_allclose(placed, learned.transform(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("estimator", [NPPE(n_neighbors=12, degree=4), SNPPE(n_neighbors=12, degree=3), LPP()])
def test_fits_far_from_the_origin(estimator):
    """Columns whose mean dwarfs their spread: float32 holds few of their digits, the model keeps all of these."""
    X = make_swiss_roll(500, random_state=0)[0] + [1000.0, -3000.0, 200.0]
    learned = estimator.fit(X).map_
    expected = learned.transform(X)
    np.testing.assert_allclose(run_onnx(learned, X), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    X32 = X.astype(np.float32)
    expected = learned.transform(X32.astype(np.float64))
    placed = run_onnx(learned, X32)
    assert placed.dtype == np.float32
    np.testing.assert_allclose(placed, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_images():
    X = load_digits().data[:500]
    learned = NPPE(3).fit(X).map_
    for dtype, limit in (("float64", 1e-12), ("float32", 1e-5)):
        expected = learned.transform(X)
        placed = run_onnx(learned, X.astype(dtype))
        np.testing.assert_allclose(placed, expected, rtol=0, atol=limit * np.abs(expected).max())


def test_equal_maps_are_equal_models():
    models = [random_map("kronecker", 2).to_onnx().SerializeToString(deterministic=True) for _ in range(2)]
    assert models[0] == models[1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dtype": "float16"}, "`dtype` must be 'float32' or 'float64', got 'float16'"),
        ({"dtype": "nonsense"}, "`dtype` must be 'float32' or 'float64'"),
        ({"arithmetic": int}, "`arithmetic` must be 'float32' or 'float64'"),
        ({"opset": 9}, "`opset` must be an integer from 14 to"),
        ({"opset": "17"}, "`opset` must be an integer from 14 to"),
        ({"opset": 10_000}, "`opset` must be an integer from 14 to"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        random_map("kronecker", 2).to_onnx(**parameters)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.mark.parametrize(("dtype", "kind"), [("float32", FloatTensorType), ("float64", DoubleTensorType)])
@pytest.mark.parametrize("zipmap", [False, True])
def test_a_pipeline_is_converted_whole(wine, dtype, kind, zipmap):
    X, y = wine
    steps = [
        ("scale", StandardScaler()),
        ("embed", NPPE(3, n_neighbors=30)),
        ("classify", LogisticRegression(C=1e4)),
    ]
    model = Pipeline(steps).fit(X, y)
    # ONNX has no ZipMap of float64.
    options = {"zipmap": "columns" if zipmap and dtype == "float64" else zipmap}
    converted = skl2onnx.convert_sklearn(
        model, initial_types=[("X", kind([None, X.shape[1]]))], options={"classify": options}, target_opset=17
    )
    onnx.checker.check_model(converted)
    labels, *probabilities = run_model(converted, X.astype(dtype))
    np.testing.assert_array_equal(labels, model.predict(X.astype(dtype)))
    if options["zipmap"] is True:
        found = np.array([[row[label] for label in model.classes_] for row in probabilities[0]])
    elif options["zipmap"] == "columns":
        found = np.stack(probabilities, axis=1).reshape(len(X), -1)
    else:
        found = probabilities[0]
    limit = 1e-4 if dtype == "float32" else 1e-6  # skl2onnx holds the classifier in float32
    np.testing.assert_allclose(found, model.predict_proba(X), atol=limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transformers_alone_and_side_by_side(wine, dtype):
    X, y = wine
    X = StandardScaler().fit_transform(X).astype(dtype)
    estimators = [NPPE(n_neighbors=20), SNPPE(n_neighbors=20), ExplicitEmbedding(Isomap(n_neighbors=20)), LPP()]
    union = FeatureUnion([("map", NPPE(n_neighbors=20)), ("axes", PCA(2))])
    for estimator in [*estimators, union, make_pipeline(PCA(5), NPPE(n_neighbors=20))]:
        estimator.fit(X, y)
        expected = estimator.transform(X)
        placed = run_model(skl2onnx.to_onnx(estimator, X[:1], target_opset=17), X)[0]
        assert placed.dtype == dtype
        limit = 1e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(placed, expected, rtol=0, atol=limit * np.abs(expected).max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_input_for_each_column(dtype):
    X, _ = make_swiss_roll(300, random_state=0)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).astype(dtype)
    for estimator in (NPPE(n_neighbors=10), make_pipeline(StandardScaler(), NPPE(n_neighbors=10))):
        estimator.fit(frame)
        converted = skl2onnx.to_onnx(estimator, frame[:1], target_opset=17)
        session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
        placed = session.run(None, {name: frame[[name]].to_numpy() for name in frame})[0]
        # skl2onnx scales columns that come one by one in float32.
        limit = 1e-12 if dtype == "float64" and isinstance(estimator, NPPE) else 1e-6
        np.testing.assert_allclose(placed, estimator.transform(frame), rtol=0, atol=limit)


def test_numbers_beyond_float32():
    X, _ = make_swiss_roll(200, random_state=0)
    learned = NPPE(n_neighbors=10).fit(X * 1e-60).map_
    with pytest.raises(ValueError, match="numbers are beyond float32: scale"):
        learned.to_onnx(arithmetic="float32")
    np.testing.assert_allclose(run_onnx(learned, X * 1e-60), learned.transform(X * 1e-60), atol=1e-12)


def test_the_model_says_what_it_is():
    model = random_map("kronecker", 2, columns=["a", "b", "c"]).to_onnx()
    assert {each.key: each.value for each in model.metadata_props} == {"columns": '["a", "b", "c"]'}
    assert (model.producer_name, model.producer_version) == ("polyfold", polyfold.__version__)


def test_whole_numbers(wine):
    X = StandardScaler().fit_transform(wine[0]) * 1e8 + 1e12
    estimator = NPPE(n_neighbors=30).fit(X)
    counts = np.round(X[:9])
    converted = skl2onnx.to_onnx(estimator, counts.astype(np.int64)[:1], target_opset=17)
    placed = run_model(converted, counts.astype(np.int64))[0]
    np.testing.assert_allclose(placed, estimator.transform(counts), rtol=0, atol=1e-6)


def test_an_old_opset_is_refused(wine):
    estimator = NPPE(n_neighbors=30).fit(StandardScaler().fit_transform(wine[0]))
    with pytest.raises(RuntimeError, match="need opset 14 or newer, got 11"):
        skl2onnx.to_onnx(estimator, wine[0][:1], target_opset=11)
