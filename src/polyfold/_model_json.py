"""A map as one JSON text: the facts and arrays of `polyfold._document`, and what an evaluator needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polyfold._document import (
    build_map,
    check_document,
    check_version,
    explain_refusal,
    list_arrays,
    list_facts,
    name_versions,
    parse_json,
)
from polyfold._errors import ModelFormatError
from polyfold._record import write_json

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap


def write_map_json(learned: PolynomialMap) -> str:
    """Return the text of a map."""
    document = {
        **name_versions(),
        "map": list_facts(learned),
        "arrays": {name: array.tolist() for name, array in list_arrays(learned).items()},
        "monomials": learned.monomials,
        "weights": learned.weights.tolist(),
    }
    return write_json(document)


def read_map_json(text: str | bytes) -> PolynomialMap:
    """Return the map of a text."""
    with explain_refusal("The text"):
        document = parse_json(text)
        check_version(document)
        arrays = _read_arrays(document.get("arrays"))
        facts: Any = document.get("map")
        check_document(facts, {name: array.shape for name, array in arrays.items()})
        learned = build_map(facts, arrays)
        _check_weights(document, learned)
        return learned


def _check_weights(document: dict[str, Any], learned: PolynomialMap) -> None:
    """Check that what evaluators read is what the map is: neither is changed by hand without the other."""
    weights = document.get("weights")
    if weights is None:
        return
    if not _is_array(weights) or not np.array_equal(np.shape(weights), learned.weights.shape):
        raise ModelFormatError("Its weights are not those of its coefficients.")
    if not np.allclose(weights, learned.weights, rtol=1e-9, atol=0):
        raise ModelFormatError("Its weights are not those of its coefficients.")


def _read_arrays(given: Any) -> dict[str, NDArray[np.float64]]:
    if not isinstance(given, dict):
        raise ModelFormatError("It has no table of arrays.")
    arrays = {}
    for name, values in given.items():
        if not _is_array(values):
            raise ModelFormatError(f"Its array {name[:50]!r} does not hold numbers, or rows of different length.")
        try:
            arrays[name] = np.array(values, dtype=np.float64)
        except OverflowError as error:
            raise ModelFormatError(f"Its array {name[:50]!r} holds a number beyond float64.") from error
    return arrays


def _is_array(values: Any) -> bool:
    """Say whether a value is a number, a list of numbers, or a list of equally long lists of numbers."""
    if not isinstance(values, list):
        return type(values) in (int, float)
    if values and isinstance(values[0], list):
        return all(isinstance(row, list) and len(row) == len(values[0]) and _is_row(row) for row in values)
    return _is_row(values)


def _is_row(values: list[Any]) -> bool:
    return all(type(value) in (int, float) for value in values)
