"""The pages of the documentation, and the code in them."""

import contextlib
import io
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    code: str


def read_page(page):
    return (ROOT / page).read_text(encoding="utf-8")


def list_blocks(page):
    """Return the blocks of a page, without directives."""
    found = re.findall(r"^( *)```(\S*).*\n((?:.*\n)*?)\1```$", read_page(page), flags=re.MULTILINE)
    assert 2 * len(found) == len(re.findall(r"^ *```", read_page(page), flags=re.MULTILINE)), "a block has no end"
    return [
        Block(kind, re.sub(f"^{indent}", "", code, flags=re.MULTILINE))
        for indent, kind, code in found
        if not kind.startswith("{")
    ]


def run_page(page):
    """Run the Python blocks of a page in one namespace, compare what is shown with what is printed, return it."""
    namespace, printed = {"__name__": "__page__"}, ""
    for block in list_blocks(page):
        if block.kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(block.code, page, "exec"), namespace)
            printed = output.getvalue()
        elif block.kind == "output":
            assert block.code == printed
    return namespace
