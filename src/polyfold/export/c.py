"""A map as one C99 function."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._files import open_whole
from polyfold._validation import check_numbers
from polyfold.polymap import PolynomialMap

#: What a function cannot be named: keywords of C and C++, and the commonest of its library.
RESERVED = """
abort abs acos asin asm atan atan2 auto bool break calloc case catch ceil char class const continue
cos cosh default delete do double else enum erf exit exp exp2 explicit export extern fabs false
float floor fmax fmin fmod for fprintf free frexp friend gamma getc goto if index inline int isnan
j0 j1 jn labs ldexp log log10 log2 logb long main malloc memcmp memcpy memmove memset modf mutable
namespace new operator pow printf private protected public putc puts realloc register restrict
return rindex round scanf short signbit signed sin sinh sizeof sprintf sqrt static strcat strchr
strcmp strcpy strlen strncpy struct switch tan tanh template tgamma this throw true trunc try
typedef typename union unsigned using virtual void volatile while y0 y1 yn
"""

#: Names of columns are shown in a comment, unless they are more.
SHOWN_COLUMNS = 100

HEADER = """\
/* {summary}
{columns} */
#ifndef {guard}_H
#define {guard}_H

#define {guard}_INPUTS {n_inputs}
#define {guard}_OUTPUTS {n_outputs}
#define {guard}_MAP 0x{number}UL

#ifdef __cplusplus
extern "C" {{
#endif

/* Write the {n_outputs} coordinates of the sample x of {n_inputs} columns to y. */
void {name}(const {type} *x, {type} *y);

#ifdef __cplusplus
}}
#endif

#endif
"""

SOURCE = """\
/* {summary} */
#include "{name}.h"

#if {guard}_MAP != 0x{number}UL
#error "{name}.h is of another map than {name}.c"
#endif

static const {type} {name}_shift[{n_inputs}] = {{
{shift}
}};
static const {type} {name}_scale = {scale};
{axes}static const {type} {name}_offset[{n_outputs}] = {{
{offset}
}};
/* Each monomial is the last one of a degree less times a variable. */
static const unsigned char {name}_degrees[{n_features}] = {{
{degrees}
}};
static const {integer} {name}_variables[{n_features}] = {{
{variables}
}};
static const {type} {name}_weights[{n_features}][{n_outputs}] = {{
{weights}
}};

void {name}(const {type} *x, {type} *y)
{{
    {type} z[{n_axes}], product[{n_products}];
    {long} i, {j}k;

{locate}
    for (k = 0; k < {n_outputs}; k++)
        y[k] = {name}_offset[k];
    product[0] = {one};
    for (i = 0; i < {n_features}; i++) {{
        const unsigned char q = {name}_degrees[i];
        product[q] = product[q - 1] * z[{name}_variables[i]];
        for (k = 0; k < {n_outputs}; k++)
            y[k] += {name}_weights[i][k] * product[q];
    }}
}}
"""

LOCATE_COLUMNS = """\
    for (i = 0; i < {n_inputs}; i++)
        z[i] = (x[i] - {name}_shift[i]) / {name}_scale;"""

LOCATE_AXES = """\
    for (k = 0; k < {n_axes}; k++)
        z[k] = {zero};
    for (j = 0; j < {n_inputs}; j++)
        for (k = 0; k < {n_axes}; k++)
            z[k] += (x[j] - {name}_shift[j]) / {name}_scale * {name}_axes[j][k];"""


@dataclass(frozen=True)
class CSource:
    """A C function.

    Attributes
    ----------
    name : str
    header, source : str
        What ``name.h`` and ``name.c`` hold.
    """

    name: str
    header: str = field(repr=False)
    source: str = field(repr=False)

    def write(self, folder: str | Path) -> tuple[Path, Path]:
        """Write the two files into a folder, each whole or not at all, and return their paths.

        After a crash one of them may be of another map. They do not compile then.
        """
        paths = Path(folder) / f"{self.name}.h", Path(folder) / f"{self.name}.c"
        with ExitStack() as files:  # neither replaces what was there before both are on the disk
            for path, text in zip(paths, (self.header, self.source), strict=True):
                file = files.enter_context(open_whole(path))
                file.write(text.encode("ascii"))
                file.flush()
        return paths


def write_c(learned: PolynomialMap, name: str, dtype: Any) -> CSource:
    """Return the function of a map."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in RESERVED.split():
        raise ValueError(f"`name` must be a name in C, got {name!r}.")
    if not isinstance(dtype, (str, type, np.dtype)) or dtype not in ("float32", "float64", np.float32, np.float64):
        raise ValueError(f"`dtype` must be 'float32' or 'float64', got {dtype!r}.")
    kind = np.dtype(dtype)
    suffix = "f" if kind == np.float32 else ""
    check_numbers(learned, kind)

    def number(value: Any) -> str:
        return repr(kind.type(value).item() if not suffix else float(str(kind.type(value)))) + suffix

    def rows(values: NDArray[np.float64]) -> str:
        return ",\n".join("    {" + ", ".join(map(number, row)) + "}" for row in values)

    # In this order each monomial comes after the one it extends, and only one of each degree is needed at a time.
    monomials = learned.monomials
    order = sorted(range(len(monomials)), key=monomials.__getitem__)
    degrees = [len(monomials[f]) for f in order]
    if max(degrees) > 255:
        raise ValueError(f"A degree of {max(degrees)} is more than the 255 that C is written for.")
    sizes = {"n_inputs": learned.n_inputs, "n_outputs": learned.n_outputs, "n_axes": learned.n_axes}
    values = {
        **sizes,
        "name": name,
        "guard": name.upper(),
        "type": "float" if suffix else "double",
        "integer": "unsigned short" if learned.n_axes <= 65535 else "unsigned long",
        "long": "unsigned int" if max(learned.n_inputs, learned.n_features) < 65535 else "unsigned long",
        "summary": f"{learned!r} by polyfold.",
        "columns": _list_columns(learned),
        "n_features": learned.n_features,
        "n_products": learned.degree + 1,
        "shift": _wrap(map(number, learned.shift)),
        "scale": number(learned.scale),
        "offset": _wrap(map(number, learned.offset)),
        "degrees": _wrap(map(str, degrees)),
        "variables": _wrap(str(monomials[f][-1]) for f in order),
        "weights": rows(learned.weights[order]),
        "one": number(1),
        "axes": "",
        "j": "",
        "locate": LOCATE_COLUMNS.format(**sizes, name=name),
    }
    if learned.axes is not None:
        values["j"] = "j, "
        values["locate"] = LOCATE_AXES.format(**sizes, name=name, zero=number(0))
        values["axes"] = (
            f"static const {values['type']} {name}_axes[{learned.n_inputs}][{learned.n_axes}] = {{\n"
            f"{rows(learned.axes)}\n}};\n"
        )
    # By this number the two files know each other.
    values["number"] = sha256(SOURCE.format(**values, number="").encode()).hexdigest()[:8]
    return CSource(name, HEADER.format(**values), SOURCE.format(**values))


def _wrap(texts: Any) -> str:
    """Lay numbers out in lines of a moderate length."""
    items, lines, line = list(texts), [], "   "
    for position, item in enumerate(items):
        piece = f" {item}" + ("," if position < len(items) - 1 else "")
        if len(line) + len(piece) > 110:
            lines.append(line)
            line = "   "
        line += piece
    return "\n".join([*lines, line])


def _list_columns(learned: PolynomialMap) -> str:
    """Name the columns for a comment, with nothing in it that could end one."""
    shown = learned.column_names[:SHOWN_COLUMNS]
    lines = [f" * x[{j}]: {re.sub(r'[^A-Za-z0-9 _.,()%+-]', '_', name)}" for j, name in enumerate(shown)]
    more = learned.n_inputs - len(shown)
    return "\n".join(lines + ([f" * and {more} more"] if more else []))
