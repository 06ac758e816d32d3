"""Descriptions of the small pictures in the overviews of the gallery, which sphinx-gallery leaves empty."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes


def describe_thumbnails(app: Any, doctree: Any, docname: str) -> None:
    """Say what the small pictures of the overviews lead to: they have no description of their own."""
    for image in doctree.findall(nodes.image):
        page = re.fullmatch(r"sphx_glr_(\w+)_thumb\.\w+", Path(image["uri"]).name)
        if page and not image.get("alt"):
            title = app.env.titles[f"{Path(docname).parent.as_posix()}/{page[1]}"].astext()
            image["alt"] = f"A small picture from the page “{title}”"


def setup(app: Any) -> dict[str, Any]:
    """Make it known to Sphinx."""
    app.connect("doctree-resolved", describe_thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
