"""Errors that callers may want to catch by name."""

from __future__ import annotations


class ModelFormatError(ValueError):
    """A file or text that does not hold a map: of another kind, cut short, damaged, or made by a newer release.

    See Also
    --------
    PolynomialMap.load, PolynomialMap.from_json : What raises it.

    Notes
    -----
    Each byte is looked at before there is a map: of b bytes this takes O(b) time and memory. A header or a text
    that claims to unpack to far more than its own size is refused before it is read.

    References
    ----------
    Files are in the safetensors format, https://github.com/huggingface/safetensors, guarded by SHA-256: National
    Institute of Standards and Technology, "Secure hash standard", FIPS 180-4 (2015).

    Examples
    --------
    >>> from polyfold import ModelFormatError, PolynomialMap
    >>> try:
    ...     PolynomialMap.from_json('{"format_version": 1')
    ... except ModelFormatError:
    ...     print("no map")
    no map
    """
