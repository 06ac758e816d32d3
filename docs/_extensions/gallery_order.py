"""The tutorial and the how-to pages: their order, and that they run without a warning."""

from __future__ import annotations

import warnings
from typing import Any

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
