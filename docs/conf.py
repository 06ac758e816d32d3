"""How Sphinx builds the documentation; run by `make docs`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import matplotlib

import polyfold

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_extensions"))

from source_pages import link_object as linkcode_resolve  # noqa: E402, F401

matplotlib.use("Agg")
PACKAGES = DOCS.parent / "tools" / "npm" / "node_modules"
os.environ.setdefault("POLYFOLD_NODE_MODULES", str(PACKAGES))

# MathJax in one file, with its fonts: nothing is asked of the network by who reads.
MATHJAX = DOCS.parent / "docs_output" / "mathjax"
MATHJAX.mkdir(parents=True, exist_ok=True)
shutil.copy(PACKAGES / "mathjax" / "es5" / "tex-svg-full.js", MATHJAX)

project = "polyfold"
author = "The polyfold developers"
copyright = "the polyfold developers"
version = release = polyfold.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.githubpages",
    "sphinx.ext.linkcode",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "source_pages",
    "diagrams",
    "thumbnails",
]
exclude_patterns = [
    "_extensions",
    "how-to/*.py",
    "how-to/*.ipynb",
    "how-to/*.md5",
    "sg_execution_times.rst",
]
nitpicky = True
nitpick_ignore_regex = [
    # What is outside of this library has no pages here: nothing is fetched to build or to read these.
    (r"py:.*", r"(numpy|scipy|sklearn|matplotlib|pandas|dask|onnx|sympy|pathlib)\..*"),
    # Words of numpydoc's types.
    (r"py:class", r"[^.]*"),
]

# -- pages in Markdown
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# -- the reference
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says types, with shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# -- the how-to pages
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorial", "../examples/how_to"],
    "gallery_dirs": ["tutorial", "how-to"],
    "ignore_pattern": r"^(?!plot_)",
    "within_subsection_order": "gallery.TaskOrder",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1000,
    "capture_repr": ("_repr_html_",),
    "reset_modules": ("matplotlib", "gallery.refuse_warnings"),
    "reset_modules_order": "both",
    "write_computation_times": False,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.(js|png)$",
}

# -- how it looks
html_theme = "pydata_sphinx_theme"
html_title = "polyfold"
html_sidebars = {page: [] for page in ("index", "speed", "guarantees", "comparison")}  # pages without others below
templates_path = ["_templates"]
html_static_path = ["_static", str(MATHJAX)]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_search_summary = False  # which a browser cannot read from files
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "polyfold",
        "alt_text": "polyfold, first page",
    },
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "show_prev_next": True,
    "back_to_top_button": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
mathjax_path = "tex-svg-full.js"
