"""A directive that draws what `tools/architecture.py` reads from the code: ``{diagram} flow`` or ``rooms``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import architecture


class DiagramDirective(Directive):
    """One of the two diagrams."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw it."""
        draw = {"flow": architecture.draw_flow, "rooms": architecture.draw_rooms}[self.arguments[0]]
        return [nodes.raw("", draw(), format="html")]


def setup(app: Any) -> dict[str, Any]:
    """Make it known to Sphinx."""
    app.add_directive("diagram", DiagramDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
