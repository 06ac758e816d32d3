"""Errors that callers may want to catch by name."""

from __future__ import annotations


class ModelFormatError(ValueError):
    """A file or text that does not hold a map: of another kind, cut short, damaged, or made by a newer release."""
