"""A directive that draws what `tools/draw_architecture.py` makes of the code: ``{diagram} flow`` or ``rooms``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

import draw_architecture  # noqa: E402
from architecture import SOURCE  # noqa: E402


class DiagramDirective(SphinxDirective):
    """One of the two diagrams."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw it, and anew where the code has changed."""
        for path in (*SOURCE.rglob("*.py"), ROOT / "pyproject.toml", *(ROOT / "tools").glob("*architecture.py")):
            self.env.note_dependency(str(path))
        draw = {"flow": draw_architecture.draw_flow, "rooms": draw_architecture.draw_rooms}[self.arguments[0]]
        return [nodes.raw("", draw(), format="html")]


def setup(app: Any) -> dict[str, Any]:
    """Make it known to Sphinx."""
    app.add_directive("diagram", DiagramDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
