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
        """
        return load_map(path)

    def to_json(self) -> str:
        """Write the map as JSON, for what has no other way to read it; docs/artefact.md has the schema.

        Returns
        -------
        str
            Keys sorted; equal maps are equal texts.
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
        """
        return read_map_json(text)
