"""Modules of this library that need a package which an extra installs."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_needing(module: str, extra: str | None) -> Any:
    """Import a module of this library, or say which extra to install where a package is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if extra is None or (error.name or "").startswith("polyfold"):
            raise
        raise ImportError(f'This needs the package {error.name}: pip install "polyfold[{extra}]"') from error
