"""The paper's experiments, run anew: figures, tables, a report, and its claims judged by what came out.

`polyfold reproduce` runs them. Each is a module with a function ``run(plan) -> Outcome`` that uses polyfold's
public names only. matplotlib draws the figures: pip install "polyfold[plot]".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from time import perf_counter

from polyfold.experiments.outcome import Outcome
from polyfold.experiments.plan import Plan

#: The modules, in the order of the paper.
EXPERIMENTS = ("surfaces", "locating", "images", "complexity", "parameters", "beyond")

#: Names what a run has written, so that the next one into the same folder can clear it away.
CONTENTS = "contents.txt"

__all__ = ["EXPERIMENTS", "Outcome", "Plan", "WriteError", "reproduce"]


class WriteError(Exception):
    """A folder or file of the report cannot be written."""


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteError(f"{out} cannot be written: {error}") from error


def prepare_folder(out: Path) -> None:
    """Make the folders that a run writes to, and clear away what an earlier one wrote.

    A folder that cannot be written is found before the work, not after.
    """
    for folder in (out, out / "figures", out / "tables"):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".polyfold"
        probe.touch()
        probe.unlink()


def clear_away(out: Path) -> None:
    """Remove the figures and tables that an earlier run has listed, and nothing else."""
    contents = out / CONTENTS
    listed = contents.read_text(encoding="utf-8").splitlines() if contents.is_file() else []
    for line in listed:
        path = out / line
        if path.parent in (out / "figures", out / "tables") and path.suffix in {".png", ".svg", ".csv"}:
            path.unlink(missing_ok=True)


def write_outcome(outcome: Outcome, plan: Plan, out: Path) -> None:
    """Write the tables and figures of an experiment, and list them."""
    names = [f"tables/{table.name}.csv" for table in outcome.tables]
    names += [f"figures/{each.name}.{kind}" for each in outcome.drawings for kind in ("png", "svg")]
    with (out / CONTENTS).open("a", encoding="utf-8") as contents:
        contents.writelines(f"{name}\n" for name in names)
    for table in outcome.tables:
        table.write(out / "tables")
    for drawing in outcome.drawings:
        drawing.write(out / "figures", dpi=110 if plan.quick else 150)


def reproduce(
    plan: Plan, out: Path, names: Iterable[str] = EXPERIMENTS, say: Callable[[str], None] = lambda message: None
) -> list[Outcome]:
    """Run experiments, and write figures and tables as they come and the report in the end.

    After Ctrl-C or an error the report is written of the experiments that were finished, if any, and the
    exception goes on. Until the first is finished, what an earlier run wrote stays as it is.

    Parameters
    ----------
    plan : Plan
    out : Path
        The folder for report.html, claims.md, figures and tables.
    names : iterable of str
        Which of `EXPERIMENTS`.
    say : callable
        Told when an experiment is done, what was left out, and how the claims were judged.

    Raises
    ------
    WriteError
        Where the folder cannot be written.
    """
    from polyfold.experiments.report import write_report

    with _writing(out):
        prepare_folder(out)
    wanted = set(names)
    chosen = [name for name in EXPERIMENTS if name in wanted]
    outcomes: dict[str, Outcome] = {}
    try:
        for number, name in enumerate(chosen, 1):
            start = perf_counter()
            outcome = import_module(f"polyfold.experiments.{name}").run(plan)
            with _writing(out):
                if not outcomes:
                    clear_away(out)
                    (out / CONTENTS).write_text("", encoding="utf-8")
                write_outcome(outcome, plan, out)
            outcomes[name] = outcome
            say(f"{number}/{len(chosen)} {outcome.title}: {perf_counter() - start:.0f} s")
            for each in outcome.left_out:
                say(f"    left out: {each.split(';')[0]}")
            if outcome.left_out:
                say("    Name their folder by --data or $POLYFOLD_DATA; the report says where to get them.")
    finally:
        if outcomes:
            with _writing(out):
                say(write_report(outcomes, plan, out, unfinished=chosen[len(outcomes) :]))
    return list(outcomes.values())
