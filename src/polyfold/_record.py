"""What is told of a map in words: values that JSON can hold, of which equal ones are written alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from polyfold._sparse import is_sparse

#: Significant digits of diagnostics.
DIGITS = 6


def simplify(value: Any) -> Any:
    """Return the nearest that JSON has to a value, the same in every process.

    Numbers that are not finite become None; an object becomes its class, with its parameters where it has some; a
    function becomes its name.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, int):
        return value
    if isinstance(value, Mapping):
        return {str(key): simplify(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((simplify(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [simplify(item) for item in value]
    if isinstance(value, np.ndarray) and value.size <= 1000:
        return simplify(value.tolist())
    return _name_object(value)


def _name_object(value: Any) -> Any:
    if isinstance(value, np.ndarray) or is_sparse(value):
        return f"array of shape {value.shape}"
    if hasattr(value, "get_params"):
        return {"class": type(value).__name__, "parameters": simplify(value.get_params(deep=False))}
    return getattr(value, "__qualname__", type(value).__qualname__)


def describe_training(estimator: Any, diagnostics: Any) -> dict[str, Any]:
    """Tell what a map was learned by: the class and parameters of the estimator, and what it found."""
    assert is_dataclass(diagnostics)
    found = {each.name: getattr(diagnostics, each.name) for each in fields(diagnostics)}
    return {
        "estimator": type(estimator).__name__,
        "parameters": simplify(estimator.get_params(deep=False)),
        "diagnostics": _round(simplify(found)),
    }


def _round(value: Any) -> Any:
    """Round the numbers in a simple value to the digits that mean something."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _round(item) for key, item in value.items()}
    return [_round(item) for item in value] if isinstance(value, list) else value


def freeze(record: Any) -> Any:
    """Return a copy of a simple value that cannot be changed."""
    if isinstance(record, Mapping):
        return MappingProxyType({key: freeze(record[key]) for key in sorted(record)})
    return tuple(freeze(item) for item in record) if isinstance(record, (list, tuple)) else record


def thaw(record: Any) -> Any:
    """Undo `freeze`."""
    if isinstance(record, Mapping):
        return {key: thaw(item) for key, item in record.items()}
    return [thaw(item) for item in record] if isinstance(record, tuple) else record


def write_json(record: Any) -> str:
    """Write a simple value, frozen or not: keys sorted, no spaces, ASCII."""
    return json.dumps(thaw(record), sort_keys=True, separators=(",", ":"), allow_nan=False)
