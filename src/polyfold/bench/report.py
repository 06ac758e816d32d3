"""Figures, and how they are shown: in the terminal, as CSV and Markdown, and as plots."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One comparison.

    Attributes
    ----------
    suite, case : str
        What was measured.
    peer : str
        What it is compared with.
    ours, theirs : float
        Seconds, or bytes.
    target : float or None
        The ratio ours / theirs is to be at most this.
    unit : {"s", "B", ""}
    """

    suite: str
    case: str
    peer: str
    ours: float
    theirs: float
    target: float | None = None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        return None if self.target is None else self.ratio <= self.target

    def list_cells(self) -> list[str]:
        """Return what a table shows of it."""
        target = "" if self.target is None else f"≤ {show_ratio(self.target)}"
        verdict = {None: "", True: "yes", False: "no"}[self.is_met]
        amounts = [show_amount(self.ours, self.unit), show_amount(self.theirs, self.unit)]
        return [self.suite, self.case, self.peer, *amounts, show_ratio(self.ratio), target, verdict]


#: Characters in a line where the table is not shown in a terminal.
WIDTH = 150

HEADER = ["suite", "polyfold", "against", "ours", "theirs", "ratio", "target", "met"]


@dataclass(frozen=True)
class Curve:
    """Seconds against a size, to be drawn.

    Attributes
    ----------
    panel : str
        Which plot it belongs to; says what the size is.
    name : str
    sizes, seconds : tuple of float
    """

    panel: str
    name: str
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]


def show_ratio(ratio: float) -> str:
    """Write a ratio: below a hundredth, as one over a whole number."""
    return f"{ratio:.2f}" if ratio >= 0.01 else f"1/{1 / ratio:,.0f}"


def show_amount(amount: float, unit: str) -> str:
    """Write seconds or bytes in a unit that suits."""
    if not unit:
        return f"{amount:.2f}"
    if unit == "B":
        return f"{amount / 1e6:,.0f} MB"
    for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if amount >= factor:
            return f"{amount / factor:.3g} {name}"
    return f"{amount / 1e-9:.3g} ns"


def print_table(figures: Iterable[Figure], machine: str) -> None:
    """Show figures in the terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*HEADER, caption=machine, header_style="bold")
    for figure in figures:
        style = {None: "", True: "green", False: "red"}[figure.is_met]
        table.add_row(*figure.list_cells(), style=style)
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    console.print(table)


def write_json(figures: Iterable[Figure], curves: Iterable[Curve], machine: str) -> str:
    """Return figures and curves for programs."""
    listed = [asdict(each) | {"ratio": each.ratio, "met": each.is_met} for each in figures]
    return json.dumps({"machine": machine, "figures": listed, "curves": list(map(asdict, curves))}, indent=2)


def write_report(figures: list[Figure], curves: list[Curve], machine: str, folder: Path) -> list[Path]:
    """Write the table as CSV and Markdown, and the plot where matplotlib is installed; return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "bench.csv", folder / "bench.md"]
    with paths[0].open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["suite", "polyfold", "against", "ours", "theirs", "unit", "ratio", "target", "met"])
        for each in figures:
            measured = [each.ours, each.theirs, each.unit, each.ratio, each.target, each.is_met]
            writer.writerow([each.suite, each.case, each.peer, *measured])
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(each.list_cells()) + " |" for each in figures]
    paths[1].write_text(f"{machine}\n\n" + "\n".join(lines) + "\n")
    if curves:
        with suppress(ModuleNotFoundError):  # the command names the extra that draws
            paths.append(draw_curves(curves, folder / "bench.png"))
    return paths


def draw_curves(curves: list[Curve], path: Path) -> Path:
    """Draw seconds against sizes, a panel for each kind."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    panels = list(dict.fromkeys(curve.panel for curve in curves))
    names = list(dict.fromkeys(curve.name for curve in curves))
    canvas = Canvas(figsize=(5.2 * len(panels), 4.2), layout="constrained")
    FigureCanvasAgg(canvas)
    axes: Any = canvas.subplots(1, len(panels), squeeze=False)[0]
    for panel, ax in zip(panels, axes, strict=True):
        for curve in (each for each in curves if each.panel == panel):
            ours = curve.name.startswith("polyfold")
            style = {"lw": 2.4, "zorder": 3} if ours else {"lw": 1.2, "alpha": 0.85}
            color = f"C{names.index(curve.name) % 10}"
            ax.loglog(curve.sizes, curve.seconds, "o-", ms=4, label=curve.name, color=color, **style)
        ax.set_title(panel.split(" against ")[0])
        ax.set_xlabel(panel.split(" against ")[1])
        ax.set_ylabel("seconds")
        ax.grid(alpha=0.3, which="both", lw=0.4)
        ax.legend(fontsize=8, frameon=False)
    canvas.savefig(path, dpi=130)
    return path
