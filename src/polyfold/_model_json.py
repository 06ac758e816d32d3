"""A map as one JSON text: the facts and arrays of `polyfold._document`, and what an evaluator needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._document import (
    build_map,
    check_document,
    check_version,
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
    """Return the map of a text; monomials and weights, which follow from the rest, are not looked at."""
    try:
        document = parse_json(text)
        check_version(document)
        arrays = _read_arrays(document.get("arrays"))
        facts: Any = document.get("map")
        check_document(facts, {name: array.shape for name, array in arrays.items()})
        return build_map(facts, arrays)
    except ModelFormatError as error:
        raise ModelFormatError(f"The text cannot be read as a map. {error}") from error.__cause__


def _read_arrays(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ModelFormatError("It has no table of arrays.")
    try:
        arrays = {name: np.array(values) for name, values in given.items()}
    except ValueError as error:  # rows of different length
        raise ModelFormatError(f"Its arrays are no arrays: {error}") from error
    for name, array in arrays.items():
        if array.dtype.kind not in "if" and array.size:
            raise ModelFormatError(f"Its array {name[:50]!r} does not hold numbers.")
    return {name: array.astype(np.float64) for name, array in arrays.items()}
