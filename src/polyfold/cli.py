"""The command line: ``polyfold reproduce`` and ``polyfold bench`` so far."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Explicit manifold learning: an embedding that is a polynomial map.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        import polyfold

        typer.echo(polyfold.__version__)
        raise typer.Exit


@app.callback()
def describe(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Explicit manifold learning: an embedding that is a polynomial map."""


@app.command()
def bench(
    only: Annotated[
        list[str] | None,
        typer.Option(help="A suite to run; repeat for more. All by default.", show_default=False),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of each, of which the best counts.")] = 7,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller data and fewer peers: three minutes.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for bench.csv, bench.md and bench.png.", file_okay=False, show_default=False),
    ] = None,
) -> None:
    """Measure speed and memory, each as a ratio to a peer or a physical limit in the same run.

    Suites: transform, estimator, learners, fit, import, memory. Leave the machine alone meanwhile.
    """
    from polyfold.bench import SUITES, Bench, run_suites
    from polyfold.bench.report import Curve, Figure, print_table, write_report
    from polyfold.bench.timing import describe_machine

    names = list(only or SUITES)
    if unknown := [name for name in names if name not in SUITES]:
        typer.echo(f"There is no suite {unknown[0]!r}. The suites are {', '.join(SUITES)}.", err=True)
        raise typer.Exit(2)
    figures: list[Figure] = []
    curves: list[Curve] = []
    settings = Bench(repeats, quick, lambda message: typer.echo(message, err=True))
    try:
        for result in run_suites(names, settings):
            if isinstance(result, Curve):
                curves.append(result)
            else:
                figures.append(result)
                _, case, peer, *_, ratio, _, _ = result.list_cells()
                typer.echo(f"{case} over {peer}: {ratio}", err=True)
    except KeyboardInterrupt:
        typer.echo("Stopped; what was measured so far:", err=True)
    machine = describe_machine()
    print_table(figures, machine)
    if out is not None:
        for path in write_report(figures, curves, machine, out):
            typer.echo(f"wrote {path}", err=True)
        if curves and not (out / "bench.png").exists():
            typer.echo('No plot: pip install "polyfold[plot]"', err=True)


@app.command()
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
) -> None:
    """Run the paper's experiments, write a report, and judge the paper's claims by what came out.

    Experiments: surfaces, locating, images, complexity, parameters, beyond.

    All take about a quarter of an hour on two cores. Leave the machine alone: times are measured.

    Without image sets the rest is run.
    """
    from importlib.util import find_spec

    from polyfold.experiments import EXPERIMENTS, Plan, WriteError
    from polyfold.experiments import reproduce as run_experiments

    if find_spec("matplotlib") is None:
        typer.echo('polyfold reproduce draws with matplotlib: pip install "polyfold[plot]"', err=True)
        raise typer.Exit(1)
    if unknown := [name for name in only or [] if name not in EXPERIMENTS]:
        typer.echo(f"There is no experiment {unknown[0]!r}. They are {', '.join(EXPERIMENTS)}.", err=True)
        raise typer.Exit(2)
    plan = Plan(quick=quick, seed=seed, data=data, progress=sys.stderr.isatty())
    try:
        run_experiments(plan, out, only or EXPERIMENTS, lambda message: typer.echo(message, err=True))
    except KeyboardInterrupt:
        typer.echo("Stopped. The report tells of the experiments that were finished, if any.", err=True)
        raise typer.Exit(130) from None
    except WriteError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    typer.echo(f"Report: {(out / 'report.html').resolve()}")
    typer.echo(f"Claims: {(out / 'claims.md').resolve()}")


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
