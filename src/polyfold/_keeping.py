"""The methods of a map that keep it: in a file, or as JSON."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from polyfold._model_file import load_map, save_map
from polyfold._model_json import read_map_json, write_map_json

if TYPE_CHECKING:
    from polyfold.polymap import PolynomialMap


class KeepMethods:
    """Save and load."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map to one safetensors file.

        Equal maps are equal bytes. The file is written whole or not at all: a crash, a full disk or Ctrl-C leaves
        the one that was there.

        Parameters
        ----------
        path : str or path-like
            Conventionally it ends in ``.safetensors``.

        See Also
        --------
        load : Read it again, here or in a process that never loads scikit-learn.

        Notes
        -----
        O(n r + d m) time and bytes for n columns, r axes, d monomials and m coordinates: 8 for each of the map's
        numbers, ``nbytes`` in all, and a few kilobytes that tell how it came about.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     square.save(f"{folder}/square.safetensors")
        ...     again = PolynomialMap.load(f"{folder}/square.safetensors")
        ...     print([file.name for file in Path(folder).iterdir()])
        ['square.safetensors']
        >>> again.transform([[3.0]])
        array([[9.5]])
        """
        save_map(cast("PolynomialMap", self), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PolynomialMap:
        """Read a map that :meth:`save` wrote; it places samples bit for bit as the one saved.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        PolynomialMap

        Raises
        ------
        ModelFormatError
            Where the file is of another kind, cut short or damaged, or needs a newer release.

        See Also
        --------
        save : Writes the file.

        Notes
        -----
        O(b) time and memory for a file of b bytes.

        Examples
        --------
        What is no map is refused:

        >>> import tempfile
        >>> from pathlib import Path
        >>> from polyfold import ModelFormatError, PolynomialMap
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "map.safetensors"
        ...     _ = file.write_bytes(b"not a map")
        ...     try:
        ...         PolynomialMap.load(file)
        ...     except ModelFormatError:
        ...         print("no map")
        no map
        """
        return load_map(path)

    def to_json(self) -> str:
        """Write the map as JSON, for what has no other way to read it; docs/artefact.md has the schema.

        Returns
        -------
        str
            Keys sorted; equal maps are equal texts.

        See Also
        --------
        from_json : Reads it again.

        Notes
        -----
        O(n r + d (m + p)) time and characters for n columns, r axes, d monomials of degree up to p and m
        coordinates.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> import json
        >>> document = json.loads(square.to_json())
        >>> document["monomials"], document["weights"]
        ([[0], [0, 0]], [[0.0], [1.0]])
        """
        return write_map_json(cast("PolynomialMap", self))

    @classmethod
    def from_json(cls, text: str | bytes) -> PolynomialMap:
        """Read a map that :meth:`to_json` wrote; it places samples bit for bit as that one.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        PolynomialMap

        Raises
        ------
        ModelFormatError
            Where the text is something else, cut short, or needs a newer release.

        See Also
        --------
        to_json : Writes it.

        Notes
        -----
        O(b) time and memory for a text of b characters.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> PolynomialMap.from_json(square.to_json()).transform([[3.0]])
        array([[9.5]])
        """
        return read_map_json(text)
