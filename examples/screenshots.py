"""The pictures of the command line and of the explorer in the documents.

Run by `make screenshots`, which needs Chromium. Commands are run in a terminal, the page in a browser.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from command_line import COMMANDS, write_digits_page, write_rolls
from PIL import Image
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

#: Characters of the terminal's lines.
WIDTH = 112

FRAME = """<!doctype html><meta charset="utf-8"><style>
{stylesheet}
body {{ margin: 0; background: #ffffff }}
div {{ display: inline-block; margin: 8px; padding: 14px 18px; border-radius: 10px; background: #16181d }}
pre {{ margin: 0; font: 13px/1.4 'DejaVu Sans Mono', monospace; color: #e6e6e6 }}
</style><div><pre>{code}</pre></div>"""


def run_in_terminal(command: str, folder: Path) -> str:
    """Return what a command writes to a terminal, colours included."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        looks = {"TERM": "xterm-256color", "COLUMNS": str(WIDTH), "COLORTERM": "truecolor"}
        arguments = [sys.executable, "-m", "polyfold.cli", *shlex.split(command)[1:], *verbosity(command)]
        os.execve(sys.executable, arguments, {**os.environ, **looks})
    written = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            written += os.read(terminal, 65536)
        except OSError:  # it has ended
            break
    os.close(terminal)
    if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
        raise RuntimeError(f"{command} failed: {written.decode()}")
    return written.decode().replace("\r\n", "\n")


def verbosity(command: str) -> list[str]:
    """Return what leaves out the bars, which a picture cannot show."""
    return ["--verbose", "0"] if command.startswith("polyfold fit") else []


def draw_terminal(browser: Any, folder: Path, path: Path) -> None:
    """Draw `fit` and `inspect`."""
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"), force_terminal=True)  # noqa: PTH123, SIM115
    for command in COMMANDS[:2]:
        console.print(Text(f"$ {command.removesuffix(' --force')}", style="bold green"), soft_wrap=True)
        console.print(Text.from_ansi(run_in_terminal(command, folder)), soft_wrap=True)
    page = browser.new_page(device_scale_factor=1.5)
    page.set_content(console.export_html(theme=MONOKAI, code_format=FRAME))
    page.locator("div").screenshot(path=path)


def draw_explorer(browser: Any, folder: Path, path: Path) -> None:
    """Draw the page of the digits, with a point looked at."""
    write_digits_page(folder / "digits.html")
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.goto((folder / "digits.html").as_uri())
    page.wait_for_selector("#stage[data-view]")
    box = page.locator("#points").bounding_box()
    for share in range(100):  # along a line, until a point is near
        page.mouse.move(box["x"] + box["width"] * (0.2 + share / 200), box["y"] + box["height"] * 0.36)
        if page.is_visible("#tip"):
            break
    page.wait_for_timeout(300)
    page.screenshot(path=path)


def main() -> None:
    """Draw both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo_output"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("POLYFOLD_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        write_rolls(Path(place))
        draw_terminal(browser, Path(place), out / "terminal.png")
        draw_explorer(browser, Path(place), out / "explorer.png")
        browser.close()
    for name in ("terminal.png", "explorer.png"):  # a few colours are enough, in a third of the bytes
        picture = Image.open(out / name).convert("RGB").quantize(128, dither=Image.Dither.NONE)
        picture.save(out / name, optimize=True)
    print(f"{out / 'terminal.png'}\n{out / 'explorer.png'}")


if __name__ == "__main__":
    main()
