"""A map as an ONNX graph of standard operators."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from polyfold._validation import check_numbers
from polyfold.polymap import PolynomialMap

TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}

#: The first opset in which all operators used here have their present form.
OLDEST_OPSET = 14

#: The file format that goes with it: old runtimes refuse newer ones.
IR_VERSION = 8


@dataclass
class Graph:
    """Nodes and constants in the making.

    Attributes
    ----------
    name : callable
        Makes a name that is not taken from a word.
    nodes : list of tuples
        Operator, inputs, output, attributes.
    constants : dict
        Arrays by name.
    """

    name: Callable[[str], str]
    nodes: list[tuple[str, list[str], str, dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, operator: str, *inputs: str | NDArray[Any], output: str | None = None, **attributes: Any) -> str:
        """Add a node, and constants for the inputs that are arrays; return the name of what it computes."""
        names = [each if isinstance(each, str) else self.hold(each) for each in inputs]
        result = output or self.name(operator.lower())
        self.nodes.append((operator, names, result, attributes))
        return result

    def hold(self, array: NDArray[Any]) -> str:
        """Add a constant."""
        name = self.name("constant")
        self.constants[name] = array
        return name


def build_graph(
    learned: PolynomialMap, graph: Graph, samples: str, coordinates: str, dtype: str, arithmetic: str
) -> Graph:
    """Add what computes the tensor `coordinates` of type `dtype` from `samples`, which are of type `arithmetic`.

    The monomials of one degree are those of the degree before, each times a variable: two lookups and a product.
    """

    def number(values: Any) -> NDArray[Any]:
        return np.asarray(values, dtype=arithmetic)

    shift = number(learned.shift)
    values = graph.add("Sub", samples, shift)
    rest = number(learned.shift - shift.astype(np.float64))
    if rest.any():  # what rounding has taken off the shift
        values = graph.add("Sub", values, rest)
    # The scale is no scalar: onnxruntime merges one with the next product, and keeps it in float32.
    if learned.axes is None and learned.n_inputs > 1:
        values = graph.add("Mul", values, number(np.full(learned.n_inputs, 1 / learned.scale)))
    else:
        axes = np.ones((1, 1)) if learned.axes is None else learned.axes
        values = graph.add("MatMul", values, number(axes / learned.scale))
    total = graph.hold(number(learned.offset))
    powers = values
    for degree, (weights, parents, variables) in enumerate(_split_by_degree(learned), start=1):
        if degree > 1:
            if learned.basis == "kronecker":
                factors = [
                    graph.add("Gather", powers, parents, axis=1),
                    graph.add("Gather", values, variables, axis=1),
                ]
            else:
                factors = [powers, values]
            powers = graph.add("Mul", *factors)
        total = graph.add("Add", graph.add("MatMul", powers, number(weights)), total)
    if dtype == arithmetic:
        graph.add("Identity", total, output=coordinates)
    else:
        graph.add("Cast", total, output=coordinates, to=TYPES[dtype])
    return graph


def _split_by_degree(
    learned: PolynomialMap,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for each degree: weights, where monomials less their last variable are in the one before, and that."""
    monomials, weights = learned.monomials, learned.weights
    before: dict[tuple[int, ...], int] = {(): 0}
    first = 0
    for degree in range(1, learned.degree + 1):
        last = first
        while last < len(monomials) and len(monomials[last]) == degree:
            last += 1
        some = monomials[first:last]
        parents = np.array([before[factors[:-1]] for factors in some], dtype=np.int64)
        variables = np.array([factors[-1] for factors in some], dtype=np.int64)
        yield weights[first:last], parents, variables
        before = {factors: position for position, factors in enumerate(some)}
        first = last


def write_onnx(learned: PolynomialMap, dtype: Any, arithmetic: Any, opset: int) -> onnx.ModelProto:
    """Return the model of a map."""
    kind, inner = _check_type("dtype", dtype), _check_type("arithmetic", arithmetic)
    check_numbers(learned, np.dtype(inner))
    newest = onnx.defs.onnx_opset_version()
    if not isinstance(opset, int) or isinstance(opset, bool) or not OLDEST_OPSET <= opset <= newest:
        raise ValueError(f"`opset` must be an integer from {OLDEST_OPSET} to {newest}, got {opset!r}.")
    taken: dict[str, int] = {}

    def name(word: str) -> str:
        taken[word] = taken.get(word, -1) + 1
        return f"{word}_{taken[word]}"

    graph = Graph(name)
    samples = "X" if kind == inner else graph.add("Cast", "X", to=TYPES[inner])
    build_graph(learned, graph, samples, "Y", kind, inner)
    body = helper.make_graph(
        [helper.make_node(operator, inputs, [output], **rest) for operator, inputs, output, rest in graph.nodes],
        "polyfold_map",
        [helper.make_tensor_value_info("X", TYPES[kind], ["N", learned.n_inputs])],
        [helper.make_tensor_value_info("Y", TYPES[kind], ["N", learned.n_outputs])],
        [numpy_helper.from_array(array, constant) for constant, array in graph.constants.items()],
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], producer_name="polyfold")
    model.ir_version = IR_VERSION
    model.producer_version = version("polyfold")
    model.doc_string = repr(learned)
    helper.set_model_props(model, {"columns": json.dumps(learned.column_names)})
    onnx.checker.check_model(model, full_check=True)
    return model


def _check_type(parameter: str, value: Any) -> str:
    try:
        name = "" if value is None else str(np.dtype(value).name)
    except TypeError:
        name = ""
    if name not in TYPES:
        raise ValueError(f"`{parameter}` must be 'float32' or 'float64', got {value!r}.")
    return name
