"""The names of the graphs: those of the files in `polyfold.objectives`, which is not imported for them.

The command line lists them in its help, which is to come at once.
"""

from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules

FOLDER = Path(__file__).parent / "objectives"


def list_graphs() -> tuple[str, ...]:
    """Return the names, sorted. What is called by no plain name, such as the copy that an editor made, is none."""
    names = (module.name for module in iter_modules([str(FOLDER)]) if not module.ispkg)
    return tuple(sorted(name for name in names if name.isidentifier() and not name.startswith("_")))
