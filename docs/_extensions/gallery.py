"""The tutorial and the how-to pages: their order, and that they run without a warning."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes

#: From looking at data to running a map elsewhere.
ORDER = (
    "first_map", "production", "cannot",
    "images", "time_series", "choosing", "explaining", "outside", "inverse", "umap", "pipelines",
    "sql", "onnx", "web_page", "dask", "own_graph", "coming_from",
)  # fmt: skip


class TaskOrder:
    """What sphinx-gallery sorts by; a page that is not in the order is an error."""

    def __init__(self, source_folder: str) -> None:
        pass

    def __call__(self, filename: str) -> int:
        """Return the place of a page."""
        return ORDER.index(filename.removeprefix("plot_").removesuffix(".py"))


def refuse_warnings(configuration: dict[str, Any], filename: str) -> None:
    """Turn what the library warns of into errors: a page that shows how to do something does it well."""
    warnings.filterwarnings("error", category=UserWarning, module=r"polyfold|__main__")


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
