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


#: What other libraries warn of that is no fault of a page.
OF_OTHERS = (r"numpy\.core\._multiarray_umath is deprecated", r"FigureCanvasAgg is non-interactive")


#: While a page is run: what brings back the filters of before.
OPEN: list[warnings.catch_warnings[None]] = []


class TaskOrder:
    """What sphinx-gallery sorts by; a page that is not in the order is an error."""

    def __init__(self, source_folder: str) -> None:
        pass

    def __call__(self, filename: str) -> int:
        """Return the place of a page."""
        return ORDER.index(filename.removeprefix("plot_").removesuffix(".py"))


def refuse_warnings(configuration: dict[str, Any], filename: str, when: str) -> None:
    """Turn warnings into errors while a page is run: one that shows how to do something does it well."""
    if when == "after":
        OPEN.pop().__exit__(None, None, None)
        return
    OPEN.append(warnings.catch_warnings())
    OPEN[-1].__enter__()
    warnings.filterwarnings("error")
    for message in OF_OTHERS:
        warnings.filterwarnings("ignore", message=message)
