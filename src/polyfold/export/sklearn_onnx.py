"""How skl2onnx converts an estimator that has learned a map, alone or within a pipeline.

It finds these functions by itself, through the estimator's methods ``onnx_parser``, ``onnx_shape_calculator`` and
``onnx_converter``.
"""

from __future__ import annotations

from typing import Any

from onnx import numpy_helper
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, guess_tensor_type

from polyfold.export.onnx import OLDEST_OPSET, TYPES, Graph, build_graph


def name_outputs(scope: Any = None, inputs: Any = None) -> list[Any]:
    """Declare the one output."""
    return [("coordinates", guess_tensor_type(inputs[0].type))]


def infer_shape(operator: Any) -> None:
    """Set type and shape of the output."""
    kind = DoubleTensorType if _is_double(operator) else FloatTensorType
    operator.outputs[0].type = kind([operator.inputs[0].type.shape[0], operator.raw_operator.map_.n_outputs])


def _is_double(operator: Any) -> bool:
    return any(isinstance(each.type, DoubleTensorType) for each in operator.inputs)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of the map to the model in the making."""
    graph = Graph(scope.get_unique_variable_name)
    parts = [graph.add("Cast", each.full_name, to=TYPES["float64"]) for each in operator.inputs]
    samples = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)  # one for each column
    dtype = "float64" if _is_double(operator) else "float32"
    build_graph(operator.raw_operator.map_, graph, samples, operator.outputs[0].full_name, dtype, "float64")
    if container.target_opset < OLDEST_OPSET:
        raise RuntimeError(f"polyfold's maps need opset {OLDEST_OPSET} or newer, got {container.target_opset}.")
    for constant, array in graph.constants.items():
        tensor = numpy_helper.from_array(array, constant)
        container.add_initializer(constant, tensor.data_type, list(array.shape), array.ravel())
    for kind, inputs, output, attributes in graph.nodes:
        container.add_node(kind, inputs, [output], name=scope.get_unique_operator_name(kind), **attributes)
