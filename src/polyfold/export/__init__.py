"""Maps in other languages: one module for each, that reads a `PolynomialMap` and nothing else of polyfold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from polyfold._extras import import_needing
from polyfold._map_input import check_samples

if TYPE_CHECKING:
    from polyfold.export.c import CSource
    from polyfold.polymap import PolynomialMap

#: Modules that need an extra, and what it installs.
EXTRAS = {"onnx": "onnx", "sklearn_onnx": "onnx", "sql": "sql", "sympy": "sympy"}


def load_exporter(target: str) -> Any:
    """Import the module for a target, or say what to install."""
    return import_needing(f"polyfold.export.{target}", EXTRAS.get(target))


class ExportMethods:
    """The methods of a map that write it in another language."""

    __slots__ = ()

    def to_onnx(self, *, dtype: Any = "float64", arithmetic: Any = "float64", opset: int = 17) -> Any:
        """Write the map as an ONNX model of plain operators, for batches of any size.

        Parameters
        ----------
        dtype : {"float64", "float32"}, default="float64"
            Type of the samples ``X`` and of the coordinates ``Y``.
        arithmetic : {"float64", "float32"}, default="float64"
            Type to compute in. Float32, for accelerators that have no other, loses digits where terms cancel.
        opset : int, default=17
            Version of the operators, at least 14.

        Returns
        -------
        onnx.ModelProto
            To be written by ``onnx.save(model, path)`` or run from ``model.SerializeToString()``.

        Notes
        -----
        O(n r + d (m + p)) time for n columns, r axes, d monomials of degree up to p and m coordinates. The model
        holds O(n r + d m) numbers, and multiplies as many for each sample.

        Needs ``pip install "polyfold[onnx]"``. skl2onnx converts whole pipelines, with nothing to register.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> import numpy as np
        >>> import onnxruntime
        >>> session = onnxruntime.InferenceSession(square.to_onnx().SerializeToString())
        >>> session.run(["Y"], {"X": np.array([[2.0], [3.0]])})[0]
        array([[4.5],
               [9.5]])
        """
        return load_exporter("onnx").write_onnx(self, dtype, arithmetic, opset)

    def to_sql(
        self,
        dialect: str = "duckdb",
        table: str | Sequence[str] = "samples",
        columns: Sequence[str] | None = None,
        *,
        keep: Sequence[str] = (),
    ) -> str:
        """Write the map as a SELECT that computes the coordinates y0, y1, … from the columns of a table.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgres", "spark"}, default="duckdb"
        table : str or sequence of str, default="samples"
            The name of a table, whatever characters are in it; a sequence is a qualified name, such as
            ``("schema", "table")``.
        columns : sequence of str of length n_inputs, default=None
            The columns of the table that hold those of the map, of any numeric type. None is their own names.
        keep : sequence of str, default=()
            Other columns of the table to be selected beside the coordinates, such as a key.

        Returns
        -------
        str
            One statement. A row with a NULL gets NULL coordinates.

        Notes
        -----
        O(n r + d (m + p)) time for n columns, r axes, d monomials of degree up to p and m coordinates. The
        statement holds O(n r + d m) numbers, and a database multiplies as many for each row.

        Needs ``pip install "polyfold[sql]"``.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> line = PolynomialMap(shift=[1.0, 0.0], scale=2.0, basis="hadamard", degree=1,
        ...                      coefficients=[[3.0], [4.0]], offset=[0.5])
        >>> import duckdb
        >>> database = duckdb.connect()
        >>> _ = database.sql("CREATE TABLE samples AS SELECT 7 AS id, 2.0 AS x0, 3.0 AS x1")
        >>> database.sql(line.to_sql(keep=["id"])).fetchall()
        [(7, 8.0)]
        >>> database.close()
        """
        return cast("str", load_exporter("sql").write_sql(self, dialect, table, columns, keep))

    def to_sympy(self, *, expanded: bool = True) -> Any:
        """Write the map as SymPy expressions of its columns, in their own units.

        Parameters
        ----------
        expanded : bool, default=True
            Multiply out, as :meth:`PolynomialMap.terms` does. Otherwise the expressions are nested as the map is,
            axes within powers: they keep all digits, and are small for many columns too.

        Returns
        -------
        sympy.Matrix of shape (n_outputs, 1)
            Real symbols are named as the columns are.

        Notes
        -----
        O(d p m + n r) time for n columns, r axes, d monomials of degree up to p and m coordinates, where the
        expressions are nested; expanded that of :meth:`PolynomialMap.terms`, and O(p m) for each of these.

        Needs ``pip install "polyfold[sympy]"``.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> square = PolynomialMap(shift=[0.0], scale=1.0, basis="hadamard", degree=2,
        ...                        coefficients=[[0.0], [1.0]], offset=[0.5])
        >>> import sympy
        >>> [expression] = square.to_sympy()
        >>> float(expression.subs(sympy.Symbol("x0", real=True), 3))
        9.5
        """
        return load_exporter("sympy").write_sympy(self, expanded)

    def to_latex(self, *, largest: int = 6, digits: int = 3) -> str:
        r"""Write the map as LaTeX that a person can read: what moves each coordinate most first, rounded.

        Parameters
        ----------
        largest : int, default=6
            Terms of each coordinate at most, the constant not counted. Those below 1 % of the largest are left out
            too; dots say so.
        digits : int, default=3
            Significant digits of coefficients.

        Returns
        -------
        str
            An ``aligned`` environment, for math mode.

        See Also
        --------
        PolynomialMap.terms : The figures behind it.

        Notes
        -----
        The cost of ``terms(largest=5000)``: O(2^p d m) without axes, d monomials of degree up to p and m
        coordinates.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> line = PolynomialMap(shift=[1.0, 0.0], scale=2.0, basis="hadamard", degree=1,
        ...                      coefficients=[[3.0], [4.0]], offset=[0.5])
        >>> print(line.to_latex())
        \begin{aligned}
        y_{0} &= 2\,x_{1} + 1.5\,x_{0} - 1
        \end{aligned}
        """
        return cast("str", load_exporter("latex").write_latex(self, largest, digits))

    def to_c(self, name: str = "polyfold_map", *, dtype: Any = "float64") -> CSource:
        """Write the map as one C99 function that includes nothing, allocates nothing and keeps no state.

        Parameters
        ----------
        name : str, default="polyfold_map"
            Of the function, and of the files.
        dtype : {"float64", "float32"}, default="float64"
            Whether all is ``double``, or ``float``, for processors that have no other; that loses digits where
            terms cancel.

        Returns
        -------
        CSource
            `header` and `source`, two texts; ``write(folder)`` makes them files.

        Notes
        -----
        O(n r + d m + d p log d) time for n columns, r axes, d monomials of degree up to p and m coordinates. The
        source holds O(n r + d m) numbers; its function multiplies as many for each sample, and keeps r + p + 1
        numbers on the stack.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> line = PolynomialMap(shift=[1.0, 0.0], scale=2.0, basis="hadamard", degree=1,
        ...                      coefficients=[[3.0], [4.0]], offset=[0.5])
        >>> source = line.to_c("line")
        >>> "void line(const double *x, double *y);" in source.header
        True
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print([path.name for path in source.write(folder)])
        ['line.h', 'line.c']
        """
        return cast("CSource", load_exporter("c").write_c(self, name, dtype))

    def to_html(
        self,
        X: Any = None,
        *,
        labels: Mapping[str, Any] | None = None,
        image_shape: Sequence[int] | None = None,
        row_numbers: Any = None,
        title: str | None = None,
        max_points: int = 100_000,
    ) -> str:
        """Write the map and samples as one page that opens in a browser, without a network.

        The page shows the samples at their places, and evaluates the map itself: for files that are dropped on it
        and for a sample that is changed column by column, with slopes and extrapolation score. Nothing leaves it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs), default=None
            Samples to show. They are in the page, to be looked at by whoever has it.
        labels : mapping of str to array-like of shape (n_samples,), default=None
            Further columns, to colour points by and to read: numbers or texts.
        image_shape : sequence of int, default=None
            Where the columns are pixels: (height, width), or (height, width, 3) for colours.
        row_numbers : array-like of shape (n_samples,), default=None
            Whole numbers that the samples go by; 1 to n_samples by default.
        title : str, default=None
        max_points : int, default=100_000
            Of more samples, as many are drawn by chance, the same ones each time.

        Returns
        -------
        str
            HTML, to be written to a file as UTF-8.

        Notes
        -----
        O(s (n r + d m) + 2,000 m (d + r n)) time for s samples shown, n columns, d monomials in r axes and m
        coordinates: each is placed, and columns are ranked by their slopes at a part of the samples. The page
        holds O(n r + d m + s (n + m)) numbers, those of the samples compressed; at most 64 MB of samples before
        that, of more fewer are shown.

        Examples
        --------
        >>> from polyfold import PolynomialMap
        >>> line = PolynomialMap(shift=[1.0, 0.0], scale=2.0, basis="hadamard", degree=1,
        ...                      coefficients=[[3.0], [4.0]], offset=[0.5])
        >>> page = line.to_html([[0.0, 1.0], [2.0, 3.0]], labels={"name": ["a", "b"]}, title="A line")
        >>> page.startswith("<!doctype html>")
        True
        """
        samples = None if X is None else check_samples(cast("PolynomialMap", self), X)
        write = load_exporter("html").write_html
        return cast("str", write(self, samples, labels, image_shape, row_numbers, title, max_points))
