"""Pages of the source code, and a role that links to a line of it by what stands there.

``{line}`_gram.py: residuals.T @ (residuals` `` becomes a link to the one line of ``src/polyfold/_gram.py`` that
has this text; none or several are a warning, so that no link points to where the code used to be.
"""

from __future__ import annotations

import inspect
import posixpath
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

SOURCE = Path(__file__).parents[2] / "src"


def name_page(path: Path) -> str:
    """Return the page of a file."""
    return "source/" + path.relative_to(SOURCE).with_suffix("").as_posix()


def write_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write each file of the library as a page, with an anchor at each line."""
    formatter = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, wrapcode=True)
    for path in sorted((SOURCE / "polyfold").rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        code = highlight(path.read_text(encoding="utf-8"), PythonLexer(), formatter)
        yield name_page(path), {"title": name, "body": f"<h1>{name}</h1>{code}", "parents": []}, "page.html"


class LineRole(SphinxRole):
    """``file: text``, a link to the one line of that file that has the text."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Find the line."""
        file, _, snippet = self.text.partition(": ")
        path = SOURCE / "polyfold" / file
        self.env.note_dependency(str(path))  # the page is made anew where the line has moved
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [number for number, line in enumerate(lines, start=1) if snippet in line]
        if len(found) != 1:
            message = self.inliner.reporter.warning(
                f"{len(found)} lines of {file} have {snippet!r}, not one", line=self.lineno
            )
            return [nodes.literal(self.text, self.text)], [message]
        page = posixpath.relpath(name_page(path), posixpath.dirname(self.env.docname) or ".")
        address = {"refuri": f"{page}.html#L-{found[0]}", "title": snippet}
        link = nodes.reference(self.rawtext, "", internal=True, classes=["source-line"], **address)
        link += nodes.literal("", f"{file}:{found[0]}")
        return [link], []


def link_object(domain: str, info: dict[str, str]) -> str | None:
    """Return where a documented name is defined, as seen from a page of the reference."""
    found: Any = sys.modules.get(info["module"])
    for part in info["fullname"].split("."):
        found = getattr(found, part, None)
    found = inspect.unwrap(found.fget if isinstance(found, property) and found.fget else found)
    try:
        path, line = Path(inspect.getsourcefile(found) or ""), inspect.getsourcelines(found)[1]
    except (OSError, TypeError):
        return None
    return f"../../{name_page(path)}.html#L-{line}" if path.is_relative_to(SOURCE) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Make it known to Sphinx."""
    app.add_role("line", LineRole())
    app.connect("html-collect-pages", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
