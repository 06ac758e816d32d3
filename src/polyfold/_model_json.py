"""A map as one JSON text: the facts and arrays of `polyfold._document`, and what an evaluator needs."""

from __future__ import annotations

from itertools import islice
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

#: Bytes that a value takes once it is read, at most: by the mark that each one has.
VALUE_BYTES = {",": 40, "[": 120, "{": 400, ":": 150, '"': 25}

#: What all values may take: so many times the text, and so many bytes.
TIMES_TEXT, SPARE_BYTES = 11, 25_000_000

#: Values that tell of the training at most, which are held twice.
MOST_RECORDED = 100_000


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
        if not isinstance(text, (str, bytes, bytearray)):
            raise ModelFormatError(f"It must be a text, got {type(text).__name__}.")
        _check_size(text)
        document = parse_json(text)
        check_version(document)
        arrays = _read_arrays(document.pop("arrays", None))
        facts: Any = document.get("map")
        check_document(facts, {name: array.shape for name, array in arrays.items()})
        _check_record(facts["training"])
        learned = build_map(facts, arrays)
        _check_weights(document, learned)
        return learned


def _check_size(text: str | bytes) -> None:
    """Refuse a text that would take far more memory than its own size, before it is read."""
    n_bytes = 0
    for mark, value_bytes in VALUE_BYTES.items():
        n_bytes += value_bytes * (text.count(mark) if isinstance(text, str) else text.count(mark.encode()))
    if n_bytes > TIMES_TEXT * len(text) + SPARE_BYTES:
        raise ModelFormatError(
            f"It would take about {n_bytes / 1e6:,.0f} MB of memory, too much for a text of {len(text):,} "
            "characters. If it is a map, PolynomialMap.save and load hold it in less."
        )


def _check_record(facts: Any) -> None:
    """Check that no more is told of the training than there can be to tell."""
    left, n_values = [facts], 0
    while left and n_values <= MOST_RECORDED:
        value = left.pop()
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        n_values += len(inner)
        left += islice(inner, MOST_RECORDED)
    if n_values > MOST_RECORDED:
        raise ModelFormatError(f"It tells more than {MOST_RECORDED:,} values of its training.")


def _check_weights(document: dict[str, Any], learned: PolynomialMap) -> None:
    """Check that what evaluators read is what the map is: neither is changed by hand without the other."""
    monomials = [list(factors) for factors in learned.monomials]
    if "monomials" in document and write_json(document["monomials"]) != write_json(monomials):
        raise ModelFormatError("Its monomials are not those of its basis and degree, in their order.")
    if "weights" not in document:
        return
    weights = document["weights"]
    if not _is_array(weights) or not np.array_equal(np.shape(weights), learned.weights.shape):
        raise ModelFormatError("Its weights are not those of its coefficients.")
    try:
        found = np.array(weights, dtype=np.float64)
    except OverflowError as error:
        raise ModelFormatError("Its weights hold a number beyond float64.") from error
    if not np.allclose(found, learned.weights, rtol=1e-9, atol=0):
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
