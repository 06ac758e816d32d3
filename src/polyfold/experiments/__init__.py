"""The paper's experiments, run anew: figures, tables, a report, and its claims judged by what came out.

`polyfold reproduce` runs them. Each is a module with a function ``run(plan) -> Outcome`` that uses polyfold's
public names only. matplotlib draws the figures: pip install "polyfold[plot]".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from time import perf_counter

from polyfold.experiments.outcome import Outcome, collect_tables
from polyfold.experiments.plan import Plan

#: The modules, in the order of the paper.
EXPERIMENTS = ("surfaces", "locating", "images", "complexity", "parameters", "beyond")

__all__ = ["EXPERIMENTS", "Outcome", "Plan", "make_folders", "reproduce"]


def make_folders(out: Path) -> None:
    """Make the folders that a run writes to: one that cannot be written is found before the work, not after."""
    for folder in (out, out / "figures", out / "tables"):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".polyfold"
        probe.touch()
        probe.unlink()


def reproduce(
    plan: Plan, out: Path, names: Iterable[str] = EXPERIMENTS, say: Callable[[str], None] = lambda message: None
) -> list[Outcome]:
    """Run experiments, and write figures and tables as they come and the report in the end.

    After Ctrl-C the report is written of what is done, and KeyboardInterrupt goes on.

    Parameters
    ----------
    plan : Plan
    out : Path
        The folder for report.html, claims.md, figures and tables.
    names : iterable of str
        Which of `EXPERIMENTS`.
    say : callable
        Told when an experiment is done, and what was left out.
    """
    from polyfold.experiments.report import write_report

    make_folders(out)
    chosen = [name for name in EXPERIMENTS if name in set(names)]
    outcomes: list[Outcome] = []
    try:
        for number, name in enumerate(chosen, 1):
            start = perf_counter()
            outcome = import_module(f"polyfold.experiments.{name}").run(plan)
            for table in outcome.tables:
                table.write(out / "tables")
            for drawing in outcome.drawings:
                drawing.write(out / "figures", dpi=110 if plan.quick else 150)
            outcomes.append(outcome)
            say(f"{number}/{len(chosen)} {outcome.title}: {perf_counter() - start:.0f} s")
            for each in outcome.left_out:
                say(f"    left out: {each}")
    finally:
        write_report(outcomes, collect_tables(outcomes), plan, out)
    return outcomes
