"""How skl2onnx converts an estimator that has learned a map, alone or within a pipeline.

It finds these functions by itself, through the estimator's methods ``onnx_parser``, ``onnx_shape_calculator`` and
``onnx_converter``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx import numpy_helper
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, guess_tensor_type

from polyfold.export.onnx import OLDEST_OPSET, Graph, build_graph


def name_outputs(scope: Any = None, inputs: Any = None) -> list[Any]:
    """Declare the one output, of the type of the input."""
    return [("coordinates", guess_tensor_type(inputs[0].type))]


def infer_shape(operator: Any) -> None:
    """Set type and shape of the output."""
    given = operator.inputs[0].type
    learned = operator.raw_operator.map_
    kind = DoubleTensorType if isinstance(given, DoubleTensorType) else FloatTensorType
    operator.outputs[0].type = kind([given.shape[0], learned.n_outputs])


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of the map to the model in the making."""
    given = operator.inputs[0]
    samples = given.full_name
    dtype = "float64" if isinstance(given.type, DoubleTensorType) else "float32"
    name: Callable[[str], str] = scope.get_unique_variable_name
    graph = Graph(name)
    if not isinstance(given.type, (DoubleTensorType, FloatTensorType)):
        samples = graph.add("Cast", samples, to=1)  # integers
    build_graph(operator.raw_operator.map_, graph, samples, operator.outputs[0].full_name, dtype, "float64")
    if container.target_opset < OLDEST_OPSET:
        raise RuntimeError(f"polyfold's maps need opset {OLDEST_OPSET} or newer, got {container.target_opset}.")
    for constant, array in graph.constants.items():
        tensor = numpy_helper.from_array(array, constant)
        container.add_initializer(constant, tensor.data_type, list(array.shape), array.ravel())
    for kind, inputs, output, attributes in graph.nodes:
        container.add_node(kind, inputs, [output], name=scope.get_unique_operator_name(kind), **attributes)
