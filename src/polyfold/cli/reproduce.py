"""``polyfold reproduce``: the paper's experiments anew."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from polyfold.cli.options import Force
from polyfold.cli.terminal import MISUSED, STOPPED, UNWRITABLE, CommandError, check_folder, say


def reproduce(
    out: Annotated[
        Path, typer.Option(help="The folder for report.html, claims.md, figures and tables.", file_okay=False)
    ] = Path("reproduce_output"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="The folder with image sets; $POLYFOLD_DATA by default.",
            exists=True,
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer draws and smaller sizes: two minutes.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="The first seed; the others follow it.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(help="An experiment to run; repeat for more. All by default.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Run the paper's experiments, write a report, and judge the paper's claims by what came out.

    Experiments: surfaces, locating, images, complexity, parameters, beyond.

    All take about a quarter of an hour on two cores. Leave the machine alone: times are measured.

    Without image sets the rest is run.

    Example: polyfold reproduce --quick --out report
    """
    from importlib.util import find_spec

    from polyfold.experiments import EXPERIMENTS, Plan, WriteError
    from polyfold.experiments import reproduce as run_experiments

    if find_spec("matplotlib") is None:
        raise CommandError('polyfold reproduce draws with matplotlib: pip install "polyfold[plot]"')
    if unknown := [name for name in only or [] if name not in EXPERIMENTS]:
        raise CommandError(f"There is no experiment {unknown[0]!r}. They are {', '.join(EXPERIMENTS)}.", MISUSED)
    check_folder(out, ("report.html", "claims.md"), force=force)
    plan = Plan(quick=quick, seed=seed, data=data, progress=sys.stderr.isatty())
    try:
        run_experiments(plan, out, only or EXPERIMENTS, say)
    except KeyboardInterrupt:
        say("Stopped. The report tells of the experiments that were finished, if any.")
        raise typer.Exit(STOPPED) from None
    except WriteError as error:
        raise CommandError(str(error), UNWRITABLE) from None
    typer.echo(f"Report: {(out / 'report.html').resolve()}")
    typer.echo(f"Claims: {(out / 'claims.md').resolve()}")
